"""Named observation and action layouts, as tables.

The tables define the meaning, range and point of view of each entry of an observation, and the move
of each action index. The core computes the numbers (`core/encode/`); a test compares it, entry by
entry, with slow Python encoders written from these tables. `docs/encodings.md` is generated from
them (`doc.py`).

Words used in the tables:

- *own* is the side to move (the mover), *opponent* the other side.
- *White's orientation*: rank index 0 is rank 1, file index 0 is the a-file.
- *Mover's orientation*: the same for White; for Black the ranks are flipped (rank index 0 is
  rank 8) and the files are not. A position and its colour-mirrored twin (colours swapped, ranks
  flipped) therefore look the same to the side to move.
- A square has the index `8 * rank + file` in the orientation of its layout.
- Planes are indexed `[plane][rank][file]`; pieces come in the order P N B R Q K.

A layout's version rises whenever the meaning of an entry changes, so a network trained on one
version is never fed another (`require_version`).
"""

from __future__ import annotations

import difflib

from rookery.encodings.actions import (
    ACTIONS,
    DIRECTIONS,
    KNIGHT_JUMPS,
    PLANE_STEPS,
    PLANES_PER_ORIGIN,
)
from rookery.encodings.layout import ActionLayout, Layout, Slice
from rookery.encodings.observations import OBSERVATIONS, SPARSE_OBSERVATIONS

__all__ = [
    "ACTIONS", "DIRECTIONS", "KNIGHT_JUMPS", "NO_ACTIONS", "OBSERVATIONS", "PLANES_PER_ORIGIN",
    "PLANE_STEPS", "SPARSE_OBSERVATIONS", "ActionLayout", "Layout", "Slice", "layout_version",
    "require_observation", "require_version",
]  # fmt: skip

NO_ACTIONS = "none"  # the action layout of a network without a policy


def layout_version(name: str) -> int:
    """The version of a layout (1 for `none`) that this code computes."""
    layout = OBSERVATIONS.get(name) or SPARSE_OBSERVATIONS.get(name) or ACTIONS.get(name)
    if layout is not None:
        return layout.version
    if name == NO_ACTIONS:
        return 1
    known = ", ".join([*OBSERVATIONS, *SPARSE_OBSERVATIONS, *ACTIONS, NO_ACTIONS])
    raise ValueError(f"unknown layout {name!r}; known are {known}")


def require_observation(name: str, key: str) -> None:
    """Refuse an unknown observation layout; `key` is the setting that named it."""
    if name not in OBSERVATIONS:
        near = difflib.get_close_matches(name, OBSERVATIONS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(OBSERVATIONS)}"
        raise ValueError(f"{key} is {name!r}; {hint}")


def require_version(name: str, version: int) -> None:
    """Refuse a layout whose version is not the one that this code computes."""
    ours = layout_version(name)
    if ours != version:
        raise ValueError(
            f"layout {name!r} has version {version} in the file but {ours} in this "
            f"version of Rookery; use the release that wrote the file, or train again"
        )
