"""How much one visitor may ask for: buckets that fill with time, and clamps on single wishes."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from rookery.players.base import Limits

MOST_BUCKETS = 10_000


class QuotaError(Exception):
    """Too much was asked for; `seconds` says how long to wait."""

    def __init__(self, what: str, seconds: float) -> None:
        """Name what there was too much of."""
        self.seconds = max(1, math.ceil(seconds))
        super().__init__(f"too many {what}; try again in {self.seconds} s")


@dataclass(frozen=True)
class Rate:
    """So many at once, and so many more each second."""

    burst: float
    per_second: float


@dataclass(frozen=True)
class Quotas:
    """Limits of the server. A session is one browser, an address one machine."""

    requests: Rate = Rate(200, 20)  # of a session
    sessions: Rate = Rate(300, 2)  # new ones of an address
    messages: Rate = Rate(60, 10)  # over one websocket
    games: Rate = Rate(20, 0.5)  # new ones of a session
    games_of_session: int = 8  # kept at the same time; the oldest makes room
    games_in_all: int = 400


class Buckets:
    """One bucket for each key, forgotten when it has not been used for long."""

    def __init__(self, what: str, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        """Count `what` by a monotonic clock."""
        self._what, self._rate, self._clock = what, rate, clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()  # content, when

    def take(self, key: str) -> None:
        """Take one, or raise `QuotaError`."""
        now = self._clock()
        level, when = self._levels.pop(key, (self._rate.burst, now))
        level = min(self._rate.burst, level + (now - when) * self._rate.per_second)
        enough = level >= 1
        self._levels[key] = (level - 1 if enough else level, now)
        if len(self._levels) > MOST_BUCKETS:
            self._levels.popitem(last=False)
        if not enough:
            raise QuotaError(self._what, (1 - level) / self._rate.per_second)


@dataclass(frozen=True)
class Clamps:
    """The most that a single search may be asked for, whatever the page sends."""

    movetime: float = 30.0  # seconds
    nodes: int = 20_000_000
    depth: int = 64  # plies
    simulations: int = 100_000
    defaults: Mapping[str, float] = field(default_factory=lambda: {"movetime": 1.0})

    def limits(self, wished: Mapping[str, object]) -> Limits:
        """Limits out of wishes: absurd ones are cut down, and time always ends a search."""
        values: dict[str, float] = {}
        for name, most, least in (
            ("movetime", self.movetime, 0.01),
            ("nodes", self.nodes, 1),
            ("depth", self.depth, 1),
            ("simulations", self.simulations, 1),
        ):
            wish = wished.get(name)
            if isinstance(wish, bool) or not isinstance(wish, int | float):
                continue
            if math.isnan(wish):
                continue
            clamped = min(max(wish, least), most)
            values[name] = float(clamped) if name == "movetime" else int(clamped)
        if not values:
            values = dict(self.defaults)
        values.setdefault("movetime", self.movetime)
        return Limits(**values)  # type: ignore[arg-type]
