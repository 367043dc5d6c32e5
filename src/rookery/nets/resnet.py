"""A small residual network over planes, with AlphaZero's policy of 73 planes of 8x8.

The policy is a map [73, 8, 8] over origin squares, from which the legal actions are gathered; the
value is in [-1, 1]. Actions are always in the mover's orientation. For an observation in White's
orientation the policy map's ranks are flipped when Black is to move, so that each action aligns
with the square of its piece.
"""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from rookery.base.section import Section
from rookery.encodings import OBSERVATIONS, PLANES_PER_ORIGIN
from rookery.encodings.layout import WHITE

SQUARES = 64


class ResnetSizes(Section):
    """Sizes of the family `resnet`."""

    blocks: int = Field(default=4, ge=0, le=80)
    """Residual blocks of two convolutions each."""
    filters: int = Field(default=32, ge=1, le=1024)
    """Channels of every convolution."""
    value_filters: int = Field(default=4, ge=1, le=256)
    """Channels from which the value is computed."""
    value_hidden: int = Field(default=64, ge=1, le=4096)
    """Width of the value's hidden layer."""
    norm: Literal["batch", "group", "none"] = "batch"
    """Normalisation after each convolution. Batch statistics differ between acting and learning,
    which biases PPO's probability ratios: use group or none there."""
    squeeze: int = Field(default=0, ge=0, le=1024)
    """Width of the squeeze-and-excitation layer of each block (Hu et al. 2018); 0: none."""
    pooling: bool = False
    """Whether every second block also gets means and maxima over the whole board (KataGo)."""
    outcome: Literal["value", "wdl"] = "value"
    """A scalar value, or the difference of learnt win and loss probabilities."""
    moves_left: bool = False
    """Whether to predict the remaining plies of the game as an auxiliary target."""


class Resnet(nn.Module):
    """Observations [B, C, 8, 8]; a `rookery.nets.PolicyValueNetwork` with auxiliary heads."""

    family = "resnet"
    Sizes = ResnetSizes
    bounded = True

    def __init__(self, observation: str, actions: str, sizes: ResnetSizes) -> None:
        """Make the layers; their weights are meaningless until `initialise`."""
        super().__init__()
        layout = OBSERVATIONS[observation]
        if layout.shape[1:] != (8, 8):
            raise ValueError(
                f"family 'resnet' needs planes of 8x8; {observation!r} has the shape {layout.shape}"
            )
        if actions != "az4672":
            raise ValueError(f"family 'resnet' has the actions 'az4672', not {actions!r}")
        self.observation = observation
        self.actions = actions
        self.sizes = sizes
        # The plane that is 1 if White is to move, for observations in White's orientation.
        self._turn = layout.slice("turn").start if layout.orientation == WHITE else None
        filters = sizes.filters
        self.stem = _convolution(layout.shape[0], filters, sizes.norm)
        self.blocks = nn.ModuleList(
            Block(filters, sizes.norm, sizes.squeeze, sizes.pooling and number % 2 == 1)
            for number in range(sizes.blocks)
        )
        self.policy = nn.Sequential(
            _convolution(filters, filters, sizes.norm, kernel=1),
            nn.ReLU(),
            nn.Conv2d(filters, PLANES_PER_ORIGIN, 1),
        )
        self.value = nn.Sequential(
            _convolution(filters, sizes.value_filters, sizes.norm, kernel=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(sizes.value_filters * SQUARES, sizes.value_hidden),
            nn.ReLU(),
            nn.Linear(sizes.value_hidden, 3 if sizes.outcome == "wdl" else 1),
        )
        self.left = nn.Linear(filters, 1) if sizes.moves_left else None

    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights (He); blocks start as the identity, both outputs close to zero."""
        for module in self.modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                fan_in = module.weight[0].numel()
                weight = torch.randn(module.weight.shape, generator=generator)
                with torch.no_grad():
                    module.weight.copy_(weight * (2.0 / fan_in) ** 0.5)
                    if module.bias is not None:
                        module.bias.zero_()
            elif isinstance(module, nn.BatchNorm2d | nn.GroupNorm):
                module.reset_parameters()
        with torch.no_grad():
            for block in self.blocks:
                assert isinstance(block, Block)
                block.close()
            for head in (self.policy, self.value):
                last = head[-1]
                assert isinstance(last, nn.Conv2d | nn.Linear)
                last.weight *= 0.01

    def forward(self, observations: Tensor, legal: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [L] over the legal actions, and values [B]."""
        logits, values, _ = self.heads(observations, legal, rows)
        return logits, values

    def heads(
        self, observations: Tensor, legal: Tensor, rows: Tensor
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Logits, values and the auxiliary outputs used in training.

        `wdl` [B, 3]: logits of win, draw and loss; `moves_left` [B]: in units of 100 plies.
        """
        policy, values, extras = self._all(observations)
        origin, plane = legal // PLANES_PER_ORIGIN, legal % PLANES_PER_ORIGIN
        places = rows * policy[0].numel() + plane * SQUARES + origin
        return policy.reshape(-1).index_select(0, places), values, extras

    def dense(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [B, 4672] over all actions, and values [B]."""
        policy, values, _ = self._all(observations)
        # [B, plane, square] -> [B, square, plane], as an action is 73 * square + plane.
        return policy.flatten(2).transpose(1, 2).flatten(1), values

    def activations(self, observations: Tensor) -> dict[str, Tensor]:
        """Stem and blocks [B, filters, 8, 8], and the value's hidden layer [B, W]."""
        trunk = self._trunk(observations.to(next(self.parameters()).dtype))
        names = ["stem", *(f"block {number}" for number in range(1, len(trunk)))]
        return {**dict(zip(names, trunk, strict=True)), "value": self.value[:-1](trunk[-1])}

    def _trunk(self, observations: Tensor) -> list[Tensor]:
        """What the stem and each block hand on."""
        trunk = [self.stem(observations).relu()]
        for block in self.blocks:
            trunk.append(block(trunk[-1]))
        return trunk

    def _all(self, observations: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        observations = observations.to(next(self.parameters()).dtype)
        trunk = self._trunk(observations)[-1]
        policy = self.policy(trunk)
        if self._turn is not None:
            white = observations[:, self._turn, :1, :1].unsqueeze(1)
            policy = white * policy + (1.0 - white) * policy.flip(2)
        extras: dict[str, Tensor] = {}
        if self.left is not None:
            extras["moves_left"] = self.left(trunk.mean((2, 3))).squeeze(-1)
        outcome = self.value(trunk)
        if self.sizes.outcome == "wdl":
            extras["wdl"] = outcome
            chances = outcome.softmax(-1)
            return policy, chances[:, 0] - chances[:, 2], extras
        return policy, outcome.squeeze(-1).tanh(), extras


class Block(nn.Module):
    """A residual block of two convolutions."""

    def __init__(self, filters: int, norm: str, squeeze: int = 0, pooling: bool = False) -> None:
        """Make the convolutions and the optional global pooling and squeeze-and-excitation."""
        super().__init__()
        self.first = _convolution(filters, filters, norm)
        self.second = _convolution(filters, filters, norm)
        # Wu 2019, section 4.3: global features are added to every square.
        self.pool = nn.Linear(2 * filters, filters) if pooling else None
        self.squeeze = nn.Linear(filters, squeeze) if squeeze else None
        self.excite = nn.Linear(squeeze, 2 * filters) if squeeze else None

    def close(self) -> None:
        """Initialise the block as the identity."""
        last = self.second[-1]
        assert isinstance(last, nn.BatchNorm2d | nn.GroupNorm | nn.Conv2d)
        nn.init.zeros_(last.weight)
        if self.excite is not None:
            nn.init.zeros_(self.excite.weight)

    def forward(self, inputs: Tensor) -> Tensor:
        """[B, filters, 8, 8] to the same."""
        hidden = self.first(inputs).relu()
        if self.pool is not None:
            board = torch.cat([hidden.mean((2, 3)), hidden.amax((2, 3))], 1)
            hidden = hidden + self.pool(board)[:, :, None, None]
        change = self.second(hidden)
        if self.squeeze is not None and self.excite is not None:
            scale, shift = self.excite(self.squeeze(change.mean((2, 3))).relu()).chunk(2, 1)
            change = change * scale.sigmoid()[:, :, None, None] + shift[:, :, None, None]
        result: Tensor = (change + inputs).relu()
        return result


def _convolution(inputs: int, outputs: int, norm: str, kernel: int = 3) -> nn.Sequential:
    """A convolution that keeps the board's size, with its normalisation."""
    plain = norm == "none"
    layers: list[nn.Module] = [nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=plain)]
    if norm == "batch":
        layers.append(nn.BatchNorm2d(outputs))
    elif norm == "group":
        layers.append(nn.GroupNorm(max(d for d in range(1, 9) if outputs % d == 0), outputs))
    return nn.Sequential(*layers)
