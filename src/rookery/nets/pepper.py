"""The four networks of Deep Pepper (arXiv 1806.00683, section on network architecture).

    parts   global 17 -> 32, piece-centred 208 -> 512, square-centred 128 -> 480, joined: 1024
    full    all 353 features -> 1024

Policy and value share this first layer, or (`separate`) each has its own: the paper's policy
network and critic. A policy layer of 2048 and the actions follow, and a value layer of 512 and one
output; all hidden layers have ReLU. Our 4672 actions take the place of its 5120.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from rookery.base.section import Section
from rookery.encodings import ACTIONS
from rookery.nets.ragged import legal_product

GROUPS = (0, 17, 225, 353)  # limits of the global, piece-centred and square-centred features
PARTS = (32, 512, 480)  # first-layer neurons of each group


class PepperSizes(Section):
    """Sizes of the family `pepper`."""

    first: Literal["parts", "full"] = "parts"
    """First layer: one part for each group of features, or fully connected."""
    separate: bool = False
    """Whether policy and value have first layers of their own."""
    policy: int = Field(default=2048, ge=1, le=8192)
    """Width of the policy layer."""
    value: int = Field(default=512, ge=1, le=8192)
    """Width of the value layer."""


class FirstLayer(nn.Module):
    """Features [B, 353] to [B, 1024]."""

    def __init__(self, parts: bool) -> None:
        """Make one linear layer for each group, or one for all."""
        super().__init__()
        self.limits = GROUPS if parts else (GROUPS[0], GROUPS[-1])
        widths = PARTS if parts else (sum(PARTS),)
        self.layers = nn.ModuleList(
            nn.Linear(last - first, width)
            for (first, last), width in zip(pairwise(self.limits), widths, strict=True)
        )

    def forward(self, features: Tensor) -> Tensor:
        """Activations of all groups, joined."""
        groups = pairwise(self.limits)
        parts = [
            layer(features[:, first:last])
            for layer, (first, last) in zip(self.layers, groups, strict=True)
        ]
        return functional.relu(torch.cat(parts, 1))


class Pepper(nn.Module):
    """Observations `pepper353`; a `rookery.nets.PolicyValueNetwork`, values in [-1, 1]."""

    family = "pepper"
    Sizes = PepperSizes
    bounded = True

    def __init__(self, observation: str, actions: str, sizes: PepperSizes) -> None:
        """Make the layers; their weights are meaningless until `initialise`."""
        super().__init__()
        if observation != "pepper353":
            raise ValueError(f"the family 'pepper' reads pepper353, not {observation!r}")
        self.observation = observation
        self.actions = actions
        self.sizes = sizes
        self.first = FirstLayer(sizes.first == "parts")
        self.critic = FirstLayer(sizes.first == "parts") if sizes.separate else None
        self.policy_hidden = nn.Linear(sum(PARTS), sizes.policy)
        self.policy = nn.Linear(sizes.policy, ACTIONS[actions].count)
        self.value_hidden = nn.Linear(sum(PARTS), sizes.value)
        self.value = nn.Linear(sizes.value, 1)

    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights; the first policy is close to uniform, the first value close to 0."""
        with torch.no_grad():
            for module in self.modules():
                if isinstance(module, nn.Linear):
                    output = module in (self.policy, self.value)
                    spread = 0.01 if output else (2.0 / module.in_features) ** 0.5
                    module.weight.normal_(0.0, spread, generator=generator)
                    module.bias.zero_()

    def forward(self, observations: Tensor, legal: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [L] over the legal actions, and values [B]."""
        hidden, values = self._heads(observations)
        logits = legal_product(hidden, self.policy.weight, self.policy.bias, legal, rows)
        return logits, values

    def dense(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [B, A] over all actions, and values [B]."""
        hidden, values = self._heads(observations)
        return self.policy(hidden), values

    def _heads(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Activations [B, H] before the policy's output, and values [B]."""
        layers = self.activations(observations)
        values: Tensor = self.value(layers["value"])
        return layers["policy"], values.squeeze(-1).tanh()

    def activations(self, observations: Tensor) -> dict[str, Tensor]:
        """The first layer [B, 1024], the critic's if it has its own, and both hidden layers."""
        features = observations.to(self.value.weight.dtype)
        layers = {"first": self.first(features)}
        if self.critic is not None:
            layers["critic"] = self.critic(features)
        layers["policy"] = functional.relu(self.policy_hidden(layers["first"]))
        critic = layers.get("critic", layers["first"])
        return {**layers, "value": functional.relu(self.value_hidden(critic))}
