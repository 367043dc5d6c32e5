"""What a match allows its players: clocks, limits per move, and when it ends games early."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from rookery.players.base import Limits

_TIME_CONTROL = re.compile(r"^(?:(\d+):)?(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?$")
SEARCH_LIMITS = ("movetime", "nodes", "depth", "simulations")  # a move, fields of `MatchLimits`


@dataclass(frozen=True)
class TimeControl:
    """Seconds for the whole game and seconds added after each move."""

    seconds: float
    increment: float = 0.0

    def __str__(self) -> str:
        """The form that PGN and the command line use, for example `10+0.1`."""
        return f"{self.seconds:g}+{self.increment:g}"


def parse_time_control(text: str) -> TimeControl:
    """Read `10+0.1` (seconds + increment), `60` or `2:30+1` (minutes:seconds)."""
    match = _TIME_CONTROL.match(text.strip())
    if match is None:
        raise ValueError(f"time control {text!r} is not of the form 10+0.1, 60 or 2:30+1 (seconds)")
    minutes, seconds, increment = match.groups()
    total, added = 60.0 * float(minutes or 0) + float(seconds), float(increment or 0)
    if total <= 0:
        raise ValueError(f"time control {text!r} leaves no time at all")
    if math.isinf(total + added):  # enough digits make an infinity
        raise ValueError(f"time control {text[:20]!r}... is too long; give fewer digits")
    return TimeControl(total, added)


@dataclass(frozen=True)
class MatchLimits:
    """Limits of both players; a player's own (`stockfish,depth=1`) go before them.

    Fields:
        time_control: clock of each side; None for no clock.
        movetime: seconds a move.
        nodes, depth, simulations: search limits a move.
        margin: seconds by which a clock or movetime may be exceeded without losing.
    """

    time_control: TimeControl | None = None
    movetime: float | None = None
    nodes: int | None = None
    depth: int | None = None
    simulations: int | None = None
    margin: float = 0.05

    def for_move(self, white_time: float | None, black_time: float | None) -> Limits:
        """The limits handed to a player, with the clocks as they stand."""
        increment = self.time_control.increment if self.time_control else None
        return Limits(
            movetime=self.movetime,
            nodes=self.nodes,
            depth=self.depth,
            simulations=self.simulations,
            white_time=None if white_time is None else max(0.0, white_time),
            black_time=None if black_time is None else max(0.0, black_time),
            white_increment=increment,
            black_increment=increment,
        )

    def describe(self) -> str:
        """One line for headers and reports."""
        parts = [f"tc={self.time_control}"] if self.time_control else []
        for name in SEARCH_LIMITS:
            value = vars(self)[name]
            if value is not None:
                parts.append(f"{name}={value:g}")
        return " ".join(parts) or "players' own"


@dataclass(frozen=True)
class Adjudication:
    """When a game may end before the rules end it; everything is off by default.

    Values are the players' own, in [-1, 1] for the side to move, and both must agree.

    Fields:
        resign_value: both put the loser at or below minus this value ...
        resign_moves: ... for this many moves in a row each.
        draw_value: both see at most this much for either side ...
        draw_moves: ... for this many moves in a row each ...
        draw_after_move: ... from this move number on.
        max_plies: drawn after this many plies (0: never). Not for training data.
        tablebase: ask the endgame tables as soon as a position is in them.
    """

    resign_value: float | None = None
    resign_moves: int = 4
    draw_value: float | None = None
    draw_moves: int = 8
    draw_after_move: int = 40
    max_plies: int = 0
    tablebase: bool = False

    def describe(self) -> str:
        """One line for headers and reports."""
        parts = []
        if self.resign_value is not None:
            parts.append(f"resign at {self.resign_value:g} for {self.resign_moves} moves")
        if self.draw_value is not None:
            parts.append(
                f"draw within {self.draw_value:g} for {self.draw_moves} moves "
                f"after move {self.draw_after_move}"
            )
        if self.max_plies:
            parts.append(f"draw after {self.max_plies} plies")
        if self.tablebase:
            parts.append("endgame tables")
        return "; ".join(parts) or "none"


class ValueJudge:
    """Watches both players' values for a resignation or a draw both would sign."""

    def __init__(self, rules: Adjudication) -> None:
        """Start with an empty game."""
        self._rules = rules
        self._hopeless = {True: 0, False: 0}  # moves in a row, by colour (True = White)
        self._winning = {True: 0, False: 0}
        self._level = {True: 0, False: 0}

    def verdict(self, white: bool, value: float | None, move_number: int) -> str | None:
        """Take one side's value; the result ("1-0", "0-1", "1/2-1/2") once both agree."""
        rules = self._rules
        lost = rules.resign_value is not None and value is not None and value <= -rules.resign_value
        won = rules.resign_value is not None and value is not None and value >= rules.resign_value
        even = (
            rules.draw_value is not None
            and value is not None
            and abs(value) <= rules.draw_value
            and move_number >= rules.draw_after_move
        )
        for counter, holds in ((self._hopeless, lost), (self._winning, won), (self._level, even)):
            counter[white] = counter[white] + 1 if holds else 0
        for loser in (True, False):
            if min(self._hopeless[loser], self._winning[not loser]) >= rules.resign_moves:
                return "0-1" if loser else "1-0"
        if min(self._level.values()) >= rules.draw_moves:
            return "1/2-1/2"
        return None
