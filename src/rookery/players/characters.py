"""Opponents with a name: our engine at strengths from a beginner's to its own.

Each is a level of `rookery.players.levels`, and the weakest ones are `rookery.players.beginners`,
which needs no network. Their Elo is measured (docs/results.md), that of the levels with one network
only. A character takes its time over a move, as a person would, if the game asks for that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rookery.players.beginners.player import skill_of_elo
from rookery.players.levels import level_parameters
from rookery.players.offered_levels import Level, Levels


@dataclass(frozen=True)
class Character:
    """An opponent with a name and a measured strength."""

    name: str
    words: str  # how it plays, after the name
    elo: int
    player: str = "rookery"  # its specification
    settings: Mapping[str, str] = field(default_factory=dict)
    wishes: Mapping[str, float] = field(default_factory=dict)
    seconds: tuple[float, float] = (0.5, 2.0)  # that it takes over a move, if asked to

    @property
    def id(self) -> str:
        """Name for the page."""
        return f"character:{self.name.lower()}"

    @property
    def title(self) -> str:
        """The line in the list of players."""
        return f"{self.name}: {self.words} (about {self.elo} Elo)"

    @property
    def levels(self) -> Levels:
        """A character has one level, its own."""
        own = Level("own", "its own", self.wishes, 0.0, self.settings, self.seconds)
        return Levels((own,), "own")


def _beginner(name: str, words: str, elo: int, seconds: tuple[float, float]) -> Character:
    return Character(name, words, elo, f"beginner,skill={skill_of_elo(elo):g}", seconds=seconds)


def _at(name: str, words: str, level: int, seconds: tuple[float, float]) -> Character:
    settings = {"UCI_LimitStrength": "false", "Level": str(level)}
    elo = level_parameters(level).elo
    return Character(name, words, elo, settings=settings, seconds=seconds)


CHARACTERS: tuple[Character, ...] = (
    _beginner("Pip", "has just learnt the moves", 310, (0.4, 1.2)),
    _beginner("Nell", "often looks away from the board", 480, (0.4, 1.4)),
    _beginner("Bruno", "plays too fast", 670, (0.3, 0.8)),
    _at("Otto", "sees what is attacked, sometimes", 1, (0.5, 1.8)),
    _at("Mira", "plays for fun", 3, (0.5, 2.0)),
    _at("Ruben", "plays at school", 5, (0.5, 2.5)),
    _at("Ida", "plays every evening", 9, (0.6, 2.5)),
    _at("Tomas", "plays in a club", 11, (0.6, 3.0)),
    _at("Vera", "wins the club's championship", 13, (0.6, 3.5)),
    _at("Anselm", "knows his endings", 15, (0.7, 3.5)),
    _at("Sigrid", "travels to tournaments", 17, (0.7, 4.0)),
    _at("Castellan", "gives nothing away", 20, (0.8, 4.0)),
)
