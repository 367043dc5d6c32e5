"""Networks that the core evaluates by itself, for searches that cannot wait for Python.

A family registers how its weights are copied into the core; `network_evaluator` uses the copy
where there is one, and torch otherwise.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import SquaresNet
from rookery.base.registry import load
from rookery.nets import ActionValueNetwork, Network, PolicyValueNetwork
from rookery.nets.evaluator import Answer, Evaluator, TorchEvaluator, check_answer, check_batch
from rookery.nets.registry import FAMILIES

if TYPE_CHECKING:
    from rookery.nets.squares import Squares

# So far the core has one network that evaluates batches; a second one joins this union.
NativeNetwork = SquaresNet


def native_network(network: Network) -> NativeNetwork | None:
    """The core's copy of a network's present weights; None if it has no native form."""
    reference = FAMILIES.find(network.family).native
    made: NativeNetwork | None = load(reference)(network) if reference else None
    return made


def network_evaluator(
    network: PolicyValueNetwork | ActionValueNetwork, name: str = "network", threads: int = 1
) -> Evaluator:
    """An evaluator of a network: the core's copy of its weights if it has a native form, or torch.

    The copy keeps today's weights; torch evaluates with whatever weights the network has then.
    """
    native = native_network(network)
    if native is None:
        return TorchEvaluator(network, name)
    return CoreEvaluator(native, network, name, threads)


def squares_net(network: Squares) -> SquaresNet | None:
    """The native form of the family `squares`; the core knows its moves with `az4672` only."""
    if network.actions != "az4672":
        return None
    weights = {
        name: np.ascontiguousarray(tensor.detach().cpu().numpy(), dtype=np.float32)
        for name, tensor in network.state_dict().items()
    }
    return SquaresNet(
        network.sizes.width,
        network.sizes.key_width,
        weights,
        network.origins.numpy(),
        network.destinations.numpy(),
    )


class CoreEvaluator:
    """An `Evaluator` of a network in the core; with threads each evaluates a part of a batch."""

    def __init__(
        self, native: NativeNetwork, network: Network, name: str = "network", threads: int = 1
    ) -> None:
        """Take the native form, and the layouts of the network that it was copied from."""
        self.name = name
        self.observation = network.observation
        self.actions = network.actions
        self.bounded = network.bounded
        self.native = native
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def evaluate(
        self,
        observations: NDArray[Any],
        legal_actions: NDArray[Any],
        legal_offsets: NDArray[Any],
    ) -> Answer:
        """Evaluate B positions; the answers do not depend on the number of threads."""
        check_batch(self, observations, legal_actions, legal_offsets)
        arrays = (
            np.ascontiguousarray(observations, dtype=np.uint8),
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
    observations: NDArray[Any], legal: NDArray[Any], offsets: NDArray[Any], first: int, last: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The part of a batch that is about the positions from `first` to before `last`."""
    begin, end = offsets[first], offsets[last]
    return observations[first:last], legal[begin:end], offsets[first : last + 1] - begin
