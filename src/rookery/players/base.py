"""The seam between whoever decides on moves and whatever wants a move.

A `Player` is given a `Game` and answers with a `Decision`. Arena, UCI, web pages and environments
know players only through this protocol; how a player finds its move (at random, with a network,
with another program) is its own affair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from rookery._core import Game


@dataclass(frozen=True)
class Decision:
    """What a player answers."""

    move: str  # UCI, legal in the position asked about
    value: float | None = None  # [-1, 1], expected result for the side to move; None: no opinion
    line: tuple[str, ...] = ()  # expected continuation in UCI, `move` first
    claims_draw: bool = False  # instead of moving claims what `Game.can_claim_draw` allows
    details: Mapping[str, object] = field(default_factory=dict)  # nodes, depth, visit counts, ...


@dataclass(frozen=True)
class Limits:
    """How much a player may think; a player obeys those that it understands. Times in seconds."""

    movetime: float | None = None
    nodes: int | None = None
    depth: int | None = None  # plies
    simulations: int | None = None  # of a tree search
    white_time: float | None = None  # left on the clock
    black_time: float | None = None
    white_increment: float | None = None  # added after each move
    black_increment: float | None = None
    moves_to_go: int | None = None  # until the next time control; None: none comes

    def __post_init__(self) -> None:
        """Refuse limits that no player could obey."""
        for name, value in vars(self).items():
            if value is not None and not value >= 0:
                raise ValueError(f"limit {name} is {value!r}; it must be 0 or more")


@runtime_checkable
class Player(Protocol):
    """Chooses moves. A player that needs randomness draws it from `rng` and nowhere else."""

    name: str

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Decide on a move in an unfinished `game`, leaving the game as it is."""
        ...

    def new_game(self) -> None:
        """Forget whatever was kept from the game before."""
        ...

    def close(self) -> None:
        """Give back processes, files and memory; may be called more than once."""
        ...
