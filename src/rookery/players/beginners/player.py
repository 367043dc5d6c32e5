"""The player `beginner`: moves that people like, and things that they overlook.

A beginner's move is drawn by weights learnt from people's games (`habits.py`) from what can be seen
of a position without thinking further than the opponent's next capture (`view.py`). A weaker one
heeds less of what it could win and lose, and follows its likings less strictly. There is no
network, no search and no state: the move depends on the game and the random generator.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import chess
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rookery._core import Game
from rookery.players.base import Capabilities, Decision, Limits, legal_moves, require_board
from rookery.players.beginners.habits import GAINS, LOSSES, WEIGHTS
from rookery.players.beginners.view import View
from rookery.players.spec import PlayerSpec


@dataclass(frozen=True)
class Habits:
    """What the `skill` changes: factors on the weights; 1 is as people do."""

    gains: float  # on what could be won
    losses: float  # on what could be lost
    sharpness: float  # on all weights: 0 draws any move, a large one always takes the favourite

    def weights(self) -> NDArray[np.float64]:
        """The weights of all features."""
        factor = {name: self.gains for name in GAINS} | {name: self.losses for name in LOSSES}
        scaled = [weight * factor.get(name, 1.0) for name, weight in WEIGHTS.items()]
        return np.array(scaled) * self.sharpness


# The ends of the scale `skill` from 0 to 1; between them every number is interpolated.
LOWEST = Habits(gains=0.0, losses=0.2, sharpness=1.5)
HIGHEST = Habits(gains=0.5, losses=0.8, sharpness=2.4)

# Measured by `benchmarks/calibrate_levels.py --skills`, in games against the rungs of the ladder.
ELO_OF_SKILL: tuple[tuple[float, int], ...] = (
    (0, 230),
    (0.12, 400),
    (0.25, 540),
    (0.5, 760),
    (0.75, 900),
    (1, 1010),
)


def elo_of_skill(skill: float) -> float:
    """The measured Elo, interpolated between the skills of the table."""
    skills, elos = zip(*ELO_OF_SKILL, strict=True)
    return float(np.interp(skill, skills, elos))


def skill_of_elo(elo: float) -> float:
    """The skill with an Elo in the range of the table, to two decimals."""
    skills, elos = zip(*ELO_OF_SKILL, strict=True)
    if not elos[0] <= elo <= elos[-1]:
        raise ValueError(f"elo {elo:g} is not from {elos[0]} to {elos[-1]}")
    return round(float(np.interp(elo, elos, skills)), 2)


def habits_of(skill: float) -> Habits:
    """The habits at a skill in [0, 1]."""
    if not 0.0 <= skill <= 1.0:
        raise ValueError(f"skill {skill!r} is outside [0, 1]")
    names = [field.name for field in fields(Habits)]
    ends = [(getattr(LOWEST, name), getattr(HIGHEST, name)) for name in names]
    return Habits(*((1 - skill) * low + skill * high for low, high in ends))


class BeginnerPlayer:
    """Plays as its habits say; equal games and generators give equal moves."""

    def __init__(self, skill: float, name: str = "") -> None:
        """Take the habits of a `skill` in [0, 1]."""
        self.name = name or f"beginner,skill={skill:g}"
        self._weights = habits_of(skill).weights()

    @property
    def capabilities(self) -> Capabilities:
        """Never timed."""
        return Capabilities()

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Look at the board once and draw a move; `limits` are ignored."""
        require_board(self.name, self.capabilities.boards, game.board)
        moves = legal_moves(game)
        board = chess.Board(game.fen(), chess960=game.chess960)
        past = [chess.Move.from_uci(move) for move in game.moves()[-2:]]
        features = View(board, past).features([chess.Move.from_uci(move) for move in moves])
        # The largest of these sums is a draw with chances proportional to exp(weights * features).
        drawn = features @ self._weights + rng.gumbel(size=len(moves))
        return Decision(moves[int(drawn.argmax())])

    def new_game(self) -> None:
        """Do nothing: there is no state between games."""

    def close(self) -> None:
        """Do nothing: there are no resources."""


def beginner_player(spec: PlayerSpec, options: dict[str, Any]) -> BeginnerPlayer:
    """The player `beginner`."""
    return BeginnerPlayer(options.get("skill", 0.5), str(spec))
