"""Value networks as evaluators of the alpha-beta search.

A network of plain linear layers is copied into the core, several times faster than torch for a few
positions at a time; any other is evaluated by torch, in batches of siblings.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray

from rookery._core import BatchEvaluator
from rookery.nets import ValueNetwork

Layer = tuple[torch.Tensor, torch.Tensor]  # weight [out, in], bias [out]
Floats = NDArray[np.float32]


@runtime_checkable
class LayeredNetwork(Protocol):
    """Can be written as linear layers with ReLU between them and tanh at the end."""

    observation: str

    def layers(self) -> list[tuple[Floats, Floats]]:
        """Weights and biases, input first; the last has one output."""
        ...


@runtime_checkable
class ConvolutionalNetwork(Protocol):
    """Can be written as 3x3 convolutions of 16 channels and linear layers, with ReLU and tanh."""

    observation: str

    def convolutions(self) -> list[Layer]:
        """Input first; weight [16, in, 3, 3], bias [16]."""
        ...

    def dense_layers(self) -> list[Layer]:
        """After the convolutions; the last has one output."""
        ...


def value_evaluator(network: ValueNetwork, name: str = "network") -> BatchEvaluator:
    """An evaluator for `Engine`: a native copy of the weights if possible."""
    if isinstance(network, LayeredNetwork):
        return BatchEvaluator.mlp(network.observation, network.layers(), name)
    if isinstance(network, ConvolutionalNetwork):
        return conv_evaluator(network, name)
    return torch_evaluator(network, name)


def conv_evaluator(
    network: ConvolutionalNetwork, name: str = "network", bounded: bool = True
) -> BatchEvaluator:
    """A native copy of a convolutional network; unbounded: without the final tanh."""
    convolutions, dense = (
        [(_array(weight), _array(bias)) for weight, bias in layers]
        for layers in (network.convolutions(), network.dense_layers())
    )
    return BatchEvaluator.conv(network.observation, convolutions, dense, name, bounded)


def torch_evaluator(
    network: ValueNetwork, name: str = "network", batch: int = 16
) -> BatchEvaluator:
    """An evaluator that calls the network itself, with its weights at that time."""

    def values(observations: NDArray[np.float32]) -> NDArray[np.float32]:
        with torch.inference_mode():
            return _array(network.values(torch.from_numpy(observations)))

    return BatchEvaluator(network.observation, values, name, batch)


def _array(tensor: torch.Tensor) -> NDArray[np.float32]:
    return np.ascontiguousarray(tensor.detach().cpu().numpy(), dtype=np.float32)
