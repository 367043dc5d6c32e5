"""Asking a player for one move outside a match: whatever goes wrong is its fault, with evidence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rookery._core import Game
from rookery.engines.faults import EngineFault, clean, fault_of
from rookery.players.base import Decision, Limits, Player
from rookery.players.thinking import Thinker, Thought


def legal_choice(
    player: Player, game: Game, rng: np.random.Generator, limits: Limits | None = None
) -> str:
    """A player's move; an answer that is none, or illegal, is its `EngineFault`."""
    return _legal(player.choose(game, rng, limits), game).move


def patient_choice(
    player: Player,
    game: Game,
    rng: np.random.Generator,
    limits: Limits,
    enough: Callable[[Thought], bool],
) -> Decision:
    """The same, but a player that thinks aloud is stopped once it has seen `enough`.

    Without any limit the player's own are needed, which only `choose` knows how to find.
    """
    if limits == Limits() or not isinstance(player, Thinker):
        return _legal(player.choose(game, rng, limits), game)

    def look(thought: Thought) -> None:
        if enough(thought):
            player.stop()

    return _legal(player.think(game, limits, look), game)


def _legal(decision: Decision, game: Game) -> Decision:
    if not game.is_legal(decision.move):
        raise EngineFault("illegal", f"move {clean(repr(decision.move), 40)} in {game.fen()}")
    return decision


class Questions:
    """Asks a player for moves in single positions; what goes wrong is kept, not raised."""

    def __init__(self, player: Player, rng: np.random.Generator) -> None:
        """Ask `player`."""
        self._player = player
        self._rng = rng
        self.faults = 0
        self.example = ""  # the first fault

    def __call__(self, game: Game) -> str:
        """The move, or "" (no legal move) after a fault."""
        try:
            return legal_choice(self._player, game, self._rng)
        except Exception as error:
            self.faults += 1
            self.example = self.example or str(fault_of(error))
            return ""
