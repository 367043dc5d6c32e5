"""Alpha-beta with any value evaluator: functions over observations, and native networks."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from rookery._core import (
    BatchEvaluator,
    Engine,
    EvaluatorError,
    Game,
    NnueNetwork,
    SearchResult,
    bench_positions,
    encode_batch,
    value_of_score,
)
from rookery.nets import make_network
from rookery.nets.model_file import ModelFileError, save_model
from rookery.nets.value_evaluator import torch_evaluator, value_evaluator
from rookery.players.alphabeta import read_evaluator
from rookery.players.base import Limits
from rookery.players.registry import make_player
from support.nnue_samples import random_games

Observations = NDArray[np.float32]
WORTH = np.array([1, 3, 3, 5, 9, 0])
KINDS = "PNBRQK"


def material(planes: Observations) -> NDArray[np.float64]:
    """Values of planes12 by what stands on the board."""
    counts = planes.reshape(-1, 2, 6, 64).sum(axis=3)
    return np.asarray(np.tanh((counts[:, 0] - counts[:, 1]) @ WORTH / 8))


def nnue_values(network: NnueNetwork) -> Callable[[Observations], NDArray[np.float64]]:
    """The values of a network that knows pieces and side, from planes12."""

    def game_of(planes: Observations) -> Game:
        squares = [["1"] * 8 for _ in range(8)]
        for plane, rank, file in np.argwhere(planes > 0):
            letter = KINDS[plane % 6]
            squares[rank][file] = letter if plane < 6 else letter.lower()
        rows = "/".join("".join(row) for row in reversed(squares))
        return Game(re.sub("1+", lambda ones: str(len(ones[0])), rows) + " w - - 0 1")

    def values(planes: Observations) -> NDArray[np.float64]:
        return np.array([value_of_score(network.evaluate(game_of(each))) for each in planes])

    return values


def search(evaluator: NnueNetwork | BatchEvaluator, fen: str, **limits: Any) -> SearchResult:
    engine = Engine(evaluator, 1, 4)
    engine.prepare()
    return engine.search(Game(fen), **limits)


def told(result: SearchResult) -> tuple[object, ...]:
    return result.best, result.score, result.nodes, result.depth, result.lines[0].moves


# --- Searches ---


@pytest.mark.parametrize(
    ("fen", "best", "mate"),
    [
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "d1d8", True),
        ("3r2k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1", "d8d1", True),
        ("4k3/8/8/3q4/4P3/8/3K4/7R w - - 0 1", "e4d5", False),
        ("4k3/8/8/2n1n3/8/8/3P4/R6K w - - 0 1", "d2d4", False),  # a fork
    ],
)
def test_material_finds_mates_and_wins_pieces(fen: str, best: str, mate: bool) -> None:
    result = search(BatchEvaluator("planes12", material), fen, depth=4)
    assert result.best == best
    assert (result.score > 31_000) == mate and result.score > 100


def test_siblings_in_one_batch_change_no_result() -> None:
    sizes: list[int] = []

    def counted(planes: Observations) -> NDArray[np.float64]:
        sizes.append(len(planes))
        return material(planes)

    calls = []
    for fen in bench_positions()[:20:2]:
        results = []
        for batch in (1, 5, 256):
            sizes.clear()
            evaluator = BatchEvaluator("planes12", counted, batch=batch)
            results.append(told(search(evaluator, fen, depth=5)))
            assert max(sizes) <= batch
            calls.append((batch, len(sizes)))
        assert results[0] == results[1] == results[2]
    total = {batch: sum(n for size, n in calls if size == batch) for batch in (1, 256)}
    assert total[256] < 0.75 * total[1]


def test_both_doors_lead_to_the_same_search() -> None:
    network = NnueNetwork.random(32, 8, 1)
    evaluator = BatchEvaluator("planes12", nnue_values(network))
    for fen in bench_positions()[:6]:
        fast, slow = (search(each, fen, depth=4) for each in (network, evaluator))
        assert told(fast) == told(slow)


def test_the_same_search_twice_and_after_a_new_game() -> None:
    asked = []

    def counted(planes: Observations) -> NDArray[np.float64]:
        asked.append(len(planes))
        return material(planes)

    engine = Engine(BatchEvaluator("planes12", counted), 1, 4)
    results, counts = [], []
    for _ in range(2):
        engine.new_game()
        engine.prepare()
        asked.clear()
        results.append(told(engine.search(Game(), depth=5)))
        counts.append(sum(asked))
    assert results[0] == results[1]
    assert counts[0] == counts[1]  # nothing was remembered


def test_another_evaluator_forgets_the_old_values() -> None:
    engine = Engine(BatchEvaluator("planes12", lambda planes: -material(planes)), 1, 4)
    for evaluator in (BatchEvaluator("planes12", material), NnueNetwork.material()):
        engine.prepare()
        engine.search(Game(), depth=3)
        engine.set_evaluator(evaluator)
        engine.prepare()
        fen = bench_positions()[7]
        assert told(engine.search(Game(fen), depth=3)) == told(search(evaluator, fen, depth=3))


def test_several_threads_and_a_time_limit() -> None:
    engine = Engine(BatchEvaluator("planes12", material), 3, 4)
    engine.prepare()
    result = engine.search(Game(), movetime=0.05)
    assert Game().is_legal(result.best) and result.seconds < 5


# --- Failures ---


@pytest.mark.parametrize("threads", [1, 3])
def test_exceptions_end_the_search_and_come_back(threads: int) -> None:
    asked = 0

    def fails(planes: Observations) -> NDArray[np.float64]:
        nonlocal asked
        asked += 1
        if asked > 20:
            raise RuntimeError("the network left")
        return material(planes)

    engine = Engine(BatchEvaluator("planes12", fails), threads, 4)
    engine.prepare()
    with pytest.raises(RuntimeError, match="the network left"):
        engine.search(Game())  # without a limit
    asked = -(10**9)
    engine.prepare()
    assert engine.search(Game(), depth=2).depth == 2


def test_interrupts_reach_a_search_in_another_thread() -> None:
    engine = Engine(BatchEvaluator("planes12", material))
    engine.prepare()
    started = threading.Event()
    thread = threading.Thread(
        target=lambda: engine.search(Game(), report=lambda result: started.set())
    )
    thread.start()
    started.wait()
    engine.stop()
    thread.join(timeout=60)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda planes: np.full(len(planes), np.nan), "'mine' gave the value nan"),
        (lambda planes: np.full(len(planes), np.inf), "'mine' gave the value inf"),
        (lambda planes: np.full(len(planes), 1.5), r"1.5\d*, which is not in \[-1, 1\]"),
        (lambda planes: np.zeros(len(planes) + 1), "one value for each of 1 positions"),
        (lambda planes: np.zeros((len(planes), 1)), "one value for each of 1 positions"),
        (lambda planes: None, "'mine' must return .* not None"),
    ],
)
def test_bad_values_name_the_evaluator(answer: Callable[[Any], Any], message: str) -> None:
    evaluator = BatchEvaluator("planes12", answer, name="mine")
    with pytest.raises(EvaluatorError, match=message):
        search(evaluator, Game().fen(), depth=2)


def test_observations_that_single_positions_lack_are_refused() -> None:
    with pytest.raises(ValueError, match="'deep': the observation planes119 needs the last 8"):
        BatchEvaluator("planes119", material, name="deep")
    with pytest.raises(ValueError, match="kpk3 describes king and pawn against king"):
        BatchEvaluator("kpk3", material)
    with pytest.raises(ValueError, match="unknown observation 'planes'"):
        BatchEvaluator("planes", material)
    with pytest.raises(ValueError, match="batch must be 1 or more"):
        BatchEvaluator("planes12", material, batch=0)


# --- Networks ---


@pytest.mark.parametrize("observation", ["giraffe363", "pepper353"])
@pytest.mark.parametrize("width", [8, 64, 100])
def test_native_and_torch_values_agree(observation: str, width: int) -> None:
    generator = torch.Generator().manual_seed(width)
    network = make_network("giraffe", observation, "none", {"width": width}, generator)
    with torch.no_grad():
        network.value.weight.mul_(10)
        network.second.bias.normal_(generator=generator)
    games = random_games(200)
    size = sum(len(places) for places in network._places)
    inputs = np.zeros((len(games), size), dtype=np.float32)
    encode_batch(games, observation, inputs)
    with torch.no_grad():
        expected = network.values(torch.from_numpy(inputs)).numpy()
    assert np.std(expected) > 0.05
    for evaluator in (value_evaluator(network), torch_evaluator(network)):
        assert evaluator.observation == observation
        assert evaluator.values(games) == pytest.approx(expected, abs=1e-5)


def test_layers_must_fit() -> None:
    def layer(outputs: int, inputs: int) -> tuple[Observations, Observations]:
        return np.ones((outputs, inputs), np.float32), np.ones(outputs, np.float32)

    assert BatchEvaluator.mlp("vector66", [layer(1, 66)]).values([Game()]) == pytest.approx(1.0)
    for layers in ([layer(1, 65)], [layer(4, 66), layer(1, 5)], [layer(2, 66)], []):
        with pytest.raises(ValueError, match=r"layer \d has|ends in 1 output"):
            BatchEvaluator.mlp("vector66", layers)


def test_a_model_file_plays_with_the_usual_options(tmp_path: Path) -> None:
    path = tmp_path / "giraffe.safetensors"
    network = make_network("giraffe", "giraffe363", "none", {"width": 16})
    save_model(path, network)
    game, rng = Game(), np.random.default_rng(1)
    for options in ("depth=2", "nodes=300", "movetime=0.02", "depth=2,threads=2", "level=3"):
        player = make_player(f"{path},{options}")
        assert game.is_legal(player.choose(game, rng).move)
        player.close()
    nodes = make_player(f"{path},nodes=300").choose(game, rng, Limits()).details["nodes"]
    assert nodes == 300
    assert make_player(f"rookery,network={path},depth=1").choose(game, rng).move


def test_a_policy_is_no_evaluator(tmp_path: Path) -> None:
    path = tmp_path / "policy.safetensors"
    network = make_network("mlp", "vector66", "az4672")
    save_model(path, network)
    with pytest.raises(ModelFileError, match="family 'mlp'"):
        read_evaluator(str(path))
