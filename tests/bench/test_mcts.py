"""The benchmark of tree search: its form, with small networks."""

from __future__ import annotations

from typing import Any

import pytest

from rookery.bench import BENCHMARKS, mcts, prediction


def test_all_participants_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    residual = mcts.residual

    def small(observation: str, blocks: int, filters: int) -> Any:
        return residual(observation, 1, 4)

    monkeypatch.setattr(mcts, "residual", small)
    monkeypatch.setattr(mcts, "SECONDS", 0.01)
    monkeypatch.setattr(mcts, "REPETITIONS", 1)
    monkeypatch.setattr(mcts, "SMALL_GAMES", 8)
    monkeypatch.setattr(mcts, "MIDDLE_GAMES", 8)
    result = mcts.run()
    assert result.unit == "simulations/s"
    assert len(result.details) == 7 and all(value > 0 for value in result.details.values())
    rows = {comparison.peer: comparison for comparison in result.comparisons}
    alone = rows["6x64 evaluator alone"]
    assert alone.peer_value == result.details["6x64 evaluator alone"]
    assert alone.value == result.details["6x64 self-play"]
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
