"""Networks that the core evaluates by itself, for searches that cannot wait for Python.

So far the family `squares` with the actions `az4672`; everything else is asked through an
`Evaluator` (`rookery.nets.evaluator`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import SquaresNet
from rookery.nets.evaluator import Answer, check_answer, check_batch


def native_network(network: Any) -> SquaresNet | None:
    """A native copy of a network's present weights; None where there is no such thing."""
    if getattr(network, "family", "") != "squares" or network.actions != "az4672":
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


class NativeSquaresEvaluator:
    """An `Evaluator` of the native copy of a `squares` network."""

    def __init__(self, network: Any, name: str = "network", threads: int = 1) -> None:
        """Copy the weights of a torch network of the family `squares`.

        With several threads each judges a part of a batch; the answers are the same.
        """
        made = native_network(network)
        if made is None:
            raise ValueError(
                f"there is no native form of a network of family {network.family!r} with the "
                f"actions {network.actions!r}"
            )
        self.name = name
        self.observation = "tactical70"
        self.actions = "az4672"
        self.bounded = True
        self.native = made
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def evaluate(
        self,
        observations: NDArray[Any],
        legal_actions: NDArray[Any],
        legal_offsets: NDArray[Any],
    ) -> Answer:
        """Judge B positions."""
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
