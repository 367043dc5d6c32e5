"""Networks as weights, and weights as the networks that play."""

from __future__ import annotations

from typing import Any

from rookery._core import NativeEvaluator
from rookery.nets import Network
from rookery.nets.evaluator import Evaluator, TorchEvaluator
from rookery.nets.inference import InferenceNetwork, Precision
from rookery.nets.model_file import describe, model_bytes, parse_model
from rookery.nets.native import native_network, network_evaluator
from rookery.selfplay.collector import Weights


def weights_of(network: Network) -> Weights:
    """A copy of a network's present weights."""
    return Weights(model_bytes(network, describe(network)))


def network_of(weights: Weights) -> Any:
    """The network in torch, in evaluation mode."""
    return parse_model(weights.data, "the weights of an order")[0]


def native_of(network: Network) -> NativeEvaluator | None:
    """A copy that the core evaluates without Python; None if the network has no native form."""
    return native_network(network)


def evaluator_of(weights: Weights, threads: int, precision: Precision) -> Evaluator:
    """The network as an evaluator of batches: native if it can be, otherwise in torch.

    torch uses as many threads as the process has set; `precision` is that of torch.
    """
    network = network_of(weights)
    if native_of(network) is not None:
        return network_evaluator(network, threads=threads)
    return TorchEvaluator(InferenceNetwork(network, precision))
