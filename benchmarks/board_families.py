"""Varied starting positions for comparing the rules core with python-chess.

Random play from the starting position rarely castles, captures en passant, under-promotes or
repeats itself. Each family makes one of these frequent. All randomness comes from `rng`.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import chess

PIECE_KINDS = (chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)
MAX_TRIES = 1000


def _finish(board: chess.Board, rng: random.Random) -> bool:
    """Choose the side to move; returns whether the position is legal and not over."""
    board.turn = rng.random() < 0.5
    return board.is_valid() and not board.is_game_over()


def _place(board: chess.Board, piece: chess.Piece, squares: list[int], rng: random.Random) -> None:
    free = [square for square in squares if board.piece_at(square) is None]
    if free:
        board.set_piece_at(rng.choice(free), piece)


def _empty_with_kings(rng: random.Random) -> chess.Board:
    board = chess.Board(None)
    for color in chess.COLORS:
        _place(board, chess.Piece(chess.KING, color), list(chess.SQUARES), rng)
    return board


def standard(rng: random.Random) -> chess.Board:
    """Make the starting position."""
    return chess.Board()


def castling(rng: random.Random) -> chess.Board:
    """Place kings and rooks on their home squares with all castling rights, and a few pieces."""
    board = chess.Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    for _ in range(rng.randrange(6)):
        piece = chess.Piece(rng.choice(PIECE_KINDS), rng.random() < 0.5)
        _place(board, piece, list(range(16, 48)), rng)
    for _ in range(rng.randrange(8)):
        _place(board, chess.Piece(chess.PAWN, rng.random() < 0.5), list(range(8, 56)), rng)
    return board


def pawns(rng: random.Random) -> chess.Board:
    """Place pawns for double steps and en passant captures."""
    board = _empty_with_kings(rng)
    for color, home, advanced in ((chess.WHITE, 1, 4), (chess.BLACK, 6, 3)):
        for rank, count in ((home, rng.randrange(2, 6)), (advanced, rng.randrange(1, 4))):
            squares = [chess.square(file, rank) for file in range(8)]
            for _ in range(count):
                _place(board, chess.Piece(chess.PAWN, color), squares, rng)
        # Sliders pin pawns, also along the rank.
        piece = chess.Piece(rng.choice((chess.ROOK, chess.BISHOP, chess.QUEEN)), color)
        _place(board, piece, list(chess.SQUARES), rng)
    return board


def promotions(rng: random.Random) -> chess.Board:
    """Place pawns near promotion, with pieces to capture on the last rank."""
    board = _empty_with_kings(rng)
    for color, ranks, last in ((chess.WHITE, (5, 6), 7), (chess.BLACK, (1, 2), 0)):
        squares = [chess.square(file, rank) for file in range(8) for rank in ranks]
        for _ in range(rng.randrange(1, 4)):
            _place(board, chess.Piece(chess.PAWN, color), squares, rng)
        for _ in range(rng.randrange(3)):
            piece = chess.Piece(rng.choice(PIECE_KINDS), not color)
            _place(board, piece, [chess.square(file, last) for file in range(8)], rng)
    return board


def endgame(rng: random.Random) -> chess.Board:
    """Place at most three pieces per side: dead positions, stalemates, repetitions."""
    board = _empty_with_kings(rng)
    for color in chess.COLORS:
        for _ in range(rng.randrange(4)):
            kind = rng.choice((chess.PAWN, *PIECE_KINDS, chess.BISHOP, chess.KNIGHT))
            squares = list(range(8, 56)) if kind == chess.PAWN else list(chess.SQUARES)
            _place(board, chess.Piece(kind, color), squares, rng)
    return board


def minor_pieces(rng: random.Random) -> chess.Board:
    """Place only bishops and knights: sufficient and insufficient material."""
    board = _empty_with_kings(rng)
    for _ in range(rng.randrange(1, 5)):
        kind = rng.choice((chess.BISHOP, chess.BISHOP, chess.KNIGHT))
        _place(board, chess.Piece(kind, rng.random() < 0.5), list(chess.SQUARES), rng)
    return board


def queens(rng: random.Random) -> chess.Board:
    """Place many queens: hundreds of moves, mates, double checks."""
    board = _empty_with_kings(rng)
    for color in chess.COLORS:
        for _ in range(rng.randrange(2, 10)):
            _place(board, chess.Piece(chess.QUEEN, color), list(chess.SQUARES), rng)
    return board


def chess960(rng: random.Random) -> chess.Board:
    """Choose one of the 960 starting positions, with castling as king takes rook."""
    return chess.Board.from_chess960_pos(rng.randrange(960))


def open_chess960(rng: random.Random) -> chess.Board:
    """Place each king between two rooks and little else, so that castling is soon possible."""
    board = chess.Board(None, chess960=True)
    for color, rank in ((chess.WHITE, 0), (chess.BLACK, 7)):
        queenside, king, kingside = sorted(rng.sample(range(8), 3))
        board.set_piece_at(chess.square(king, rank), chess.Piece(chess.KING, color))
        for file in (queenside, kingside):
            board.set_piece_at(chess.square(file, rank), chess.Piece(chess.ROOK, color))
            board.castling_rights |= chess.BB_SQUARES[chess.square(file, rank)]
        for _ in range(rng.randrange(4)):
            _place(board, chess.Piece(chess.PAWN, color), list(range(8, 56)), rng)
        if rng.random() < 0.3:  # another rook: X-FEN may need a file letter
            home = [chess.square(file, rank) for file in range(8)]
            _place(board, chess.Piece(chess.ROOK, color), home, rng)
    return board


FAMILIES: dict[str, Callable[[random.Random], chess.Board]] = {
    "standard": standard,
    "castling": castling,
    "pawns": pawns,
    "promotions": promotions,
    "endgame": endgame,
    "minor_pieces": minor_pieces,
    "queens": queens,
    "chess960": chess960,
    "open_chess960": open_chess960,
}


def draw(family: str, rng: random.Random) -> chess.Board:
    """Draw a legal, unfinished position; one in four is near the 50 or 75 move limit."""
    for _ in range(MAX_TRIES):
        board = FAMILIES[family](rng)
        if family in ("standard", "chess960"):
            return board
        if _finish(board, rng):
            if rng.random() < 0.25:
                board.halfmove_clock = rng.choice((90, 96, 97, 98, 99, 140, 146, 148, 149))
            return board
    raise RuntimeError(f"no legal position of family {family!r} in {MAX_TRIES} tries")
