"""The charts of a race: strength, skills and positions over processor time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from statistics import fmean

from rookery.race.answer import ways_in_words
from rookery.race.methods import METHODS
from rookery.race.plan import Entrant
from rookery.race.published import PUBLISHED
from rookery.race.results import RatedPoint, Results
from rookery.race.skills import ENDINGS, MATES, SKILLS, TACTICS, chance
from rookery.report.chart import Series, line_chart, short

GREY = 8  # colour of what is not a method
LABEL = "core-minutes"
MOST_ERROR = 300.0  # Elo; longer bars are cut off there


def minutes_text(minutes: float) -> str:
    """Core-minutes in few characters."""
    return f"{minutes:.3g}"


def colours(results: Results) -> list[tuple[str, int]]:
    """The legend: titles of methods and their colours; grey is left for the papers."""
    return [(METHODS.find(name).title, _colour(results, name)) for name in results.methods()]


def _colour(results: Results, method: str) -> int:
    place = results.methods().index(method)
    return place if place < GREY else place + 1


def _start(results: Results) -> float:
    """Where the untrained network stands on the logarithmic axis."""
    return results.race.settings.points()[0] / 2


def _axis(results: Results) -> tuple[list[float], Callable[[float], str]]:
    """Ticks of the axis of time, and their texts."""
    start = _start(results)
    marks = [start, *results.race.settings.points()]
    return marks, lambda minutes: "0" if minutes == start else minutes_text(minutes)


def _grouped(
    results: Results, entrants: Iterable[tuple[Entrant, float]]
) -> list[tuple[float, list[float]]]:
    """Values by planned point: its mean time on the axis, and the values of the seeds."""
    groups: dict[float, list[tuple[float, float]]] = {}
    for entrant, value in entrants:
        groups.setdefault(entrant.point, []).append((entrant.minutes, value))
    found = []
    for point in sorted(groups):
        minutes = fmean(minutes for minutes, _ in groups[point])
        found.append((minutes or _start(results), [value for _, value in groups[point]]))
    return found


def _line(results: Results, method: str, values: Iterable[tuple[Entrant, float]]) -> Series:
    """A method's mean over seeds in a band of their range."""
    groups = _grouped(results, values)
    several = any(len(found) > 1 for _, found in groups)
    band = [(x, min(found), max(found)) for x, found in groups] if several else []
    return Series(
        METHODS.find(method).title,
        [(x, fmean(found)) for x, found in groups],
        _colour(results, method),
        marked=True,
        band=band,
    )


def strength_chart(results: Results, way: str) -> str:
    """Elo over time of all methods in one way of playing, with the papers' levels."""
    lines = []
    for name in results.methods():
        rated = [each for each in results.points if (each.entrant.method, each.way) == (name, way)]
        line = _line(results, name, ((each.entrant, each.estimate.elo) for each in rated))
        if not line.points:
            continue
        lines.append(line if line.band else replace(line, errors=_errors(rated)))
    if not lines:
        return ""
    marks, text = _axis(results)
    ends = (marks[0], marks[-1])
    for each in PUBLISHED:
        elo = each.elo(results.anchors)
        if each.way == way and elo is not None:
            lines.append(Series(each.title, [(x, elo) for x in ends], GREY, style="dashed"))
    title = f"Elo {ways_in_words(results)[way]}"
    return line_chart(title, lines, LABEL, _whole, text, log_x=marks, names=True)


def _errors(rated: Iterable[RatedPoint]) -> list[tuple[float, float]]:
    """Intervals of a single seed; one without bound would leave nothing else to see."""
    ordered = sorted(rated, key=lambda each: each.entrant.minutes)
    return [
        (max(e.low, e.elo - MOST_ERROR), min(e.high, e.elo + MOST_ERROR))
        for e in (each.estimate for each in ordered)
    ]


def _whole(value: float) -> str:
    return f"{value:.0f}"


def skill_charts(results: Results) -> list[str]:
    """A small chart for each skill."""
    owners = {entrant.name: entrant for entrant in results.entrants}
    marks, text = _axis(results)
    drawings = []
    for skill in SKILLS:
        rows = [row for row in results.skills if row.skill == skill.name]
        lines = []
        for name in results.methods():
            values = [
                (owners[row.player], 100 * row.solved / row.total)
                for row in rows
                if owners[row.player].method == name
            ]
            lines.append(_line(results, name, values))
        if skill.name in (MATES, TACTICS, ENDINGS) and rows:
            level = 100 * chance(skill.name)
            lines.append(
                Series("at random", [(marks[0], level), (marks[-1], level)], GREY, style="dashed")
            )
        chart = line_chart(skill.title, lines, LABEL, _whole, text, (0.0, 100.0), marks)
        drawings += [chart] if rows else []
    return drawings


def samples_chart(results: Results) -> str:
    """Positions learnt from over time."""
    marks, text = _axis(results)
    lines = [
        _line(
            results,
            name,
            ((each, float(each.samples)) for each in results.entrants if each.method == name),
        )
        for name in results.methods()
    ]
    return line_chart("Positions learnt from", lines, LABEL, short, text, log_x=marks)
