"""Two separate multilayer perceptrons, one for the policy and one for the value.

The network of Salisch 2023 (section 3.4): with 66 inputs, two hidden layers of 256 and 4672 actions
it has 1,366,849 parameters. What the paper leaves open follows RLlib's defaults of the time: tanh
activations, weight rows drawn from a normal distribution and scaled to length 1 (0.01 for both
outputs), zero biases.
"""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from rookery.base.section import Section
from rookery.encodings import ACTIONS, OBSERVATIONS
from rookery.nets.ragged import legal_product

OUTPUT_SCALE = 0.01  # RLlib's: the first policy is close to uniform, the first value close to zero

Width = Annotated[int, Field(ge=1, le=8192)]


class MlpSizes(Section):
    """Sizes of the family `mlp`."""

    hidden: list[Width] = Field(default=[256, 256], max_length=16)
    """Widths of the hidden layers of both networks."""
    activation: Literal["tanh", "relu"] = "tanh"
    """Activation function of the hidden layers."""
    value: Literal["linear", "tanh"] = "linear"
    """Unbounded value in units of reward, or a value in [-1, 1]."""
    scale: float = Field(default=1.0, gt=0)
    """Divisor of the inputs."""


class Mlp(nn.Module):
    """Observations of any layout, flattened; a `rookery.nets.PolicyValueNetwork`."""

    family = "mlp"
    Sizes = MlpSizes

    def __init__(self, observation: str, actions: str, sizes: MlpSizes) -> None:
        """Make the layers; their weights are meaningless until `initialise`."""
        super().__init__()
        self.observation = observation
        self.actions = actions
        self.sizes = sizes
        self.bounded = sizes.value == "tanh"
        inputs = int(torch.tensor(OBSERVATIONS[observation].shape).prod())
        width = sizes.hidden[-1] if sizes.hidden else inputs
        self.policy_trunk = _trunk(inputs, sizes)
        self.policy = nn.Linear(width, ACTIONS[actions].count)
        self.value_trunk = _trunk(inputs, sizes)
        self.value = nn.Linear(width, 1)

    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights."""
        outputs = {self.policy, self.value}
        for module in self.modules():
            if isinstance(module, nn.Linear):
                weight = torch.randn(module.weight.shape, generator=generator)
                scale = OUTPUT_SCALE if module in outputs else 1.0
                weight *= scale / weight.norm(dim=1, keepdim=True)
                with torch.no_grad():
                    module.weight.copy_(weight)
                    module.bias.zero_()

    def forward(self, observations: Tensor, legal: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [L] over the legal actions, and values [B]."""
        inputs = self.inputs(observations)
        hidden = self.policy_trunk(inputs)
        logits = legal_product(hidden, self.policy.weight, self.policy.bias, legal, rows)
        return logits, self._values(inputs)

    def dense(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [B, A] over all actions, and values [B]."""
        inputs = self.inputs(observations)
        return self.policy(self.policy_trunk(inputs)), self._values(inputs)

    def activations(self, observations: Tensor) -> dict[str, Tensor]:
        """The hidden layers [B, W] of both networks."""
        found = {}
        for name, trunk in (("policy", self.policy_trunk), ("value", self.value_trunk)):
            hidden = self.inputs(observations)
            for number, layer in enumerate(trunk):
                hidden = layer(hidden)
                if number % 2:  # linear layers and activation functions alternate
                    found[f"{name} {number // 2 + 1}"] = hidden
        return found

    def inputs(self, observations: Tensor) -> Tensor:
        """Flattened and scaled observations [B, inputs]."""
        return observations.to(self.value.weight.dtype).flatten(1) / self.sizes.scale

    def _values(self, inputs: Tensor) -> Tensor:
        values: Tensor = self.value(self.value_trunk(inputs)).squeeze(-1)
        return values.tanh() if self.bounded else values


def _trunk(inputs: int, sizes: MlpSizes) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width in sizes.hidden:
        layers += [nn.Linear(inputs, width), nn.Tanh() if sizes.activation == "tanh" else nn.ReLU()]
        inputs = width
    return nn.Sequential(*layers)
