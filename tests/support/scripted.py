"""Players whose moves a test decides beforehand."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from rookery._core import Game
from rookery.players.base import Decision, Limits


class Scripted:
    """Plays the alphabetically first legal move, or a random one.

    Args:
        value: Its evaluation of every position.
        delay: Seconds that it takes for each move.
        name: Its name.
        shuffle: Whether it plays a random move.
    """

    def __init__(
        self,
        value: float | None = None,
        delay: float = 0.0,
        name: str = "scripted",
        shuffle: bool = False,
    ) -> None:
        self.name = name
        self.value = value
        self.delay = delay
        self.shuffle = shuffle
        self.seen: list[Limits | None] = []

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Choose a move, and record the limits."""
        self.seen.append(limits)
        time.sleep(self.delay)
        moves = sorted(game.legal_moves())
        return Decision(moves[int(rng.integers(len(moves))) if self.shuffle else 0], self.value)

    def new_game(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class Replies(Scripted):
    """Plays the moves of a list by number, legal or not; then the first legal move.

    A move that is taken back is answered again in the same way.
    """

    def __init__(self, moves: Sequence[str], value: float | None = None) -> None:
        super().__init__(value, name="replies")
        self.moves = moves

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Answer with the move of this number."""
        place = game.ply // 2
        move = self.moves[place] if place < len(self.moves) else min(game.legal_moves())
        return Decision(move, self.value, (move,) if self.value is not None else ())


class Failing(Scripted):
    """Raises an error when it is asked for a move."""

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Fail with a message that must never be taken for HTML."""
        raise RuntimeError("the engine <b>died</b>")
