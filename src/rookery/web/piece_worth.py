"""What a network gives for each piece: the change of its value when the opponent's is taken off."""

from __future__ import annotations

import functools
from pathlib import Path

import chess

from rookery._core import Game
from rookery.players.alphabeta import read_network

# The pieces of Black that are taken off the start position, one at a time, with White to move; the
# worth is their mean, since a single one may open lines or break the castling.
SQUARES = {
    "queen": [chess.D8],
    "rook": [chess.A8, chess.H8],
    "bishop": [chess.C8, chess.F8],
    "knight": [chess.B8, chess.G8],
    "pawn": list(range(chess.A7, chess.H7 + 1)),
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

    def without(square: int) -> int:
        board = chess.Board()
        board.remove_piece_at(square)
        board.castling_rights = board.clean_castling_rights()
        return network.evaluate(Game(board.fen()))

    return {
        name: round(sum(map(without, squares)) / len(squares) - start)
        for name, squares in SQUARES.items()
    }
