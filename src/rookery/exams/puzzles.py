"""Tactics puzzles: a player must find the whole line; any checkmate is correct.

The puzzle rating is the rating at which a player would be expected to solve as many of these
puzzles, each treated as an opponent with the puzzle's rating.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from rookery._core import Game
from rookery.arena.elo import ELO_PER_NATURAL_UNIT, expected_score
from rookery.data.puzzles import Puzzle
from rookery.engines.faults import fault_of
from rookery.exams.questions import examine, legal_choice, solved_counts
from rookery.players.base import Limits, Player

BAND = 200  # Elo


@dataclass(frozen=True)
class PuzzleAnswer:
    """How much of a puzzle a player solved."""

    puzzle: Puzzle
    solved: bool
    found: int  # correct moves
    fault: str = ""


def solve(player: Player, puzzle: Puzzle, rng: np.random.Generator, limits: Limits) -> PuzzleAnswer:
    """Let a player solve a puzzle: it must find every move of the line, or a mate."""
    game = Game(puzzle.fen)
    found = 0
    try:
        player.new_game()
        for number, expected in enumerate(puzzle.line):
            if number % 2:
                game.push(expected)
                continue
            move = legal_choice(player, game, rng, limits)
            game.push(move)
            over = game.outcome()
            if over is not None and over[0] == "checkmate":
                return PuzzleAnswer(puzzle, True, found + 1)
            if move != expected:
                return PuzzleAnswer(puzzle, False, found)
            found += 1
    except Exception as error:
        return PuzzleAnswer(puzzle, False, found, str(fault_of(error)))
    return PuzzleAnswer(puzzle, True, found)


run_puzzles = partial(examine, solve, 7)


def puzzle_rating(answers: Sequence[PuzzleAnswer]) -> tuple[float, float, float] | None:
    """Return (rating, low, high) with a 95 % interval; None without rated puzzles.

    A virtual puzzle of mean rating, half solved, keeps 0 % and 100 % finite.
    """
    rated = [(a.puzzle.rating, a.solved) for a in answers if a.puzzle.rating is not None]
    if not rated:
        return None
    ratings = np.array([rating for rating, _ in rated])
    mean = float(ratings.mean())
    points = sum(solved for _, solved in rated) + 0.5

    def expected(elo: float) -> float:
        return float(sum(expected_score(elo - r) for r in ratings)) + expected_score(elo - mean)

    low, high = -2000.0, 6000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if expected(middle) < points else (low, middle)
    chances = np.array([expected_score(low - r) for r in [*ratings, mean]])
    information = float((chances * (1 - chances)).sum())
    error = 1.96 * ELO_PER_NATURAL_UNIT / math.sqrt(max(information, 1e-9))
    return low, low - error, low + error


def summarise_puzzles(player: str, answers: Sequence[PuzzleAnswer]) -> dict[str, object]:
    """Return the object of `rookery puzzles --json`."""
    bands: defaultdict[str, list[bool]] = defaultdict(list)
    themes: defaultdict[str, list[bool]] = defaultdict(list)
    for answer in answers:
        if answer.puzzle.rating is not None:
            start = int(answer.puzzle.rating // BAND) * BAND
            bands[f"{start:04d}-{start + BAND - 1:04d}"].append(answer.solved)
        for theme in answer.puzzle.themes:
            themes[theme].append(answer.solved)
    rating = puzzle_rating(answers)
    return {
        "player": player,
        **solved_counts([answer.solved for answer in answers]),
        "rating": None if rating is None else round(rating[0], 1),
        "rating_low": None if rating is None else round(rating[1], 1),
        "rating_high": None if rating is None else round(rating[2], 1),
        "faults": sum(bool(answer.fault) for answer in answers),
        "bands": {key: solved_counts(bands[key]) for key in sorted(bands)},
        "themes": {key: solved_counts(themes[key]) for key in sorted(themes)},
    }
