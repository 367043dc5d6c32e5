"""The native learner: the same numbers as torch, whatever the number of threads."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from rookery import Game
from rookery._core import NnueLearner, evaluate_samples, pack_samples, sample_fens
from rookery.nets import make_network
from rookery.nets.model_arrays import NNUE_TENSORS
from rookery.nets.nnue import MAX_PIECES, WEIGHT_LIMIT, Nnue, sparse_rows
from rookery.runs.positions import fields, results
from support.nnue_samples import random_games, random_samples, random_weights


def learner_with(weights: dict[str, NDArray[np.float32]], threads: int = 1) -> NnueLearner:
    learner = NnueLearner(
        len(weights["feature_bias"]), len(weights["output_bias"]), threads=threads
    )
    for name, array in learner.weights().items():
        array[:] = weights[name]
    return learner


def torch_network(weights: dict[str, NDArray[np.float32]]) -> Nnue:
    sizes = {"hidden": len(weights["feature_bias"]), "buckets": len(weights["output_bias"])}
    network: Nnue = make_network("nnue", "nnue768", "none", sizes)
    network.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return network


def torch_raw(network: Nnue, samples: NDArray[np.uint8]) -> torch.Tensor:
    mover, opponent, counts = sparse_rows(samples).split([MAX_PIECES, MAX_PIECES, 1], dim=1)
    return network.raw(mover, opponent, counts.squeeze(1))


def torch_loss(network: Nnue, samples: NDArray[np.uint8], wdl: float, power: float) -> torch.Tensor:
    result = torch.from_numpy(results(samples))
    score = torch.sigmoid(torch.from_numpy(fields(samples)["score"].astype(np.float32)) / 400)
    target = wdl * result + (1 - wdl) * score
    return ((torch.sigmoid(torch_raw(network, samples)) - target).abs() ** power).mean()


@pytest.mark.parametrize("hidden", [16, 32, 48, 64, 128])
def test_outputs_are_those_of_torch(hidden: int) -> None:
    weights, samples = random_weights(hidden), random_samples(60)
    expected = torch_raw(torch_network(weights), samples).detach().numpy()
    assert np.abs(expected).max() > 0.1
    assert np.allclose(learner_with(weights).evaluate(samples), expected, atol=2e-6)


@pytest.mark.parametrize(("hidden", "wdl", "power"), [(16, 1.0, 2.0), (64, 0.3, 2.5)])
def test_gradients_are_those_of_autograd(hidden: int, wdl: float, power: float) -> None:
    weights, samples = random_weights(hidden), random_samples(80)
    network = torch_network(weights)
    loss = torch_loss(network, samples, wdl, power)
    loss.backward()
    found, gradient = learner_with(weights, threads=2).gradient(samples, wdl, power)
    assert found == pytest.approx(loss.item(), rel=1e-5)
    for name in NNUE_TENSORS:
        expected = getattr(network, name).grad.numpy()
        assert np.abs(expected).max() > 0
        scale = np.abs(expected).max()
        assert np.allclose(gradient[name], expected, rtol=1e-4, atol=1e-5 * scale), name


def test_steps_are_those_of_torch_adamw() -> None:
    weights, samples = random_weights(16), random_samples(64)
    network = torch_network(weights)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2, weight_decay=0.1)
    learner = learner_with(weights)
    learner.set_adam(weight_decay=0.1)
    for _ in range(5):
        optimizer.zero_grad()
        torch_loss(network, samples, 0.5, 2.0).backward()
        optimizer.step()
    for step in range(5):  # one batch with all samples each
        learner.train(samples, step, 64, 0, np.full(1, 1e-2, dtype=np.float32), 0.5, 2.0)
    assert learner.steps == 5
    for name, array in learner.weights().items():
        assert np.allclose(array, getattr(network, name).detach().numpy(), atol=2e-5), name


def test_the_number_of_threads_changes_nothing() -> None:
    samples, found = random_samples(1000), []
    rates = np.full(4, 1e-3, dtype=np.float32)
    for threads in (1, 2, 3):
        learner = learner_with(random_weights(32), threads)
        loss = learner.train(samples, 7, 256, 0, rates, 0.5, 2.5)
        found.append((loss, *(array.tobytes() for array in learner.weights().values())))
    assert found[0] == found[1] == found[2]


def test_a_pass_can_be_cut_into_pieces() -> None:
    samples = random_samples(1000)
    rates = np.linspace(1e-3, 1e-4, 4, dtype=np.float32)
    whole, pieces = learner_with(random_weights(16)), learner_with(random_weights(16))
    loss = whole.train(samples, 3, 256, 0, rates)
    parts = [pieces.train(samples, 3, 256, i, rates[i : i + 1]) for i in range(4)]
    sizes = np.array([256, 256, 256, 232])
    assert loss == pytest.approx(float(np.dot(parts, sizes) / 1000))
    for name, array in whole.weights().items():
        assert np.array_equal(array, pieces.weights()[name])


def test_weights_stay_within_what_integers_can_hold() -> None:
    learner = learner_with(random_weights(16, size=1.0))
    learner.train(random_samples(100), 1, 100, 0, np.full(1, 5.0, dtype=np.float32))
    weights = learner.weights()
    for name in ("feature_weights", "output_weights"):
        assert np.abs(weights[name]).max() == pytest.approx(WEIGHT_LIMIT)


def test_integers_agree_with_floats() -> None:
    weights, samples = random_weights(64), random_samples(300)
    values = evaluate_samples(tuple(weights[name] for name in NNUE_TENSORS), samples)
    error = np.abs(values - 400 * learner_with(weights).evaluate(samples))
    # 128 products with weights rounded to 1/64 and activations rounded to 1/255.
    assert error.max() < 60 and error.mean() < 15


def test_both_colours_see_the_same() -> None:
    games = random_games(50)
    mirrored = [Game(flip(game.fen())) for game in games]
    zeros = [0] * len(games)
    learner = learner_with(random_weights(32))
    first, second = (
        learner.evaluate(pack_samples(each, zeros, zeros, zeros)) for each in (games, mirrored)
    )
    assert np.allclose(first, second, atol=1e-6)  # sums in another order


def flip(fen: str) -> str:
    """The same position with colours exchanged."""
    board, side, castling, en_passant, *clocks = fen.split()
    if en_passant != "-":
        en_passant = en_passant[0] + str(9 - int(en_passant[1]))
    rows = "/".join(reversed(board.swapcase().split("/")))
    side = "b" if side == "w" else "w"
    return " ".join([rows, side, castling.swapcase(), en_passant, *clocks])


def material(fen: str) -> int:
    """Pawns that the side to move is ahead."""
    worth = dict(zip("PNBRQpnbrq", (1, 3, 3, 5, 9, -1, -3, -3, -5, -9), strict=True))
    board, side, *_ = fen.split()
    return sum(worth.get(letter, 0) for letter in board) * (1 if side == "w" else -1)


def test_it_learns_what_pieces_are_worth() -> None:
    samples = random_samples(4000)
    table = fields(samples)
    table["score"] = [100 * material(fen) for fen in sample_fens(samples)]
    learner = learner_with(random_weights(32, size=0.05))
    losses = [
        learner.train(samples, turn, 256, 0, np.full(16, 3e-3, dtype=np.float32), 0.0)
        for turn in range(25)
    ]
    assert losses[-1] < losses[0] / 8
    raw = learner.evaluate(samples)
    assert np.corrcoef(raw, table["score"])[0, 1] > 0.95


def test_sizes_and_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="multiple of 16"):
        NnueLearner(20)
    with pytest.raises(ValueError, match="buckets"):
        NnueLearner(16, 0)
    with pytest.raises(TypeError):
        NnueLearner(16).evaluate(np.zeros((3, 31), dtype=np.uint8))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="batch_size"):
        NnueLearner(16).train(random_samples(2), 1, 0, 0, np.ones(1, dtype=np.float32))


def test_any_bytes_are_safe() -> None:
    noise = np.random.default_rng(1).integers(0, 256, (500, 32), dtype=np.uint8)
    noise[0] = 255
    learner = learner_with(random_weights(16))
    assert np.isfinite(learner.evaluate(noise)).all()
