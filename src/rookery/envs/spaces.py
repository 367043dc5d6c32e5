"""Gymnasium spaces of the observation and action layouts."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from rookery._core import action_count
from rookery.encodings import OBSERVATIONS


def observation_space(name: str, dtype: str = "float32") -> spaces.Box:
    """Return the box of an observation layout, with each entry's own bounds."""
    if name not in OBSERVATIONS:
        known = ", ".join(OBSERVATIONS)
        raise ValueError(f"unknown observation layout {name!r}; known are {known}")
    layout = OBSERVATIONS[name]
    if dtype not in layout.dtypes:
        raise ValueError(f"layout {name!r} has no {dtype}; it has {', '.join(layout.dtypes)}")
    low = np.empty(layout.shape, dtype=dtype)
    high = np.empty(layout.shape, dtype=dtype)
    largest = np.finfo(np.float32).max if dtype == "float32" else np.iinfo(np.uint8).max
    for part in layout.slices:
        low[part.start : part.stop] = part.range[0]
        # Counts without an upper bound get the type's own: infinity is no use for sampling.
        high[part.start : part.stop] = min(part.range[1], float(largest))
    return spaces.Box(low, high, dtype=np.dtype(dtype).type)


def action_space(name: str) -> spaces.Discrete[np.int64]:
    """Return the discrete space of an action layout."""
    return spaces.Discrete(action_count(name))


def masked_observation_space(observation: str, actions: str) -> spaces.Dict:
    """Return the space of {"observation", "action_mask"}, the mask as int8 zeros and ones."""
    mask = spaces.Box(0, 1, (action_count(actions),), dtype=np.int8)
    return spaces.Dict({"observation": observation_space(observation), "action_mask": mask})
