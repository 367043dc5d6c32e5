"""The planes of a blind observation, as a table; written by `core/blind/observe.cpp`.

All are in the orientation of the side that looks (its own first rank is row 0) and float32 in
[0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

from rookery._core import BLIND_PLANES

HISTORY_TURNS = 4


@dataclass(frozen=True)
class PlaneGroup:
    """Consecutive planes."""

    planes: int
    meaning: str


CURRENT = (
    PlaneGroup(6, "own pawns, knights, bishops, rooks, queens, king"),
    PlaneGroup(6, "the opponent's pieces where they were last known to stand, in the same order"),
    PlaneGroup(1, "squares where the opponent captured and nothing newer is known"),
    PlaneGroup(1, "how recent the memory of each square is: 0.85 to the power of turns"),
    PlaneGroup(1, "the window sensed this turn"),
    PlaneGroup(1, "the square of the opponent's capture just now"),
    PlaneGroup(2, "own right to castle short, long (whole planes)"),
    PlaneGroup(1, "1: to move, 0: to sense (whole plane)"),
    PlaneGroup(1, "1 as White (whole plane)"),
    PlaneGroup(1, "turns / 100, at most 1 (whole plane)"),
    PlaneGroup(1, "the opponent's pieces left / 16 (whole plane)"),
    PlaneGroup(2, "origin and destination of the request of the turn before"),
)
EARLIER = (
    PlaneGroup(1, "the square of the opponent's capture"),
    PlaneGroup(1, "the sensed window"),
    PlaneGroup(1, "the opponent's pieces seen in it"),
    PlaneGroup(2, "origin and destination of the move taken"),
    PlaneGroup(1, "the square of the own capture"),
)


def plane_count() -> int:
    """Return the number of planes of the table."""
    earlier = sum(group.planes for group in EARLIER)
    return sum(group.planes for group in CURRENT) + HISTORY_TURNS * earlier


assert plane_count() == BLIND_PLANES
