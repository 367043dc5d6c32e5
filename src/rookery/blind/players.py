"""The interface of blind players, and the players that need no knowledge.

A `BlindPlayer` is given what its side knows and answers with a sense or a request. `random` asks
for any request or passes, as reconchess's RandomBot does; `passing` never senses and never moves.
"""

from __future__ import annotations

from typing import Protocol

from numpy.random import Generator

from rookery._core import BLIND_SENSE_ACTIONS, BlindKnowledge


class BlindPlayer(Protocol):
    """Chooses senses and moves; `rng` is its only source of randomness.

    The calls of a game come in order: `new_game`, then in each turn `choose_sense` and
    `choose_move`, then `game_over`. `seconds` is the time left on the player's clock.
    """

    name: str

    def new_game(self, knowledge: BlindKnowledge, rng: Generator) -> None:
        """Begin a game; `knowledge` has the colour and the start position."""
        ...

    def choose_sense(self, knowledge: BlindKnowledge, rng: Generator, seconds: float) -> int | None:
        """Return the square at the centre of the window to sense; None senses nothing."""
        ...

    def choose_move(self, knowledge: BlindKnowledge, rng: Generator, seconds: float) -> str | None:
        """Return one of `knowledge.requests()`; None passes."""
        ...

    def game_over(self, knowledge: BlindKnowledge, won: bool | None) -> None:
        """End the game; `won` is None for a draw."""
        ...

    def close(self) -> None:
        """Release processes and memory; may be called more than once."""
        ...


def sense_action(knowledge: BlindKnowledge, square: int | None) -> int:
    """Return the action of a sense, seen by the side that senses; the last one senses nothing."""
    if square is None:
        return BLIND_SENSE_ACTIONS - 1
    return square ^ (0 if knowledge.white else 56)


class BasePlayer:
    """A player that keeps nothing between its calls."""

    name = ""

    def new_game(self, knowledge: BlindKnowledge, rng: Generator) -> None:
        """Do nothing."""

    def game_over(self, knowledge: BlindKnowledge, won: bool | None) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class RandomPlayer(BasePlayer):
    """Senses and moves uniformly at random; one of its moves is the pass."""

    name = "random"

    def choose_sense(self, knowledge: BlindKnowledge, rng: Generator, seconds: float) -> int | None:
        """Draw one of the 64 squares."""
        return int(rng.integers(64))

    def choose_move(self, knowledge: BlindKnowledge, rng: Generator, seconds: float) -> str | None:
        """Draw a request or the pass."""
        requests = knowledge.requests()
        index = int(rng.integers(len(requests) + 1))
        return requests[index] if index < len(requests) else None


class PassingPlayer(BasePlayer):
    """Never senses and always passes: only a king can be taken from it."""

    name = "passing"

    def choose_sense(self, knowledge: BlindKnowledge, rng: Generator, seconds: float) -> int | None:
        """Sense nothing."""
        return None

    def choose_move(self, knowledge: BlindKnowledge, rng: Generator, seconds: float) -> str | None:
        """Pass."""
        return None
