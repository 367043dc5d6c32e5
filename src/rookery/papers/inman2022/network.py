r"""The value network of Inman and Ezra Marin (2022), section 3.2.

    planes [B, P, 8, 8] --3x3, (norm,) ReLU--> [B, 16, 8, 8] --...--> flatten --dense, ReLU,
    dropout--> [B, 384] --...--> one linear output [B], in units of `unit` centipawns

The paper's code passes [12, 8, 8] to a layer that expects the channels last, so that it convolves
over planes and ranks. Here the planes are the channels, which makes the first dense layer smaller:
0.70 instead of 0.89 million parameters. Where a normalisation stands is not said; it comes before
the ReLU.
"""

from __future__ import annotations

from itertools import pairwise
from typing import cast

import torch
from pydantic import Field
from torch import Tensor, nn

from rookery.base.scales import SCORE_SCALE
from rookery.base.section import Section
from rookery.encodings import NO_ACTIONS, OBSERVATIONS

FILTERS = 16
Layer = tuple[Tensor, Tensor]


class BoardConvSizes(Section):
    """Sizes of the family `boardconv`."""

    convolutions: int = Field(default=3, ge=1, le=20)
    """3x3 convolutions of 16 filters."""
    layers: int = Field(default=3, ge=1, le=20)
    """Hidden dense layers."""
    width: int = Field(default=384, ge=1, le=4096)
    """Width of the hidden dense layers."""
    norm: bool = True
    """Whether batch normalisation follows each convolution."""
    dropout: float = Field(default=0.25, ge=0, lt=1)
    """Share of hidden units dropped in training."""
    unit: float = Field(default=100.0, gt=0)
    """Centipawns of an output of 1."""


class BoardConv(nn.Module):
    """Planes [B, P, 8, 8]; a `rookery.nets.ValueNetwork` that the core can copy."""

    family = "boardconv"
    Sizes = BoardConvSizes
    bounded = True

    def __init__(self, observation: str, actions: str, sizes: BoardConvSizes) -> None:
        """Make the layers; their weights are meaningless until `initialise`."""
        super().__init__()
        layout = OBSERVATIONS[observation]
        if layout.shape[1:] != (8, 8) or actions != NO_ACTIONS:
            raise ValueError(
                f"the family 'boardconv' reads planes of 8x8 and has no actions ('none'), not "
                f"{observation!r} and {actions!r}"
            )
        self.observation, self.actions, self.sizes = observation, actions, sizes
        channels = [layout.shape[0], *[FILTERS] * sizes.convolutions]
        self.filters = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in pairwise(channels))
        # Momentum and epsilon are TensorFlow's defaults, as in the paper's code.
        self.norms = nn.ModuleList(
            nn.BatchNorm2d(FILTERS, eps=1e-3, momentum=0.01) if sizes.norm else nn.Identity()
            for _ in range(sizes.convolutions)
        )
        widths = [FILTERS * 64, *[sizes.width] * sizes.layers]
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(widths))
        self.output = nn.Linear(widths[-1], 1)

    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights as TensorFlow does; the output starts close to zero."""
        with torch.no_grad():
            for layer in (*self.filters, *self.hidden, self.output):
                weight, bias = cast(Layer, tuple(layer.parameters()))
                nn.init.xavier_uniform_(weight, generator=generator)
                bias.zero_()
            for norm in self.norms:
                if isinstance(norm, nn.BatchNorm2d):
                    norm.reset_running_stats()
                    norm.reset_parameters()

    def raw(self, observations: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Outputs [B] for the side to move, in units of `unit` centipawns.

        Args:
            observations: Planes [B, P, 8, 8].
            generator: Of the dropout; None: no unit is dropped.
        """
        hidden = observations
        for layer, norm in zip(self.filters, self.norms, strict=True):
            hidden = norm(layer(hidden)).relu()
        hidden = hidden.flatten(1)
        for layer in self.hidden:
            hidden = layer(hidden).relu()
            if generator is not None and self.sizes.dropout:
                kept = 1.0 - self.sizes.dropout
                mask = torch.rand(hidden.shape, generator=generator) < kept
                hidden = hidden * mask / kept
        value: Tensor = self.output(hidden).squeeze(-1)
        return value

    def activations(self, observations: Tensor) -> dict[str, Tensor]:
        """The convolutions [B, 16, 8, 8] and the hidden dense layers [B, W]."""
        found: dict[str, Tensor] = {}
        hidden = observations
        for number, (layer, norm) in enumerate(zip(self.filters, self.norms, strict=True), 1):
            hidden = found[f"convolution {number}"] = norm(layer(hidden)).relu()
        hidden = hidden.flatten(1)
        for number, layer in enumerate(self.hidden, 1):
            hidden = found[f"dense {number}"] = layer(hidden).relu()
        return found

    def values(self, observations: Tensor) -> Tensor:
        """Values [B] in [-1, 1] for the side to move: tanh(centipawns / 800)."""
        return (self.raw(observations) * self._scale).tanh()

    @property
    def _scale(self) -> float:
        return float(self.sizes.unit / (2.0 * SCORE_SCALE))

    def convolutions(self) -> list[Layer]:
        """The convolutions with their normalisations folded in."""
        folded = []
        for layer, norm in zip(self.filters, self.norms, strict=True):
            weight, bias = cast(Layer, tuple(layer.parameters()))
            if isinstance(norm, nn.BatchNorm2d):
                mean, variance = norm.running_mean, norm.running_var
                assert mean is not None and variance is not None
                factor = norm.weight / (variance + norm.eps).sqrt()
                weight = weight * factor[:, None, None, None]
                bias = (bias - mean) * factor + norm.bias
            folded.append((weight, bias))
        return folded

    def dense_layers(self) -> list[Layer]:
        """The dense layers; the last one's output goes through tanh."""
        hidden = [cast(Layer, tuple(layer.parameters())) for layer in self.hidden]
        return [*hidden, (self.output.weight * self._scale, self.output.bias * self._scale)]
