"""A player for tests: what it does is told beforehand."""

from __future__ import annotations

import time

import numpy as np

from rookery._core import Game
from rookery.players.base import Decision, Limits


class Scripted:
    """Plays the first legal move of the alphabet, or a random one; value and delay of choice."""

    def __init__(
        self,
        value: float | None = None,
        delay: float = 0.0,
        name: str = "scripted",
        shuffle: bool = False,
    ):
        self.name = name
        self.value = value
        self.delay = delay
        self.shuffle = shuffle
        self.seen: list[Limits | None] = []

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        self.seen.append(limits)
        time.sleep(self.delay)
        moves = sorted(game.legal_moves())
        return Decision(moves[int(rng.integers(len(moves))) if self.shuffle else 0], self.value)

    def new_game(self) -> None:
        pass

    def close(self) -> None:
        pass
