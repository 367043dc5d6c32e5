"""Networks of the family `giraffe` as arrays: native copies for searches, made without torch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rookery._core import MOVE_ROWS, BatchEvaluator, MoveNet
from rookery.encodings import OBSERVATIONS
from rookery.nets.model_arrays import Weights, require_shapes
from rookery.nets.model_file import ModelFileError, ModelInfo

GROUPS = ("global", "piece", "square")
REGISTER = 16  # floats (core/nets/mlp_value.h)
FEATURES = 363  # of giraffe363
MOVES = ("position.weight", "position.bias", "table", "output")  # of the move network

Layer = tuple[NDArray[np.float32], NDArray[np.float32]]  # weight [out, in], bias [out]


def group_places(observation: str) -> list[NDArray[np.int64]]:
    """The entries of the observation that belong to each group."""
    layout = OBSERVATIONS.get(observation)
    if layout is None or not all(part.group for part in layout.slices):
        raise ValueError(f"the family 'giraffe' reads giraffe363 or pepper353, not {observation!r}")
    return [
        np.concatenate([np.arange(p.start, p.stop) for p in layout.slices if p.group == group])
        for group in GROUPS
    ]


def plain_layers(weights: Weights, observation: str) -> list[Layer]:
    """The value network as plain linear layers; the first is a block matrix of the groups.

    Each group is padded with zeros to whole vector registers of the native copy.
    """
    groups = group_places(observation)
    blocks = [
        (weights[f"first.{i}.weight"], weights[f"first.{i}.bias"]) for i in range(len(groups))
    ]
    padded = [-(-len(bias) // REGISTER) * REGISTER for _, bias in blocks]
    old = weights["second.weight"]
    first = np.zeros((sum(padded), sum(map(len, groups))), np.float32)
    bias = np.zeros(sum(padded), np.float32)
    second = np.zeros((len(old), sum(padded)), np.float32)
    row = column = 0
    for (block, offset), places, size in zip(blocks, groups, padded, strict=True):
        count = len(offset)
        first[row : row + count, places] = block
        bias[row : row + count] = offset
        second[:, row : row + count] = old[:, column : column + count]
        row, column = row + size, column + count
    value = weights["value.weight"], weights["value.bias"]
    return [(first, bias), (second, weights["second.bias"]), value]


def value_arrays(weights: Weights, info: ModelInfo, name: str) -> BatchEvaluator:
    """The value network, for `Engine`."""
    _require_fit(weights, info)
    return BatchEvaluator.mlp(info.observation, plain_layers(weights, info.observation), name)


def move_arrays(weights: Weights, info: ModelInfo) -> MoveNet | None:
    """The network of move probabilities; None if this one has none."""
    if info.family != "giraffe" or not info.sizes.get("moves"):
        return None
    _require_fit(weights, info)
    return MoveNet(*(np.ascontiguousarray(weights[f"moves.{name}"]) for name in MOVES))


def _require_fit(weights: Weights, info: ModelInfo) -> None:
    places = group_places(info.observation)
    width, moves, groups = (info.sizes.get(key) for key in ("width", "moves", "groups"))
    firsts = [weights.get(f"first.{i}.bias", np.zeros(0)).shape[0] for i in range(len(places))]
    if groups is not None and list(groups) != firsts:
        raise ModelFileError(f"the sizes have the groups {groups}, the tensors {firsts}")
    shapes: dict[str, tuple[object, ...]] = {
        "second.weight": (width, sum(firsts)),
        "second.bias": (width,),
        "value.weight": (1, width),
        "value.bias": (1,),
    }
    for i, (count, here) in enumerate(zip(firsts, places, strict=True)):
        shapes |= {f"first.{i}.weight": (count, len(here)), f"first.{i}.bias": (count,)}
    if moves:
        of_moves = [(moves, FEATURES), (moves,), (MOVE_ROWS, moves), (moves,)]
        shapes |= {f"moves.{name}": shape for name, shape in zip(MOVES, of_moves, strict=True)}
    require_shapes(weights, shapes)
