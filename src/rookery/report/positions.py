"""Evaluations that grade positions one by one: positions won or held, no games and no Elo."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rookery.report.chart import Bar, Series, bar_chart, line_chart
from rookery.report.groups import Group, group_runs
from rookery.report.html import charts, table
from rookery.report.read import RunData
from rookery.runs.graded import Graded, graded
from rookery.runs.reader import number

COUNTERS = {"iteration": ("iterations", 1.0), "seconds": ("minutes of training", 60.0)}
WHAT = "positions won or held, in per cent"


def section_of(runs: Sequence[RunData], opponent: str) -> str:
    """Heading, table and charts of the positions against one opponent."""
    last = [(run, found) for run in runs if (found := newest(run, opponent)) is not None]
    holds = any(found.to_hold for _, found in last)
    heads = ["run", "won", *(["held", "won or held"] if holds else ["share"])]
    rows = [_row(run.name, found, holds) for run, found in last]
    drawings = [solved_chart(runs, opponent, key) for key in COUNTERS]
    drawings.append(bar_chart(f"Last evaluation: {WHAT}", _bars(runs, opponent)))
    text = f"<h3>Positions against {escape(opponent)}</h3>"
    return text + table(heads, rows) + charts(drawings)


def solved_chart(runs: Sequence[RunData], opponent: str, key: str, note: str = "") -> str:
    """The share of the positions that were won or held, over a counter."""
    label, scale = COUNTERS[key]
    lines = []
    for run in runs:
        points = [
            ((number(row.get(key)) or 0.0) / scale, 100 * share)
            for row in run.against(opponent, matches=False)
            if (share := _share(graded(row))) is not None
        ]
        lines.append(Series(run.name, points, run.colour, marked=True))
    return line_chart(WHAT.capitalize(), lines, label + note, include=[0.0, 100.0])


def newest(run: RunData, opponent: str) -> Graded | None:
    """The last grading against an opponent."""
    rows = run.against(opponent, matches=False)
    return graded(rows[-1]) if rows else None


def _row(name: str, found: Graded, holds: bool) -> list[str]:
    won = f"{found.won:,} of {found.to_win:,} positions" if found.to_win else ""
    held = f"{found.held:,} of {found.to_hold:,} positions" if found.to_hold else ""
    return [name, won, *([held] if holds else []), _per_cent(found)]


def _per_cent(found: Graded) -> str:
    share = found.share
    return "" if share is None else f"{100 * share:.1f} %"


def _share(found: Graded | None) -> float | None:
    return None if found is None else found.share


def _bars(runs: Sequence[RunData], opponent: str) -> list[Bar]:
    """One bar per group of runs that differ only in their seed."""
    bars = (_bar(group, opponent) for group in group_runs(runs))
    return [bar for bar in bars if bar is not None]


def _bar(group: Group, opponent: str) -> Bar | None:
    found = [last for run in group.runs if (last := newest(run, opponent)) is not None]
    shares = [100 * each.share for each in found if each.share is not None]
    if not shares:
        return None
    count = sum(each.to_win + each.to_hold for each in found)
    note = f"({len(shares)} runs, {count:,} positions)" if len(shares) > 1 else f"({count:,})"
    mean = sum(shares) / len(shares)
    return Bar(group.label, mean, min(shares), max(shares), group.runs[0].colour, note)
