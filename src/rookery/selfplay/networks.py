"""Conversions between networks and weights."""

from __future__ import annotations

from typing import Any

from rookery.nets import Network
from rookery.nets.evaluator import Evaluator, TorchEvaluator
from rookery.nets.inference import InferenceNetwork, Precision
from rookery.nets.model_file import describe, model_bytes, parse_model
from rookery.nets.native import native_network, network_evaluator
from rookery.selfplay.collector import Weights


def weights_of(network: Network) -> Weights:
    """A copy of a network's current weights."""
    return Weights(model_bytes(network, describe(network)))


def network_of(weights: Weights) -> Any:
    """The network in torch, in evaluation mode."""
    return parse_model(weights.data, "the weights of an order")[0]


def evaluator_of(
    weights: Weights, threads: int, precision: Precision, device: str = "cpu"
) -> Evaluator:
    """A batch evaluator: native with `threads`, or in torch with `precision` on `device`."""
    network = network_of(weights)
    if native_network(network) is not None:
        return network_evaluator(network, threads=threads)
    return TorchEvaluator(InferenceNetwork(network.to(device), precision))
