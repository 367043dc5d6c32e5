"""The player `blind-paper`: the policy of a network, without search and without torch.

`BlindNetwork` (network.py) is the same network in torch, for training; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rookery._core import BLIND_SENSE_ACTIONS, BlindKnowledge
from rookery.blind.players import BasePlayer
from rookery.nets.model_arrays import Weights, read_arrays
from rookery.nets.model_file import ModelFileError, ModelInfo, info_of

FAMILY = "blind"
LAYOUT = 1  # of planes and actions; rises when a plane or an action changes its meaning
Array = NDArray[np.float32]
Dense = Callable[[Array], Array]  # planes [P, 8, 8] to logits [65 + 4673] of senses and requests


class PolicyPlayer(BasePlayer):
    """Senses and moves by the policy alone; temperature 0 takes the most probable action."""

    def __init__(self, name: str, dense: Dense, temperature: float = 0.0) -> None:
        """Take the function from planes to logits."""
        self.name = name
        self._dense = dense
        self._temperature = temperature

    def choose_sense(self, knowledge: BlindKnowledge, rng: Generator, seconds: float) -> int | None:
        """Ask the head of senses."""
        action = self._choose(knowledge, np.arange(BLIND_SENSE_ACTIONS), rng)
        if action == BLIND_SENSE_ACTIONS - 1:
            return None
        return action if knowledge.white else action ^ 56

    def choose_move(self, knowledge: BlindKnowledge, rng: Generator, seconds: float) -> str | None:
        """Ask the head of requests."""
        action = self._choose(knowledge, BLIND_SENSE_ACTIONS + knowledge.move_actions(), rng)
        return knowledge.move_of_action(action - BLIND_SENSE_ACTIONS)

    def _choose(
        self, knowledge: BlindKnowledge, legal: NDArray[np.integer[Any]], rng: Generator
    ) -> int:
        logits = self._dense(knowledge.planes())[legal]
        if self._temperature > 0:
            # The greatest of logits with Gumbel noise is a sample of their softmax.
            logits = logits / self._temperature + rng.gumbel(size=len(logits))
        return int(legal[int(np.argmax(logits))])


def read_policy_file(path: Path) -> tuple[bytes, ModelInfo]:
    """Read a model file of `rookery train blind-paper`; another one is a `ModelFileError`."""
    data = path.read_bytes()
    info = info_of(data, str(path))
    if info.family != FAMILY:
        raise ModelFileError(
            f"{path} holds a network of family {info.family!r}, not of blind chess"
        )
    if info.sizes.get("layout") != LAYOUT:
        raise ModelFileError(
            f"{path} was trained for layout {info.sizes.get('layout')}, this version has {LAYOUT}; "
            "train again"
        )
    return data, info


def load_policy(path: Path) -> Dense:
    """Return the policy of a model file."""
    data, _ = read_policy_file(path)
    weights = read_arrays(data, str(path))
    return lambda planes: dense_logits(weights, planes)


def dense_logits(weights: Weights, planes: Array) -> Array:
    """Logits [65 + 4673] of all senses and requests; what `BlindNetwork.dense` computes."""
    hidden = np.asarray(planes, np.float32)
    number = 0
    while f"trunk.{number}.weight" in weights:
        change = np.maximum(_convolve(weights, f"trunk.{number}", hidden), 0)
        hidden = change if number == 0 else hidden + change
        number += 1
    flat = hidden.reshape(len(hidden), -1)  # [filters, 64]
    mean = flat.mean(axis=1)
    senses = _layer(weights, "sense", flat)[0]
    moves = _layer(weights, "move", flat).T.ravel()  # 73 * square + plane
    ends = [_layer(weights, name, mean) for name in ("no_sense", "no_move")]
    return np.concatenate([senses, ends[0], moves, ends[1]])


def _convolve(weights: Weights, name: str, board: Array) -> Array:
    """A 3x3 convolution [C, 8, 8] -> [F, 8, 8], the board surrounded by zeros."""
    kernel = weights[f"{name}.weight"]  # [F, C, 3, 3]
    around = np.pad(board, ((0, 0), (1, 1), (1, 1)))
    # [C, 8, 8, 3, 3]: the neighbourhood of every square
    near = np.lib.stride_tricks.sliding_window_view(around, (3, 3), axis=(1, 2))
    columns = near.transpose(0, 3, 4, 1, 2).reshape(kernel[0].size, 64)
    found = kernel.reshape(len(kernel), -1) @ columns + weights[f"{name}.bias"][:, None]
    return np.asarray(found.reshape(len(kernel), 8, 8), np.float32)


def _layer(weights: Weights, name: str, inputs: Array) -> Array:
    """A linear layer, or a convolution of single squares: [C] -> [F], [C, 64] -> [F, 64]."""
    matrix, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    found = matrix.reshape(len(matrix), -1) @ inputs
    return np.asarray(found + (bias if inputs.ndim == 1 else bias[:, None]), np.float32)
