"""The hidden activations of a network on many positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rookery._core import Game, encode_batch
from rookery.encodings import OBSERVATIONS, SPARSE_OBSERVATIONS
from rookery.nets import HiddenLayers
from rookery.nets.nnue import game_rows

BATCH = 512
WIDEST = 4096  # activations of a layer; of wider ones a fixed random part is kept


def observe(games: Sequence[Game], observation: str) -> torch.Tensor:
    """Observations [N, ...] of a layout, sparse ones as rows of features."""
    if observation in SPARSE_OBSERVATIONS:
        return game_rows(games)
    array = np.zeros((len(games), *OBSERVATIONS[observation].shape), np.float32)
    encode_batch(games, observation, array)
    return torch.from_numpy(array)


def require_layers(network: Any, name: str) -> HiddenLayers:
    """The network, if its activations can be looked at."""
    if not isinstance(network, HiddenLayers):
        raise ValueError(
            f"{name}: networks of the family {network.family!r} do not show their activations; "
            "the family needs a method `activations` (docs/probes.md)"
        )
    return network


def activations_of(
    network: HiddenLayers, observations: torch.Tensor
) -> dict[str, NDArray[np.float32]]:
    """Activations [N, F] by layer, in order from input to output."""
    parts: dict[str, list[NDArray[np.float32]]] = {}
    with torch.inference_mode():
        for first in range(0, len(observations), BATCH):
            batch = observations[first : first + BATCH]
            for name, found in network.activations(batch).items():
                flat = found.flatten(1).float().numpy()
                parts.setdefault(name, []).append(_narrowed(flat))
    return {name: np.concatenate(found) for name, found in parts.items()}


def _narrowed(flat: NDArray[np.float32]) -> NDArray[np.float32]:
    if flat.shape[1] <= WIDEST:
        return flat
    kept = np.random.default_rng(0).choice(flat.shape[1], WIDEST, replace=False)
    return np.ascontiguousarray(flat[:, np.sort(kept)])
