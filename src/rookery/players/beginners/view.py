"""A position as a beginner sees it: a row of features for each legal move.

A beginner looks one move ahead: what a move takes, what the opponent could take after it, and how
the move looks by itself.
"""

from __future__ import annotations

import chess
import numpy as np
from numpy.typing import NDArray

from rookery.players.beginners.habits import WEIGHTS

# In pawns, by python-chess's number of a piece type; a king takes last.
WORTH = (0.0, 1.0, 3.0, 3.0, 5.0, 9.0, 100.0)
NAMES = " PNBRQK"
CENTRE = chess.SquareSet([chess.D4, chess.E4, chess.D5, chess.E5])
OPENING_PLIES = 24  # while pieces are brought out
EARLY_PLIES = 12  # while the queen should stay at home
ENDING_PIECES = 14  # from here on kings walk and pawns run

Features = NDArray[np.float32]  # [moves, features], in the order of WEIGHTS
_INDEX = {name: index for index, name in enumerate(WEIGHTS)}


class View:
    """One position, with the last two moves."""

    def __init__(self, board: chess.Board, past: list[chess.Move]) -> None:
        """`past` holds the last two moves, its own first, or fewer; `board` is left as it was."""
        self._board, self._side = board, board.turn
        self._last = past[-1].to_square if past else None
        self._own = past[0] if len(past) == 2 else None
        self._opening = board.ply() < OPENING_PLIES
        self._ending = chess.popcount(board.occupied) <= ENDING_PIECES
        self._pawns = {side: board.pawns & board.occupied_co[side] for side in chess.COLORS}

    def features(self, moves: list[chess.Move]) -> Features:
        """What is to be said of each move."""
        found = np.zeros((len(moves), len(_INDEX)), np.float32)
        for row, move in zip(found, moves, strict=True):
            piece = self._board.piece_type_at(move.from_square) or chess.PAWN
            self._tactics(row, move)
            self._habits(row, move, piece)
        return found

    # --- What is won and lost ---

    def _tactics(self, row: Features, move: chess.Move) -> None:
        board, target = self._board, move.to_square
        taken = 0.0
        if board.is_capture(move):
            taken = WORTH[board.piece_type_at(target) or chess.PAWN]
            row[_INDEX["take"]] = 1
            row[_INDEX["take_back"]] = target == self._last
        if move.promotion:
            queen = move.promotion == chess.QUEEN
            row[_INDEX["queen" if queen else "underpromotion"]] = 1
        check = board.gives_check(move)
        board.push(move)
        mate = check and board.is_checkmate()
        if check:
            row[_INDEX["check"]] = 1
            row[_INDEX["safe_check"]] = not board.attackers_mask(not self._side, target)
            row[_INDEX["mate"]] = mate
        if not mate:
            self._losses(row, target, taken, 0.5 if check else 1.0)
        if chess.square_distance(move.from_square, target) > 3:
            row[_INDEX["far_gain"]] = row[_INDEX["gain"]]
        self._threat(row, target)
        board.pop()

    def _losses(self, row: Features, moved: int, taken: float, rest: float) -> None:
        """What the opponent could win; a check leaves it a share of `rest` elsewhere."""
        losses = []
        for square in chess.scan_forward(
            self._board.occupied_co[self._side] & ~self._board.kings & ~chess.BB_SQUARES[moved]
        ):
            loss, taker = self._loss(square)
            if loss:
                losses.append((loss * rest, taker == self._last))
        losses.sort(reverse=True)
        if losses:
            row[_INDEX["loss"]] = losses[0][0]
            row[_INDEX["loss_to_last"]] = losses[0][0] if losses[0][1] else 0
        if len(losses) > 1:
            row[_INDEX["second_loss"]] = losses[1][0]
        exposed = self._loss(moved)[0]
        if taken > 0:
            row[_INDEX["gain"]] = max(0.0, taken - exposed)
            row[_INDEX["bad_take"]] = max(0.0, exposed - taken)
        else:
            row[_INDEX["moved_loss"]] = exposed

    def _loss(self, square: int) -> tuple[float, int | None]:
        """What the opponent could win by one capture on a square, in pawns, and from where."""
        board, side = self._board, self._side
        takers = [
            (WORTH[board.piece_type_at(start) or 0], start)
            for start in chess.scan_forward(board.attackers_mask(not side, square))
        ]
        if not takers:
            return 0.0, None
        taker, start = min(takers)
        worth = WORTH[board.piece_type_at(square) or 0]
        if board.attackers_mask(side, square):
            worth = max(0.0, worth - taker)
        return worth, start

    def _threat(self, row: Features, moved: int) -> None:
        """Whether the piece now attacks something it could win."""
        board, side = self._board, self._side
        own = WORTH[board.piece_type_at(moved) or 0]
        best = 0.0
        for square in chess.scan_forward(
            board.attacks_mask(moved) & board.occupied_co[not side] & ~board.kings
        ):
            worth = WORTH[board.piece_type_at(square) or 0]
            free = not board.attackers_mask(not side, square)
            best = max(best, worth if free else worth - own)
        if best > 0:
            row[_INDEX["threat" if best >= 2 else "small_threat"]] = 1

    # --- How the move looks by itself ---

    def _habits(self, row: Features, move: chess.Move, piece: int) -> None:
        ranks, files = _steps(move, self._side)
        castles = self._board.is_castling(move)
        row[_INDEX["castle"]] = castles
        row[_INDEX[("ending_" if self._ending else "piece_") + NAMES[piece]]] = 1
        if self._own is not None and move.from_square == self._own.to_square:
            row[_INDEX["same_piece"]] = 1
            row[_INDEX["undo"]] = move.to_square == self._own.from_square
        if piece != chess.PAWN:
            row[_INDEX["forward"]] = max(0, ranks)
            row[_INDEX["back"]] = max(0, -ranks)
        if piece in (chess.KNIGHT, chess.BISHOP, chess.QUEEN):
            row[_INDEX["centre"]] = _centrality(move.to_square) - _centrality(move.from_square)
        if self._opening:
            self._first_moves(row, move, piece)
        if piece == chess.PAWN:
            row[_INDEX["two_squares"]] = ranks == 2
            row[_INDEX["passed"]] = self._is_passed(move.to_square)
            if self._ending:
                row[_INDEX["pawn_rank"]] = _rank(move.to_square, self._side) - 3
        elif piece == chess.KING and not castles:
            self._king(row, move)
        elif piece == chess.ROOK and files:
            file = chess.BB_FILES[chess.square_file(move.to_square)]
            row[_INDEX["open_file"]] = not self._pawns[self._side] & file

    def _first_moves(self, row: Features, move: chess.Move, piece: int) -> None:
        file = chess.square_file(move.to_square)
        home = _rank(move.from_square, self._side) == 0
        if piece == chess.KNIGHT:
            row[_INDEX["knight_out"]] = home
            row[_INDEX["knight_on_edge"]] = file in (0, 7)
        elif piece == chess.BISHOP:
            row[_INDEX["bishop_out"]] = home
        elif piece == chess.QUEEN:
            row[_INDEX["early_queen"]] = self._board.ply() < EARLY_PLIES
        elif piece == chess.PAWN:
            row[_INDEX["centre_pawn"]] = move.to_square in CENTRE
            row[_INDEX["edge_pawn"]] = file in (0, 7)

    def _king(self, row: Features, move: chess.Move) -> None:
        other = self._board.king(not self._side)
        if not self._ending:
            row[_INDEX["king_walk"]] = 1
        elif other is not None:
            before = chess.square_distance(move.from_square, other)
            row[_INDEX["nearer_king"]] = before - chess.square_distance(move.to_square, other)

    def _is_passed(self, square: int) -> bool:
        file, rank = chess.square_file(square), chess.square_rank(square)
        files = sum(chess.BB_FILES[near] for near in range(max(0, file - 1), min(7, file + 1) + 1))
        ahead = range(rank + 1, 8) if self._side else range(rank)
        ranks = sum(chess.BB_RANKS[number] for number in ahead)
        return not self._pawns[not self._side] & files & ranks


def _rank(square: int, side: chess.Color) -> int:
    """The rank from the side's own first one, 0 to 7."""
    rank = chess.square_rank(square)
    return rank if side else 7 - rank


def _steps(move: chess.Move, side: chess.Color) -> tuple[int, int]:
    """Ranks forward (negative: backward) and files to the right."""
    ranks = _rank(move.to_square, side) - _rank(move.from_square, side)
    return ranks, chess.square_file(move.to_square) - chess.square_file(move.from_square)


def _centrality(square: int) -> float:
    """Minus the distance from the middle of the board: -0.5 to -3.5."""
    file, rank = chess.square_file(square), chess.square_rank(square)
    return -max(abs(file - 3.5), abs(rank - 3.5))
