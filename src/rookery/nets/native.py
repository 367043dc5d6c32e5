"""Native copies of networks, evaluated by the core without calling Python.

A family registers how its weights are copied into the core; `network_evaluator` uses this copy if
there is one, and torch otherwise.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rookery._core import SlotsNet, SquaresNet
from rookery.base.registry import load
from rookery.encodings import OBSERVATIONS
from rookery.nets import ActionValueNetwork, Network, PolicyValueNetwork
from rookery.nets.evaluator import (
    Answer,
    Array,
    Evaluator,
    TorchEvaluator,
    check_answer,
    check_batch,
)
from rookery.nets.model_file import board_of
from rookery.nets.registry import FAMILIES

if TYPE_CHECKING:
    from rookery.nets.slots import Slots
    from rookery.nets.squares import Squares

NativeNetwork = SquaresNet | SlotsNet


def native_network(network: Network) -> NativeNetwork | None:
    """A native copy of a network's current weights; None if it has no native form."""
    reference = FAMILIES.find(network.family).native
    made: NativeNetwork | None = load(reference)(network) if reference else None
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
    return CoreEvaluator(native, network, name, threads)


def squares_net(network: Squares) -> SquaresNet | None:
    """The native form of the family `squares`; only for the actions `az4672`."""
    return SquaresNet(*_copied(network)) if network.actions == "az4672" else None


def slots_net(network: Slots) -> SlotsNet | None:
    """The native form of the family `slots`; only for the actions `az4672`."""
    return SlotsNet(*_copied(network)) if network.actions == "az4672" else None


def _copied(network: Squares | Slots) -> tuple[int, int, dict[str, Array], Array, Array]:
    """The arguments of the native constructors."""
    weights: dict[str, Array] = {
        name: np.ascontiguousarray(tensor.detach().cpu().numpy(), dtype=np.float32)
        for name, tensor in network.state_dict().items()
    }
    return (
        network.sizes.width,
        network.sizes.key_width,
        weights,
        network.origins.numpy(),
        network.destinations.numpy(),
    )


class CoreEvaluator:
    """Evaluates with a native network; several threads split each batch."""

    def __init__(
        self, native: NativeNetwork, network: Network, name: str = "network", threads: int = 1
    ) -> None:
        """Use `native`, a copy of `network`, which provides the layouts."""
        self.name = name
        self.observation = network.observation
        self.actions = network.actions
        self.bounded = network.bounded
        self.board = board_of(network)
        self.native: Any = native
        bytes_fit = "uint8" in OBSERVATIONS[network.observation].dtypes
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
