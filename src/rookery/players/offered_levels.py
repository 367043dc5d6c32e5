"""Levels of strength that the web page offers.

Any player can be weakened by limits and random moves. Our own engine has levels that make more
human mistakes (`rookery.players.levels`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rookery.players.levels import level_parameters


@dataclass(frozen=True)
class Level:
    """A level of strength."""

    id: str
    title: str
    wishes: Mapping[str, float] = field(default_factory=dict)  # search limits, before clamping
    random: float = 0.0  # share of random moves, [0, 1]
    settings: Mapping[str, str] = field(default_factory=dict)  # of a `Thinker`
    seconds: tuple[float, float] = (0.5, 2.0)  # over a move, in a game that wants a person's pace

    @property
    def full(self) -> bool:
        """Whether the level changes nothing, so that it need not be shown."""
        return not (self.wishes or self.random or self.settings)


@dataclass(frozen=True)
class Levels:
    """The levels of one kind of player."""

    levels: tuple[Level, ...]
    default: str  # id of the initially selected level


FULL = {"UCI_LimitStrength": "false", "Level": "0"}
AS_MADE = {"UCI_LimitStrength": "", "UCI_Elo": "", "Level": ""}  # "": the player's own default
_TIMES = (
    Level("fast", "full strength, 0.2 s a move", {"movetime": 0.2}, settings=FULL),
    Level("second", "full strength, 1 s a move", {"movetime": 1.0}, settings=FULL),
    Level("three", "full strength, 3 s a move", {"movetime": 3.0}, settings=FULL),
    Level("ten", "full strength, 10 s a move", {"movetime": 10.0}, settings=FULL),
)
_OWN_LEVELS = (1, 3, 5, 7, 9, 11, 13, 15, 17, 20)  # of our engine's twenty


def _own_level(number: int, rated: bool) -> Level:
    about = f" (about {level_parameters(number).elo} Elo)" if rated else ""
    settings = {"UCI_LimitStrength": "false", "Level": str(number)}
    return Level(str(number), f"level {number} of 20{about}", settings=settings)


PLAIN = Levels(
    (
        Level("1", "beginner: every second move at random", random=0.5),
        Level("2", "careless: every fifth move at random", random=0.2),
        Level("3", "full strength"),
    ),
    "3",
)
BEGINNER = Levels((Level("own", "its own"),), "own")
SEARCH = Levels(
    (
        Level("1", "1: beginner (50 nodes, 3 of 10 moves random)", {"nodes": 50, "depth": 2}, 0.3),
        Level("2", "2: casual (200 nodes, 1 of 10 moves random)", {"nodes": 200}, 0.1),
        Level("3", "3: 500 nodes", {"nodes": 500}),
        Level("4", "4: 2,000 nodes", {"nodes": 2000}),
        Level("5", "5: 10,000 nodes", {"nodes": 10_000}),
        *_TIMES,
    ),
    "4",
)
TIMED = Levels(
    (
        Level("1", "beginner: every second move at random", {"movetime": 0.1}, 0.5),
        Level("2", "careless: every fifth move at random", {"movetime": 0.1}, 0.2),
        *(Level(each.id, each.title, each.wishes) for each in _TIMES),
    ),
    "fast",
)
TREE_SEARCH = Levels(
    (
        Level("1", "1: 10 simulations, 1 of 5 moves random", {"simulations": 10}, 0.2),
        Level("2", "2: 25 simulations", {"simulations": 25}),
        Level("3", "3: 100 simulations", {"simulations": 100}),
        Level("4", "4: 400 simulations", {"simulations": 400}),
        *_TIMES,
    ),
    "3",
)
# Any network of our engine plays at its full strength unless another level is chosen: what the
# levels mean was measured for one network only, which is offered with RATED_ENGINE.
ENGINE = Levels((*(_own_level(number, False) for number in _OWN_LEVELS), *_TIMES), "second")
RATED_ENGINE = Levels((*(_own_level(number, True) for number in _OWN_LEVELS), *_TIMES), "9")
# Of a player specified by the operator, which may be of any kind.
GIVEN = Levels(
    (
        Level("given", "as given, at most 1 s a move", {"movetime": 1.0}, settings=AS_MADE),
        *SEARCH.levels,
    ),
    "given",
)
