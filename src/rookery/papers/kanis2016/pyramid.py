"""The network of Kanis 2016 (section 3.3): three narrowing hidden layers and a Q value per action.

ReLU between the layers, a linear output. The paper's figure with the widths is lost; ours are 128,
64 and 32. Each zero-mean plane of `kpk3` has one raised square, so the first layer looks up three
rows and subtracts a constant: the same as the full product, at a fraction of its cost.

    kpk3 [B, 3, 8, 8] = squares [B, 3] --rows--> [128] --> [64] --> [32] --> Q values [B, 10]

With `dueling` (Wang et al. 2016) the last layer outputs a state value and advantages. Without
hidden layers this is the linear network of section 4.1.1. With `convolutions`, which the paper
proposes in its discussion, layers of 3x3 filters read the planes first.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from rookery.base.section import Section
from rookery.encodings import ACTIONS
from rookery.nets.mlp import Width

SQUARES = 64
PIECES = 3  # strong king, pawn, weak king


class PyramidSizes(Section):
    """Sizes of the family `pyramid`."""

    hidden: list[Width] = Field(default=[128, 64, 32], max_length=16)
    """Widths of the hidden layers; none: a linear network."""
    dueling: bool = False
    """Q = value + advantage - mean advantage, instead of Q alone."""
    convolutions: list[Width] = Field(default=[], max_length=8)
    """Filters of layers of 3x3 convolutions before the hidden layers; learnt by torch, slower."""


class Pyramid(nn.Module):
    """Observations `kpk3`; a `rookery.nets.ActionValueNetwork` in units of reward."""

    family = "pyramid"
    Sizes = PyramidSizes
    bounded = False

    def __init__(self, observation: str, actions: str, sizes: PyramidSizes) -> None:
        """Make the layers; `initialise` draws their weights."""
        super().__init__()
        if observation != "kpk3":
            raise ValueError(f"the family 'pyramid' reads kpk3, not {observation!r}")
        self.observation = observation
        self.actions = actions
        self.sizes = sizes
        outputs = ACTIONS[actions].count + int(sizes.dueling)
        first, *others = [*sizes.hidden, outputs]
        filters = [PIECES, *sizes.convolutions]
        self.convolutions = nn.ModuleList(
            nn.Conv2d(one, following, 3, padding=1) for one, following in pairwise(filters)
        )
        self.rows = nn.EmbeddingBag(filters[-1] * SQUARES, first, mode="sum")
        self.bias = nn.Parameter(torch.zeros(first))
        layers: list[nn.Module] = []
        for width, following in pairwise([first, *others]):
            layers += [nn.ReLU(), nn.Linear(width, following)]
        self.layers = nn.Sequential(*layers)
        self.starts: Tensor
        self.register_buffer("starts", SQUARES * torch.arange(PIECES), persistent=False)

    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights (Glorot uniform, Lasagne's default)."""
        with torch.no_grad():
            bound = (6 / (self.rows.num_embeddings + self.rows.embedding_dim)) ** 0.5
            self.rows.weight.uniform_(-bound, bound, generator=generator)
            self.bias.zero_()
            for name, weights in self.named_parameters():
                if name.startswith(("layers.", "convolutions.")):
                    if name.endswith("bias"):
                        weights.zero_()
                        continue
                    outputs, inputs = weights.shape[:2]
                    area = weights[0, 0].numel()  # 1, or the 9 squares of a filter
                    bound = (6 / (area * (inputs + outputs))) ** 0.5
                    weights.uniform_(-bound, bound, generator=generator)

    def flat(self) -> NDArray[np.float32]:
        """All weights concatenated, in the order of `core/nets/pyramid_net.h`."""
        return nn.utils.parameters_to_vector(self.ordered()).detach().numpy()

    def load_flat(self, values: NDArray[np.float32]) -> None:
        """Set the weights from such a vector."""
        # A copy: torch makes the parameters views of the vector.
        nn.utils.vector_to_parameters(torch.from_numpy(values.copy()), self.ordered())

    def ordered(self) -> list[Tensor]:
        """The weights in the order of `flat`."""
        first = [*self.convolutions.parameters(), self.rows.weight, self.bias]
        return [*first, *self.layers.parameters()]

    def action_values(
        self, observations: Tensor, legal: Tensor, rows: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Q values [L] of the legal actions, and each position's best of them [B]."""
        q_values, _ = self.dense(observations)
        chosen = q_values[rows, legal]
        best = torch.full((len(observations),), -torch.inf, dtype=chosen.dtype)
        return chosen, best.scatter_reduce(0, rows, chosen, "amax")

    def dense(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Q values [B, A] of all actions, legal or not, and the best of them [B]."""
        squares = observations.reshape(-1, PIECES, SQUARES).argmax(-1)
        q_values = self.q_values(squares)
        return q_values, q_values.max(-1).values

    def activations(self, observations: Tensor) -> dict[str, Tensor]:
        """The hidden layers [B, W]."""
        hidden = self._first(observations.reshape(-1, PIECES, SQUARES).argmax(-1))
        found = {}
        for number, layer in enumerate(self.layers):
            hidden = layer(hidden)
            if number % 2 == 0:  # activation functions and linear layers alternate
                found[f"hidden {number // 2 + 1}"] = hidden
        return found

    def _first(self, squares: Tensor) -> Tensor:
        if self.convolutions:
            planes = functional.one_hot(squares, SQUARES).to(self.bias.dtype) - 1 / SQUARES
            planes = planes.reshape(-1, PIECES, 8, 8)
            for layer in self.convolutions:
                planes = functional.relu(layer(planes))
            return planes.flatten(1) @ self.rows.weight + self.bias
        # A plane is 63/64 on its square and -1/64 elsewhere: the row of the square minus the mean.
        hidden = self.rows(squares + self.starts) + self.bias
        first: Tensor = hidden - self.rows.weight.sum(0) / SQUARES
        return first

    def q_values(self, squares: Tensor) -> Tensor:
        """Q values [B, A] from the squares [B, 3] of the pieces."""
        outputs: Tensor = self.layers(self._first(squares))
        if not self.sizes.dueling:
            return outputs
        value, advantages = outputs[:, :1], outputs[:, 1:]
        return value + advantages - advantages.mean(-1, keepdim=True)
