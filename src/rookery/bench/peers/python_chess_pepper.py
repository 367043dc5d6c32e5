"""Deep Pepper's way: features read from python-chess, one position at a time, along random games.

With the argument `network` its network evaluates each position as well, again one at a time and
for all its 5120 actions; a search would come on top.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

LABEL = "Python over python-chess"
CONDITIONS = "one position at a time along random games, no search"

COUNTS = (8, 2, 2, 2, 1, 1)  # P N B R Q K at the start of a game
VALUES = (1, 3, 3, 5, 9, 10)  # of attackers, times ten
# Directions (rank, file) of queen, rook and bishop, clockwise from the opponent's side.
STEPS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))
SLIDERS = {5: STEPS, 4: STEPS[::2], 3: STEPS[1::2]}


def prepare(what: str = "features") -> Callable[[], int]:
    """Return a function that evaluates the positions of a random game and returns their number."""
    import chess

    rng = random.Random(1)
    evaluate = _network() if what == "network" else len

    def play() -> int:
        board = chess.Board()
        plies = 0
        while board.outcome(claim_draw=False) is None:
            evaluate(features(board))
            board.push(rng.choice(list(board.legal_moves)))
            plies += 1
        return plies

    return play


def _network() -> Callable[[list[float]], Any]:
    """Its network with separate parts in the first layer."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    parts = [(slice(0, 17), nn.Linear(17, 32)), (slice(17, 225), nn.Linear(208, 512))]
    parts.append((slice(225, 353), nn.Linear(128, 480)))
    policy = nn.Sequential(nn.Linear(1024, 2048), nn.ReLU(), nn.Linear(2048, 5120), nn.Softmax(-1))
    value = nn.Sequential(nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 1), nn.Tanh())

    def evaluate(numbers: list[float]) -> Any:
        with torch.no_grad():
            inputs = torch.tensor([numbers])
            first = torch.cat([layer(inputs[:, part]) for part, layer in parts], 1).relu()
            return policy(first).numpy(), float(value(first))

    return evaluate


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
