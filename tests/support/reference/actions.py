"""Action layouts on python-chess boards: move to index and back, from the tables in words."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import chess

DIRECTIONS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))  # N to NW
KNIGHT_JUMPS = ((2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1))
UNDER_PROMOTIONS = (chess.KNIGHT, chess.BISHOP, chess.ROOK)
CLAIM = 4672
ACTION_COUNTS = {"az4672": 4672, "az4673": 4673, "kpk": 10}


def sign(number: int) -> int:
    """Return -1, 0 or 1."""
    return (number > 0) - (number < 0)


def seen_by(square: int, viewer: bool) -> tuple[int, int]:
    """(rank, file) with the ranks flipped for Black."""
    return divmod(square if viewer == chess.WHITE else chess.square_mirror(square), 8)


def az4672(board: chess.Board, move: chess.Move) -> int:
    """Index of a legal move as python-chess names it (castling depends on `board.chess960`)."""
    return _az4672(move.from_square, move.to_square, move.promotion, board.turn)


@cache
def _az4672(from_square: int, to_square: int, promotion: int | None, viewer: bool) -> int:
    from_rank, from_file = seen_by(from_square, viewer)
    to_rank, to_file = seen_by(to_square, viewer)
    ranks, files = to_rank - from_rank, to_file - from_file
    if promotion in UNDER_PROMOTIONS:
        plane = 64 + 3 * UNDER_PROMOTIONS.index(promotion) + files + 1
    elif (ranks, files) in KNIGHT_JUMPS:
        plane = 56 + KNIGHT_JUMPS.index((ranks, files))
    else:
        distance = max(abs(ranks), abs(files))
        plane = 7 * DIRECTIONS.index((sign(ranks), sign(files))) + distance - 1
    return (8 * from_rank + from_file) * 73 + plane


def kpk(board: chess.Board, move: chess.Move) -> int | None:
    """Index of a legal move in king and pawn against king; None for an under-promotion.

    Right after a promotion the new piece stands for the pawn: its owner's view goes on.
    """
    [third] = chess.SquareSet(board.occupied & ~board.kings)
    strong = board.color_at(third)
    assert strong is not None
    from_rank, from_file = seen_by(move.from_square, strong)
    to_rank, to_file = seen_by(move.to_square, strong)
    ranks, files = to_rank - from_rank, to_file - from_file
    if move.from_square == third:
        return None if move.promotion not in (None, chess.QUEEN) else 7 + ranks
    return DIRECTIONS.index((ranks, files))


def legal_actions(
    board: chess.Board, actions: str, moves: Iterable[chess.Move] | None = None
) -> dict[int, str]:
    """Every legal action with its move in UCI notation ("" for the claim).

    `moves` are the legal moves if they are known already.
    """
    legal: dict[int, str] = {}
    for move in board.legal_moves if moves is None else moves:
        index = kpk(board, move) if actions == "kpk" else az4672(board, move)
        if index is not None:
            assert index not in legal, f"two moves share action {index} in {board.fen()}"
            legal[index] = move.uci()
    if actions == "az4673" and board.can_claim_draw():
        legal[CLAIM] = ""
    return legal


def az4672_meaning(index: int, black: bool) -> tuple[int, int | None, int | None]:
    """(origin square, target square or None if off the board, under-promotion or None)."""
    origin, plane = divmod(index, 73)
    promotion = None
    if plane < 56:
        ranks, files = (step * (plane % 7 + 1) for step in DIRECTIONS[plane // 7])
    elif plane < 64:
        ranks, files = KNIGHT_JUMPS[plane - 56]
    else:
        promotion = UNDER_PROMOTIONS[(plane - 64) // 3]
        ranks, files = 1, (plane - 64) % 3 - 1
    rank, file = origin // 8 + ranks, origin % 8 + files
    target = 8 * rank + file if 0 <= rank < 8 and 0 <= file < 8 else None
    if black:
        origin ^= 56
        target = None if target is None else target ^ 56
    return origin, target, promotion
