"""Learns how much later than planned a player's moves reach the clock.

Scheduling, pipes and the program at the other end take time that a search does not see, a lot of it
on a busy machine. The clocks tell: between two moves of a game, our clock has lost more than the
search took. The next moves keep a reserve for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from rookery._core import Game
from rookery.players.base import Limits

FORGET = 0.97  # of the worst lateness, per move
AVERAGE = 0.1  # weight of the newest move in the mean
MOST = 2.0  # seconds; more is a suspended machine
RESERVE = 2.0  # times the worst lateness: it may happen twice before the clock has recovered
MOST_SHARE = 0.75  # of the clock, at most in reserve
# Expected before there is any experience, in seconds.
FIRST_WORST, FIRST_MEAN = 0.02, 0.01


@dataclass(frozen=True)
class Clock:
    """The clock of the side to move, in seconds."""

    left: float
    increment: float

    @classmethod
    def of(cls, game: Game, limits: Limits) -> Clock | None:
        """Of the limits of a search; None if it has no clock."""
        left = limits.white_time if game.turn else limits.black_time
        increment = limits.white_increment if game.turn else limits.black_increment
        return None if left is None else cls(left, increment or 0.0)


class Lateness:
    """The lateness of one player, over its games."""

    def __init__(self) -> None:
        """Expect the worst that is usual."""
        self.worst = FIRST_WORST  # seconds, decaying
        self.mean = FIRST_MEAN
        self._last: tuple[int, Clock, float] | None = None  # ply, its clock, seconds of the search

    def begin(self, game: Game, limits: Limits) -> Clock | None:
        """The clock to plan this move with: less a reserve, and an increment less the mean."""
        clock = Clock.of(game, limits)
        last, self._last = self._last, None
        if clock is None:
            return None
        if last is not None and game.ply == last[0] + 2:
            before, seconds = last[1], last[2]
            late = before.left + before.increment - clock.left - seconds
            if late > -before.increment:  # otherwise another game, or a new time control
                self._learn(late)
        reserve = min(RESERVE * self.worst, MOST_SHARE * clock.left)
        return Clock(clock.left - reserve, max(0.0, clock.increment - self.mean))

    def end(self, game: Game, limits: Limits, seconds: float) -> None:
        """Note how long the search took, but not what it took beyond its own limit."""
        clock = Clock.of(game, limits)
        self._last = None if clock is None else (game.ply, clock, seconds)

    def _learn(self, late: float) -> None:
        late = min(max(0.0, late), MOST)
        self.worst = max(late, FORGET * self.worst)
        self.mean += AVERAGE * (late - self.mean)
