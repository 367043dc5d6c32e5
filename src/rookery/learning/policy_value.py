"""Learning a policy and a value from samples, for AlphaZero and supervised learning.

The loss is Silver et al. 2018, equation 1: (z - v)^2 - pi log p, over the legal actions or, with
`policy_over = "all"`, over all of them, which also teaches which moves are legal (Vanhoutte 2022).
Weight decay is left to the optimiser.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor
from torch.nn import functional

from rookery._core import action_count
from rookery.base.section import Section
from rookery.data.samples import SampleBlock
from rookery.nets import (
    AuxiliaryHeads,
    Constrained,
    PolicyValueNetwork,
    WeightedValues,
    make_network,
    ragged,
)
from rookery.nets.device import device_of, put
from rookery.nets.mlp import MlpSizes
from rookery.nets.pepper import PepperSizes
from rookery.nets.resnet import ResnetSizes
from rookery.nets.slots import SlotsSizes
from rookery.nets.squares import SquaresSizes
from rookery.nets.twin import TwinSizes

MOVES_LEFT_WEIGHT = 0.1  # small, as it is an auxiliary target
SECOND_VALUE_WEIGHT = 0.5  # another auxiliary one, of the family `twin`


class NetworkSettings(Section):
    """Policy and value."""

    family: Literal["mlp", "pepper", "resnet", "slots", "squares", "twin"] = "squares"
    observation: str = "tactical70"
    """Layout of the input; `rookery.encodings` lists them."""
    mlp: MlpSizes = MlpSizes(value="tanh")
    pepper: PepperSizes = PepperSizes()
    resnet: ResnetSizes = ResnetSizes()
    slots: SlotsSizes = SlotsSizes()
    squares: SquaresSizes = SquaresSizes()
    twin: TwinSizes = TwinSizes()


class LearnSettings(Section):
    """How the network learns from samples."""

    optimizer: Literal["adamw", "adam", "sgd"] = "adamw"
    """AdamW; Adam with weight decay as a term of the loss; stochastic gradient descent with
    momentum."""
    learning_rate: float = Field(default=1e-3, gt=0)
    """Step size, the largest of the schedule."""
    body_share: float = Field(default=1.0, gt=0)
    """Share of it for the layers before the move embeddings of the families squares and slots:
    hundreds of terms are summed there, so that steps that suit single embeddings kill units."""
    final_learning_rate: float = Field(default=1e-4, ge=0)
    """The smallest of the schedule."""
    schedule: Literal[
        "constant", "linear", "cosine", "steps", "one-cycle", "cyclic", "three-phase"
    ] = "cosine"
    """Constant; linear or cosine decay; divided by ten at 50, 75 and 90 % of the run (steps);
    rising for 30 % and then falling (one-cycle); rising and falling repeatedly (cyclic); from a
    tenth to the whole at 35 % of the run, back to a tenth at 70 % and on to 1.5 %, with momentum
    from 0.95 to 0.85 and back (three-phase, Deep Pepper revisited 2023)."""
    cycles: int = Field(default=10, ge=1)
    """Number of cycles of the schedule `cyclic`."""
    minibatch: int = Field(default=512, ge=1)
    """Samples per optimiser step."""
    policy_over: Literal["legal", "all"] = "legal"
    """Actions over which the policy is normalised in the loss: the legal ones, or all 4672, so that
    the network also learns which moves are legal."""
    value_weight: float = Field(default=1.0, ge=0)
    """Weight of the value loss relative to the policy loss."""
    momentum: float = Field(default=0.9, ge=0, lt=1)
    """Of the gradient; the schedule three-phase has its own."""
    weight_decay: float = Field(default=1e-4, ge=0)
    """Weight decay; 0: none."""
    gradient_norm: float = Field(default=5.0, ge=0)
    """Largest norm of the gradient, which is scaled down to it; 0: no limit."""
    search_value: float = Field(default=0.5, ge=0, le=1)
    """Share of the search's value in the value target; the rest is the game's result."""
    mixed_precision: bool = False
    """Whether products are computed in bfloat16, on devices that are faster with it; weights and
    sums stay in full precision."""
    average: float = Field(default=0.0, ge=0, lt=1)
    """Share of the old mean kept per iteration by the moving average of the weights, which then
    plays the games; 0: no averaging."""


# (share of the run, share of the learning rate, momentum), linear in between: the schedule of Deep
# Pepper revisited 2023, whose rates are 0.02, 0.2, 0.02 and 0.003.
THREE_PHASES = ((0.0, 0.1, 0.95), (0.35, 1.0, 0.85), (0.7, 0.1, 0.95), (1.0, 0.015, 0.95))


def new_network(settings: NetworkSettings, generator: torch.Generator) -> Any:
    """A network with random weights and the actions `az4672`."""
    sizes = getattr(settings, settings.family)
    return make_network(settings.family, settings.observation, "az4672", sizes, generator)


def learning_rate(settings: LearnSettings, progress: float) -> float:
    """The learning rate at a share of the run, [0, 1]."""
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
        case "three-phase":
            times, shares, _ = zip(*THREE_PHASES, strict=True)
            return high * float(np.interp(progress, times, shares))


def momentum(settings: LearnSettings, progress: float) -> float:
    """The momentum at a share of the run, [0, 1]."""
    if settings.schedule != "three-phase":
        return settings.momentum
    times, _, momenta = zip(*THREE_PHASES, strict=True)
    return float(np.interp(progress, times, momenta))


@dataclass(frozen=True)
class Losses:
    """Mean losses of a minibatch and diagnostics."""

    policy: Tensor
    value: Tensor
    agreement: float  # share of samples with the same best move in policy and target
    residual: float  # squared error of the value over the variance of its target
    legal_share: float = math.nan  # share of the policy over all actions on legal ones


def value_targets(block: SampleBlock, search_value: float) -> NDArray[np.float32]:
    """Value targets [S]: the game's result mixed with the search's value."""
    mixed = (1 - search_value) * block.results + search_value * block.values
    return np.asarray(mixed, np.float32)


def outcome_targets(block: SampleBlock, search_value: float) -> NDArray[np.float32]:
    """Probabilities of win, draw and loss, [S, 3]; win minus loss is the value target.

    A search value v counts as a win (or, if negative, a loss) with probability |v|, else a draw.
    """
    parts = []
    for sign in (1.0, -1.0):
        result, searched = np.maximum(sign * block.results, 0), np.maximum(sign * block.values, 0)
        parts.append((1 - search_value) * result + search_value * searched)
    return np.stack([parts[0], 1 - parts[0] - parts[1], parts[1]], 1).astype(np.float32)


def losses(
    network: PolicyValueNetwork,
    block: SampleBlock,
    search_value: float,
    policy_over: Literal["legal", "all"] = "legal",
) -> Losses:
    """Policy and value loss of a block of samples."""
    terms = loss_terms(network, Batch.of(block, search_value, device_of(network)), policy_over)
    logits = terms.logits.detach().float().cpu().numpy()
    chosen = ragged.best_places(logits, block.offsets)
    best = ragged.best_places(block.policy, block.offsets)
    variance = float(np.var(value_targets(block, search_value)))
    return Losses(
        terms.policy,
        terms.value,
        float(np.mean(chosen == best)),
        float(terms.error.detach()) / variance if variance > 0 else float("nan"),
        float(terms.legal_share),
    )


class Batch(NamedTuple):
    """A block of samples as tensors on the network's device."""

    observations: Tensor  # [B, *shape]
    legal: Tensor  # int64 [L]
    rows: Tensor  # int64 [L]
    policy: Tensor  # [L], target
    values: Tensor  # [B], target
    outcomes: Tensor  # [B, 3], target
    plies_left: Tensor  # [B], in hundreds

    @staticmethod
    def of(block: SampleBlock, search_value: float, device: torch.device) -> Batch:
        """Move a block to a device."""
        arrays = (
            block.observations,
            block.legal.astype(np.int64),
            np.repeat(np.arange(len(block)), block.counts),
            block.policy,
            value_targets(block, search_value),
            outcome_targets(block, search_value),
            block.plies_left.astype(np.float32) / 100,
        )
        return Batch(*(put(array, device) for array in arrays))


class Terms(NamedTuple):
    """Losses as tensors; nothing here waits for the device."""

    policy: Tensor
    value: Tensor
    error: Tensor  # mean squared error of the values
    logits: Tensor  # [L]
    legal_share: Tensor  # NaN unless the policy is over all actions


def loss_terms(
    network: PolicyValueNetwork, batch: Batch, policy_over: Literal["legal", "all"] = "legal"
) -> Terms:
    """Policy and value loss of a batch."""
    count = batch.values.shape[0]
    asked, asked_rows = batch.legal, batch.rows  # the actions whose logits are computed
    if policy_over == "all":
        width, device = action_count(network.actions), batch.legal.device
        asked = torch.arange(width, device=device).repeat(count)
        asked_rows = torch.arange(count, device=device).repeat_interleave(width)
    extras: dict[str, Tensor] = {}
    if isinstance(network, AuxiliaryHeads):
        logits, values, extras = network.heads(batch.observations, asked, asked_rows)
    else:
        logits, values = network(batch.observations, asked, asked_rows)
    logits, values = logits.float(), values.float()  # sums need full precision
    legal_share = logits.new_full((), math.nan)
    if policy_over == "all":
        places = batch.rows * width + batch.legal
        logits = logits.view(count, width)
        log_probabilities = logits.log_softmax(1).flatten().index_select(0, places)
        legal_share = log_probabilities.detach().exp().sum() / count
        logits = logits.flatten().index_select(0, places)
    else:
        log_probabilities = ragged.log_softmax(logits, batch.rows, count)
    policy = -(batch.policy * log_probabilities).sum() / count
    errors = (values - batch.values).square()
    error = errors.mean()
    if isinstance(network, WeightedValues):
        weights = network.value_weights(batch.observations, batch.legal, batch.rows, batch.policy)
        error = (weights * errors).sum() / weights.sum().clamp(min=1.0)
    value = error
    if "wdl" in extras:
        value = functional.cross_entropy(extras["wdl"], batch.outcomes)
    if "moves_left" in extras:
        left = functional.smooth_l1_loss(extras["moves_left"], batch.plies_left)
        value = value + MOVES_LEFT_WEIGHT * left
    if "second_value" in extras:
        second = (extras["second_value"] - batch.values).square().mean()
        value = value + SECOND_VALUE_WEIGHT * second
    return Terms(policy, value, error, logits, legal_share)


def make_optimizer(network: Any, settings: LearnSettings) -> torch.optim.Optimizer:
    """The optimiser of a network."""
    shared: Any = {
        "lr": settings.learning_rate,
        "weight_decay": settings.weight_decay,
        "fused": True,
    }
    groups = parameter_groups(network, settings.body_share)
    if settings.optimizer == "sgd":
        return torch.optim.SGD(groups, momentum=settings.momentum, **shared)
    coupled = settings.optimizer == "adam" or not settings.weight_decay
    kind = torch.optim.Adam if coupled else torch.optim.AdamW
    return kind(groups, betas=(settings.momentum, 0.999), **shared)


def parameter_groups(network: Any, body_share: float) -> list[dict[str, Any]]:
    """All weights, in two groups if the body learns in other steps than the move embeddings."""
    embedded = getattr(network, "move_embeddings", "")
    if body_share == 1.0 or not embedded:
        return [{"params": list(network.parameters()), "share": 1.0}]
    named = list(network.named_parameters())
    body = [weights for name, weights in named if not name.startswith(embedded)]
    moves = [weights for name, weights in named if name.startswith(embedded)]
    return [{"params": body, "share": body_share}, {"params": moves, "share": 1.0}]


def learn_step(
    network: Any,
    optimizer: torch.optim.Optimizer,
    block: SampleBlock,
    settings: LearnSettings,
    progress: float,
) -> Losses:
    """One optimiser step on a minibatch, at a share of the run, [0, 1]."""
    for group in optimizer.param_groups:
        # Checkpoints from before there were groups have no share.
        group["lr"] = group.get("share", 1.0) * learning_rate(settings, progress)
        kept = momentum(settings, progress)
        if settings.optimizer == "sgd":
            group["momentum"] = kept
        else:
            group["betas"] = (kept, group["betas"][1])
    network.train()
    with torch.autocast(device_of(network).type, torch.bfloat16, settings.mixed_precision):
        terms = losses(network, block, settings.search_value, settings.policy_over)
    total = terms.policy + settings.value_weight * terms.value
    optimizer.zero_grad()
    total.backward()  # type: ignore[no-untyped-call]
    if settings.gradient_norm:
        torch.nn.utils.clip_grad_norm_(network.parameters(), settings.gradient_norm)
    optimizer.step()
    if isinstance(network, Constrained):
        network.constrain()
    network.eval()
    return terms


def living_share(network: Any, observations: NDArray[Any]) -> float:
    """Share of the hidden units that differ between some of these positions, in the worst layer.

    A rectified unit that is pushed below zero everywhere gets no gradient and never comes back.
    """
    network.eval()
    with torch.no_grad():
        layers = network.activations(put(observations, device_of(network)))
    shares = [
        (layer.flatten(2).amax(2) if layer.dim() > 2 else layer).std(0).gt(0).float().mean()
        for layer in layers.values()
    ]
    return float(min(shares))


def update_average(average: Any, network: Any, keep: float, updates: int) -> None:
    """Update a moving average of weights (Izmailov et al. 2018).

    With the large learning rates of self-play the weights oscillate around an optimum; their mean
    is closer to it. `keep` is the share of the old mean; it is smaller in the first `updates`, so
    that the initial weights are soon forgotten.
    """
    weight = 1 - min(keep, (1 + updates) / (10 + updates))
    with torch.no_grad():
        current = network.state_dict()
        for name, mean in average.state_dict().items():
            if mean.is_floating_point():
                mean.lerp_(current[name], weight)
            else:
                mean.copy_(current[name])  # the batch counter of batch norm


def mean_losses(terms: list[Losses]) -> dict[str, float]:
    """Means over several steps; NaN without steps."""

    def mean(numbers: list[float]) -> float:
        return float(np.mean(numbers)) if numbers else float("nan")

    return {
        "policy": mean([float(t.policy.detach()) for t in terms]),
        "value": mean([float(t.value.detach()) for t in terms]),
        "agreement": mean([t.agreement for t in terms]),
        "explained_variance": 1.0 - mean([t.residual for t in terms]),
        "legal_share": mean([t.legal_share for t in terms]),
    }
