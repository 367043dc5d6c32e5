"""The report: tables, curves, sample games and configurations of runs on one page.

All text from runs is escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from rookery.base.registry import load
from rookery.rating.networks import UNBOUNDED
from rookery.report.alarms import alarms
from rookery.report.chart import COLOURS, Bar, Series, bar_chart, line_chart, mean_series
from rookery.report.document import asset, document
from rookery.report.evaluations import (
    counts_of,
    opening,
    rating_chart,
    score_chart,
    score_interval,
)
from rookery.report.groups import Group, group_runs, value_text
from rookery.report.html import charts, legend, paragraph, section, table, wide
from rookery.report.positions import section_of
from rookery.report.read import RunData
from rookery.report.viewer import viewer
from rookery.runs.algorithms import ALGORITHMS
from rookery.runs.reader import number
from rookery.training.budget import duration
from rookery.training.ratings import has_elo

GROUPS = {"losses": "Losses", "values": "Measures", "results": "Results", "endings": "Endings"}
SHARES = ("results", "endings")  # counts, shown as shares of their sum


def make_page(
    runs: Sequence[RunData], title: str = "Training report", sections: Sequence[str] = ()
) -> str:
    """The whole page as HTML; `sections` come before those of the runs."""
    groups = group_runs(runs)
    colours = _colours(runs, groups)
    sentences, figure = opening(runs)
    body = [
        f"<h1>{escape(title)}</h1>",
        "".join(map(paragraph, sentences)),
        legend(colours),
        wide(figure) if figure else "",
        *sections,
        *_studies(runs, groups, colours),
        section("Runs", _summary(runs)),
        section("Evaluation", _evaluation(runs)),
        section("Curves", _curves(runs)),
        section("Games", _games(runs)),
        section("Configuration", _configuration(runs)),
        section("Log", _logs(runs)),
    ]
    return document(title, "".join(body), asset("script.js"))


def _studies(
    runs: Sequence[RunData], groups: Sequence[Group], colours: Sequence[tuple[str, int]]
) -> list[str]:
    """The sections added by the algorithms of these runs."""
    names = sorted({str(run.recipe.get("algorithm")) for run in runs})
    registered = [ALGORITHMS[name] for name in names if name in ALGORITHMS]
    return [load(entry.report)(groups, colours) for entry in registered if entry.report]


def _colours(runs: Sequence[RunData], groups: Sequence[Group]) -> list[tuple[str, int]]:
    """Give every run a colour, or every group if there are too many runs; returns the legend."""
    if len(runs) <= COLOURS:
        for index, run in enumerate(runs):
            run.colour = index
        return [(run.name, run.colour) for run in runs]
    for index, group in enumerate(groups):
        for run in group.runs:
            run.colour = index
    return [(group.name, index) for index, group in enumerate(groups)]


def _lines(
    runs: Sequence[RunData],
    points: Callable[[RunData], list[tuple[float, float]]],
    marked: bool = False,
) -> list[Series]:
    """One line per run; runs that differ only in their seed are a mean in a band of their range."""
    lines = []
    for group in group_runs(runs):
        members = [Series(run.name, points(run), run.colour, marked) for run in group.runs]
        members = [line for line in members if line.points] or members[:1]
        name = f"{group.label}, mean of {len(members)} seeds"
        lines.append(mean_series(name, members) if len(members) > 1 else members[0])
    return lines


# --- Runs ---


def _summary(runs: Sequence[RunData]) -> str:
    heads = ["run", "recipe", "seed", "iterations", "positions", "games", "time", "positions/s"]
    rows = []
    for run in runs:
        last, seconds = run.last, run.seconds
        samples = number(last.get("samples")) or 0
        rows.append(
            [
                run.name,
                str(run.recipe.get("name", "")),
                str(run.recipe.get("run.seed", "")),
                f"{int(number(last.get('iteration')) or 0):,}",
                f"{int(samples):,}",
                f"{int(number(last.get('games')) or 0):,}",
                duration(round(seconds)),
                f"{samples / seconds:,.0f}" if seconds else "",
            ]
        )
    bars = [
        Bar(run.name, minutes := run.seconds / 60, minutes, minutes, run.colour) for run in runs
    ]
    warnings = "".join(
        f"<li>{escape(run.name)}: {escape(alarm)}.</li>" for run in runs for alarm in alarms(run)
    )
    text = table(heads, rows) + (f"<ul>{warnings}</ul>" if warnings else "")
    return text + charts([bar_chart("Training time in minutes", bars)])


# --- Evaluation ---


def _evaluation(runs: Sequence[RunData]) -> str:
    opponents = dict.fromkeys(name for run in runs for name in run.opponents())
    text = "".join(_opponent(runs, name) for name in opponents)
    graded = dict.fromkeys(name for run in runs for name in run.opponents(matches=False))
    text += "".join(section_of(runs, name) for name in graded)
    ratings = rating_chart(runs)
    if ratings:
        text += f"<h3>On the ladder of opponents</h3>{charts([ratings])}"
    return text or "<p>No evaluation yet.</p>"


def _opponent(runs: Sequence[RunData], opponent: str) -> str:
    drawings = [
        score_chart(runs, opponent, key, label)
        for key, label in (("iteration", "iterations"), ("seconds", "minutes of training"))
    ]
    groups = group_runs(runs)
    several = any(len(group.runs) > 1 for group in groups)
    title = "Last evaluation: score in per cent, "
    title += "of several runs mean and range" if several else "with 95 % interval"
    drawings.append(bar_chart(title, _bars(groups, opponent)))
    heads = ["run", "games", "wins", "draws", "losses", "score", "Elo difference",
             "as White", "as Black"]  # fmt: skip
    rows = [_row(run, run.against(opponent)[-1]) for run in runs if run.against(opponent)]
    text = f"<h3>Against {escape(opponent)}</h3>"
    return text + table(heads, rows) + charts(drawings)


def _bars(groups: Sequence[Group], opponent: str) -> list[Bar]:
    """One bar per group of runs that differ only in their seed."""
    bars = []
    for group in groups:
        last = [rows[-1] for run in group.runs if (rows := run.against(opponent))]
        found = [interval for row in last if (interval := score_interval(row)) is not None]
        if not found:
            continue
        games = sum(sum(counts_of(row)) for row in last)
        colour = group.runs[0].colour
        if len(found) == 1:
            bars.append(Bar(group.label, *found[0], colour, f"({games} games)"))
        else:
            scores = [interval[0] for interval in found]
            note = f"({len(found)} runs, {games} games)"
            mean = sum(scores) / len(scores)
            bars.append(Bar(group.label, mean, min(scores), max(scores), colour, note))
    return bars


def _row(run: RunData, row: dict[str, Any]) -> list[str]:
    counts = [f"{int(number(row.get(key)) or 0):,}" for key in ("games", "wins", "draws", "losses")]
    score = number(row.get("score"))
    sides = []
    for side in ("as_white", "as_black"):
        part = _mapping(row.get(side))
        sides.append(" ".join(
            f"{sign}{int(number(part.get(key)) or 0)}"
            for sign, key in (("+", "wins"), ("=", "draws"), ("-", "losses"))
        ))  # fmt: skip
    return [
        run.name,
        *counts,
        "" if score is None else f"{100 * score:.1f} %",
        _difference(row),
        *sides,
    ]


def _difference(row: dict[str, Any]) -> str:
    """An Elo difference with its interval; the known end if it won or lost every game."""
    elo, low, high = (number(row.get(key)) for key in ("elo", "elo_low", "elo_high"))
    if elo is None or not has_elo(row):
        return ""
    if low is None or high is None:
        return f"{elo:+.0f}"
    if high >= UNBOUNDED:
        return f"above {low:+.0f}"
    return f"below {high:+.0f}" if low <= -UNBOUNDED else f"{elo:+.0f} [{low:+.0f}, {high:+.0f}]"


# --- Curves ---


def _curves(runs: Sequence[RunData]) -> str:
    parts = []
    if len(group_runs(runs)) < len(runs):
        text = (
            "A line in a band is the mean of runs that differ only in their seed, and their range."
        )
        parts.append(f"<p>{text}</p>")
    for group, heading in GROUPS.items():
        keys = dict.fromkeys(
            key for run in runs for row in run.rows for key in _mapping(row.get(group))
        )
        drawings = []
        for key in keys:
            lines = _lines(runs, lambda run, at=(group, key): _points(run, *at))  # type: ignore[misc]
            share = group in SHARES
            title = f"{key} (share)" if share else key
            if not any(y for line in lines for _, y in line.points):
                continue  # zero throughout: a feature that is off
            ends = [0.0, 1.0] if share else []
            drawings.append(line_chart(title, lines, "iterations", include=ends))
        if any(drawings):
            parts.append(f"<h3>{heading}</h3>{charts(drawings)}")
    speed = _lines(runs, lambda run: _points(run, "", "samples_per_second"))
    chart = line_chart("Positions per second", speed, "iterations", include=[0.0])
    return "".join([*parts, f"<h3>Speed</h3>{charts([chart])}" if chart else ""])


def _points(run: RunData, group: str, key: str) -> list[tuple[float, float]]:
    points = []
    for row in run.rows:
        values = _mapping(row.get(group)) if group else row
        value, x = number(values.get(key)), number(row.get("iteration"))
        if group in SHARES:
            total = sum(number(count) or 0.0 for count in values.values())
            value = (value or 0.0) / total if total else None
        if value is not None and x is not None:
            points.append((x, value))
    return points


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


# --- Games ---


def _games(runs: Sequence[RunData]) -> str:
    return viewer(
        [replace(game, title=f"{run.name}, {game.title}") for run in runs for game in run.games]
    )


# --- Configuration ---


def _configuration(runs: Sequence[RunData]) -> str:
    keys = dict.fromkeys(key for run in runs for key in run.recipe)
    same: list[list[str]] = []
    different: list[list[str]] = []
    for key in keys:
        values = [value_text(run.recipe.get(key)) for run in runs]
        (same if len(set(values)) == 1 else different).append([key, *values])
    heads = ["key", *(run.name for run in runs)]
    parts = []
    if different:
        parts.append(f"<h3>Differences</h3>{table(heads, different, 'different')}")
    if same:
        shared = [row[:2] for row in same]
        title = "The same in all runs" if len(runs) > 1 else "All keys"
        listed = table(["key", "value"], shared)
        parts.append(f"<details><summary>{title} ({len(same)})</summary>{listed}</details>")
    return "".join(parts)


def _logs(runs: Sequence[RunData]) -> str:
    return "".join(
        f"<details><summary>{escape(run.name)}</summary>"
        f"<pre>{escape(chr(10).join(run.log))}</pre></details>"
        for run in runs
        if run.log
    )
