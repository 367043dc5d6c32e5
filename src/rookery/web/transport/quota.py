"""Rate limits per client (token buckets), and limits of single searches."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from rookery.players.base import Limits

MOST_BUCKETS = 10_000


class QuotaError(Exception):
    """A limit was exceeded; `seconds` is how long to wait."""

    def __init__(self, what: str, seconds: float) -> None:
        """Name the limited resource."""
        self.seconds = max(1, math.ceil(seconds))
        super().__init__(f"too many {what}; try again in {self.seconds} s")


@dataclass(frozen=True)
class Rate:
    """The capacity and refill rate of a token bucket."""

    burst: float
    per_second: float


@dataclass(frozen=True)
class Quotas:
    """Rate limits of the server. A session is one browser, an address one machine."""

    requests: Rate = Rate(200, 20)  # per session
    sessions: Rate = Rate(300, 2)  # new ones per address
    messages: Rate = Rate(60, 10)  # per websocket
    guesses: Rate = Rate(10, 0.1)  # of the access token, per address
    guesses_in_all: Rate = Rate(100, 1)  # from all addresses together
    games: Rate = Rate(20, 0.5)  # new ones per session
    games_of_session: int = 8  # kept at once; the oldest is dropped
    games_in_all: int = 400


class Buckets:
    """One token bucket per key; the least recently used ones are dropped."""

    def __init__(self, what: str, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        """Limit the resource `what`."""
        self._what, self._rate, self._clock = what, rate, clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, time

    def take(self, key: str) -> None:
        """Take a token or raise `QuotaError`."""
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
    """Upper limits of a single search, whatever the page sends."""

    movetime: float = 30.0  # seconds
    nodes: int = 20_000_000
    depth: int = 64  # plies
    simulations: int = 100_000
    defaults: Mapping[str, float] = field(default_factory=lambda: {"movetime": 1.0})

    def limits(self, wished: Mapping[str, object]) -> Limits:
        """Clamp the wished limits; the result always has a time limit."""
        values: dict[str, float] = {}
        for name, most, least in (
            ("movetime", self.movetime, 0.01),
            ("nodes", self.nodes, 1),
            ("depth", self.depth, 1),
            ("simulations", self.simulations, 1),
        ):
            wish = wished.get(name)
            if isinstance(wish, bool) or not isinstance(wish, int | float) or math.isnan(wish):
                continue
            clamped = min(max(wish, least), most)
            values[name] = float(clamped) if name == "movetime" else int(clamped)
        if not values:
            values = dict(self.defaults)
        values.setdefault("movetime", self.movetime)
        return Limits(**values)  # type: ignore[arg-type]
