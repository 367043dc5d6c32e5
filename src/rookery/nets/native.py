"""Native copies of networks, evaluated by the core without calling Python or torch.

A family registers how its weights are copied into the core, be they those of a network in torch or
of a model file; `network_evaluator` and `load_evaluator` use this copy if there is one.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from rookery._core import NnueNetwork, SlotsNet, SquaresNet, TwinNet
from rookery.base.registry import load
from rookery.encodings import ACTIONS, OBSERVATIONS
from rookery.nets import ActionValueNetwork, Network, PolicyValueNetwork
from rookery.nets.evaluator import (
    Answer,
    Array,
    Evaluator,
    TorchEvaluator,
    check_answer,
    check_batch,
)
from rookery.nets.model_arrays import NNUE_TENSORS, Weights, require_shapes
from rookery.nets.model_file import ModelFileError, ModelInfo, describe
from rookery.nets.move_squares import squares_of
from rookery.nets.registry import FAMILIES

NativeNetwork = SquaresNet | SlotsNet | TwinNet
MOST_WIDTH = 8192
_SHARED = (
    "places.weight", "second.weight", "second.bias", "third.weight", "third.bias", "key.weight",
    "key.bias", "moves.weight", "value.weight", "value.bias",
)  # fmt: skip


def native_network(network: Network) -> NativeNetwork | None:
    """A native copy of a network's current weights; None if it has no native form."""
    reference = FAMILIES.find(network.family).native
    if not reference:
        return None
    weights = {
        name: np.ascontiguousarray(tensor.detach().cpu().numpy(), dtype=np.float32)
        for name, tensor in network.state_dict().items()
    }
    made: NativeNetwork | None = load(reference)(weights, describe(network))
    return made


def network_evaluator(
    network: PolicyValueNetwork | ActionValueNetwork, name: str = "network", threads: int = 1
) -> Evaluator:
    """An evaluator of a network: a native copy of its weights if possible, otherwise torch.

    Later changes of the network's weights affect only the torch evaluator.
    """
    native = native_network(network)
    if native is None:
        return TorchEvaluator(network, name)
    return CoreEvaluator(native, describe(network), name, threads)


def squares_net(weights: Weights, info: ModelInfo) -> SquaresNet | None:
    """The native form of the family `squares`; only for the actions `az4672`."""
    if info.actions != "az4672":
        return None
    sizes = _sizes(weights, info, "tactical70", {"codes.weight", "codes.bias"})
    return SquaresNet(*sizes, dict(weights), *squares_of(ACTIONS[info.actions].count))


def twin_net(weights: Weights, info: ModelInfo) -> TwinNet | None:
    """The native form of the family `twin`; only for the actions `az4672`.

    Quiescence knows only the rules of the standard board; on others the position itself is judged.
    """
    if info.actions != "az4672":
        return None
    parts: dict[str, dict[str, Any]] = {"policy": {}, "judge": {}}
    for name, array in weights.items():
        part, _, rest = name.partition(".")
        if part not in parts:
            raise ModelFileError(f"the network of the family 'twin' has no tensor {name!r}")
        parts[part][rest] = array
    sizes = _sizes(parts["policy"], info, "tactical70", {"codes.weight", "codes.bias"})
    hidden, buckets = info.sizes.get("hidden"), info.sizes.get("buckets")
    if not isinstance(hidden, int) or not isinstance(buckets, int):
        raise ModelFileError(f"'hidden' is {hidden!r} and 'buckets' {buckets!r}: not two numbers")
    shapes = ((768, hidden), (hidden,), (buckets, 2 * hidden), (buckets,))
    require_shapes(parts["judge"], dict(zip(NNUE_TENSORS, shapes, strict=True)))
    value = NnueNetwork(*(parts["judge"][name] for name in NNUE_TENSORS))
    quiescence = bool(info.sizes.get("quiescence")) and info.board == "standard"
    squares = squares_of(ACTIONS[info.actions].count)
    return TwinNet(*sizes, parts["policy"], *squares, value, quiescence)


def slots_net(weights: Weights, info: ModelInfo) -> SlotsNet | None:
    """The native form of the family `slots`; only for the actions `az4672`."""
    if info.actions != "az4672":
        return None
    sizes = _sizes(weights, info, "pepper353", {"plain.weight", "plain.bias"})
    # Here a1 is square 0, in `squares` a8.
    origins, destinations = (squares ^ 56 for squares in squares_of(ACTIONS[info.actions].count))
    return SlotsNet(*sizes, dict(weights), origins, destinations)


def _sizes(weights: Weights, info: ModelInfo, reads: str, own: set[str]) -> tuple[int, int]:
    """Width and key width, with which all shapes agree; the core knows the numbers of rows."""
    if info.observation != reads:
        raise ModelFileError(f"the family {info.family!r} reads {reads}, not {info.observation!r}")
    for name in {*_SHARED, *own} ^ set(weights):
        raise ModelFileError(f"the network of the family {info.family!r} {_lacks(name, weights)}")
    width, key_width = info.sizes.get("width"), info.sizes.get("key_width")
    for size in (width, key_width):
        if not isinstance(size, int) or not 1 <= size <= MOST_WIDTH:
            raise ModelFileError(f"a width is {size!r}, but must be from 1 to {MOST_WIDTH}")
    assert isinstance(width, int) and isinstance(key_width, int)
    require_shapes(
        weights, {name: _shape(name, weights[name].size, width, key_width) for name in weights}
    )
    return width, key_width


def _shape(name: str, size: int, width: int, key_width: int) -> tuple[int, ...]:
    """The shape of a tensor with so many weights; another one would be read in a wrong order."""
    if name.endswith("bias"):
        return (size,)
    columns = {"places.weight": width, "moves.weight": key_width}.get(name)
    if columns is not None:  # a row for each thing that is looked up
        return size // columns, columns
    rows = {"key.weight": key_width, "value.weight": 1}.get(name, width)
    return rows, size // rows


def _lacks(name: str, weights: Weights) -> str:
    return f"has no tensor {name!r}" if name in weights else f"needs the tensor {name!r}"


class CoreEvaluator:
    """Evaluates with a native network; several threads split each batch."""

    bounded = True

    def __init__(
        self, native: NativeNetwork, info: ModelInfo, name: str = "network", threads: int = 1
    ) -> None:
        """Use `native`; `info` has its layouts and its board."""
        self.name = name
        self.observation = info.observation
        self.actions = info.actions
        self.board = info.board
        self.native: Any = native
        bytes_fit = "uint8" in OBSERVATIONS[info.observation].dtypes
        self._dtype = np.uint8 if bytes_fit else np.float32
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def evaluate(self, observations: Array, legal_actions: Array, legal_offsets: Array) -> Answer:
        """Evaluate B positions; the results do not depend on the number of threads."""
        check_batch(self, observations, legal_actions, legal_offsets)
        arrays = (
            np.ascontiguousarray(observations, dtype=self._dtype),
            np.ascontiguousarray(legal_actions, dtype=np.int32),
            np.ascontiguousarray(legal_offsets, dtype=np.int64),
        )
        if self._pool is None or len(observations) < 2 * self._threads:
            return check_answer(self, *self.native.evaluate(*arrays))
        cuts = np.linspace(0, len(observations), self._threads + 1).astype(int)
        parts = [_rows(*arrays, first, last) for first, last in pairwise(cuts)]
        answers = list(self._pool.map(lambda part: self.native.evaluate(*part), parts))
        logits, values = (np.concatenate(column) for column in zip(*answers, strict=True))
        return check_answer(self, logits, values)


def _rows(
    observations: Array, legal: Array, offsets: Array, first: int, last: int
) -> tuple[Array, Array, Array]:
    """The part of a batch with the positions [first, last)."""
    begin, end = offsets[first], offsets[last]
    return observations[first:last], legal[begin:end], offsets[first : last + 1] - begin
