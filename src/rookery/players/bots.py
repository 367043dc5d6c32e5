"""Players without network or search: random, greedy, greedy-safe.

`greedy` makes the move that leaves it the most material. `greedy-safe` mates in one, accounts for
the best capture that its move allows, and avoids stalemate and repetition while another move is as
good. Ties are broken at random. The core plays matches between two of them in batches
(`rookery.arena.native`).
"""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

from rookery._core import Game, bot_move, bot_names
from rookery.players.base import Capabilities, Decision, Limits, Player, legal_moves
from rookery.players.spec import PlayerSpec


class RandomPlayer:
    """Plays a uniformly random legal move; with `claims=True` it also claims draws at random.

    In version 1 of Salisch 2023 claiming a draw is one more action, so the random agent picks it as
    often as any move: with probability 1 / (L + 1) among L legal moves, if a claim is possible.
    """

    def __init__(self, name: str = "random", claims: bool = False) -> None:
        """Make a player, by default the baseline of Salisch 2023."""
        self.name = name
        self._claims = claims
        self.capabilities = Capabilities(boards=None)

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Draw one of the legal moves, or the claim."""
        moves = legal_moves(game)
        index = int(rng.integers(len(moves) + (self._claims and game.can_claim_draw())))
        if index == len(moves):
            return Decision(moves[0], claims_draw=True)
        return Decision(moves[index])

    def new_game(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class BotPlayer:
    """A player of the core by its name there."""

    def __init__(self, bot: str) -> None:
        """Take one of `bot_names()`."""
        if bot not in bot_names():
            raise ValueError(f"unknown bot {bot!r}; there are {', '.join(bot_names())}")
        self.name = bot
        self.capabilities = Capabilities(native_bot=bot, boards=None)

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Let the core choose, with a seed drawn from `rng`."""
        return Decision(bot_move(game, self.name, int(rng.integers(1 << 63))))

    def new_game(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def bot_player(spec: PlayerSpec, options: dict[str, Any]) -> Player:
    """The players `random`, `greedy` and `greedy-safe`; only claiming draws needs Python."""
    return RandomPlayer(str(spec), claims=True) if options.get("claims") else BotPlayer(spec.name)
