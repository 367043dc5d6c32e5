"""Players without network or search, decided in the core: random, greedy, greedy-safe.

`greedy` takes what leaves it the most material after its own move. `greedy-safe` mates in
one, counts the best capture that its move allows, and will not stalemate or repeat while another
move is as good. Equally good moves are drawn at random. A match between two of them is played
by the core in batches (`rookery.arena.native`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rookery._core import Game, bot_move, bot_names
from rookery.players.base import Capabilities, Decision, Limits, Player
from rookery.players.random import RandomPlayer
from rookery.players.spec import PlayerSpec


class BotPlayer:
    """A player of the core by its name there."""

    def __init__(self, bot: str) -> None:
        """Take one of `bot_names()`."""
        if bot not in bot_names():
            raise ValueError(f"unknown bot {bot!r}; there are {', '.join(bot_names())}")
        self.name = bot
        self.capabilities = Capabilities(native_bot=bot)

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Choose at once; `limits` are always kept."""
        return Decision(bot_move(game, self.name, int(rng.integers(1 << 63))))

    def new_game(self) -> None:
        """Nothing is kept between games."""

    def close(self) -> None:
        """Nothing is held."""


def bot_player(spec: PlayerSpec, options: dict[str, Any]) -> Player:
    """The players `random`, `greedy` and `greedy-safe`; only claiming draws needs Python."""
    return RandomPlayer(str(spec), claims=True) if options.get("claims") else BotPlayer(spec.name)
