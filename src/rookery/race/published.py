"""What the papers themselves reported, on the scale of the ladder.

A score against a rung is that rung's rating plus the difference. None of the papers states its
training time as a number, so these are levels, not points on the axis of time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rookery.arena.elo import elo_of_score


@dataclass(frozen=True)
class Published:
    """A figure of a paper."""

    paper: str
    title: str  # in charts
    result: str  # as the paper states it
    opponent: str = ""  # rung of the ladder; "": the figure is no rating
    score: float = 0.5  # against it, [0, 1]
    way: str = ""  # of playing, in whose chart it stands; "": in none
    note: str = ""

    def elo(self, rungs: Mapping[str, float]) -> float | None:
        """The rating that the score means; None if it means none."""
        if self.opponent not in rungs:
            return None
        return rungs[self.opponent] + elo_of_score(self.score)


PUBLISHED = (
    Published(
        "Salisch 2023, PPO",
        "PPO, Salisch 2023",
        "135 more wins than losses in 1000 games against random moves; lost every game against "
        "Stockfish",
        "random",
        0.5 + 135 / 2000,
        "bare",
        "version 9, the best of ten, after 800 iterations on a graphics card; 51 after 900",
    ),
    Published(
        "Deep Pepper 2018",
        "Deep Pepper, 2018",
        "64 % of 25 games against random moves",
        "random",
        0.64,
        "fixed",
        "after 100 and after 150 epochs of pretraining",
    ),
    Published(
        "Vanhoutte 2022, AlphaZero",
        "AlphaZero, Vanhoutte 2022",
        "no rating; its aim of 1000 Elo was not reached, the engine seemed to play at random",
    ),
    Published(
        "Inman and Ezra Marin, double DQN",
        "Double DQN, Inman",
        "at best 20 % won and 10 % drawn of 20 games against a weakened Stockfish",
        note="its tests judged leaves by a hand-written evaluation, so this is not its network's "
        "strength",
    ),
)
