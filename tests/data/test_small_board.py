"""python-chess with boards of other sizes."""

from __future__ import annotations

import random

import chess
import pytest

from rookery._core import Game
from rookery.data.notation import read_move, sans_of
from rookery.data.pgn import read_pgn
from rookery.data.small_board import board_class, chess_board, game_of

BOARDS = [
    "4x4",
    "gardner",
    "losalamos",
    "rqkr/pppp/4/4/4/PPPP/RQKR w - - 0 1; double-step; promote=qr",
]


@pytest.mark.parametrize("name", BOARDS)
def test_python_chess_follows_games(name: str) -> None:
    """Positions, SAN and check agree move by move, and the PGN can be read again."""
    rng = random.Random(5)
    for _ in range(5):
        game = Game(board=name)
        board = chess_board(game)
        while game.outcome() is None and game.ply < 60:
            move = rng.choice(game.legal_moves())
            san = game.san(move)
            assert sans_of(board, [move]) == [san]
            assert read_move(board, san) == read_move(board, move) == move
            board.push_san(san)
            game.push(move)
            assert board.is_check() == game.in_check
            assert game_of(board).legal_moves() == game.legal_moves()
            assert board.fen().split()[0] == game.fen().split()[0]
        read = next(read_pgn(game.pgn(White="Anna", Black="Ben")))
        assert read.error == "" and read.moves == game.moves()
        assert read.headers["Variant"] == game.board
        assert [at.fen() for at, _ in read.positions()]  # and can be stepped through


def test_the_standard_board_is_that_of_python_chess() -> None:
    assert board_class("standard") is chess.Board
    assert type(chess_board(Game())) is chess.Board


def test_a_start_position_is_reset_to() -> None:
    board = board_class("gardner")()
    board.push_san("b3")
    board.reset()
    assert board.fen() == Game(board="gardner").fen()
