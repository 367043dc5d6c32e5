"""Deep Pepper's 353 features read from python-chess, one position at a time, along random games."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

LABEL = "features in Python over python-chess"
CONDITIONS = "one position at a time along random games; no network, no search"

COUNTS = (8, 2, 2, 2, 1, 1)  # P N B R Q K at the start of a game
VALUES = (1, 3, 3, 5, 9, 10)  # of attackers, times ten
# Directions (rank, file) of queen, rook and bishop, clockwise from the opponent's side.
STEPS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))
SLIDERS = {5: STEPS, 4: STEPS[::2], 3: STEPS[1::2]}


def prepare() -> Callable[[], int]:
    """Return a function that reads the features of one random game and returns their number."""
    import chess

    rng = random.Random(1)

    def play() -> int:
        board = chess.Board()
        plies = 0
        while board.outcome(claim_draw=False) is None:
            features(board)
            board.push(rng.choice(list(board.legal_moves)))
            plies += 1
        return plies

    return play


def features(board: Any) -> list[float]:
    """The features of a position: global, pieces, mobility, attack maps."""
    sides = (board.turn, not board.turn)
    values = [float(board.turn)]
    for color in sides:
        values += [
            float(board.has_kingside_castling_rights(color)),
            float(board.has_queenside_castling_rights(color)),
        ]
    for color in sides:
        values += [len(board.pieces(kind + 1, color)) / COUNTS[kind] for kind in range(6)]
    for color in sides:
        for kind in range(6, 0, -1):
            for square in _slots(board, color, kind):
                values += _piece(board, color, square)
    for color in sides:
        for kind, steps in SLIDERS.items():
            for square in _slots(board, color, kind):
                values += [_reach(board, color, square, step) / 7 for step in steps]
    flip = 0 if board.turn else 56
    return values + [
        _cheapest(board, color, square ^ flip) for color in sides for square in range(64)
    ]


def _slots(board: Any, color: bool, kind: int) -> list[int | None]:
    flip, count = (0 if board.turn else 56), COUNTS[kind - 1]
    found = sorted(board.pieces(kind, color), key=lambda square: square ^ flip)
    return [*found, *[None] * count][:count]


def _piece(board: Any, color: bool, square: int | None) -> list[float]:
    if square is None:
        return [0.0] * 5
    seen = square if board.turn else square ^ 56
    threats = [_cheapest(board, not color, square), _cheapest(board, color, square)]
    return [1.0, (seen % 8) / 7, (seen // 8) / 7, *threats]


def _cheapest(board: Any, color: bool, square: int) -> float:
    kinds = (board.piece_type_at(other) for other in board.attackers(color, square))
    return min((VALUES[kind - 1] for kind in kinds), default=0) / 10


def _reach(board: Any, color: bool, square: int | None, step: tuple[int, int]) -> int:
    if square is None:
        return 0
    forward = 1 if board.turn else -1
    rank, file, count = square // 8 + forward * step[0], square % 8 + step[1], 0
    while 0 <= rank < 8 and 0 <= file < 8:
        occupant = board.color_at(8 * rank + file)
        if occupant is not None:
            return count + int(occupant != color)
        rank, file, count = rank + forward * step[0], file + step[1], count + 1
    return count
