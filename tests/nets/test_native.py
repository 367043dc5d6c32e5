"""The native form of the family `squares` against torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rookery import VectorGames
from rookery._core import SquaresNet
from rookery.nets import make_network
from rookery.nets.evaluator import Evaluator, TorchEvaluator
from rookery.nets.native import CoreEvaluator, native_network, network_evaluator

torch.set_num_threads(1)


def trained_like(width: int, key_width: int) -> torch.nn.Module:
    """A network whose weights are all of a size that matters, as after training."""
    generator = torch.Generator().manual_seed(width)
    network: torch.nn.Module = make_network(
        "squares", "tactical70", "az4672", {"width": width, "key_width": key_width}, generator
    )
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.05)
    return network


def positions(plies: int = 60) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Batches of positions from random games, both colours, endings too."""
    games = VectorGames(32, "tactical70", seed=3, dtype="uint8", random_plies=(0, 80))
    games.reset(3)
    rng = np.random.default_rng(1)
    batches = []
    for _ in range(plies):
        batches.append(
            (games.observations.copy(), games.legal_actions.copy(), games.legal_offsets.copy())
        )
        places = rng.integers(games.legal_offsets[:-1], games.legal_offsets[1:])
        games.step(games.legal_actions[places].astype(np.int64))
    return batches


@pytest.mark.parametrize(("width", "key_width"), [(256, 32), (128, 16), (40, 24), (16, 8)])
def test_answers_are_torch_s(width: int, key_width: int) -> None:
    network = trained_like(width, key_width)
    native, reference = network_evaluator(network), TorchEvaluator(network)
    assert isinstance(native, Evaluator)
    for batch in positions(10 if width > 100 else 30):
        logits, values = native.evaluate(*batch)
        expected_logits, expected_values = reference.evaluate(*batch)
        np.testing.assert_allclose(logits, expected_logits, atol=2e-4, rtol=2e-4)
        np.testing.assert_allclose(values, expected_values, atol=2e-5)
        assert np.ptp(expected_logits) > 1.0  # the comparison is not one of zeros


def test_an_answer_does_not_depend_on_the_batch() -> None:
    native = network_evaluator(trained_like(64, 16))
    observations, legal, offsets = positions(3)[2]
    logits, values = native.evaluate(observations, legal, offsets)
    for index in range(len(observations)):
        part = slice(offsets[index], offsets[index + 1])
        alone = np.array([0, offsets[index + 1] - offsets[index]])
        one, value = native.evaluate(observations[index : index + 1], legal[part], alone)
        assert (one == logits[part]).all() and value[0] == values[index]


def test_threads_share_a_batch_and_change_nothing() -> None:
    network = trained_like(64, 16)
    alone, shared = network_evaluator(network), network_evaluator(network, threads=3)
    observations, legal, offsets = positions(3)[2]
    for count in (1, 5, 6, 7, 32):
        batch = observations[:count], legal[: offsets[count]], offsets[: count + 1]
        for expected, answer in zip(alone.evaluate(*batch), shared.evaluate(*batch), strict=True):
            assert np.array_equal(expected, answer)


def test_a_nan_in_the_weights_is_not_hidden() -> None:
    network = trained_like(16, 8)
    with torch.no_grad():
        network.codes.bias[3] = float("nan")  # type: ignore[union-attr, operator]
    with pytest.raises(ValueError, match="NaN"):
        network_evaluator(network).evaluate(*positions(1)[0])


def test_what_does_not_fit_is_refused() -> None:
    network = trained_like(16, 8)
    observations, legal, offsets = positions(1)[0]
    native = native_network(network)
    assert native is not None
    wrong = observations.copy()
    wrong[0, 5] = 156
    with pytest.raises(ValueError, match="entry 5"):
        native.evaluate(wrong, legal, offsets)
    with pytest.raises(ValueError, match="4700"):
        native.evaluate(observations, np.full_like(legal, 4700), offsets)
    with pytest.raises(ValueError, match="do not match"):
        native.evaluate(observations, legal, offsets[:-1])
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    origins, destinations = network.origins.numpy(), network.destinations.numpy()  # type: ignore[union-attr, operator]
    with pytest.raises(ValueError, match="places"):
        SquaresNet(32, 8, weights, origins, destinations)
    del weights["key.bias"]
    with pytest.raises(ValueError, match=r"lack 'key\.bias'"):
        SquaresNet(16, 8, weights, origins, destinations)
    other = make_network("mlp", "vector66", "az4672", {"hidden": [4]})
    assert native_network(other) is None
    assert isinstance(network_evaluator(other), TorchEvaluator)
    assert isinstance(network_evaluator(network), CoreEvaluator)
