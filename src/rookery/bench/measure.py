"""Fair timing on noisy machines: short repetitions in turn, the median of each participant.

A benchmark measures us and its peers in the same run. Every round gives each participant one
repetition, so that a busy minute of the machine falls on all of them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

REPETITIONS = 3
SECONDS = 2.0  # of one repetition

# Measures for about so many seconds and returns units per second.
Participant = Callable[[float], float]


@dataclass(frozen=True)
class Comparison:
    """Us against one peer, both in the unit of the result."""

    peer: str
    peer_value: float
    value: float  # ours, under the conditions nearest to the peer's
    conditions: str

    @property
    def ratio(self) -> float:
        """How many times the peer's value ours is."""
        return self.value / self.peer_value


@dataclass
class Result:
    """What one benchmark found."""

    value: float
    unit: str
    conditions: str
    comparisons: list[Comparison] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)  # peer: why, and the way out
    details: Mapping[str, float] = field(default_factory=dict)  # further values in the same unit

    def as_json(self) -> dict[str, object]:
        """Plain data; `peer`, `peer_value` and `ratio` are those of the first comparison."""
        rows: list[dict[str, object]] = [
            {
                "peer": comparison.peer,
                "peer_value": round(comparison.peer_value, 1),
                "value": round(comparison.value, 1),
                "ratio": round(comparison.ratio, 3),
                "conditions": comparison.conditions,
            }
            for comparison in self.comparisons
        ]
        first = {key: rows[0][key] for key in ("peer", "peer_value", "ratio")} if rows else {}
        return {
            "value": round(self.value, 1),
            "unit": self.unit,
            "conditions": self.conditions,
            **first,
            "comparisons": rows,
            "missing": dict(self.missing),
            "details": {name: round(value, 1) for name, value in self.details.items()},
        }


def rate(work: Callable[[], int], seconds: float) -> float:
    """Repeat `work`, which returns how many units it did, for about `seconds`; units per second."""
    done = 0
    begin = now = time.perf_counter()
    while now - begin < seconds:
        done += work()
        now = time.perf_counter()
    return done / (now - begin)


def interleave(
    participants: Mapping[str, Participant],
    repetitions: int = REPETITIONS,
    seconds: float = SECONDS,
) -> dict[str, float]:
    """Median of each participant's repetitions, taken in turn."""
    values: dict[str, list[float]] = {name: [] for name in participants}
    for _ in range(repetitions):
        for name, participant in participants.items():
            values[name].append(participant(seconds))
    return {name: statistics.median(found) for name, found in values.items()}
