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


@runtime_checkable
class LayeredNetwork(Protocol):
    """Can be written as linear layers with ReLU between them and tanh at the end."""

    observation: str

    def layers(self) -> list[Layer]:
        """Input first; the last has one output."""
        ...


def value_evaluator(network: ValueNetwork, name: str = "network") -> BatchEvaluator:
    """An evaluator for `Engine`: a native copy of the weights if possible."""
    if isinstance(network, LayeredNetwork):
        layers = [(_array(weight), _array(bias)) for weight, bias in network.layers()]
        return BatchEvaluator.mlp(network.observation, layers, name)
    return torch_evaluator(network, name)


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
