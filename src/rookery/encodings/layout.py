"""Layouts: named slices of entries, each with its meaning, range and point of view."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

MOVER = "mover's"
WHITE = "White's"
PAWN_SIDE = "pawn side's"
SALISCH = "Salisch 2023"
PEPPER = "Deep Pepper revisited 2023"
VANHOUTTE = "Vanhoutte 2022"
KANIS = "Kanis 2016"
INMAN = "Inman and Ezra Marin"


@dataclass(frozen=True)
class Slice:
    """Consecutive entries with one meaning: planes of a plane layout, numbers of a vector."""

    name: str
    start: int
    length: int
    meaning: str
    range: tuple[float, float]  # smallest and largest value, both included
    group: str = ""  # "global", "piece" or "square" in the layouts that are grouped

    @property
    def stop(self) -> int:
        """One past the last entry."""
        return self.start + self.length


@dataclass(frozen=True)
class Layout:
    """One observation layout; the slices run along the first axis and cover it without gaps."""

    name: str
    shape: tuple[int, ...]
    version: int
    dtypes: tuple[str, ...]  # the first is the default
    orientation: str
    slices: tuple[Slice, ...]
    paper: str
    summary: str

    def slice(self, name: str) -> Slice:
        """Return the slice called `name`."""
        for part in self.slices:
            if part.name == name:
                return part
        raise ValueError(f"layout {self.name!r} has no slice {name!r}")

    def groups(self) -> dict[str, tuple[int, int]]:
        """Return start and stop of every group; empty for layouts without groups."""
        bounds: dict[str, tuple[int, int]] = {}
        for part in self.slices:
            if part.group:
                start, _ = bounds.get(part.group, (part.start, part.stop))
                bounds[part.group] = (start, part.stop)
        return bounds

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest value of any entry."""
        return (
            min(part.range[0] for part in self.slices),
            max(part.range[1] for part in self.slices),
        )


@dataclass(frozen=True)
class ActionLayout:
    """One action layout: `index = origin * planes + plane`, then the extra actions.

    `origins` is 64 where an action names its origin square and 1 where it does not; the slices
    describe the planes, `extra` the actions after them (their start is the action's own index).
    """

    name: str
    count: int
    version: int
    orientation: str
    origins: int
    slices: tuple[Slice, ...]
    extra: tuple[Slice, ...]
    paper: str
    summary: str


Row = tuple[str, int, str, tuple[float, float]]
FLAG = (0.0, 1.0)
COUNT = (0.0, math.inf)


def stack(rows: Iterable[Row], start: int = 0, group: str = "") -> tuple[Slice, ...]:
    """Lay rows of (name, length, meaning, range) end to end, from `start` on."""
    slices = []
    for name, length, meaning, limits in rows:
        slices.append(Slice(name, start, length, meaning, limits, group))
        start += length
    return tuple(slices)
