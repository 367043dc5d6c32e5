"""Sparse linear probes: one sigmoid unit per concept on the activations of one layer.

All concepts of a layer are fitted at once, by accelerated proximal gradient steps (FISTA; Beck and
Teboulle 2009) on

    mean logistic loss + penalty * sum of |weights|

over standardised activations. Positions with and without a concept weigh the same in total, so that
guessing scores zero. The penalty is chosen per concept on games that are neither trained on nor
tested on.

The score is that of the study on small boards, 2 * (accuracy - 0.5), with the mean of the
accuracies on positions with and without the concept: 0 is guessing, 1 is perfect.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

PENALTIES = (0.01, 0.003, 0.001)
STEPS = 60  # per penalty
POWER_STEPS = 10  # of the estimate of the largest curvature
RESAMPLES = 400
LEAST = 20  # positions with and without a concept in each part of the games


@dataclass(frozen=True)
class Probe:
    """Fitted probes of C concepts on activations [., F]: logits = activations @ weights + bias."""

    weights: NDArray[np.float32]  # [F, C], for activations as they are
    bias: NDArray[np.float32]  # [C]

    def logits(self, activations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Logits [N, C]; above 0 the concept is held to be there."""
        return activations @ self.weights + self.bias


@dataclass(frozen=True)
class Score:
    """A held-out score with its 95 % interval."""

    score: float
    low: float
    high: float


def balanced(labels: NDArray[np.int8], among: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Weights [N, C]: of each concept, both labels sum to one half; 0 for all others."""
    weights = np.zeros(labels.shape, np.float32)
    for label in (0, 1):
        having = (labels == label) & among[:, None]
        weights += having * (0.5 / np.maximum(having.sum(0), 1)).astype(np.float32)
    return weights


def enough(labels: NDArray[np.int8], parts: list[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Which concepts [C] have enough positions of both labels in every part."""
    counts = [(labels[part] == label).sum(0) for part in parts for label in (0, 1)]
    return np.asarray(np.min(counts, axis=0) >= LEAST)


def fit_probe(
    activations: NDArray[np.float32],
    labels: NDArray[np.int8],
    train: NDArray[np.bool_],
    choose: NDArray[np.bool_],
) -> Probe:
    """Fit on the positions `train` [N]; choose the penalty on the positions `choose` [N]."""
    mean = activations[train].mean(0)
    spread = activations[train].std(0)
    alive = spread > 1e-6
    scale = np.where(alive, 1.0 / np.where(alive, spread, 1.0), 0.0).astype(np.float32)

    def inputs(among: NDArray[np.bool_]) -> Tensor:
        standard = (activations[among] - mean) * scale
        return torch.from_numpy(np.hstack([standard, np.ones((len(standard), 1), np.float32)]))

    fitted = torch.zeros(activations.shape[1] + 1, labels.shape[1])
    best = fitted.clone()
    best_score = torch.full((labels.shape[1],), -1.0)
    data, held = inputs(train), inputs(choose)
    targets = torch.from_numpy((labels[train] == 1).astype(np.float32))
    weights = torch.from_numpy(balanced(labels, train)[train])
    held_labels = labels[choose]
    curvature = _curvature(data, weights)
    for penalty in PENALTIES:
        fitted = _descend(data, targets, weights, fitted, penalty, curvature)
        found = torch.from_numpy(accuracy_score((held @ fitted).numpy(), held_labels))
        better = found > best_score
        best[:, better], best_score[better] = fitted[:, better], found[better]
    unscaled = best[:-1].numpy() * scale[:, None]
    return Probe(unscaled, best[-1].numpy() - mean @ unscaled)


def _curvature(data: Tensor, weights: Tensor) -> Tensor:
    """An upper estimate [C] of the logistic loss's largest curvature, by power iteration."""
    generator = torch.Generator().manual_seed(1)
    vectors = torch.randn(data.shape[1], weights.shape[1], generator=generator)
    largest = torch.ones(weights.shape[1])
    for _ in range(POWER_STEPS):
        vectors = data.T @ (weights * (data @ (vectors / vectors.norm(dim=0).clamp(min=1e-12))))
        largest = vectors.norm(dim=0)
    return (0.25 * 1.2 * largest).clamp(min=1e-6)


def _descend(
    data: Tensor, targets: Tensor, weights: Tensor, start: Tensor, penalty: float, curvature: Tensor
) -> Tensor:
    """Accelerated proximal gradient steps; the last row, the bias, is not penalised."""
    steps = 1.0 / curvature
    shrink = torch.full((data.shape[1], 1), penalty)
    shrink[-1] = 0.0
    current = ahead = start
    momentum = 1.0
    for _ in range(STEPS):
        residual = weights * (torch.sigmoid(data @ ahead) - targets)
        moved = ahead - steps * (data.T @ residual)
        following = moved.sign() * (moved.abs() - shrink * steps).clamp(min=0.0)
        grown = 0.5 * (1.0 + (1.0 + 4.0 * momentum**2) ** 0.5)
        ahead = following + (momentum - 1.0) / grown * (following - current)
        current, momentum = following, grown
    return current


# --- Scores ---


def accuracy_score(logits: NDArray[np.float32], labels: NDArray[np.int8]) -> NDArray[np.float32]:
    """2 * (balanced accuracy - 0.5) of logits and labels [N, C], for each concept [C]."""
    right = (logits > 0) == (labels == 1)
    shares = [
        (right & (labels == label)).sum(0) / np.maximum((labels == label).sum(0), 1)
        for label in (0, 1)
    ]
    return np.asarray(shares[0] + shares[1] - 1.0, np.float32)


def scores_of(
    logits: NDArray[np.float32],
    labels: NDArray[np.int8],
    origins: NDArray[np.int64],
    seed: int,
) -> list[Score]:
    """Scores of held-out positions, with intervals from resampling whole games."""
    right = (logits > 0) == (labels == 1)
    _, game = np.unique(origins, return_inverse=True)
    games = int(game.max()) + 1
    sums = []  # per game and concept: right and all, without and with the concept
    for label in (0, 1):
        having = labels == label
        for flags in (right & having, having):
            total = np.zeros((games, labels.shape[1]))
            np.add.at(total, game, flags)
            sums.append(total)
    rng = np.random.default_rng([seed, 9])
    draws = rng.multinomial(games, np.full(games, 1.0 / games), size=RESAMPLES)
    resampled = [draws @ total for total in sums]
    without = resampled[0] / np.maximum(resampled[1], 1)
    with_it = resampled[2] / np.maximum(resampled[3], 1)
    low, high = np.quantile(without + with_it - 1.0, (0.025, 0.975), axis=0)
    found = accuracy_score(logits, labels)
    return [Score(*map(float, row)) for row in zip(found, low, high, strict=True)]
