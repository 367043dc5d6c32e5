r"""Giraffe's value network, for `giraffe363` or Deep Pepper's `pepper353`; it has no policy.

Lai, "Giraffe: Using Deep Reinforcement Learning to Play Chess" (2015), section 4.2: the three
groups of features (global, piece-centred, square-centred) are not mixed in the first layer. Two
more layers follow; the value is the tanh of the last.

    global [B, 15] ----\
    pieces [B, 220] ---> a layer each --> joined [B, G] --> [B, W] --> value [B] in [-1, 1]
    squares [B, 128] --/
"""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor, nn

from rookery.base.section import Section
from rookery.encodings import NO_ACTIONS, OBSERVATIONS
from rookery.nets.giraffe_moves import MoveNetwork

GROUPS = ("global", "piece", "square")
REGISTER = 16  # floats (core/nets/mlp_value.h)


class GiraffeSizes(Section):
    """Sizes of the family `giraffe`."""

    width: int = Field(default=64, ge=8, le=4096)
    """Width of the second hidden layer."""
    groups: tuple[int, int, int] | None = None
    """Widths of the first layer's groups (global, pieces, squares); None: `width`, split by their
    numbers of features. Multiples of 16 are the fastest."""
    moves: int = Field(default=0, ge=0, le=64, multiple_of=16)
    """Width of the network of move probabilities (`rookery.nets.giraffe_moves`); 0: none."""


class Giraffe(nn.Module):
    """Features in three groups; a `rookery.nets.ValueNetwork`."""

    family = "giraffe"
    Sizes = GiraffeSizes
    bounded = True

    def __init__(self, observation: str, actions: str, sizes: GiraffeSizes) -> None:
        """Make the layers; their weights are meaningless until `initialise`."""
        super().__init__()
        layout = OBSERVATIONS.get(observation)
        if layout is None or not all(part.group for part in layout.slices):
            raise ValueError(
                f"the family 'giraffe' reads giraffe363 or pepper353, not {observation!r}"
            )
        if actions != NO_ACTIONS:
            raise ValueError(f"the family 'giraffe' has no actions ('none'), not {actions!r}")
        self.observation = observation
        self.actions = actions
        self.sizes = sizes
        self.first = nn.ModuleList()
        places, widths = [], []
        for number, group in enumerate(GROUPS):
            indices = [
                index
                for part in layout.slices
                if part.group == group
                for index in range(part.start, part.stop)
            ]
            places.append(torch.tensor(indices))
            share = max(4, round(sizes.width * len(indices) / layout.shape[0]))
            width = share if sizes.groups is None else sizes.groups[number]
            self.first.append(nn.Linear(len(indices), width))
            widths.append(width)
        self._places, self._widths = places, widths
        self.second = nn.Linear(sum(widths), sizes.width)
        self.value = nn.Linear(sizes.width, 1)
        if sizes.moves and observation != "giraffe363":
            raise ValueError(f"move probabilities read giraffe363, not {observation!r}")
        self.moves = MoveNetwork(sizes.moves) if sizes.moves else None

    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights; values start close to zero."""
        with torch.no_grad():
            for module in self.modules():
                if isinstance(module, nn.Linear):
                    nn.init.kaiming_normal_(module.weight, nonlinearity="relu", generator=generator)
                    module.bias.zero_()
            self.value.weight.mul_(0.1)
        if self.moves is not None:
            self.moves.initialise(generator)

    def layers(self) -> list[tuple[Tensor, Tensor]]:
        """The network as plain linear layers; the first is a block matrix of the groups.

        Each group is padded with zeros to whole vector registers of the native copy.
        """
        inputs = sum(len(places) for places in self._places)
        sizes = [-(-width // REGISTER) * REGISTER for width in self._widths]
        first, bias = torch.zeros(sum(sizes), inputs), torch.zeros(sum(sizes))
        second = torch.zeros(self.second.out_features, sum(sizes))
        row = column = 0
        for layer, places, size in zip(self.first, self._places, sizes, strict=True):
            block, offset = (parameter.detach() for parameter in layer.parameters())
            count = len(offset)
            first[row : row + count, places] = block
            bias[row : row + count] = offset
            second[:, row : row + count] = self.second.weight[:, column : column + count].detach()
            row, column = row + size, column + count
        return [(first, bias), (second, self.second.bias), (self.value.weight, self.value.bias)]

    def values(self, observations: Tensor) -> Tensor:
        """Values [B] of observations [B, features], for the side to move."""
        value: Tensor = self.value(self.activations(observations)["second"]).squeeze(-1)
        return value.tanh()

    def activations(self, observations: Tensor) -> dict[str, Tensor]:
        """The two hidden layers, [B, G] and [B, W]."""
        parts = [
            layer(observations[:, places]).relu()
            for layer, places in zip(self.first, self._places, strict=True)
        ]
        first = torch.cat(parts, dim=1)
        return {"first": first, "second": self.second(first).relu()}
