"""The player `blind`: every board that fits what was seen, judged by the engine.

A turn, after the strongest agents of the yearly competitions (StrangeFish and its successors):

1. `BlindBelief` (core) holds the boards that fit everything told so far, at most `capacity`.
   Samples of it prefer boards on which the own king could be captured: opponents aim for them.
2. Sense: the engine values every request on a sample of boards. For each window the sample falls
   into groups that look alike in it; after seeing one of them the best request *of that group*
   would be made. The window with the greatest expected value of that choice is sensed, with a
   little weight on how many boards it would exclude at all.
3. Move: the engine values every request on a new sample of the boards left. A request scores 0.7
   times its mean and 0.3 times its worst value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rookery._core import BlindBelief, BlindJudge, BlindKnowledge
from rookery.blind.players import BasePlayer
from rookery.players.alphabeta import read_network

# The centres of windows that no other window contains: b2 to g7, rank by rank.
CENTRES = [8 * rank + file for rank in range(1, 7) for file in range(1, 7)]


@dataclass(frozen=True)
class StrongSettings:
    """All settings of the player; the defaults were measured (docs/results.md)."""

    nodes: int = 40_000  # of the engine in one turn
    capacity: int = 30_000  # boards at most
    boards: int = 32  # judged for a move
    sense_boards: int = 24  # judged for a sense
    windows: int = 600  # boards whose windows are compared
    endangered: float = 0.4  # share of judged boards with the own king attacked, if there are any
    worst: float = 0.3  # weight of the worst board
    curiosity: float = 0.05  # weight of excluding boards, whatever it changes
    network: str = "rookery"


@dataclass
class Thoughts:
    """What the player thought in its last turn, for tests and pages."""

    boards: int = 0
    complete: bool = True
    repairs: int = 0
    value: float = 0.5  # [0, 1], of the move it chose


def blend(values: NDArray[np.float32], worst: float) -> NDArray[np.float32]:
    """Scores [R] of requests from their values [B, R] on boards."""
    mixed: NDArray[np.float32] = (1 - worst) * values.mean(axis=0) + worst * values.min(axis=0)
    return mixed


def entropy(keys: NDArray[np.uint64]) -> float:
    """Information in bits of seeing one of the boards' windows, relative to knowing the board."""
    counts = np.unique(keys, return_counts=True)[1]
    shares = counts / len(keys)
    return float(-(shares * np.log2(shares)).sum() / max(1.0, np.log2(len(keys))))


def best_after(keys: NDArray[np.uint64], values: NDArray[np.float32], worst: float) -> float:
    """Expected score of the best request after boards [B] are told apart by their windows."""
    groups, members = np.unique(keys, return_inverse=True)
    total = 0.0
    for group in range(len(groups)):
        chosen = values[members == group]
        total += len(chosen) * float(blend(chosen, worst).max())
    return total / len(keys)


class StrongPlayer(BasePlayer):
    """Keeps the possible boards of one game."""

    def __init__(self, name: str = "blind", settings: StrongSettings | None = None) -> None:
        """Load the engine's network."""
        self.name = name
        self.settings = settings or StrongSettings()
        share = self.settings.nodes // 3
        network = read_network(self.settings.network)
        self._sense_judge = BlindJudge(network, nodes=share)
        self._move_judge = BlindJudge(network, nodes=self.settings.nodes - share)
        self.belief: BlindBelief | None = None
        self.thoughts = Thoughts()

    def new_game(self, knowledge: BlindKnowledge, rng: Generator) -> None:
        """Begin with the one board that both sides know."""
        self._sense_judge.new_game()
        self._move_judge.new_game()
        seed = int(rng.integers(1 << 62))
        self.belief = BlindBelief(knowledge, self.settings.capacity, seed)

    def choose_sense(self, knowledge: BlindKnowledge, rng: Generator, seconds: float) -> int | None:
        """Choose the window after which the best move is expected to be worth the most."""
        belief = self._belief(knowledge)
        possible = belief.sample(self.settings.windows).window_keys()
        if len(possible) == 1:
            return CENTRES[0]
        judged = belief.sample(self.settings.sense_boards, self.settings.endangered)
        keys, values = judged.window_keys(), self._sense_judge.values(judged, knowledge)
        scores = [
            best_after(keys[:, i], values, self.settings.worst)
            + self.settings.curiosity * entropy(possible[:, i])
            for i in range(len(CENTRES))
        ]
        return CENTRES[int(np.argmax(scores))]

    def choose_move(self, knowledge: BlindKnowledge, rng: Generator, seconds: float) -> str | None:
        """Choose the request with the best mixture of mean and worst value."""
        belief = self._belief(knowledge)
        boards = belief.sample(self.settings.boards, self.settings.endangered)
        scores = blend(self._move_judge.values(boards, knowledge), self.settings.worst)
        best = int(np.argmax(scores))
        self.thoughts = Thoughts(len(belief), belief.complete, belief.repairs, float(scores[best]))
        return knowledge.move_of_action(int(knowledge.move_actions()[best]))

    def _belief(self, knowledge: BlindKnowledge) -> BlindBelief:
        if self.belief is None:  # a game that was begun elsewhere
            self.belief = BlindBelief(knowledge, self.settings.capacity, 0)
        self.belief.update(knowledge)
        return self.belief
