"""A pool of players.

A player can take seconds to load and megabytes of memory, and there can be hundreds of games.
Therefore games own no players: a search borrows one and returns it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rookery.players.base import Player
from rookery.players.registry import make_player

MOST_IDLE = 6  # players kept besides those in use


@dataclass
class _Kept:
    """A player and the last game that it searched."""

    spec: str
    player: Player
    game: str = ""


class Shelf:
    """Idle players by specification; thread-safe."""

    def __init__(self, make: Callable[[str], Player] = make_player) -> None:
        """Make players by `make`."""
        self._make = make
        self._idle: list[_Kept] = []  # the most recently returned is last
        self._lock = threading.Lock()
        self._closed = False

    @contextlib.contextmanager
    def borrow(self, spec: str, game: str) -> Iterator[Player]:
        """Borrow a player for one search; calls `new_game` if its last game was another."""
        kept = self._take(spec, game) or _Kept(spec, self._make(spec))
        try:
            if kept.game != game:
                kept.player.new_game()
                kept.game = game
            yield kept.player
        except BaseException:
            # Its state is unknown now.
            kept.player.close()
            raise
        self._give_back(kept)

    def close(self) -> None:
        """Close the players; those in use are closed when they are returned."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for kept in idle:
            kept.player.close()

    def _take(self, spec: str, game: str) -> _Kept | None:
        with self._lock:
            fitting = [kept for kept in self._idle if kept.spec == spec]
            if not fitting:
                return None
            best = max(fitting, key=lambda kept: kept.game == game)
            self._idle.remove(best)
            return best

    def _give_back(self, kept: _Kept) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(kept)
                surplus = self._idle[:-MOST_IDLE]
                self._idle = self._idle[-MOST_IDLE:]
            else:
                surplus = [kept]
        for old in surplus:
            old.player.close()
