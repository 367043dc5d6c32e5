"""Players that search, for tests: slow, stoppable, and obedient to the limits of a search."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import numpy as np

from rookery._core import Game
from rookery.players.base import Decision, Limits
from rookery.players.thinking import Line, MoveNote, Setting, Thought

NODES_PER_DEPTH = 100
DEPTH_SECONDS = 0.002  # how long a depth takes
LAST_DEPTH = 100_000


class SlowThinker:
    """Deepens without ever finding anything new; records every search it was asked for.

    `think` clears an earlier `stop`, as a search that resets its flag does: callers must not rely
    on a `stop` sent before the search began.

    Args:
        depth_seconds: How long each depth takes.
        deaf: Whether it ignores `stop`.
    """

    name = "slow"

    def __init__(self, depth_seconds: float = DEPTH_SECONDS, deaf: bool = False) -> None:
        self.settings: tuple[Setting, ...] = (
            Setting("Hash", "spin", "16", 1, 1024),
            Setting("Style", "combo", "calm", choices=("calm", "wild")),
            Setting("Clear Hash", "button"),
            Setting("Note", "string", ""),
        )
        self.depth_seconds = depth_seconds
        self.deaf = deaf
        self.configured: list[tuple[str, str]] = []
        self.asked: list[tuple[str, Limits, int, list[str] | None, bool]] = []
        self.games = 0
        self.closed = False
        self._stop = threading.Event()
        self._hit = threading.Event()
        self.running = 0

    def configure(self, name: str, value: str) -> None:
        """Record a setting; refuses one bad value, and any during a search."""
        assert self.running == 0, "configured during a search"
        if name == "Note" and value == "bad":
            raise ValueError("Note cannot be 'bad'")
        self.configured.append((name, value))

    def think(
        self,
        game: Game,
        limits: Limits,
        report: Callable[[Thought], None] | None = None,
        *,
        lines: int = 1,
        search_moves: Sequence[str] | None = None,
        pondering: bool = False,
    ) -> Decision:
        """Report depth after depth until a limit is reached or `stop` is called."""
        self.asked.append(
            (game.fen(), limits, lines, list(search_moves) if search_moves else None, pondering)
        )
        assert self.running == 0, "two searches at once"
        self.running += 1
        self._stop.clear()
        self._hit.clear()
        moves = sorted(search_moves or game.legal_moves())[:lines]
        found = tuple(self._line(game, move) for move in moves)
        began = time.monotonic()
        counting_from = None if pondering else began
        for depth in range(1, LAST_DEPTH):
            now = time.monotonic()
            if counting_from is None and self._hit.is_set():
                counting_from = now
            if report is not None:
                nodes, notes = depth * NODES_PER_DEPTH, self._notes(game)
                report(Thought(found, depth, depth + 2, nodes, now - began, 500, notes))
            over = counting_from is not None and self._spent(
                limits, depth, now - counting_from, game.turn
            )
            if over or (self._stop.wait(self.depth_seconds) and not self.deaf):
                break
        self.running -= 1
        return Decision(found[0].moves[0], 0.25, found[0].moves)

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Search one depth deep if no limits are given."""
        return self.think(game, limits or Limits(depth=1))

    def stop(self) -> None:
        """End the search that is running."""
        self._stop.set()

    def ponderhit(self) -> None:
        """Start the clock of a search that ponders."""
        self._hit.set()

    def new_game(self) -> None:
        """Count the games."""
        assert self.running == 0, "new game during a search"
        self.games += 1

    def close(self) -> None:
        """Record that it was closed."""
        self.closed = True

    def _notes(self, game: Game) -> tuple[MoveNote, ...]:
        return ()

    @staticmethod
    def _line(game: Game, move: str) -> Line:
        after = game.copy()
        after.push(move)
        replies = sorted(after.legal_moves())
        mate = 1 if after.outcome() == ("checkmate", game.turn) else None
        return Line((move, *replies[:1]), 0.25, mate=mate, win_draw_loss=(400, 450, 150))

    @staticmethod
    def _spent(limits: Limits, depth: int, seconds: float, white: bool) -> bool:
        clock = limits.white_time if white else limits.black_time
        return (
            (limits.depth is not None and depth >= limits.depth)
            or (limits.nodes is not None and depth * NODES_PER_DEPTH >= limits.nodes)
            or (limits.movetime is not None and seconds >= limits.movetime)
            or (clock is not None and seconds >= clock / 40)
        )


class CountingThinker(SlowThinker):
    """Counts the searches of all its instances; its thoughts have centipawns and move notes."""

    begun = 0
    ended = 0
    limits: Limits | None = None  # of the latest search

    def __init__(self) -> None:
        super().__init__(depth_seconds=0.02)
        self.settings = ()

    def think(
        self,
        game: Game,
        limits: Limits,
        report: Callable[[Thought], None] | None = None,
        *,
        lines: int = 1,
        search_moves: Sequence[str] | None = None,
        pondering: bool = False,
    ) -> Decision:
        """Search as its base class does, counted when it begins and when it ends."""
        CountingThinker.begun += 1
        CountingThinker.limits = limits
        try:
            return super().think(
                game, limits, report, lines=lines, search_moves=search_moves, pondering=pondering
            )
        finally:
            CountingThinker.ended += 1

    def _notes(self, game: Game) -> tuple[MoveNote, ...]:
        return tuple(
            MoveNote(move, prior=0.5 / place, visits=100 // place, value=0.3 - 0.1 * place)
            for place, move in enumerate(sorted(game.legal_moves())[:5], start=1)
        )

    @staticmethod
    def _line(game: Game, move: str) -> Line:
        return Line((move,), 0.25, centipawns=80, win_draw_loss=(500, 250, 250))
