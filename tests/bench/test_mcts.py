"""The benchmark of tree search: its form, with small networks."""

from __future__ import annotations

from typing import Any

import chess
import numpy as np
import pytest

from rookery import Game
from rookery.bench import BENCHMARKS, mcts, prediction
from rookery.bench.peers.python_chess_pepper import features


def test_all_participants_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    residual = mcts.residual

    def small(observation: str, blocks: int, filters: int, precision: str = "") -> Any:
        return residual(observation, 1, 4, precision)

    monkeypatch.setattr(mcts, "residual", small)
    monkeypatch.setattr(mcts, "SECONDS", 0.01)
    monkeypatch.setattr(mcts, "REPETITIONS", 1)
    monkeypatch.setattr(mcts, "SMALL_GAMES", 8)
    monkeypatch.setattr(mcts, "MIDDLE_GAMES", 8)
    result = mcts.run()
    assert result.unit == "simulations/s"
    assert len(result.details) == 11 and all(value > 0 for value in result.details.values())
    rows = {comparison.peer: comparison for comparison in result.comparisons}
    alone = rows["6x64 evaluator alone"]
    assert alone.peer_value == result.details["6x64 evaluator alone"]
    assert alone.value == result.details["6x64 self-play"]
    # Nothing is quoted: both other searches are measured in the same run.
    assert rows["OpenSpiel's Python MCTS"].peer_value > 0
    assert rows["python-chess tree in the way of Vanhoutte 2022"].peer_value > 0
    assert "mcts" in BENCHMARKS


def test_the_prediction_server_is_measured_against_one_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prediction, "RESIDUAL", {"blocks": 1, "filters": 4})
    monkeypatch.setattr(prediction, "SECONDS", 0.01)
    monkeypatch.setattr(prediction, "REPETITIONS", 1)
    monkeypatch.setattr(prediction, "RESIDUAL_GAMES", 8)
    monkeypatch.setattr(prediction, "SQUARES_GAMES", 8)
    monkeypatch.setattr(prediction, "ORDER", {"6x64": 2, "squares": 8})
    result = prediction.run()
    assert len(result.details) == 8 and all(value > 0 for value in result.details.values())
    assert [row.peer for row in result.comparisons] == [
        "the same in one process",
        "squares in one process",
    ]
    assert "prediction" in BENCHMARKS


def test_the_published_features_in_python_are_ours() -> None:
    board, game = chess.Board(), Game()
    rng = np.random.default_rng(1)
    while board.outcome() is None and board.ply() < 120:
        np.testing.assert_allclose(features(board), game.encode("pepper353"), atol=1e-6)
        move = str(rng.choice(sorted(move.uci() for move in board.legal_moves)))
        board.push_uci(move)
        game.push(move)
    assert board.ply() > 20
