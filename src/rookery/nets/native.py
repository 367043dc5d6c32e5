"""Networks that the core evaluates by itself, for searches that cannot wait for Python.

So far the family `squares` with the actions `az4672`; everything else is asked through an
`Evaluator` (`rookery.evaluator`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import SquaresNet
from rookery.evaluator import Answer, check_answer, check_batch


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

    def __init__(self, network: Any, name: str = "network") -> None:
        """Copy the weights of a torch network of the family `squares`."""
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

    def evaluate(
        self,
        observations: NDArray[Any],
        legal_actions: NDArray[Any],
        legal_offsets: NDArray[Any],
    ) -> Answer:
        """Judge B positions."""
        check_batch(self, observations, legal_actions, legal_offsets)
        logits, values = self.native.evaluate(
            np.ascontiguousarray(observations, dtype=np.uint8),
            np.ascontiguousarray(legal_actions, dtype=np.int32),
            np.ascontiguousarray(legal_offsets, dtype=np.int64),
        )
        return check_answer(self, logits, values)
