"""Boards of other sizes for python-chess, so that its notation, PGN and drawings work with them.

The rules are the core's: a `SmallBoard` asks `Game` for its legal moves. As in the core, the board
is the corner of 8x8 squares at a1.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import ClassVar

import chess
import chess.pgn

from rookery._core import STANDARD_BOARD, Board, Game, find_board


class SmallBoard(chess.Board):
    """A position on another board than the standard one; `board_class` makes the types."""

    board: ClassVar[Board]

    def __init__(self, fen: str | None = "", *, chess960: bool = False) -> None:
        """Begin with a FEN, an empty board (None) or the start position."""
        super().__init__(type(self).starting_fen if fen == "" else fen, chess960=chess960)

    def _set_board_fen(self, fen: str) -> None:
        rows = fen.strip().split("/")
        missing = 8 - self.board.files
        full = [row + (str(missing) if missing else "") for row in rows]
        super()._set_board_fen("/".join(["8"] * (8 - len(rows)) + [_joined(row) for row in full]))

    def board_fen(self, *, promoted: bool | None = False) -> str:
        """The placement, in the size of the board."""
        rows = []
        for rank in range(self.board.ranks - 1, -1, -1):
            squares = range(8 * rank, 8 * rank + self.board.files)
            pieces = (self.piece_at(square) for square in squares)
            rows.append("".join(piece.symbol() if piece else "1" for piece in pieces))
        return "/".join(_joined(row) for row in rows)

    def reset(self) -> None:
        """Go to the start position."""
        self.set_fen(type(self).starting_fen)

    def _game(self) -> Game:
        return Game(self.fen(en_passant="fen"), board=self.board.rules)

    def has_legal_en_passant(self) -> bool:
        """Whether a pawn may capture en passant; python-chess knows only its own ranks."""
        return self.ep_square is not None and any(map(self.is_en_passant, self.legal_moves))

    def generate_legal_moves(
        self, from_mask: chess.Bitboard = chess.BB_ALL, to_mask: chess.Bitboard = chess.BB_ALL
    ) -> Iterator[chess.Move]:
        """The core's legal moves."""
        for uci in self._game().legal_moves():
            move = chess.Move.from_uci(uci)
            if from_mask >> move.from_square & 1 and to_mask >> move.to_square & 1:
                yield move

    def generate_pseudo_legal_moves(
        self, from_mask: chess.Bitboard = chess.BB_ALL, to_mask: chess.Bitboard = chess.BB_ALL
    ) -> Iterator[chess.Move]:
        """The same: nothing illegal is generated."""
        return self.generate_legal_moves(from_mask, to_mask)

    def is_pseudo_legal(self, move: chess.Move) -> bool:
        """Whether it is legal."""
        return self._game().is_legal(move.uci())

    def is_legal(self, move: chess.Move) -> bool:
        """Whether the core has it among its legal moves."""
        return self.is_pseudo_legal(move)

    def push(self, move: chess.Move) -> None:
        """Make a move; python-chess would miss double steps on fewer ranks."""
        pawn = self.piece_type_at(move.from_square) == chess.PAWN
        super().push(move)
        steps = abs(move.to_square - move.from_square)
        self.ep_square = (move.to_square + move.from_square) // 2 if pawn and steps == 16 else None


def _joined(row: str) -> str:
    """A row of a FEN with neighbouring digits added up."""
    text, empty = "", 0
    for letter in row:
        if letter.isdigit():
            empty += int(letter)
        else:
            text += (str(empty) if empty else "") + letter
            empty = 0
    return text + (str(empty) if empty else "")


@functools.cache
def board_class(name: str) -> type[chess.Board]:
    """The type of python-chess for a board by name or description; `chess.Board` if standard."""
    board = find_board(name)
    if board.rules == STANDARD_BOARD:
        return chess.Board
    known = find_board(board.rules)
    start = board.start or known.start
    fields = {"board": board, "aliases": [board.rules], "starting_fen": " ".join(start.split()[:6])}
    return type("SmallBoard", (SmallBoard,), fields)


def chess_board(game: Game, fen: str | None = None) -> chess.Board:
    """The position of a game, or another one on its board, for python-chess."""
    text = " ".join((fen or game.fen()).split()[:6])
    return board_class(game.board)(text, chess960=game.chess960)


def game_of(board: chess.Board) -> Game:
    """The position of python-chess as a game."""
    rules = board.board.rules if isinstance(board, SmallBoard) else STANDARD_BOARD
    return Game(board.fen(), board.chess960, rules)


class BoardHeaders(chess.pgn.Headers):
    """Tags of a PGN game that know our boards as variants."""

    def variant(self) -> type[chess.Board]:
        """The type of the board that the tag Variant names."""
        name = self.get("Variant", "")
        try:
            return board_class(name) if name else chess.Board
        except ValueError:
            found: type[chess.Board] = super().variant()
            return found
