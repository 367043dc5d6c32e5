"""What a network gives for each piece: the change of its value when the opponent's is taken off."""

from __future__ import annotations

import functools
from pathlib import Path

import chess

from rookery._core import Game
from rookery.players.alphabeta import read_network

# The pieces of Black that are taken off the start position, with White to move.
SQUARES = {
    "queen": chess.D8,
    "rook": chess.H8,
    "bishop": chess.C8,
    "knight": chess.B8,
    "pawn": chess.D7,
}


def piece_worth(model: Path) -> dict[str, int] | None:
    """The worth of each piece in units of the engine's scores; None for other networks."""
    try:
        return _worth(str(model), model.stat().st_mtime_ns)
    except (OSError, ValueError):
        return None


@functools.lru_cache(maxsize=64)
def _worth(model: str, changed: int) -> dict[str, int]:
    network = read_network(model)
    start = network.evaluate(Game())
    found = {}
    for name, square in SQUARES.items():
        board = chess.Board()
        board.remove_piece_at(square)
        board.castling_rights = board.clean_castling_rights()
        found[name] = network.evaluate(Game(board.fen())) - start
    return found
