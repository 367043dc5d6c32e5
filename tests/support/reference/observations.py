"""Every observation layout, encoded entry by entry from a python-chess board with its move stack.

Written from the tables of `rookery/encodings/` alone, for clarity and not for speed: about a
millisecond per position. `ENCODERS` maps a layout's name to its function.
"""

from __future__ import annotations

from collections.abc import Callable

import chess
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
PIECES = (chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING)
LARGEST_COUNTS = {
    chess.PAWN: 8,
    chess.KNIGHT: 2,
    chess.BISHOP: 2,
    chess.ROOK: 2,
    chess.QUEEN: 1,
    chess.KING: 1,
}
VALUES = {  # the cheapest first
    chess.PAWN: 1,
    chess.KNIGHT: 3,
    chess.BISHOP: 3,
    chess.ROOK: 5,
    chess.QUEEN: 9,
    chess.KING: 10,
}
STEPS = {  # (ranks, files); N is towards the opponent of the side that looks
    "N": (1, 0),
    "NE": (1, 1),
    "E": (0, 1),
    "SE": (-1, 1),
    "S": (-1, 0),
    "SW": (-1, -1),
    "W": (0, -1),
    "NW": (1, -1),
}
DIRECTIONS = {
    chess.QUEEN: ("N", "NE", "E", "SE", "S", "SW", "W", "NW"),
    chess.ROOK: ("N", "E", "S", "W"),
    chess.BISHOP: ("NE", "SE", "SW", "NW"),
}


def oriented(square: int, viewer: bool) -> int:
    """The square as `viewer` (True = White) sees it: ranks flipped for Black."""
    return square if viewer == chess.WHITE else chess.square_mirror(square)


def put(plane: Array, square: int, viewer: bool, value: float = 1.0) -> None:
    """Set one square of a plane, as `viewer` sees it."""
    seen = oriented(square, viewer)
    plane[chess.square_rank(seen), chess.square_file(seen)] = value


def piece_planes(board: chess.Board, first: bool, viewer: bool) -> Array:
    """12 planes: P N B R Q K of colour `first`, then of the other, as `viewer` sees them."""
    planes = np.zeros((12, 8, 8), np.float32)
    for square, piece in board.piece_map().items():
        index = PIECES.index(piece.piece_type) + (0 if piece.color == first else 6)
        put(planes[index], square, viewer)
    return planes


def castling_code(board: chess.Board, color: bool) -> int:
    """Castling rights of a side: 1 kingside, 2 queenside, 3 both."""
    kingside = board.has_kingside_castling_rights(color)
    return int(kingside) + 2 * int(board.has_queenside_castling_rights(color))


def castling_flags(board: chess.Board, first: bool) -> list[float]:
    """Kingside and queenside rights of colour `first`, then of the other."""
    return [
        float(has_right(color))
        for color in (first, not first)
        for has_right in (board.has_kingside_castling_rights, board.has_queenside_castling_rights)
    ]


def square_codes(board: chess.Board) -> list[float]:
    """64 piece codes from the mover's top left corner: 0 empty, 1-6 own, 7-12 the opponent's."""
    codes = []
    for rank in range(7, -1, -1):
        for file in range(8):
            piece = board.piece_at(oriented(chess.square(file, rank), board.turn))
            if piece is None:
                codes.append(0.0)
            else:
                other = 0 if piece.color == board.turn else 6
                codes.append(1.0 + PIECES.index(piece.piece_type) + other)
    return codes


def vector69(board: chess.Board) -> Array:
    """Square codes, move counters, castling rights, repetition."""
    values = square_codes(board)
    values += [board.fullmove_number, board.halfmove_clock]
    values += [castling_code(board, board.turn), castling_code(board, not board.turn)]
    values += [float(board.can_claim_threefold_repetition())]
    return np.array(values, np.float32)


def vector66(board: chess.Board) -> Array:
    """Square codes and castling rights."""
    values = square_codes(board)
    values += [castling_code(board, board.turn), castling_code(board, not board.turn)]
    return np.array(values, np.float32)


def attacker_class(board: chess.Board, color: bool, square: int) -> int:
    """0 nobody of `color` attacks the square, 1 a pawn, 2 a knight or bishop, 3 others only."""
    kinds = {board.piece_type_at(attacker) for attacker in board.attackers(color, square)}
    if chess.PAWN in kinds:
        return 1
    if chess.KNIGHT in kinds or chess.BISHOP in kinds:
        return 2
    return 3 if kinds else 0


def tactical70(board: chess.Board) -> Array:
    """Square codes with attackers of both sides, then rights, counters, repetition, check."""
    values = square_codes(board)
    for index in range(64):
        # Entry 0 is the mover's top left corner: his last rank, first file.
        square = oriented(chess.square_mirror(index), board.turn)
        values[index] += 13 * min(2, len(board.attackers(board.turn, square)))
        values[index] += 39 * attacker_class(board, not board.turn, square)
    values += [castling_code(board, board.turn), castling_code(board, not board.turn)]
    capture = board.ep_square if board.has_legal_en_passant() else None
    values += [0 if capture is None else 1 + chess.square_file(capture)]
    values += [min(board.halfmove_clock, 100)]
    values += [int(board.is_repetition(2)) + int(board.is_repetition(3)), int(board.is_check())]
    return np.array(values, np.float32)


def planes19(board: chess.Board) -> Array:
    """Planes from White's point of view, with the side to move."""
    planes = np.zeros((19, 8, 8), np.float32)
    planes[0] = float(board.turn)
    for index, flag in enumerate(castling_flags(board, chess.WHITE)):
        planes[1 + index] = flag
    planes[5] = float(board.can_claim_fifty_moves())
    planes[6:18] = piece_planes(board, chess.WHITE, chess.WHITE)
    if board.ep_square is not None and board.has_legal_en_passant():
        put(planes[18], board.ep_square, chess.WHITE)
    return planes


def planes119(board: chess.Board) -> Array:
    """Eight positions of history, from the mover's point of view, as in AlphaZero."""
    planes = np.zeros((119, 8, 8), np.float32)
    mover, undone = board.turn, []
    for age in range(8):
        base = 14 * age
        planes[base : base + 12] = piece_planes(board, mover, mover)
        planes[base + 12] = float(board.is_repetition(2))
        planes[base + 13] = float(board.is_repetition(3))
        if not board.move_stack:
            break
        undone.append(board.pop())
    for move in reversed(undone):  # much faster than a copy, which copies all moves
        board.push(move)
    planes[112] = float(board.turn)
    planes[113] = board.fullmove_number / 100
    for index, flag in enumerate(castling_flags(board, board.turn)):
        planes[114 + index] = flag
    planes[118] = board.halfmove_clock / 100
    return planes


def planes12(board: chess.Board) -> Array:
    """Piece planes from the mover's point of view."""
    return piece_planes(board, board.turn, board.turn)


def planes14(board: chess.Board) -> Array:
    """Piece planes and the squares attacked by each side."""
    planes = np.zeros((14, 8, 8), np.float32)
    planes[:12] = planes12(board)
    for square, piece in board.piece_map().items():
        for target in board.attacks(square):
            put(planes[12 if piece.color == board.turn else 13], target, board.turn)
    return planes


def planes22(board: chess.Board) -> Array:
    """Piece planes, rights, en passant, repetition and the last move."""
    planes = np.zeros((22, 8, 8), np.float32)
    planes[:12] = planes12(board)
    for index, flag in enumerate(castling_flags(board, board.turn)):
        planes[12 + index] = flag
    if board.ep_square is not None and board.has_legal_en_passant():
        put(planes[16], board.ep_square, board.turn)
    planes[17] = board.halfmove_clock / 100
    planes[18] = float(board.is_repetition(2))
    planes[19] = float(board.is_repetition(3))
    if board.move_stack:
        before = board.copy(stack=1)
        move = before.pop()
        target = move.to_square
        if before.is_castling(move):  # python-chess may name the rook's square
            rank = chess.square_rank(move.from_square)
            target = chess.square(6 if before.is_kingside_castling(move) else 2, rank)
        put(planes[20], move.from_square, board.turn)
        put(planes[21], target, board.turn)
    return planes


def kpk3(board: chess.Board) -> Array:
    """The pawn's plane is flat right after its promotion (only VectorGames goes on then)."""
    if len(board.piece_map()) != 3:
        raise ValueError("not king and pawn against king")
    [third] = chess.SquareSet(board.occupied & ~board.kings)
    strong = board.color_at(third)
    assert strong is not None
    strong_king, weak_king = board.king(strong), board.king(not strong)
    assert strong_king is not None and weak_king is not None
    planes = np.full((3, 8, 8), -1 / 64, np.float32)
    put(planes[0], strong_king, strong, 63 / 64)
    put(planes[2], weak_king, strong, 63 / 64)
    if board.pawns:
        put(planes[1], third, strong, 63 / 64)
    return planes


# --- the hand-made features of Deep Pepper and Giraffe -------------------------------------------


def lowest(board: chess.Board, color: bool, square: int) -> float:
    """Value / 10 of the cheapest piece of `color` that attacks `square`, 0 if none does."""
    attackers = board.attackers_mask(color, square)
    if attackers:
        for kind, value in VALUES.items():  # the cheapest first
            if attackers & board.pieces_mask(kind, color):
                return value / 10
    return 0.0


def slots(board: chess.Board, color: bool, kind: int, count: int) -> list[int | None]:
    """The squares of `color`'s pieces of a kind in the mover's order, padded with None."""
    squares = sorted(board.pieces(kind, color), key=lambda s: oriented(s, board.turn))
    return [*squares, *[None] * count][:count]


def place(board: chess.Board, square: int) -> list[float]:
    """File and rank in [0, 1], as the mover sees them."""
    seen = oriented(square, board.turn)
    return [chess.square_file(seen) / 7, chess.square_rank(seen) / 7]


def danger(board: chess.Board, square: int) -> list[float]:
    """Values of the cheapest attacker and the cheapest defender of a piece."""
    color = board.color_at(square)
    assert color is not None
    return [lowest(board, not color, square), lowest(board, color, square)]


def mobility(board: chess.Board, square: int, kind: int) -> list[float]:
    """Squares that a sliding piece reaches in each of its directions, divided by 7."""
    color = board.color_at(square)
    reached = []
    for name in DIRECTIONS[kind]:
        ranks, files = STEPS[name]
        rank, file = divmod(oriented(square, board.turn), 8)
        count = 0
        while True:
            rank, file = rank + ranks, file + files
            if not (0 <= rank < 8 and 0 <= file < 8):
                break
            occupant = board.color_at(oriented(8 * rank + file, board.turn))
            if occupant == color:
                break
            count += 1
            if occupant is not None:
                break
        reached.append(count / 7)
    return reached


def safe_mobility(board: chess.Board, square: int) -> float:
    """Share of 16 of the attacked squares where nothing cheaper could take the piece."""
    color = board.color_at(square)
    assert color is not None
    own_value = VALUES[board.piece_type_at(square) or 0]
    count = 0
    for target in board.attacks(square):
        cheapest = lowest(board, not color, target) * 10 or 99
        if board.color_at(target) != color and cheapest >= own_value:
            count += 1
    return count / 16


def attack_maps(board: chess.Board) -> list[float]:
    """Cheapest attacker of every square, of the mover, then of the opponent."""
    return [
        lowest(board, color, oriented(square, board.turn))
        for color in (board.turn, not board.turn)
        for square in range(64)
    ]


def global_part(board: chess.Board, kinds: tuple[int, ...]) -> list[float]:
    """Side to move, castling rights and counts of the pieces."""
    values = [float(board.turn), *castling_flags(board, board.turn)]
    for color in (board.turn, not board.turn):
        values += [len(board.pieces(kind, color)) / LARGEST_COUNTS[kind] for kind in kinds]
    return values


def pepper353(board: chess.Board) -> Array:
    """The features of Deep Pepper."""
    values = global_part(board, PIECES)
    sides = (board.turn, not board.turn)
    for color in sides:
        for kind in reversed(PIECES):
            for square in slots(board, color, kind, LARGEST_COUNTS[kind]):
                if square is None:
                    values += [0.0] * 5
                else:
                    values += [1.0, *place(board, square), *danger(board, square)]
    for color in sides:
        for kind in (chess.QUEEN, chess.ROOK, chess.BISHOP):
            for square in slots(board, color, kind, LARGEST_COUNTS[kind]):
                absent = [0.0] * len(DIRECTIONS[kind])
                values += absent if square is None else mobility(board, square, kind)
    return np.array(values + attack_maps(board), np.float32)


def giraffe_slot(board: chess.Board, square: int | None, kind: int) -> list[float]:
    """The features of one piece, all zero if there is none."""
    length = {chess.QUEEN: 14, chess.ROOK: 10, chess.BISHOP: 10, chess.KNIGHT: 6, chess.PAWN: 5}
    if square is None:
        return [0.0] * length[kind]
    values = [1.0, *place(board, square)]
    if kind in DIRECTIONS:
        values += mobility(board, square, kind)
    if kind != chess.PAWN:
        values.append(safe_mobility(board, square))
    return values + danger(board, square)


def giraffe363(board: chess.Board) -> Array:
    """The features of Giraffe."""
    values = global_part(board, PIECES[:5])
    sides = (board.turn, not board.turn)
    for color in sides:
        king = board.king(color)
        assert king is not None
        values += [*place(board, king), *danger(board, king)]
    for color in sides:
        for kind in (chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT, chess.PAWN):
            for square in slots(board, color, kind, LARGEST_COUNTS[kind]):
                values += giraffe_slot(board, square, kind)
    return np.array(values + attack_maps(board), np.float32)


def nnue768(board: chess.Board) -> tuple[set[int], set[int]]:
    """Indices of the ones, from the mover's and from the opponent's point of view."""

    def view(viewer: bool) -> set[int]:
        king = board.king(viewer)
        assert king is not None
        mirror = 7 if chess.square_file(king) >= 4 else 0
        return {
            (0 if piece.color == viewer else 384)
            + 64 * PIECES.index(piece.piece_type)
            + (oriented(square, viewer) ^ mirror)
            for square, piece in board.piece_map().items()
        }

    return view(board.turn), view(not board.turn)


ENCODERS: dict[str, Callable[[chess.Board], Array]] = {
    "vector69": vector69,
    "vector66": vector66,
    "tactical70": tactical70,
    "planes19": planes19,
    "planes119": planes119,
    "planes12": planes12,
    "planes14": planes14,
    "planes22": planes22,
    "kpk3": kpk3,
    "pepper353": pepper353,
    "giraffe363": giraffe363,
}
