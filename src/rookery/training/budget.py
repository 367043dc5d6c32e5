"""How long a run may last: `30m`, `1h30m`, `2h`, `1000it`, `500000samples`, `2000games`.

A budget is the total of a run over all its sessions: a run of 2 h that was stopped after half an
hour has 1.5 h left when resumed. `+1h` or `+100it` is added to what has been done so far. Time is
measured during sessions by a monotonic clock, or as processor time (`run.clock`), including
evaluations and checkpoints, but not the work lost to a crash. Counts are reached by whole
iterations, so a run may do a few samples or games more; `0it` makes the untrained network.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = re.compile(r"(?:\d+(?:\.\d+)?[smhd])+")
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
_COUNT = re.compile(r"(\d+)(it|samples|games)")
_COUNTED = {"it": "iterations", "samples": "samples", "games": "games"}  # by suffix


class Done(Protocol):
    """What a run has done so far."""

    seconds: float
    iterations: int
    samples: int
    games: int


@dataclass(frozen=True)
class Budget:
    """A total number of one of these; the others are None."""

    seconds: float | None = None
    iterations: int | None = None
    samples: int | None = None
    games: int | None = None

    @property
    def kind(self) -> str:
        """The quantity that is limited."""
        kinds = ("iterations", "samples", "games")
        return next((kind for kind in kinds if getattr(self, kind) is not None), "seconds")

    def progress(self, done: Done) -> float:
        """Share of the budget used, [0, 1]."""
        total = getattr(self, self.kind)
        return min(1.0, getattr(done, self.kind) / total) if total else 1.0

    def __str__(self) -> str:
        """In the form that `parse_budget` reads."""
        if self.seconds is not None:
            return duration(self.seconds)
        suffix = next(suffix for suffix, kind in _COUNTED.items() if kind == self.kind)
        return f"{getattr(self, self.kind)}{suffix}"


def parse_budget(text: str, done: Done | None = None) -> Budget:
    """Read a budget; `+` adds to what has been `done` so far."""
    more = done if text.strip().startswith("+") else None
    body = text.strip().removeprefix("+")
    if match := _COUNT.fullmatch(body):
        kind = _COUNTED[match[2]]
        count = int(match[1]) + (getattr(more, kind) if more else 0)
        if 0 <= count < 1 << 53:
            return Budget(**{kind: count})
    elif _TIME.fullmatch(body):
        total = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(body))
        total += more.seconds if more else 0.0
        if 0.0 < total < 1e9:
            return Budget(seconds=total)
    raise ValueError(
        f"budget {text!r} is not a time such as 30m, 2h or 1h30m, nor a count such as 1000it, "
        "500000samples or 2000games (+30m or +100it: that much more)"
    )


def duration(seconds: float) -> str:
    """Seconds in the format of `parse_budget`: `2h`, `1h30m`, `45s`, `2.5s`."""
    if seconds < 60:
        return f"{round(seconds, 3):g}s"
    rest, text = round(seconds), ""
    for unit in ("d", "h", "m", "s"):
        number, rest = divmod(rest, int(_UNITS[unit]))
        text += f"{number}{unit}" if number else ""
    return text
