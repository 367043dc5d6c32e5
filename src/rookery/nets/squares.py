"""A network for CPUs that looks squares up instead of multiplying planes.

Every entry of a `tactical70` observation is a small number: what stands on a square and who
attacks it, rights, clocks. Each has a row of weights of its own, so the first layer is a sum of 70
rows (`embedding_bag`), hundreds of times cheaper than convolutions. Two more layers follow, then a
value and, for each legal action, a product with that action's row.

    observation [B, 70] --rows--> sum [B, W] --relu, two layers--> hidden [B, W]
    hidden --> value [B];   hidden --> key [B, K] . action rows [L, K] --> logits [L]
"""

from __future__ import annotations

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from rookery.encodings import ACTIONS
from rookery.nets.ragged import legal_product
from rookery.training.section import Section

CLOCK = 67  # the half-move clock's place; ten plies share a row
# Rows of each entry: 64 squares (13 pieces x 8 attack states), own and opponent's castling, en
# passant file, clock in tens, repetitions, check.
ROWS = [104] * 64 + [4, 4, 9, 11, 3, 2]


class SquaresSizes(Section):
    """Sizes of the family `squares`."""

    width: int = Field(default=256, ge=1, le=8192)
    """Width of the three hidden layers."""
    key_width: int = Field(default=64, ge=1, le=8192)
    """Width of an action's row."""


class Squares(nn.Module):
    """Observations `tactical70`; see `rookery.nets.Network`. Values are in [-1, 1]."""

    family = "squares"
    bounded = True

    def __init__(self, observation: str, actions: str, sizes: SquaresSizes) -> None:
        """Make the layers; their weights are meaningless until `initialise`."""
        super().__init__()
        if observation != "tactical70":
            raise ValueError(f"the family 'squares' reads tactical70, not {observation!r}")
        self.observation = observation
        self.actions = actions
        self.sizes = sizes
        width = sizes.width
        self.rows = nn.Embedding(sum(ROWS), width)
        self.bias = nn.Parameter(torch.zeros(width))
        self.second = nn.Linear(width, width)
        self.third = nn.Linear(width, width)
        self.key = nn.Linear(width, sizes.key_width)
        self.policy = nn.Linear(sizes.key_width, ACTIONS[actions].count)
        self.value = nn.Linear(width, 1)
        first_rows = np.concatenate([[0], np.cumsum(ROWS)[:-1]])
        self.register_buffer("first_rows", torch.from_numpy(first_rows), persistent=False)
        self.first_rows: Tensor

    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights; the first policy is close to uniform, the first value close to 0."""
        with torch.no_grad():
            # 70 rows are summed: together they have a variance of about 1.
            self.rows.weight.normal_(0.0, len(ROWS) ** -0.5, generator=generator)
            self.bias.zero_()
            for layer, gain in ((self.second, 2.0), (self.third, 2.0), (self.key, 1.0)):
                layer.weight.normal_(0.0, (gain / layer.in_features) ** 0.5, generator=generator)
                layer.bias.zero_()
            for output in (self.policy, self.value):
                output.weight.normal_(0.0, 0.02, generator=generator)
                output.bias.zero_()

    def forward(self, observations: Tensor, legal: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [L] over the legal actions, and values [B]."""
        hidden = self._hidden(observations)
        logits = legal_product(self.key(hidden), self.policy.weight, self.policy.bias, legal, rows)
        return logits, self._values(hidden)

    def dense(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [B, A] over all actions, and values [B]."""
        hidden = self._hidden(observations)
        return self.policy(self.key(hidden)), self._values(hidden)

    def _hidden(self, observations: Tensor) -> Tensor:
        entries = observations.long()
        clock = torch.div(entries[:, CLOCK], 10, rounding_mode="floor")
        entries = torch.cat([entries[:, :CLOCK], clock.unsqueeze(1), entries[:, CLOCK + 1 :]], 1)
        first = functional.embedding_bag(entries + self.first_rows, self.rows.weight, mode="sum")
        hidden = functional.relu(self.second(functional.relu(first + self.bias)))
        return hidden + functional.relu(self.third(hidden))

    def _values(self, hidden: Tensor) -> Tensor:
        values: Tensor = self.value(hidden).squeeze(-1).tanh()
        return values


NETWORK = Squares
SIZES = SquaresSizes
