"""How long a run may last: `30m`, `1h30m`, `2h`, `1000it`.

A budget is the total of a run over all its sessions: a run of 2 h that was stopped after half an
hour has 1.5 h left when resumed. `+1h` or `+100it` is added to what has been done so far. Time is
measured by a monotonic clock during sessions, including evaluations and checkpoints, but not the
work lost to a crash.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = re.compile(r"(?:\d+(?:\.\d+)?[smhd])+")
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
_ITERATIONS = re.compile(r"(\d+)it")


@dataclass(frozen=True)
class Budget:
    """A total number of seconds or of iterations."""

    seconds: float | None = None
    iterations: int | None = None

    def progress(self, seconds: float, iterations: int) -> float:
        """Share of the budget used, [0, 1]."""
        if self.iterations is not None:
            return min(1.0, iterations / self.iterations)
        return min(1.0, seconds / (self.seconds or 1.0))

    def __str__(self) -> str:
        """In the form that `parse_budget` reads."""
        if self.iterations is not None:
            return f"{self.iterations}it"
        return duration(self.seconds or 0.0)


def parse_budget(text: str, seconds: float = 0.0, iterations: int = 0) -> Budget:
    """Read a budget; `+` adds to the `seconds` and `iterations` done so far."""
    more = text.strip().startswith("+")
    body = text.strip().removeprefix("+")
    if match := _ITERATIONS.fullmatch(body):
        count = int(match[1]) + (iterations if more else 0)
        if 0 < count < 1 << 53:
            return Budget(iterations=count)
    elif _TIME.fullmatch(body):
        total = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(body))
        total += seconds if more else 0.0
        if 0.0 < total < 1e9:
            return Budget(seconds=total)
    raise ValueError(
        f"budget {text!r} is not a time such as 30m, 2h or 1h30m, nor iterations such as 1000it, "
        "above zero (+30m or +100it: that much more)"
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
