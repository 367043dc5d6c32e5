"""Thinking aloud: what a player can tell about its search and about single moves.

A `Thinker` is a `Player` that can also be stopped, asked for several lines and watched; an
`Annotator` comments on the legal moves of a position. UCI and the web page use these protocols
where a player has them; any other player is just asked for its move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from rookery._core import Game
from rookery.players.base import Decision, Limits, Player


@dataclass(frozen=True)
class Line:
    """One line of play and what it is worth to the side to move at its start."""

    moves: tuple[str, ...]  # UCI
    value: float  # [-1, 1], expected result
    centipawns: int | None = None
    mate: int | None = None  # full moves to mate; negative: the side to move is mated
    win_draw_loss: tuple[int, int, int] | None = None  # per mille, sums to 1000
    bound: Literal["exact", "lower", "upper"] = "exact"


@dataclass(frozen=True)
class MoveNote:
    """What is known about one legal move at the root; values for the side to move."""

    move: str  # UCI
    prior: float | None = None  # [0, 1], of the policy before search
    visits: int | None = None
    value: float | None = None  # [-1, 1]; a Q value of another scale goes into the text
    text: str = ""  # anything else worth showing


@dataclass(frozen=True)
class Thought:
    """A search as it stands."""

    lines: tuple[Line, ...]  # best first; at least one once a move is known
    depth: int = 0
    selective_depth: int = 0
    nodes: int = 0  # positions visited, or simulations
    seconds: float = 0.0
    hash_full: int | None = None  # per mille
    notes: tuple[MoveNote, ...] = ()


@dataclass(frozen=True)
class Setting:
    """Something about a player that can be changed while it lives; UCI shows it as an option."""

    name: str  # as in UCI: "Hash", "Threads", "UCI_Elo"
    kind: Literal["spin", "check", "string", "combo", "button"]
    default: str = ""
    low: int | None = None  # spin
    high: int | None = None
    choices: tuple[str, ...] = ()  # combo


@runtime_checkable
class Annotator(Protocol):
    """A player that can say what it knows about each legal move without searching."""

    def notes(self, game: Game) -> Sequence[MoveNote]:
        """Notes on the legal moves, best first; none if it knows nothing about the position."""
        ...


@runtime_checkable
class Thinker(Player, Protocol):
    """A player that searches, tells how it stands, and can be stopped from another thread."""

    settings: tuple[Setting, ...]

    def configure(self, name: str, value: str) -> None:
        """Change a setting between searches; a `ValueError` names what was wrong with it."""
        ...

    def think(
        self,
        game: Game,
        limits: Limits,
        report: Callable[[Thought], None] | None = None,
        *,
        lines: int = 1,
        search_moves: Sequence[str] | None = None,
        pondering: bool = False,
    ) -> Decision:
        """Search until `limits` are met or `stop` is called; without any limit until `stop`.

        Args:
            game: An unfinished game; left as it is.
            limits: Clocks count from the call, or from `ponderhit` if pondering.
            report: Called on this thread after each depth and from time to time.
            lines: How many best moves to follow (MultiPV).
            search_moves: Only these moves (UCI), if any.
            pondering: Limits do not count before `ponderhit` is called.
        """
        ...

    def stop(self) -> None:
        """Make a running `think` return what it has, soon; harmless when none runs."""
        ...

    def ponderhit(self) -> None:
        """The opponent played what was pondered: limits count from now on."""
        ...
