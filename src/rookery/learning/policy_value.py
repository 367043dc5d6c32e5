"""Learning a policy and a value from samples: what AlphaZero and supervised learning share.

Loss: cross-entropy between the policy target and the policy over the legal actions, plus the
squared error of the value (Silver et al. 2018, equation 1; weight decay is the optimiser's).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor
from torch.nn import functional

from rookery.base.section import Section
from rookery.data.samples import SampleBlock
from rookery.nets import AuxiliaryHeads, PolicyValueNetwork, ragged
from rookery.nets.mlp import MlpSizes
from rookery.nets.resnet import ResnetSizes
from rookery.nets.squares import SquaresSizes

MOVES_LEFT_WEIGHT = 0.1  # a helper must not drown what it helps


class NetworkSettings(Section):
    """Policy and value."""

    family: Literal["mlp", "resnet", "squares"] = "squares"
    observation: str = "tactical70"
    """Layout of the input; `rookery.encodings` lists them."""
    mlp: MlpSizes = MlpSizes(value="tanh")
    resnet: ResnetSizes = ResnetSizes()
    squares: SquaresSizes = SquaresSizes()


class LearnSettings(Section):
    """How the network learns from samples."""

    learning_rate: float = Field(default=1e-3, gt=0)
    """Step size of Adam, the largest of the schedule."""
    final_learning_rate: float = Field(default=1e-4, ge=0)
    """The smallest of the schedule."""
    schedule: Literal["constant", "linear", "cosine", "steps", "one-cycle", "cyclic"] = "cosine"
    """Constant; falling linearly or as a cosine; by tenths at 50, 75 and 90 % of the run (steps);
    rising for 30 % and falling to the end (one-cycle); rising and falling again and again
    (cyclic, paper 001)."""
    cycles: int = Field(default=10, ge=1)
    """Of the schedule `cyclic`, in the whole run."""
    minibatch: int = Field(default=512, ge=1)
    """Samples of one step of the optimiser."""
    value_weight: float = Field(default=1.0, ge=0)
    """Of the value's squared error, beside the policy's cross-entropy."""
    weight_decay: float = Field(default=1e-4, ge=0)
    """Of AdamW; 0: plain Adam."""
    gradient_norm: float = Field(default=5.0, ge=0)
    """Gradients are scaled down to this length; 0: never."""
    search_value: float = Field(default=0.5, ge=0, le=1)
    """Share of the search's value in the value target; the rest is the game's result."""
    average: float = Field(default=0.0, ge=0, lt=1)
    """The network that plays is a running mean of the learner's weights: the share of the old mean
    that each iteration keeps; 0: no mean."""


def learning_rate(settings: LearnSettings, progress: float) -> float:
    """The step size at a share of the run, [0, 1]."""
    high, low = settings.learning_rate, settings.final_learning_rate
    progress = min(max(progress, 0.0), 1.0)
    match settings.schedule:
        case "constant":
            return high
        case "linear":
            return high + (low - high) * progress
        case "cosine":
            return low + (high - low) * 0.5 * (1 + math.cos(math.pi * progress))
        case "steps":
            return high * 0.1 ** sum(progress >= part for part in (0.5, 0.75, 0.9))
        case "one-cycle":
            rising = 0.3
            part = progress / rising if progress < rising else (1 - progress) / (1 - rising)
            return low + (high - low) * part
        case "cyclic":
            phase = (progress * settings.cycles) % 1.0
            return low + (high - low) * (1 - abs(2 * phase - 1))


@dataclass(frozen=True)
class Losses:
    """Means over a minibatch, and what they say about learning."""

    policy: Tensor
    value: Tensor
    agreement: float  # share of samples whose most probable move is the target's
    residual: float  # squared error of the value over the variance of its target


def value_targets(block: SampleBlock, search_value: float) -> NDArray[np.float32]:
    """What the value should be, [S]: the result, mixed with what the search expected."""
    mixed = (1 - search_value) * block.results + search_value * block.values
    return np.asarray(mixed, np.float32)


def outcome_targets(block: SampleBlock, search_value: float) -> NDArray[np.float32]:
    """Chances to win, draw and lose, [S, 3]; their difference is the value target.

    A value of the search counts as that chance to win (or to lose) and a draw otherwise.
    """
    parts = []
    for sign in (1.0, -1.0):
        result, searched = np.maximum(sign * block.results, 0), np.maximum(sign * block.values, 0)
        parts.append((1 - search_value) * result + search_value * searched)
    return np.stack([parts[0], 1 - parts[0] - parts[1], parts[1]], 1).astype(np.float32)


def losses(network: PolicyValueNetwork, block: SampleBlock, search_value: float) -> Losses:
    """Policy and value loss of all samples of a block."""
    count = len(block)
    rows = torch.from_numpy(np.repeat(np.arange(count), block.counts))
    legal = torch.from_numpy(block.legal.astype(np.int64))
    observations = torch.from_numpy(block.observations)
    extras: dict[str, Tensor] = {}
    if isinstance(network, AuxiliaryHeads):
        logits, values, extras = network.heads(observations, legal, rows)
    else:
        logits, values = network(observations, legal, rows)
    log_probabilities = ragged.log_softmax(logits, rows, count)
    target = torch.from_numpy(block.policy)
    policy = -(target * log_probabilities).sum() / count
    wanted = torch.from_numpy(value_targets(block, search_value))
    error = (values - wanted).square().mean()
    value = error
    if "wdl" in extras:
        chances = torch.from_numpy(outcome_targets(block, search_value))
        value = functional.cross_entropy(extras["wdl"], chances)
    if "moves_left" in extras:
        left = torch.from_numpy(block.plies_left.astype(np.float32) / 100)
        value = value + MOVES_LEFT_WEIGHT * functional.smooth_l1_loss(extras["moves_left"], left)
    offsets = block.offsets
    chosen = ragged.best_places(logits.detach().numpy(), offsets)
    best = ragged.best_places(block.policy, offsets)
    variance = float(wanted.var(unbiased=False))
    return Losses(
        policy,
        value,
        float(np.mean(chosen == best)),
        float(error.detach()) / variance if variance > 0 else float("nan"),
    )


def make_optimizer(network: Any, settings: LearnSettings) -> torch.optim.Optimizer:
    """AdamW (or Adam) over a network's weights."""
    kind = torch.optim.AdamW if settings.weight_decay else torch.optim.Adam
    return kind(
        network.parameters(),
        lr=settings.learning_rate,
        weight_decay=settings.weight_decay,
        fused=True,
    )


def learn_step(
    network: Any,
    optimizer: torch.optim.Optimizer,
    block: SampleBlock,
    settings: LearnSettings,
    rate: float,
) -> Losses:
    """One step of the optimiser on a minibatch."""
    for group in optimizer.param_groups:
        group["lr"] = rate
    network.train()
    terms = losses(network, block, settings.search_value)
    total = terms.policy + settings.value_weight * terms.value
    optimizer.zero_grad()
    total.backward()  # type: ignore[no-untyped-call]
    if settings.gradient_norm:
        torch.nn.utils.clip_grad_norm_(network.parameters(), settings.gradient_norm)
    optimizer.step()
    network.eval()
    return terms


def update_average(average: Any, network: Any, keep: float, updates: int) -> None:
    """Move a running mean of weights towards the network's present ones.

    Steps as long as self-play needs them leave the weights circling around what is best; their mean
    is nearer to it (Izmailov et al. 2018, "Averaging weights leads to wider optima").

    Args:
        average: The mean, a network of the same shape.
        network: The learner's.
        keep: Share of the mean that is kept. The first means are shorter, so that the weights of
            the beginning are soon forgotten.
        updates: How often the mean was updated before.
    """
    weight = 1 - min(keep, (1 + updates) / (10 + updates))
    with torch.no_grad():
        for mean, new in zip(
            average.state_dict().values(), network.state_dict().values(), strict=True
        ):
            if mean.is_floating_point():
                mean.lerp_(new, weight)
            else:
                mean.copy_(new)  # batch norm counts its batches


def mean_losses(terms: list[Losses]) -> dict[str, float]:
    """Means of several steps; NaN without any."""

    def mean(numbers: list[float]) -> float:
        return float(np.mean(numbers)) if numbers else float("nan")

    return {
        "policy": mean([float(t.policy.detach()) for t in terms]),
        "value": mean([float(t.value.detach()) for t in terms]),
        "agreement": mean([t.agreement for t in terms]),
        "explained_variance": 1.0 - mean([t.residual for t in terms]),
    }
