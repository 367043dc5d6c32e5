"""The interface of players.

A `Player` is given a `Game` and returns a `Decision`. Arena, UCI, web pages and environments use
players only through this protocol, however they find their moves (at random, with a network, by
another program). A player may also state its `Capabilities`; otherwise the defaults apply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from numpy.random import Generator

from rookery._core import STANDARD_BOARD, Game, MoveError, find_board


@dataclass(frozen=True)
class Decision:
    """The move a player chose."""

    move: str  # UCI, legal
    value: float | None = None  # [-1, 1], expected result for the side to move; None: unknown
    line: tuple[str, ...] = ()  # principal variation in UCI, `move` first
    claims_draw: bool = False  # claims a draw (`Game.can_claim_draw`) instead of moving
    details: Mapping[str, object] = field(default_factory=dict)  # nodes, depth, visit counts, ...


@dataclass(frozen=True)
class Limits:
    """Limits of a search; a player ignores those it does not support. Times in seconds."""

    movetime: float | None = None
    nodes: int | None = None
    depth: int | None = None  # plies
    simulations: int | None = None  # of a tree search
    white_time: float | None = None  # left on the clock
    black_time: float | None = None
    white_increment: float | None = None  # added after each move
    black_increment: float | None = None
    moves_to_go: int | None = None  # until the next time control; None: sudden death

    def __post_init__(self) -> None:
        """Refuse negative limits and NaN."""
        for name, value in vars(self).items():
            if value is not None and not value >= 0:
                raise ValueError(f"limit {name} is {value!r}; it must be 0 or more")


@runtime_checkable
class Player(Protocol):
    """Chooses moves. `rng` is a player's only source of randomness."""

    name: str

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Choose a move in an unfinished `game`, without changing the game."""
        ...

    def new_game(self) -> None:
        """Forget everything about the previous game."""
        ...

    def close(self) -> None:
        """Release processes, files and memory; may be called more than once."""
        ...


@dataclass(frozen=True)
class Capabilities:
    """Properties that callers may rely on; the defaults hold for any player."""

    # Whether it searches for a given time and so needs a core to itself; None: unless the match
    # limits depth or nodes.
    timed: bool | None = False
    memoryless: bool = False  # the move depends on the position alone, not on the game so far
    native_bot: str = ""  # its name in the core, which can then play whole games
    parts: tuple[Player, ...] = ()  # players that it delegates to
    boards: tuple[str, ...] | None = (STANDARD_BOARD,)  # that it plays on; None: on any


@runtime_checkable
class Capable(Protocol):
    """A player that states its capabilities."""

    @property
    def capabilities(self) -> Capabilities:
        """With the current settings."""
        ...


def capabilities_of(player: Player) -> Capabilities:
    """The capabilities a player states, or the defaults."""
    return player.capabilities if isinstance(player, Capable) else Capabilities()


class BoardMismatchError(ValueError):
    """A player is asked to play on a board that is not its own."""


def require_board(name: str, boards: tuple[str, ...] | None, board: str) -> None:
    """Refuse a board that a player does not play on; boards are compared by their rules."""
    if boards is None or board in boards:
        return
    rules = find_board(board).rules
    if rules not in (find_board(each).rules for each in boards):
        raise BoardMismatchError(
            f"{name} plays on the board {' or '.join(boards)}, not on {board}; choose another "
            "player or another board"
        )


def legal_moves(game: Game) -> list[str]:
    """The legal moves in UCI; a MoveError if there is none."""
    moves = game.legal_moves()
    if not moves:
        raise MoveError(f"there is no legal move to choose in {game.fen()!r}")
    return moves
