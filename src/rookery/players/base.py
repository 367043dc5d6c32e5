"""The seam between players and everything that asks them for moves.

A `Player` is given a `Game` and answers with a `Decision`. Arena, UCI, web pages and environments
know players only through this protocol, however the move is found (at random, with a network, by
another program). A player may also state its `Capabilities`; one that does not has the defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from rookery._core import Game


@dataclass(frozen=True)
class Decision:
    """A player's answer."""

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
        """Forget everything about the previous game."""
        ...

    def close(self) -> None:
        """Give back processes, files and memory; may be called more than once."""
        ...


@dataclass(frozen=True)
class Capabilities:
    """What others may rely on; the defaults hold for any player."""

    # Whether it thinks for a time of its own, and so needs a core of its own while others play;
    # None: unless the match limits depth or nodes.
    timed: bool | None = False
    memoryless: bool = False  # the move depends on the position alone, not on the game so far
    native_bot: str = ""  # its name in the core, which then plays whole games by itself
    parts: tuple[Player, ...] = ()  # players that it asks in turn


@runtime_checkable
class Capable(Protocol):
    """A player that states its capabilities."""

    @property
    def capabilities(self) -> Capabilities:
        """As it is set up now."""
        ...


def capabilities_of(player: Player) -> Capabilities:
    """What a player states, or the defaults."""
    return player.capabilities if isinstance(player, Capable) else Capabilities()
