"""Giraffe's evaluation as published Python does it: features read through python-chess."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

LABEL = "python-chess and torch"
CONDITIONS = "363 features in Python and the network in torch, one position at a time"

VALUES = (0, 1, 3, 3, 5, 9, 10)  # pawn to king, by python-chess's piece types
SLOTS = (0, 8, 2, 2, 2, 1, 1)
STEPS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))  # file, rank
POSITIONS_PER_CALL = 20


def prepare() -> Callable[[], int]:
    """Return a function that evaluates the positions of random games and returns their number."""
    import chess
    import torch
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(1)
    network = nn.Sequential(
        nn.Linear(363, 128), nn.ReLU(), nn.Linear(128, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh()
    )
    rng = random.Random(1)
    board = chess.Board()

    def work() -> int:
        for _ in range(POSITIONS_PER_CALL):
            if board.is_game_over() or board.ply() > 80:
                board.reset()
            board.push(rng.choice(list(board.legal_moves)))
            with torch.no_grad():
                float(network(torch.tensor(features(board))))
        return POSITIONS_PER_CALL

    return work


def features(board: Any) -> list[float]:
    """The numbers of `giraffe363`, in an order of their own."""
    import chess

    sides = (board.turn, not board.turn)
    found = [float(board.turn)]
    for color in sides:
        found.append(float(board.has_kingside_castling_rights(color)))
        found.append(float(board.has_queenside_castling_rights(color)))
        found += [len(board.pieces(kind, color)) / SLOTS[kind] for kind in range(1, 6)]
    for color in sides:
        found += _piece(board, board.king(color), color)[1:5]
        for kind in (chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT, chess.PAWN):
            squares = [*board.pieces(kind, color), *[None] * 8][: SLOTS[kind]]
            for square in squares:
                found += _piece(board, square, color, kind)
    for color in sides:
        found += [_cheapest(board, color, square) for square in range(64)]
    return found


def _piece(board: Any, square: int | None, color: bool, kind: int = 0) -> list[float]:
    """Presence, place, attackers, and for pieces their mobility."""
    import chess

    directions = {chess.QUEEN: STEPS, chess.ROOK: STEPS[::2], chess.BISHOP: STEPS[1::2]}
    rays = directions.get(kind, ())
    length = 5 + len(rays) + (kind in (chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT))
    if square is None:
        return [0.0] * length
    file, rank = chess.square_file(square), chess.square_rank(square)
    found = [1.0, file / 7, rank / 7]
    found += [_cheapest(board, not color, square), _cheapest(board, color, square)]
    for files, ranks in rays:
        found.append(_reach(board, file, rank, files, ranks, color) / 7)
    if length > 5 + len(rays):
        safe = 0
        for target in board.attacks(square):
            enemy = _cheapest(board, not color, target)
            safe += board.color_at(target) != color and not 0 < enemy < VALUES[kind] / 10
        found.append(safe / 16)
    return found


def _reach(board: Any, file: int, rank: int, files: int, ranks: int, color: bool) -> int:
    """Squares that a sliding piece reaches in one direction."""
    count = 0
    while True:
        file, rank = file + files, rank + ranks
        if not (0 <= file < 8 and 0 <= rank < 8):
            return count
        occupant = board.color_at(8 * rank + file)
        if occupant is not None:
            return count + int(occupant != color)
        count += 1


def _cheapest(board: Any, color: bool, square: int) -> float:
    """Value of the cheapest attacker, 0 if there is none."""
    values = [VALUES[board.piece_type_at(each)] for each in board.attackers(color, square)]
    return min(values, default=0) / 10
