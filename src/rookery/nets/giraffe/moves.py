r"""Giraffe's second network: the probability of each legal move to be the best, without search.

Lai, "Giraffe" (2015): a network over features of position and move, trained on the
moves that searches chose, divides the budget of the probability-limited search.

    position [B, 363] --layer--> [B, W] --\
    move: seven rows of a table [L, W] ---+--> ReLU --> logits [L] --softmax--> probabilities

core/nets/move_net.h lists the rows and is the native copy for searches.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from rookery._core import MOVE_ROWS, MoveNet
from rookery.nets.giraffe.arrays import FEATURES


class MoveNetwork(nn.Module):
    """Logits of moves."""

    def __init__(self, width: int) -> None:
        """Make the layers; their weights are meaningless until `initialise`."""
        super().__init__()
        self.position = nn.Linear(FEATURES, width)
        self.table = nn.Parameter(torch.zeros(MOVE_ROWS, width))
        self.output = nn.Parameter(torch.zeros(width))

    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights."""
        with torch.no_grad():
            nn.init.kaiming_normal_(self.position.weight, generator=generator)
            self.position.bias.zero_()
            self.table.normal_(0.0, 0.1, generator=generator)
            self.output.normal_(0.0, 0.1, generator=generator)

    def forward(self, observations: Tensor, move_rows: Tensor, rows: Tensor) -> Tensor:
        """Logits [L] of moves.

        Args:
            observations: `giraffe363` of the positions, [B, 363].
            move_rows: Rows of the table for each move, int64 [L, 7] (`sample_move_rows`).
            rows: The position of each move, int64 [L].
        """
        moves = functional.embedding_bag(move_rows, self.table, mode="sum")
        hidden = self.position(observations).index_select(0, rows) + moves
        logits: Tensor = hidden.relu() @ self.output
        return logits

    def native(self) -> MoveNet:
        """A copy for searches."""
        tensors = (self.position.weight, self.position.bias, self.table, self.output)
        return MoveNet(*(_array(tensor) for tensor in tensors))


def _array(tensor: Tensor) -> NDArray[np.float32]:
    return np.ascontiguousarray(tensor.detach().numpy(), dtype=np.float32)
