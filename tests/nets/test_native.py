"""The native forms of the families `squares` and `slots` against torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rookery._core import SquaresNet
from rookery.nets import make_network
from rookery.nets.evaluator import Evaluator, TorchEvaluator
from rookery.nets.model_file import describe
from rookery.nets.native import CoreEvaluator, native_network, network_evaluator, squares_net
from rookery.nets.slots import halved
from support.positions import Batch, random_batches

torch.set_num_threads(1)


OBSERVATIONS = {"squares": "tactical70", "slots": "pepper353"}


@pytest.fixture(params=OBSERVATIONS)
def family(request: pytest.FixtureRequest) -> str:
    """Each family with a native form."""
    return str(request.param)


def trained_like(family: str, width: int, key_width: int) -> torch.nn.Module:
    """A network whose weights are all of a size that matters, as after training."""
    generator = torch.Generator().manual_seed(width)
    sizes = {"width": width, "key_width": key_width}
    network: torch.nn.Module = make_network(
        family, OBSERVATIONS[family], "az4672", sizes, generator
    )
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.05)
    return network


def positions(family: str, plies: int = 60) -> list[Batch]:
    """Batches of positions that the family reads."""
    return random_batches(
        OBSERVATIONS[family], plies, "uint8" if family == "squares" else "float32"
    )


@pytest.mark.parametrize(("width", "key_width"), [(256, 32), (128, 16), (40, 24), (16, 8)])
def test_answers_are_torch_s(family: str, width: int, key_width: int) -> None:
    network = trained_like(family, width, key_width)
    native, reference = network_evaluator(network), TorchEvaluator(network)
    assert isinstance(native, Evaluator)
    for batch in positions(family, 10 if width > 100 else 30):
        logits, values = native.evaluate(*batch)
        expected_logits, expected_values = reference.evaluate(*batch)
        np.testing.assert_allclose(logits, expected_logits, atol=2e-4, rtol=2e-4)
        np.testing.assert_allclose(values, expected_values, atol=2e-5)
        assert np.ptp(expected_logits) > 1.0  # the comparison is not one of zeros


def test_an_answer_does_not_depend_on_the_batch(family: str) -> None:
    native = network_evaluator(trained_like(family, 64, 16))
    observations, legal, offsets = positions(family, 3)[2]
    logits, values = native.evaluate(observations, legal, offsets)
    for index in range(len(observations)):
        part = slice(offsets[index], offsets[index + 1])
        alone = np.array([0, offsets[index + 1] - offsets[index]])
        one, value = native.evaluate(observations[index : index + 1], legal[part], alone)
        assert (one == logits[part]).all() and value[0] == values[index]


def test_threads_share_a_batch_and_change_nothing(family: str) -> None:
    network = trained_like(family, 64, 16)
    alone, shared = network_evaluator(network), network_evaluator(network, threads=3)
    observations, legal, offsets = positions(family, 3)[2]
    for count in (1, 5, 6, 7, 32):
        batch = observations[:count], legal[: offsets[count]], offsets[: count + 1]
        for expected, answer in zip(alone.evaluate(*batch), shared.evaluate(*batch), strict=True):
            assert np.array_equal(expected, answer)


def test_a_nan_in_the_weights_is_not_hidden(family: str) -> None:
    network = trained_like(family, 16, 8)
    with torch.no_grad():
        network.second.bias[3] = float("nan")  # type: ignore[union-attr, operator]
    with pytest.raises(ValueError, match="NaN"):
        network_evaluator(network).evaluate(*positions(family, 1)[0])


def test_half_precision_changes_little_and_is_native_too() -> None:
    network = trained_like("slots", 64, 16)
    half = halved(network)  # type: ignore[arg-type]
    batch = positions("slots", 3)[2]
    logits, values = network_evaluator(network).evaluate(*batch)  # type: ignore[arg-type]
    half_logits, half_values = network_evaluator(half).evaluate(*batch)
    assert not np.array_equal(logits, half_logits)
    np.testing.assert_allclose(half_logits, logits, atol=0.02)
    np.testing.assert_allclose(half_values, values, atol=0.01)
    np.testing.assert_allclose(half_logits, TorchEvaluator(half).evaluate(*batch)[0], atol=1e-3)


def test_features_that_are_not_pepper353_are_refused() -> None:
    native = native_network(trained_like("slots", 16, 8))  # type: ignore[arg-type]
    assert native is not None
    observations, legal, offsets = positions("slots", 1)[0]
    for entry, wrong in ((18, 1.2), (352, -0.1), (20, float("nan")), (180, float("inf"))):
        damaged = observations.copy()
        damaged[0, entry] = wrong
        with pytest.raises(ValueError, match=f"entry {entry} "):
            native.evaluate(damaged, legal, offsets)


def test_what_does_not_fit_is_refused() -> None:
    network = trained_like("squares", 16, 8)
    observations, legal, offsets = positions("squares", 1)[0]
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
    for name in ("codes.weight", "places.weight", "key.weight", "value.bias"):
        turned = {**weights, name: weights[name].T[None]}
        with pytest.raises(ValueError, match=f"tensor '{name}' is"):
            squares_net(turned, describe(network))
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
