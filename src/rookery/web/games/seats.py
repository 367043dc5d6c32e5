"""Who plays a side, the limits of their searches, and reasons for results."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from rookery.players.base import Limits
from rookery.players.offered_levels import Level
from rookery.players.registry import KINDS
from rookery.web.choices import Choice
from rookery.web.games.clock import Clock
from rookery.web.transport.quota import Clamps

CLOCK_PARTS = 60.0  # of its clock that a player may lose by waiting
MOVES_TO_GO = 30  # a player's clock should last this many moves
REASONS = {
    "checkmate": "checkmate",
    "stalemate": "stalemate",
    "insufficient_material": "neither side can mate",
    "seventyfive_moves": "75 moves without capture or pawn move",
    "fivefold_repetition": "fivefold repetition",
    "fifty_moves": "50 moves without capture or pawn move, claimed",
    "threefold_repetition": "threefold repetition, claimed",
}


@dataclass(frozen=True)
class Seat:
    """Who plays a side: a person, or a player at a level."""

    choice: Choice | None = None
    level: Level | None = None

    @property
    def name(self) -> str:
        """The name on the page and in PGN: "rookery, level 9 of 20"."""
        if self.choice is None or self.level is None:
            return "You"
        if self.choice.called:
            return self.choice.called
        number, _, words = self.level.title.partition(": ")
        return self.title if self.level.full else f"{self.title}, {words or number}"

    @property
    def title(self) -> str:
        """The name without the level: "rookery"."""
        if self.choice is None:
            return "You"
        title = self.choice.called or self.choice.title
        # The rest of a named player's title is only for choosing.
        return title.partition(":")[0] if self.choice.id in KINDS else title


def calm_seconds(level: Level, clock: Clock | None, white: bool) -> float:
    """Return how long a player takes over a move at a person's pace; never much of its clock."""
    seconds = random.uniform(*level.seconds)
    return seconds if clock is None else min(seconds, clock.left(white) / CLOCK_PARTS)


def limits_of(level: Level, clamps: Clamps, clock: Clock | None, white: bool) -> Limits:
    """Return the limits of a search at a level; with a clock, a share of the time left."""
    limits = clamps.limits(level.wishes)
    if clock is None:
        return limits
    share = max(0.05, clock.left(white)) / MOVES_TO_GO + clock.increment / 2
    movetime = min(limits.movetime or share, max(0.02, share))
    return replace(limits, movetime=movetime)
