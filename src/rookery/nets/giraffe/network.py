r"""Giraffe's value network, for `giraffe363` or Deep Pepper's `pepper353`; it has no policy.

Lai, "Giraffe: Using Deep Reinforcement Learning to Play Chess" (2015): the three
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
from rookery.encodings import NO_ACTIONS
from rookery.nets.giraffe.arrays import Layer, group_places, plain_layers
from rookery.nets.giraffe.moves import MoveNetwork


class GiraffeSizes(Section):
    """Sizes of the family `giraffe`."""

    width: int = Field(default=64, ge=8, le=4096)
    """Width of the second hidden layer."""
    groups: tuple[int, int, int] | None = None
    """Widths of the first layer's groups (global, pieces, squares); None: `width`, split by their
    numbers of features. Multiples of 16 are the fastest."""
    moves: int = Field(default=0, ge=0, le=64, multiple_of=16)
    """Width of the network of move probabilities (`rookery.nets.giraffe.moves`); 0: none."""


class Giraffe(nn.Module):
    """Features in three groups; a `rookery.nets.ValueNetwork`."""

    family = "giraffe"
    Sizes = GiraffeSizes
    bounded = True

    def __init__(self, observation: str, actions: str, sizes: GiraffeSizes) -> None:
        """Make the layers; their weights are meaningless until `initialise`."""
        super().__init__()
        places = [torch.from_numpy(group) for group in group_places(observation)]
        if actions != NO_ACTIONS:
            raise ValueError(f"the family 'giraffe' has no actions ('none'), not {actions!r}")
        self.observation = observation
        self.actions = actions
        self.sizes = sizes
        self.first = nn.ModuleList()
        inputs, widths = sum(map(len, places)), []
        for number, group in enumerate(places):
            share = max(4, round(sizes.width * len(group) / inputs))
            width = share if sizes.groups is None else sizes.groups[number]
            self.first.append(nn.Linear(len(group), width))
            widths.append(width)
        self._places = places
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

    def layers(self) -> list[Layer]:
        """The value network as plain linear layers (`plain_layers`)."""
        state = self.state_dict()
        return plain_layers({name: state[name].cpu().numpy() for name in state}, self.observation)

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
