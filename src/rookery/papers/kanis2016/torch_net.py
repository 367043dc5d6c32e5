"""The learning step of `pyramid` networks that the core has no copy of: with convolutions.

`TorchNet` has the methods of the core's `PyramidNet`, so that DQN learns with either.
"""

from __future__ import annotations

import copy

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rookery.papers.kanis2016.pyramid import Pyramid

MEAN, SQUARE, EPSILON = 0.9, 0.999, 1e-8  # of Adam


class TorchNet:
    """Q values of three squares, and Adam over all weights as one vector."""

    def __init__(self, network: Pyramid) -> None:
        """Start from a copy of the network."""
        self.network = copy.deepcopy(network)
        self.parts = {"weights": torch.from_numpy(network.flat().copy())}
        for name in ("first_moments", "second_moments"):
            self.parts[name] = torch.zeros_like(self.parts["weights"])
        self.steps = 0

    def get(self, part: str = "weights") -> NDArray[np.float32]:
        """Copy of the weights, first_moments or second_moments."""
        values: NDArray[np.float32] = self.parts[part].numpy().copy()
        return values

    def set(self, part: str, values: NDArray[np.float32]) -> None:
        """Replace one of them."""
        self.parts[part] = torch.from_numpy(values.copy())
        if part == "weights":
            self.network.load_flat(values)

    def q_values(self, squares: NDArray[np.int64]) -> NDArray[np.float32]:
        """Q values [B, A] of squares [B, 3]."""
        with torch.no_grad():
            values: NDArray[np.float32] = self.network.q_values(torch.from_numpy(squares)).numpy()
        return values

    def learn(
        self,
        squares: NDArray[np.int64],
        actions: NDArray[np.int64],
        targets: NDArray[np.float32],
        importance: NDArray[np.float32] | None = None,
        learning_rate: float = 1e-3,
        huber: bool = False,
    ) -> tuple[float, NDArray[np.float32]]:
        """One step of Adam; the mean of importance * loss, and target - Q [B] before the step."""
        q_values = self.network.q_values(torch.from_numpy(squares))
        chosen = q_values.gather(1, torch.from_numpy(actions).unsqueeze(1)).squeeze(1)
        wanted = torch.from_numpy(targets)
        kind = nn.functional.huber_loss if huber else nn.functional.mse_loss
        each = kind(chosen, wanted, reduction="none")
        loss = (each if importance is None else torch.from_numpy(importance) * each).mean()
        weights = list(self.network.ordered())
        gradients = torch.autograd.grad(loss, weights)
        self._step(nn.utils.parameters_to_vector(gradients), learning_rate)
        return float(loss.detach()), (wanted - chosen.detach()).numpy()

    def _step(self, gradient: Tensor, learning_rate: float) -> None:
        self.steps += 1
        mean, square = self.parts["first_moments"], self.parts["second_moments"]
        mean.lerp_(gradient, 1 - MEAN)
        square.mul_(SQUARE).addcmul_(gradient, gradient, value=1 - SQUARE)
        scale = (square / (1 - SQUARE**self.steps)).sqrt_().add_(EPSILON)
        self.parts["weights"].sub_(learning_rate / (1 - MEAN**self.steps) * mean / scale)
        self.network.load_flat(self.parts["weights"].numpy())
