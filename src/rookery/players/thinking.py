"""Protocols of players that report on their search or on single moves.

A `Thinker` is a `Player` whose search can be stopped, watched and asked for several lines; an
`Annotator` has notes on the legal moves of a position. UCI and the web page use these protocols
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
    """A principal variation with its score for the side to move."""

    moves: tuple[str, ...]  # UCI
    value: float  # [-1, 1], expected result
    centipawns: int | None = None
    mate: int | None = None  # full moves to mate; negative: the side to move is mated
    win_draw_loss: tuple[int, int, int] | None = None  # per mille, sums to 1000
    bound: Literal["exact", "lower", "upper"] = "exact"


@dataclass(frozen=True)
class MoveNote:
    """Information about one legal move at the root; values for the side to move."""

    move: str  # UCI
    prior: float | None = None  # [0, 1], of the policy before search
    visits: int | None = None
    value: float | None = None  # [-1, 1]; a Q value of another scale goes into the text
    text: str = ""  # anything else worth showing


@dataclass(frozen=True)
class Thought:
    """A snapshot of a search."""

    lines: tuple[Line, ...]  # best first; at least one once a move is known
    depth: int = 0
    selective_depth: int = 0
    nodes: int = 0  # positions visited, or simulations
    seconds: float = 0.0
    hash_full: int | None = None  # per mille
    notes: tuple[MoveNote, ...] = ()


@dataclass(frozen=True)
class Setting:
    """A setting that can be changed between searches; UCI shows it as an option."""

    name: str  # as in UCI: "Hash", "Threads", "UCI_Elo"
    kind: Literal["spin", "check", "string", "combo", "button"]
    default: str = ""
    low: int | None = None  # spin
    high: int | None = None
    choices: tuple[str, ...] = ()  # combo


@runtime_checkable
class Annotator(Protocol):
    """A player with information about each legal move, without searching."""

    def notes(self, game: Game) -> Sequence[MoveNote]:
        """Notes on the legal moves, best first; empty if it has none."""
        ...


@runtime_checkable
class Thinker(Player, Protocol):
    """A player whose search reports its progress and can be stopped from another thread."""

    settings: tuple[Setting, ...]

    def configure(self, name: str, value: str) -> None:
        """Change a setting between searches; a `ValueError` says what is wrong with it."""
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
            game: An unfinished game, which is not changed.
            limits: Clocks run from the call, or from `ponderhit` if pondering.
            report: Called on this thread after each depth and at intervals.
            lines: Number of principal variations (MultiPV).
            search_moves: Restricts the search to these moves (UCI), if any.
            pondering: Limits apply only after `ponderhit`.
        """
        ...

    def stop(self) -> None:
        """Make a running `think` return soon with its current result; otherwise do nothing."""
        ...

    def ponderhit(self) -> None:
        """Apply the limits from now on: the opponent played the expected move."""
        ...
