"""Fair timing on noisy machines: interleaved short repetitions, and their medians.

In every round each participant gets one repetition, so that a busy phase of the machine affects
all of them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

REPETITIONS = 3
SECONDS = 2.0  # per repetition
Participant = Callable[[float], float]  # works for about so many seconds; returns units per second


@dataclass(frozen=True)
class Comparison:
    """Rookery and one peer, both in the unit of the result."""

    peer: str
    peer_value: float
    value: float  # ours, under the conditions nearest to the peer's
    conditions: str

    @property
    def ratio(self) -> float:
        """Our value divided by the peer's."""
        return self.value / self.peer_value


@dataclass
class Result:
    """The result of one benchmark."""

    value: float
    unit: str
    conditions: str
    comparisons: list[Comparison] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)  # peer: reason and remedy
    details: Mapping[str, float] = field(default_factory=dict)  # further values in the same unit

    def as_json(self) -> dict[str, object]:
        """Return plain data; `peer`, `peer_value` and `ratio` are those of the first comparison."""
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
    """Repeat `work`, which returns its units, for about `seconds`; returns units per second."""
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
    """Return the median of each participant's interleaved repetitions."""
    values: dict[str, list[float]] = {name: [] for name in participants}
    for _ in range(repetitions):
        for name, participant in participants.items():
            values[name].append(participant(seconds))
    return {name: statistics.median(found) for name, found in values.items()}
