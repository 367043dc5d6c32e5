"""The random player: every legal move is equally likely. The baseline of paper 000."""

from __future__ import annotations

import numpy as np

from rookery._core import Game, MoveError
from rookery.players.base import Decision, Limits


class RandomPlayer:
    """Plays a uniformly random legal move; with `claims=True` it also claims draws at random.

    In paper 000 version 1 the claim is one more action, so its random agent picks it as often as
    any move: among L legal moves and a possible claim, the claim has the probability 1 / (L + 1).
    """

    def __init__(self, name: str = "random", claims: bool = False) -> None:
        """Keep the name, and whether claiming a draw is among the choices."""
        self.name = name
        self._claims = claims

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Draw one of the legal moves; `limits` are always kept."""
        moves = game.legal_moves()
        if not moves:
            raise MoveError(f"there is no legal move to choose in {game.fen()!r}")
        choices = len(moves) + (self._claims and game.can_claim_draw())
        index = int(rng.integers(choices))
        if index == len(moves):
            return Decision(moves[0], claims_draw=True)
        return Decision(moves[index])

    def new_game(self) -> None:
        """Nothing is kept between games."""

    def close(self) -> None:
        """Nothing is held."""
