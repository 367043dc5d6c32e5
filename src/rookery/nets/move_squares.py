"""Origin and destination squares of actions, as indices into an observation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rookery.encodings import PLANE_STEPS, PLANES_PER_ORIGIN


def squares_of(actions: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Origin and destination [A] of every action, as indices into the observation.

    The observation begins with the mover's last rank. Actions that leave the board (never legal)
    and the draw claim (which has its own action row) get arbitrary squares.
    """
    origins, destinations = np.zeros(actions, np.int64), np.zeros(actions, np.int64)
    for action in range(min(actions, 64 * PLANES_PER_ORIGIN)):
        square, plane = divmod(action, PLANES_PER_ORIGIN)
        ranks, files = PLANE_STEPS[plane]
        rank, file = min(max(square // 8 + ranks, 0), 7), min(max(square % 8 + files, 0), 7)
        origins[action] = square ^ 56
        destinations[action] = (8 * rank + file) ^ 56
    return origins, destinations
