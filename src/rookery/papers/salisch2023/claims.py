"""The conclusions of Salisch 2023, drawn from one run per version, tested over several seeds.

Each claim compares two versions that differ in one setting. A run contributes one number, its mean
over the checkpoints common to all runs of both versions, because checkpoints of one run are not
independent. The interval is Welch's, from the spread between seeds, which includes the noise of
both training and evaluation. One more claim is about the time of training.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, variance

from rookery.report.html import paragraph, table

# Student's t for 95 % (two-sided), for 1, 2, ... degrees of freedom.
STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)


@dataclass(frozen=True)
class Claim:
    """Version `new` is better (or worse) than version `old`."""

    text: str
    new: int
    old: int
    better: bool = True


CLAIMS = (
    Claim("rewards for book and tablebase moves help", 3, 2),
    Claim("self-play helps", 4, 3),
    Claim("leaving out the KL penalty helps", 5, 4),
    Claim("an entropy bonus hurts", 6, 5, better=False),
    Claim("a clip of 0.25 hurts", 7, 5, better=False),
    Claim("GAE with lambda 0.9 hurts", 8, 5, better=False),
    Claim("a learning rate of 3e-4 helps", 9, 5),
    Claim("a discount of 1 helps", 10, 9),
)

# Its reason (section 4.11): the policy computes a move faster than the random player draws one.
TIME_CLAIM = Claim("self-play cuts the training time", 4, 3, better=False)

Curve = Mapping[int, float]  # of one run: iteration -> wins minus losses in 1000 games


@dataclass(frozen=True)
class Difference:
    """Mean of the new version minus the old; `margin` is infinite if either has only one run."""

    value: float
    margin: float
    checkpoints: int


def compare(new: Sequence[Curve], old: Sequence[Curve]) -> Difference | None:
    """The difference over the checkpoints common to all runs; None if there are none."""
    common = set.intersection(*(set(curve) for curve in (*new, *old))) if new and old else set()
    if not common:
        return None
    sides = [[mean(curve[at] for at in common) for curve in curves] for curves in (new, old)]
    value = mean(sides[0]) - mean(sides[1])
    return Difference(value, _margin(*sides), len(common))


def _margin(first: Sequence[float], second: Sequence[float]) -> float:
    """Half the 95 % interval of the difference of two means (Welch)."""
    if min(len(first), len(second)) < 2:
        return math.inf
    parts = [variance(side) / len(side) for side in (first, second)]
    if sum(parts) == 0.0:
        return 0.0
    weights = (part**2 / (len(side) - 1) for part, side in zip(parts, (first, second), strict=True))
    freedom = int(sum(parts) ** 2 / sum(weights))
    return STUDENT[min(max(freedom, 1), len(STUDENT)) - 1] * math.sqrt(sum(parts))


def verdict(claim: Claim, found: Difference) -> str:
    """Whether the runs support a claim."""
    if math.isinf(found.margin):
        return "open: one run is not enough"
    gain = found.value if claim.better else -found.value
    if abs(gain) <= found.margin:
        return "not shown"
    return "supported" if gain > 0 else "contradicted"


def rows(
    curves: Mapping[int, Sequence[Curve]], minutes: Mapping[int, Sequence[float]]
) -> list[list[str]]:
    """A table row for each claim with runs of both versions.

    Args:
        curves: The runs by version.
        minutes: Of training per 1000 iterations, of the runs by version.
    """
    lines = []
    for claim in CLAIMS:
        new, old = curves.get(claim.new, ()), curves.get(claim.old, ())
        found = compare(new, old)
        if found is not None:
            lines.append(_row(claim, len(new), len(old), found, str(found.checkpoints), "+.0f"))
    new_times, old_times = (
        [{1000: value} for value in minutes.get(version, ())]
        for version in (TIME_CLAIM.new, TIME_CLAIM.old)
    )
    found = compare(new_times, old_times)
    if found is not None:
        row = _row(TIME_CLAIM, len(new_times), len(old_times), found, "", "+.1f")
        row[4] += " minutes"
        lines.append(row)
    return lines


def _row(
    claim: Claim, new: int, old: int, found: Difference, checkpoints: str, form: str
) -> list[str]:
    value = f"{found.value:{form}}"
    if math.isfinite(found.margin):
        low, high = found.value - found.margin, found.value + found.margin
        value += f" [{low:{form}}, {high:{form}}]"
    versions = f"v{claim.new} - v{claim.old}"
    return [claim.text, versions, f"{new}, {old}", checkpoints, value, verdict(claim, found)]


def section(curves: Mapping[int, Sequence[Curve]], minutes: Mapping[int, Sequence[float]]) -> str:
    """The claims as a table with its heading; "" if no two versions can be compared."""
    lines = rows(curves, minutes)
    if not lines:
        return ""
    note = (
        "Difference in wins minus losses per 1000 games, averaged over the checkpoints common to "
        "all runs of both versions, with a 95 % interval from the spread between seeds; the last "
        "line is in minutes of training per 1000 iterations."
    )
    heads = ["claim", "versions", "runs", "checkpoints", "difference", "our runs say"]
    title = "<h3>The claims of the paper over several seeds</h3>"
    return title + paragraph(note) + table(heads, lines, "words")
