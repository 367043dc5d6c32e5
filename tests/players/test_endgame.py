"""The players of learnt endings in other programs: a UCI client lets them play both sides."""

from __future__ import annotations

import sys

import chess
import chess.engine
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'train'")

from rookery import Game  # noqa: E402
from rookery.players.registry import make_player  # noqa: E402

LIMIT = chess.engine.Limit(nodes=1)  # there is no search to limit


def test_kpk_wins_and_holds_over_uci() -> None:
    engine = chess.engine.SimpleEngine.popen_uci(
        [sys.executable, "-m", "rookery.cli", "uci", "kpk"], timeout=300
    )
    try:
        # White has the opposition: Black's best defence does not help.
        board = chess.Board("8/8/4k3/8/4K3/4P3/8/8 b - - 0 1")
        while board.piece_at(board.king(chess.WHITE) or 0) and not board.queens | board.rooks:
            board.push(engine.play(board, LIMIT).move or chess.Move.null())
            assert board.pawns | board.queens | board.rooks, "the pawn was lost"
            assert board.fullmove_number < 30
        # Black has it: the same placement is a draw, and is held for twenty moves.
        board = chess.Board("8/8/4k3/8/4K3/4P3/8/8 w - - 0 1")
        for _ in range(40):
            if board.is_game_over() or not board.pawns:
                break
            board.push(engine.play(board, LIMIT).move or chess.Move.null())
            assert not board.queens | board.rooks
    finally:
        engine.quit()


@pytest.mark.parametrize("name", ["kpk", "krk"])
def test_the_best_move_is_the_first_q_value(name: str) -> None:
    player = make_player(name)
    fen = "8/8/8/3k4/8/8/1R6/K7 w - - 0 1" if name == "krk" else "8/8/4k3/8/4K3/4P3/8/8 b - - 0 1"
    game = Game(fen)
    decision = player.choose(game, np.random.default_rng(0))
    q_values = decision.details["q_values"]
    assert isinstance(q_values, dict)
    assert set(q_values) == set(game.legal_moves())
    assert decision.move == max(q_values, key=lambda move: q_values[move])
    player.close()
