"""The experiments of Deep Pepper revisited (2023), in reports with runs of `experiments.py`.

For each experiment a table: both parts of the exam as means over the seeds with 95 % intervals, and
the Elo difference to its first arm from all seeds' matches. The paper's own statement is beside it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from rookery.arena.elo import estimate_from_pairs
from rookery.papers.deeppepper2018.experiments import RESULTS
from rookery.report.chart import Bar, bar_chart
from rookery.report.groups import Group
from rookery.report.html import charts, paragraph, section, table

# Student's t at 97.5 %, by degrees of freedom.
T = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571}
NORMAL = 1.96

PUBLISHED = {
    "networks": "The paper calls full against parts an insignificant improvement, separate "
    "networks a minor one, and both together a very slight one; no figures.",
    "learning rates": "The paper's curves: cyclic rates are ahead at first (84 % after 2.8 h "
    "instead of 3.5 h) and equal at the end (90.6 %).",
    "squeeze-and-excitation": "The paper's curves: some gain early (84 % after 2.95 h instead of "
    "3.5 h), some loss later (90.2 % instead of 90.6 %).",
    "constants of PUCT": "The paper describes them in words only.",
}
NOTE = (
    "Deep Pepper revisited shows curves of an 'MCTS accuracy' that it does not define and that "
    "look like curves of another game, so its figures cannot be compared with ours. Here accuracy "
    "means: the share of endings with three or four pieces in which the search's choice keeps the "
    "value of the tablebase, and the share of positions in which it is the first choice of "
    "Stockfish. Means over the seeds with 95 % intervals (Student's t); Elo differences to the "
    "first arm are from the matches of all seeds, in colour-swapped pairs."
)


@dataclass(frozen=True)
class Share:
    """Mean of a share over seeds, and its interval."""

    mean: float
    half: float  # half the width of the interval; NaN for a single seed

    def __str__(self) -> str:
        """In per cent."""
        if math.isnan(self.half):
            return f"{self.mean:.1%}"
        return f"{self.mean:.1%} ± {100 * self.half:.1f}"


def share_of(values: Sequence[float]) -> Share:
    """Mean and 95 % interval of one share per seed."""
    count = len(values)
    if count < 2:
        return Share(fmean(values), float("nan"))
    return Share(fmean(values), T.get(count - 1, NORMAL) * stdev(values) / math.sqrt(count))


def study(groups: Sequence[Group], colours: Sequence[tuple[str, int]]) -> str:
    """The section, "" if there are no runs of these experiments."""
    measured = [row for group in groups for run in group.runs for row in _read(run.folder)]
    if not measured:
        return ""
    experiments: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for row in measured:
        arms = experiments.setdefault(str(row["experiment"]), {})
        arms.setdefault(str(row["arm"]), []).append(row)
    order = [name for name in PUBLISHED if name in experiments]
    parts = [paragraph(NOTE)]
    for name in order:
        parts += [f"<h3>{name[0].upper()}{name[1:]}</h3>", paragraph(PUBLISHED[name])]
        # The first arm, which plays no match, leads.
        ordered = sorted(experiments[name].items(), key=lambda arm: "against" in arm[1][0])
        parts += [_charts(ordered), _table(ordered)]
    return section("Deep Pepper revisited: its experiments", "".join(parts))


def _read(folder: Any) -> list[dict[str, Any]]:
    path = folder / RESULTS
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else []


def _charts(arms: Sequence[tuple[str, list[dict[str, Any]]]]) -> str:
    drawings = []
    for key, title in (("endings", "endings: value kept, %"), ("choices", "Stockfish's choice, %")):
        bars = []
        for number, (name, rows) in enumerate(arms):
            share = share_of([float(row[key]) for row in rows])
            half = 0.0 if math.isnan(share.half) else share.half
            ends = (100 * (share.mean - half), 100 * (share.mean + half))
            bars.append(Bar(name, 100 * share.mean, *ends, number))
        drawings.append(bar_chart(title, bars))
    return charts(drawings)


def _table(arms: Sequence[tuple[str, list[dict[str, Any]]]]) -> str:
    heads = ["arm", "seeds", "endings: value kept", "Stockfish's choice", "Elo", "games"]
    rows = []
    for name, measured in arms:
        shares = [str(share_of([float(row[key]) for row in measured]))
                  for key in ("endings", "choices")]  # fmt: skip
        rows.append([name, str(len(measured)), *shares, *_elo(measured)])
    return table(heads, rows)


def _elo(measured: Sequence[dict[str, Any]]) -> tuple[str, str]:
    """Elo difference to the first arm with its interval, and the number of games."""
    pairs = [sum(column) for column in zip(*(row.get("pentanomial", ()) for row in measured),
                                           strict=False)]  # fmt: skip
    if not any(pairs):
        return "", ""
    found = estimate_from_pairs(pairs)
    text = f"{found.elo:+.0f} [{found.elo_low:+.0f}, {found.elo_high:+.0f}]"
    return text, str(2 * sum(pairs))
