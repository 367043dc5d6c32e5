"""Charts as inline SVG: lines over a common axis, and bars with whiskers.

Colours come from the page's style sheet by class (`s0` ... `s9`), so that no inline style is
needed and a strict content security policy holds. All text is escaped here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from statistics import fmean

WIDTH, HEIGHT = 560, 260
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 28, 36
MOST_POINTS = 300  # drawn per line; more are averaged in groups
COLOURS = 10  # classes in the style sheet
LONGEST_NAME = 44  # characters beside a bar
NAMES_WIDTH = 172  # for names at the ends of lines
NAMES_HEIGHT = 12  # between two of them


@dataclass(frozen=True)
class Series:
    """One line: points (x, y) in order of x, finite."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: int = 0
    marked: bool = False  # a dot per point, with its value as a tooltip
    style: str = ""  # "dashed", with rings: published data; "dotted": a variant of another line
    band: Sequence[tuple[float, float, float]] = ()  # (x, low, high) around the line
    errors: Sequence[tuple[float, float]] = ()  # (low, high) of each point; drawn if all are


@dataclass(frozen=True)
class Bar:
    """One bar, with the smallest and largest value around its mean."""

    name: str
    value: float
    low: float
    high: float
    colour: int = 0
    note: str = ""


def short(value: float) -> str:
    """A number in few characters: 1.2k, 3M, 0.05."""
    size = abs(value)
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= limit:
            return f"{value / limit:.3g}{unit}"
    return f"{value:.3g}"


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers that cover [low, high]."""
    size = max(abs(low), abs(high))
    if high - low <= max(1e-9 * size, 1e-200):  # flat, or beyond a float's precision
        high = low + (size if size > 1e-200 else 1.0)
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [float(f"{index * step:.12g}") for index in range(first, last + 1)]


def log_ticks(values: Sequence[float]) -> list[float]:
    """1, 2 and 5 times powers of ten that cover these values, which are above 0."""
    if not values:
        return []
    first, last = (math.floor(math.log10(each)) for each in (min(values), max(values)))
    marks = [float(f"{f}e{power}") for power in range(first, last + 2) for f in (1, 2, 5)]
    low = max((mark for mark in marks if mark <= min(values)), default=marks[0])
    return [mark for mark in marks if low <= mark <= 2.5 * max(values)]


def thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """At most `MOST_POINTS` points, each the mean of a group."""
    if len(points) <= MOST_POINTS:
        return list(points)
    cuts = [index * len(points) // MOST_POINTS for index in range(MOST_POINTS + 1)]
    groups = (points[begin:end] for begin, end in pairwise(cuts))
    return [(fmean(x for x, _ in group), fmean(y for _, y in group)) for group in groups]


def mean_series(name: str, members: Sequence[Series]) -> Series:
    """The mean of several lines at the x that all of them have, in a band of their range."""
    columns = [dict(line.points) for line in members]
    shared = [x for x, _ in members[0].points if all(x in column for column in columns)]
    values = {x: [column[x] for column in columns] for x in shared}
    band = [(x, min(found), max(found)) for x, found in values.items()]
    points = [(x, fmean(found)) for x, found in values.items()]
    return replace(members[0], name=name, points=points, band=band)


def line_chart(
    title: str,
    series: Sequence[Series],
    x_label: str,
    y_name: Callable[[float], str] = short,
    x_name: Callable[[float], str] = short,
    include: Sequence[float] = (),
    log_x: Sequence[float] = (),
    names: bool = False,
) -> str:
    """Lines over one pair of axes.

    Args:
        title: Above the chart.
        series: The lines.
        x_label: Below the axis.
        y_name: Text of a value.
        x_name: Text of a tick of the x-axis.
        include: Values that the y-axis must cover.
        log_x: Ticks of a logarithmic x-axis; empty: a linear one.
        names: Whether the name of each line stands at its end.
    """
    drawn = [(line, thinned(line.points)) for line in series if line.points]
    if not drawn:
        return ""
    xs = [x for _, points in drawn for x, _ in points]
    ys = [y for _, points in drawn for _, y in points] + list(include)
    ys += [y for line, _ in drawn for _, *ends in line.band for y in ends]
    ys += [end for line, _ in drawn for pair in line.errors for end in pair]
    x_ticks = sorted(log_x) or ticks(min(xs), max(xs), 6)
    y_ticks = ticks(min(ys), max(ys))
    end = WIDTH - (NAMES_WIDTH if names else RIGHT)
    reach = [*x_ticks, *xs] if log_x else x_ticks
    x_of = _scale([min(reach), max(reach)], LEFT, end, math.log if log_x else float)
    y_of = _scale(y_ticks, HEIGHT - BOTTOM, TOP)
    parts = [_head(title, HEIGHT, " named" if names else "")]
    for tick in y_ticks:
        at = f"{y_of(tick):.1f}"
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{end}" y1="{at}" y2="{at}"/>')
        place = f'x="{LEFT - 5}" y="{float(at) + 4:.1f}"'
        parts.append(f'<text class="tick end" {place}>{escape(y_name(tick))}</text>')
    for tick in x_ticks:
        place = f'x="{x_of(tick):.1f}" y="{HEIGHT - BOTTOM + 14}"'
        parts.append(f'<text class="tick middle" {place}>{escape(x_name(tick))}</text>')
    middle = (LEFT + end) / 2
    parts.append(
        f'<text class="label middle" x="{middle}" y="{HEIGHT - 6}">{escape(x_label)}</text>'
    )
    for line, points in drawn:
        if line.band:
            lower = thinned([(x, y) for x, y, _ in line.band])
            upper = thinned([(x, y) for x, _, y in line.band])
            outline = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in [*lower, *upper[::-1]])
            parts.append(f'<polygon class="band s{line.colour % COLOURS}" points="{outline}"/>')
        kind = f"s{line.colour % COLOURS}" + (f" {line.style}" if line.style else "")
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in points)
        parts.append(f'<polyline class="line {kind}" points="{path}"/>')
        bars = line.errors if len(line.errors) == len(points) else ()
        for (x, _), (low, high) in zip(points, bars, strict=False):
            ends = (
                f'x1="{x_of(x):.1f}" x2="{x_of(x):.1f}" y1="{y_of(low):.1f}" y2="{y_of(high):.1f}"'
            )
            parts.append(f'<line class="error {kind}" {ends}/>')
        for x, y in points if line.marked or len(points) == 1 else ():
            text = escape(f"{line.name}: {y_name(y)} at {x_name(x)}")
            place = f'cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="3"'
            parts.append(f'<circle class="dot {kind}" {place}><title>{text}</title></circle>')
    if names:
        parts += _names([(line, *points[-1]) for line, points in drawn], x_of, y_of)
    return "".join([*parts, "</svg>"])


def _names(
    ends: Sequence[tuple[Series, float, float]],
    x_of: Callable[[float], float],
    y_of: Callable[[float], float],
) -> list[str]:
    """The names of lines at their ends (x, y), the highest first, pushed down where they meet."""
    parts, free = [], -math.inf
    for line, x, y in sorted(ends, key=lambda each: -each[2]):
        free = max(free + NAMES_HEIGHT, y_of(y) + 4)
        place = f'x="{x_of(x) + 7:.1f}" y="{free:.1f}"'
        kind = f"name s{line.colour % COLOURS}"
        parts.append(f'<text class="{kind}" {place}>{escape(line.name)}</text>')
    return parts


def bar_chart(title: str, bars: Sequence[Bar], name: Callable[[float], str] = short) -> str:
    """Horizontal bars from zero, with whiskers from the smallest to the largest value."""
    if not bars:
        return ""
    row = 22
    names = [_shortened(bar.name) for bar in bars]
    left = max(150, round(6.2 * max(map(len, names))) + 12)
    height = TOP + row * len(bars) + BOTTOM - 12
    ends = [0.0, *(bar.low for bar in bars), *(bar.high for bar in bars)]
    marks = ticks(min(ends), max(ends), 6)
    texts = [f"{name(bar.value)} {bar.note}".strip() for bar in bars]
    right = max(70, round(6.2 * max(map(len, texts))) + 12)
    x_of = _scale(marks, left, WIDTH - RIGHT - right)
    parts = [_head(title, height)]
    bottom = TOP + row * len(bars)
    for mark in marks:
        at, text = f"{x_of(mark):.1f}", escape(name(mark))
        parts.append(f'<line class="grid" x1="{at}" x2="{at}" y1="{TOP}" y2="{bottom}"/>')
        parts.append(f'<text class="tick middle" x="{at}" y="{bottom + 14}">{text}</text>')
    for index, bar in enumerate(bars):
        top, kind = TOP + row * index + 4, f"s{bar.colour % COLOURS}"
        begin, end = sorted((x_of(0.0), x_of(bar.value)))
        width = max(1.0, end - begin)
        middle = top + 7
        parts.append(
            f'<text class="tick end" x="{left - 6}" y="{top + 11}">{escape(names[index])}</text>'
        )
        parts.append(
            f'<rect class="bar {kind}" x="{begin:.1f}" y="{top}" width="{width:.1f}" height="14">'
            f"<title>{escape(f'{bar.name}: {name(bar.value)} {bar.note}')}</title></rect>"
        )
        if bar.high > bar.low:
            ends_of = f'x1="{x_of(bar.low):.1f}" x2="{x_of(bar.high):.1f}"'
            parts.append(f'<line class="whisker" {ends_of} y1="{middle}" y2="{middle}"/>')
        x = max(x_of(bar.high), end) + 5
        parts.append(f'<text class="tick" x="{x:.1f}" y="{top + 11}">{escape(texts[index])}</text>')
    return "".join([*parts, "</svg>"])


def heat_map(
    title: str, rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]]
) -> str:
    """Cells [row][column] of values in [0, 1], the darker the larger, with their numbers."""
    left = max(90, round(6.2 * max(map(len, rows))) + 12)
    cell = min(64.0, (WIDTH - left - RIGHT) / max(1, len(columns)))
    row = 20
    parts = [_head(title, TOP + 20 + row * len(rows) + 8)]
    for number, name in enumerate(columns):
        x = left + cell * (number + 0.5)
        parts.append(f'<text class="tick middle" x="{x:.1f}" y="{TOP + 12}">{escape(name)}</text>')
    for line, name in enumerate(rows):
        y = TOP + 20 + row * line
        parts.append(f'<text class="tick end" x="{left - 6}" y="{y + 14}">{escape(name)}</text>')
        for number, value in enumerate(values[line]):
            x, strength = left + cell * number, min(1.0, max(0.0, value))
            place = f'x="{x:.1f}" y="{y}" width="{cell - 1:.1f}" height="{row - 1}"'
            kind = "inside strong" if strength > 0.55 else "inside"
            hint = escape(f"{name}, {columns[number]}: {value:.2f}")
            parts.append(f'<rect class="cell" {place} fill-opacity="{strength:.2f}"/>')
            middle = f'x="{x + cell / 2:.1f}" y="{y + 14}"'
            parts.append(f'<text class="{kind}" {middle}>{value:.2f}<title>{hint}</title></text>')
    return "".join([*parts, "</svg>"])


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "\u2026"


def _head(title: str, height: int, more: str = "") -> str:
    text = escape(title)
    return (
        f'<svg class="chart{more}" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{text}">'
        f'<text class="title" x="8" y="16">{text}</text>'
    )


def _scale(
    marks: Sequence[float], begin: float, end: float, shape: Callable[[float], float] = float
) -> Callable[[float], float]:
    """A function from values to pixels; `shape` is the logarithm on a logarithmic axis."""
    low, high = shape(marks[0]), shape(marks[-1])
    width = high - low or 1.0
    return lambda value: begin + (shape(value) - low) / width * (end - begin)
