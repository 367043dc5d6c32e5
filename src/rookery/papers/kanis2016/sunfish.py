"""Sunfish as an opponent: the program, or for fixed nodes a much faster native copy of its search.

The copy (`core/peers/sunfish.h`) plays the moves of the program in a new game from the position,
without the history.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rookery._core import Game, MoveError, sunfish_moves
from rookery.engines.find import find_sunfish
from rookery.players.base import Capabilities, Decision, Limits, Player
from rookery.players.programs.builders import program_of, settings_of
from rookery.players.programs.uci_engine import UciPlayer
from rookery.players.spec import PlayerSpec, SpecError


class NativeSunfish:
    """Plays Sunfish's moves at a fixed number of nodes."""

    capabilities = Capabilities(memoryless=True)

    def __init__(self, name: str, nodes: int) -> None:
        """Set the name and the nodes per move."""
        self.name, self.nodes = name, nodes

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Search the position without its history."""
        move = sunfish_moves([f"{game.epd()} 0 1"], self.nodes)[0]
        if not move:
            raise MoveError(f"Sunfish finds no move in {game.fen()!r}")
        return Decision(move)

    def new_game(self) -> None:
        """Do nothing: there is no state between games."""

    def close(self) -> None:
        """Do nothing: there are no resources."""


def sunfish_player(spec: PlayerSpec, options: dict[str, Any]) -> Player:
    """Sunfish with `nodes`, `depth` or `movetime`; with `native` the copy of its search."""
    if options.get("native"):
        if "nodes" not in options or len(options) > 2:
            raise SpecError("player 'sunfish': native=true needs nodes=N and no other option")
        return NativeSunfish(str(spec), options["nodes"])
    program = program_of(options, find_sunfish())
    if not program:
        raise SpecError(
            "player 'sunfish': Sunfish is not installed; 'make test' puts it into .venv-sunfish, "
            "or set ROOKERY_SUNFISH to the path of sunfish-uci"
        )
    return UciPlayer(str(spec), settings_of(program, {}, options))
