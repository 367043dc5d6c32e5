"""Limits of a match: clocks, limits per move, and adjudication."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from rookery.players.base import Limits

_TIME_CONTROL = re.compile(r"^(?:(\d+):)?(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?$")
SEARCH_LIMITS = ("movetime", "nodes", "depth", "simulations")  # fields of `MatchLimits`


@dataclass(frozen=True)
class TimeControl:
    """Seconds for the whole game and seconds added after each move."""

    seconds: float
    increment: float = 0.0

    def __str__(self) -> str:
        """Format it as in PGN and on the command line, for example `10+0.1`."""
        return f"{self.seconds:g}+{self.increment:g}"


def parse_time_control(text: str) -> TimeControl:
    """Parse `10+0.1` (seconds + increment), `60` or `2:30+1` (minutes:seconds)."""
    match = _TIME_CONTROL.match(text.strip())
    if match is None:
        raise ValueError(f"time control {text!r} is not of the form 10+0.1, 60 or 2:30+1 (seconds)")
    minutes, seconds, increment = match.groups()
    total, added = 60.0 * float(minutes or 0) + float(seconds), float(increment or 0)
    if total <= 0:
        raise ValueError(f"time control {text!r} leaves no time to move")
    if math.isinf(total + added):  # thousands of digits
        raise ValueError(f"time control {text[:20]!r}... is too long; give fewer digits")
    return TimeControl(total, added)


@dataclass(frozen=True)
class MatchLimits:
    """Limits of both players; a player's own (`stockfish,depth=1`) take precedence."""

    time_control: TimeControl | None = None  # None: no clock
    movetime: float | None = None  # seconds per move
    nodes: int | None = None
    depth: int | None = None
    simulations: int | None = None
    margin: float = 0.05  # seconds by which a clock or movetime may be exceeded without losing

    def for_move(self, white_time: float | None, black_time: float | None) -> Limits:
        """Return the limits of the next move, given the time left on the clocks."""
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
        """Describe the limits in one line."""
        parts = [f"tc={self.time_control}"] if self.time_control else []
        for name in SEARCH_LIMITS:
            value = vars(self)[name]
            if value is not None:
                parts.append(f"{name}={value:g}")
        return " ".join(parts) or "players' own"


@dataclass(frozen=True)
class Adjudication:
    """When to end a game before the rules do; everything is off by default.

    Values are the players' own evaluations in [-1, 1] for the side to move; both must agree.
    """

    resign_value: float | None = None  # one side is lost if both see it at or below minus this ...
    resign_moves: int = 4  # ... for this many consecutive moves each
    draw_value: float | None = None  # drawn if both see at most this for either side ...
    draw_moves: int = 8  # ... for this many consecutive moves each ...
    draw_after_move: int = 40  # ... from this move number on
    max_plies: int = 0  # drawn after this many plies; 0: never. Not for training data
    tablebase: bool = False  # decide by the tablebases as soon as they contain the position

    def describe(self) -> str:
        """Describe the rules in one line."""
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
    """Decides from both players' values when to adjudicate."""

    def __init__(self, rules: Adjudication) -> None:
        """Start a game."""
        self._rules = rules
        self._hopeless = {True: 0, False: 0}  # consecutive moves, by colour (True: White)
        self._winning = {True: 0, False: 0}
        self._level = {True: 0, False: 0}

    def verdict(self, white: bool, value: float | None, move_number: int) -> str | None:
        """Take one side's value; returns the result ("1-0", "0-1", "1/2-1/2") once both agree."""
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
