"""The network of `blind-paper`: planes in; senses, requests and a value out; no search.

After the agent of arXiv 2208.02029 (convolutions, then heads for senses, moves and a value), much
smaller: its input has 1800 planes and five convolutions of 256 channels.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn

from rookery._core import BLIND_MOVE_ACTIONS, BLIND_PLANES, BLIND_SENSE_ACTIONS
from rookery.base.section import Section
from rookery.blind.policy import FAMILY, LAYOUT, Dense, read_policy_file
from rookery.encodings import NO_ACTIONS, PLANES_PER_ORIGIN

SQUARES = 64


class BlindSizes(Section):
    """Sizes of the network."""

    filters: int = Field(default=48, ge=1, le=512)
    """Channels of every convolution."""
    convolutions: int = Field(default=4, ge=1, le=40)
    """3x3 convolutions; from the second on their input is added to their output."""
    value_hidden: int = Field(default=64, ge=1, le=1024)
    """Width of the value's hidden layer."""
    layout: int = LAYOUT
    """Layout of planes and actions that it was trained for."""


class BlindNetwork(nn.Module):
    """Observations [B, planes, 8, 8] to dense logits; the phase decides which head counts.

    Chess has no layout for its input, so `observation` and `actions` are "none": players of chess
    refuse its model files.
    """

    family = FAMILY
    observation = actions = NO_ACTIONS
    bounded = True

    def __init__(self, sizes: BlindSizes) -> None:
        """Make the layers; `initialise` draws their weights."""
        super().__init__()
        self.sizes = sizes
        filters = sizes.filters
        self.trunk = nn.ModuleList(
            nn.Conv2d(BLIND_PLANES if i == 0 else filters, filters, 3, padding=1)
            for i in range(sizes.convolutions)
        )
        self.sense = nn.Conv2d(filters, 1, 1)
        self.no_sense = nn.Linear(filters, 1)
        self.move = nn.Conv2d(filters, PLANES_PER_ORIGIN, 1)
        self.no_move = nn.Linear(filters, 1)
        self.value = nn.Sequential(
            nn.Linear(2 * filters, sizes.value_hidden), nn.ReLU(), nn.Linear(sizes.value_hidden, 1)
        )

    def initialise(self, generator: torch.Generator) -> None:
        """Draw new weights (He); all heads start close to zero."""
        heads = [self.sense, self.no_sense, self.move, self.no_move, self.value[-1]]
        for module in self.modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                scale = (2.0 / module.weight[0].numel()) ** 0.5
                scale *= 0.01 if any(module is head for head in heads) else 1.0
                with torch.no_grad():
                    module.weight.copy_(torch.randn(module.weight.shape, generator=generator))
                    module.weight.mul_(scale)
                    if module.bias is not None:
                        module.bias.zero_()

    def forward(self, observations: Tensor, legal: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [L] of the legal actions (`rookery.blind.env`), and values [B] in [-1, 1]."""
        logits, values = self.dense(observations)
        return logits.flatten().index_select(0, rows * logits.shape[1] + legal), values

    def dense(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [B, 65 + 4673] of all senses and requests, and values [B] in [-1, 1]."""
        hidden = observations
        for number, layer in enumerate(self.trunk):
            change = layer(hidden).relu()
            hidden = change if number == 0 else hidden + change
        board = torch.cat([hidden.mean((2, 3)), hidden.amax((2, 3))], 1)
        mean = board[:, : self.sizes.filters]
        # [B, plane, square] -> [B, square, plane], as a request is 73 * square + plane.
        moves = self.move(hidden).flatten(2).transpose(1, 2).flatten(1)
        parts = [self.sense(hidden).flatten(1), self.no_sense(mean), moves, self.no_move(mean)]
        return torch.cat(parts, 1), self.value(board).squeeze(-1).tanh()


assert BLIND_SENSE_ACTIONS == SQUARES + 1
assert BLIND_MOVE_ACTIONS == SQUARES * PLANES_PER_ORIGIN + 1


def load_blind_network(path: Path) -> BlindNetwork:
    """Read a model file of `rookery train blind-paper`."""
    import safetensors.torch

    data, info = read_policy_file(path)
    network = BlindNetwork(BlindSizes.model_validate(dict(info.sizes)))
    network.load_state_dict(safetensors.torch.load(data))
    return network.eval()


def policy_of(network: BlindNetwork) -> Dense:
    """Return the policy of a network as `PolicyPlayer` takes it."""

    def dense(planes: NDArray[np.float32]) -> NDArray[np.float32]:
        with torch.inference_mode():
            return np.asarray(network.dense(torch.from_numpy(planes)[None])[0][0].numpy())

    return dense
