"""SPSA: towards the better values, the same after an interruption, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rookery._core import Engine, Game, NnueNetwork, search_parameters
from rookery.cli import main
from rookery.nets.evaluator import load_network
from rookery.nets.nnue import tensors_of
from rookery.tuning import spsa
from rookery.tuning.spsa import Plan, compare, load_tuning, new_tuning, tune

BEST = {"futility_margin": 180, "lmr_check": 300}


class NoisyMatch:
    """Games decided by the distance from BEST, with noise."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.rng = np.random.default_rng(1)

    def set_parameters(self, ours: dict[str, int], theirs: dict[str, int]) -> None:
        self.advantage = self.loss(theirs) - self.loss(ours)

    def loss(self, values: dict[str, int]) -> float:
        known = search_parameters()
        return sum(abs(values[k] - BEST[k]) / (known[k][2] - known[k][1]) for k in BEST)

    def run(self, first: int, count: int) -> list[tuple[tuple[int, list[str]], ...]]:
        results = np.sign(self.advantage + self.rng.normal(scale=0.2, size=(count, 2)))
        return [tuple((int(result), []) for result in pair) for pair in results]


def test_values_move_to_where_games_are_won(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(spsa, "NetworkMatch", NoisyMatch)
    tuning = new_tuning(Plan("rookery", tuple(BEST), pairs=3000, rate=0.05))
    tune(tuning, None, tmp_path)
    for name, best in BEST.items():
        _, low, high = search_parameters()[name]
        assert abs(tuning.values[name] - best) < 0.1 * (high - low)


@pytest.fixture(scope="module")
def tensors() -> Any:
    return tensors_of(load_network("rookery"))


def test_an_interrupted_tuning_ends_with_the_same_values(tensors: Any, tmp_path: Path) -> None:
    names = ("quiescence_futility", "lmr_quiet_base")
    plan = Plan("rookery", names, pairs=8, nodes=300, rate=1.0, seed=3)
    straight = new_tuning(plan)
    tune(straight, tensors, tmp_path, threads=2)
    assert straight.values != new_tuning(plan).values

    folder = tmp_path / "split"
    folder.mkdir()
    stops = iter([False, False, True])
    tune(new_tuning(plan), tensors, folder, stopping=lambda: next(stops))
    assert load_tuning(folder, plan).played == 4
    again = load_tuning(folder, plan)
    tune(again, tensors, folder)
    assert again.values == straight.values and again.played == 8
    with pytest.raises(ValueError, match="another plan"):
        load_tuning(folder, Plan("rookery", plan.parameters, pairs=9))


def test_equal_values_are_equally_strong(tensors: Any) -> None:
    defaults = {name: value for name, (value, _, _) in search_parameters().items()}
    assert compare(tensors, defaults, pairs=3, nodes=50, seed=1, threads=1).elo == 0.0


def test_a_parameter_changes_the_search_and_bad_ones_are_refused() -> None:
    engine = Engine(NnueNetwork.material())
    game = Game()

    def nodes() -> int:
        engine.new_game()
        engine.prepare()
        return int(engine.search(game, depth=7).nodes)

    before = nodes()
    engine.set_parameters({"lmr_quiet_base": 180})
    assert nodes() != before
    engine.set_parameters({})
    assert nodes() == before
    with pytest.raises(ValueError, match="unknown search parameter 'speed'"):
        engine.set_parameters({"speed": 1})
    with pytest.raises(ValueError, match="swing_factor = 99 is not 1 to 20"):
        engine.set_parameters({"swing_factor": 99})


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["spsa", "--pairs", "2", "--nodes", "30", "--parameters", "lmr_check", "--json"]
    assert main([*words, "--check", "2", "--out", str(tmp_path / "new")]) == 0
    result = json.loads(capsys.readouterr().out)
    assert set(result["values"]) == {"lmr_check"} and result["check"]["games"] == 2
    assert json.loads((tmp_path / "new" / "spsa.json").read_text())["played"] == 2
    assert main(["spsa", "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parameters"]["lmr_check"] == [900, 0, 2000]
    for change, text in (
        (["--parameters", "speed"], "unknown search parameter 'speed'"),
        (["--network", "alphazero"], "alphazero is not a network of the engine"),
        (["--rate", "0"], "--rate is 0.0"),
    ):
        assert main([*words, *change, "--out", str(tmp_path / "bad")]) == 1
        assert text in json.loads(capsys.readouterr().out)["error"]
