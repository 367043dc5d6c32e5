"""The time that players take over their moves in a rating."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

import numpy as np
from numpy.random import Generator

from rookery._core import Game
from rookery.arena.match import PlayerFactory
from rookery.players.base import Capabilities, Decision, Limits, Player, capabilities_of


class Stopwatch:
    """Collects the seconds of moves by player; games may run in several threads."""

    def __init__(self) -> None:
        """Without any move."""
        self._seconds: dict[str, list[float]] = {}
        self._lock = threading.Lock()

    def timed(self, name: str, factory: PlayerFactory) -> PlayerFactory:
        """A factory of the same players, whose moves are timed."""
        return lambda: _Timed(factory(), name, self)

    def add(self, name: str, seconds: float) -> None:
        """One more move."""
        with self._lock:
            self._seconds.setdefault(name, []).append(seconds)

    def summary(self) -> dict[str, Mapping[str, float]]:
        """By player: moves, and mean, 95th percentile and longest time in seconds."""
        found: dict[str, Mapping[str, float]] = {}
        for name, times in sorted(self._seconds.items()):
            found[name] = {
                "moves": len(times),
                "mean": round(float(np.mean(times)), 3),
                "percentile_95": round(float(np.quantile(times, 0.95)), 3),
                "longest": round(max(times), 3),
            }
        return found


class _Timed:
    """A player with a stopwatch."""

    def __init__(self, inner: Player, name: str, watch: Stopwatch) -> None:
        self.name = inner.name
        self._inner, self._key, self._watch = inner, name, watch
        inside = capabilities_of(inner)
        self.capabilities = Capabilities(inside.timed, parts=(inner,), boards=inside.boards)

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        began = time.monotonic()
        decision = self._inner.choose(game, rng, limits)
        taken = decision.details.get("seconds")
        self._watch.add(self._key, taken if isinstance(taken, float) else time.monotonic() - began)
        return decision

    def new_game(self) -> None:
        self._inner.new_game()

    def close(self) -> None:
        self._inner.close()
