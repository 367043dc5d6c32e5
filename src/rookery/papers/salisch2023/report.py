"""The results of Salisch 2023 next to ours, in reports with runs of `ppo-v1` ... `ppo-v10`.

Figure 4.19 (all versions by checkpoint), table 4.1 (by colour), figure 4.20 (training time) and
the paper's claims over all seeds. Evaluations are wins minus losses in 1000 games against a random
mover. The paper's values are from its text and tables; its figures are images.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from statistics import mean
from typing import Any

from rookery.papers.salisch2023 import claims
from rookery.report.chart import Bar, Series, bar_chart, line_chart
from rookery.report.groups import Group, net_wins
from rookery.report.html import legend, paragraph, section, table, wide
from rookery.runs.reader import number as number_of

OPPONENT = "random"
VERSION = re.compile(r"ppo-v(10|[1-9])")

# What each version changes (sections 4.1-4.10).
CHANGES = {
    1: "random opponent, win 100, draws claimed",
    2: "win 1000, draws automatic",
    3: "+10 for book and tablebase moves",
    4: "self-play",
    5: "no KL penalty",
    6: "entropy 0.005 falling to 0",
    7: "clip 0.25",
    8: "GAE with lambda 0.9",
    9: "learning rate 3e-4",
    10: "discount 1",
}
# Iteration: wins minus losses, where the text gives the number (for version 8: table 4.1).
BY_COLOUR = {  # White, Black, of 500 games each
    100: (-22, -37), 200: (-13, -13), 300: (-17, -16), 400: (-12, 14), 500: (-19, 19),
    600: (-17, -1), 700: (-19, -11), 800: (-23, 6), 900: (-21, 3), 1000: (-20, -9),
}  # fmt: skip
PUBLISHED: dict[int, dict[int, int]] = {
    1: {1000: 37},
    3: {900: 74},
    5: {900: 98},
    8: {iteration: sum(pair) for iteration, pair in BY_COLOUR.items()},
    9: {700: 47, 800: 135, 900: 51},
}
# Upper bounds for the best checkpoints of the other versions, from the text.
BOUNDS = {2: (37, "v1"), 4: (74, "v3"), 6: (98, "v5"), 7: (70, "its text"), 10: (135, "v9")}


def study(groups: Sequence[Group], colours: Sequence[tuple[str, int]]) -> str:
    """The section, "" if there are no runs of these recipes; `colours` is the page's legend."""
    versions = [
        (group, int(found[1]))
        for group in groups
        if (found := VERSION.fullmatch(group.recipe))
        and any(run.against(OPPONENT) for run in group.runs)
    ]
    if not versions:
        return ""
    versions.sort(key=lambda pair: pair[1])
    note = (
        "Wins minus losses in 1000 games against a random mover. Solid lines are our means over "
        "the runs of a version that reached the checkpoint (dotted: a variant); dashed lines and "
        "rings are values from the paper's text and tables. The paper has one run per version, "
        "trained on a GPU."
    )
    own = [(group.name, number - 1) for group, number in versions]
    parts = [
        paragraph(note),
        "" if colours == own else legend(own),
        wide(_by_checkpoint(versions)),
        "<h3>Where the versions end (figure 4.19)</h3>",
        _ends(versions),
        "<h3>By colour (table 4.1)</h3>",
        paragraph(
            "Wins minus losses per 500 games as White / as Black; the paper prints only version 8."
        ),
        _by_colour(versions),
        "<h3>Training time (figure 4.20)</h3>",
        wide(_time(versions)),
        claims.section(curves(versions), minutes(versions)),
    ]
    return section("Salisch 2023: ten versions of PPO", "".join(parts))


def curves(versions: Sequence[tuple[Group, int]]) -> dict[int, list[dict[int, float]]]:
    """Wins minus losses by iteration for each evaluated run of each version, without variants."""
    found: dict[int, list[dict[int, float]]] = {}
    for group, number in versions:
        if not group.changes:
            found.setdefault(number, []).extend(
                {int(row.get("iteration") or 0): net_wins(row) for row in run.against(OPPONENT)}
                for run in group.runs
                if run.against(OPPONENT)
            )
    return found


def _rounds(group: Group) -> list[list[dict[str, Any]]]:
    """The first evaluations of all runs, then the second ones of the runs that have one, ..."""
    found = zip_longest(*(run.against(OPPONENT) for run in group.runs))
    return [[row for row in rows if row is not None] for rows in found]


def _iteration(rows: Sequence[dict[str, Any]]) -> float:
    return mean(float(row.get("iteration") or 0) for row in rows)


def _by_checkpoint(versions: Sequence[tuple[Group, int]]) -> str:
    lines = []
    for group, number in versions:
        points = [(_iteration(rows), mean(map(net_wins, rows))) for rows in _rounds(group)]
        style = "dotted" if group.changes else ""
        lines.append(Series(group.name, points, number - 1, marked=True, style=style))
    for number in sorted({number for _, number in versions}):
        points = [(float(x), float(y)) for x, y in PUBLISHED.get(number, {}).items()]
        lines.append(Series(f"v{number}, paper", points, number - 1, marked=True, style="dashed"))
    title = "Figure 4.19: wins minus losses in 1000 games"
    return line_chart(title, lines, "iterations", include=[0.0])


def minutes(versions: Sequence[tuple[Group, int]]) -> dict[int, list[float]]:
    """Minutes of training per 1000 iterations by version, without variants of the algorithm."""
    found: dict[int, list[float]] = {}
    for group, number in versions:
        if all(change.startswith("run.") for change in group.changes.split(", ") if change):
            found.setdefault(number, []).extend(_minutes(group))
    return found


def _minutes(group: Group) -> list[float]:
    done = [(run.seconds, number_of(run.last.get("iteration"))) for run in group.runs]
    return [seconds / 60 * 1000 / count for seconds, count in done if count]


def _time(versions: Sequence[tuple[Group, int]]) -> str:
    bars = []
    for group, number in versions:
        times = _minutes(group)
        if not times:
            continue
        note = f"({len(times)} runs)" if len(times) > 1 else ""
        bars.append(Bar(group.label, mean(times), min(times), max(times), number - 1, note))
    return bar_chart("Figure 4.20: minutes of training per 1000 iterations", bars)


def _ends(versions: Sequence[tuple[Group, int]]) -> str:
    heads = ["version", "change", "runs", "paper: best", "ours: last", "ours: best", "v. paper"]
    rows = []
    for group, number in versions:
        rounds = _rounds(group)
        last = [net_wins(row) for row in rounds[-1]]
        best = max(rounds, key=lambda found: mean(map(net_wins, found)))
        value, at = published(number)
        paper = f"{value:+d} at {at}" if at else f"below {value:+d} ({BOUNDS[number][1]})"
        rows.append(
            [
                group.name,
                CHANGES[number],
                str(len(group.runs)),
                paper,
                f"{_spread(last)} at {_iteration(rounds[-1]):.0f}{_of(last, group)}",
                f"{mean(map(net_wins, best)):+.0f} at {_iteration(best):.0f}",
                "ends above" if mean(last) > value else "not above",
            ]
        )
    return table(heads, rows, "words")


def published(number: int) -> tuple[int, int]:
    """The paper's best value of a version and its iteration, or an upper bound and 0."""
    if number not in PUBLISHED:
        return BOUNDS[number][0], 0
    at, value = max(PUBLISHED[number].items(), key=lambda pair: pair[1])
    return value, at


def _spread(values: Sequence[float]) -> str:
    text = f"{mean(values):+.0f}"
    return text if len(values) == 1 else f"{text} ({min(values):+.0f} to {max(values):+.0f})"


def _of(values: Sequence[float], group: Group) -> str:
    """How many runs reached a checkpoint, if not all of them."""
    reached, runs = len(values), len(group.runs)
    return "" if reached == runs else f", {reached} of {runs} runs"


def _by_colour(versions: Sequence[tuple[Group, int]]) -> str:
    columns: list[tuple[str, dict[float, str]]] = []
    for group, number in versions:
        cells = {}
        for rows in _rounds(group):
            white, black = (
                mean(net_wins(row, side, 500.0) for row in rows)
                for side in ("as_white", "as_black")
            )
            cells[_iteration(rows)] = f"{white:+.0f} / {black:+.0f}"
        columns.append((group.name, cells))
        if number == 8:
            paper = {float(at): f"{pair[0]:+d} / {pair[1]:+d}" for at, pair in BY_COLOUR.items()}
            columns.append(("v8, paper", paper))
    iterations = sorted({at for _, cells in columns for at in cells})
    lines = [[f"{at:.0f}", *(cells.get(at, "") for _, cells in columns)] for at in iterations]
    return table(["iteration", *(name for name, _ in columns)], lines, "figures")
