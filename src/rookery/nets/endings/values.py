"""From class logits of the family `endgame` to distances, values and Q values.

Plain NumPy; the logits come from a function of rows (`Layout.features_of`), be it torch or NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import NOT_WON, EndingStates
from rookery.nets.endings.layout import Boards, Ints, Layout, tables_of

MEAN_SHARE = 1e-3  # weight of the distribution's mean, which breaks ties between equal distances
# A win counts only if it is e^2 times as probable as no win. Without this margin false wins
# reinforce each other, since a greedy side seeks the most promising error, and take long to fade.
CAUTION = 2.0
BATCH = 16384  # states per call of the network

Floats = NDArray[np.float32]
Values = NDArray[np.uint8]  # [N] moves of the strong side to its win, or NOT_WON
Classes = Callable[[Ints], Floats]  # rows [N, F] -> logits [N, C] of 0 ... moves, not won


class EndgameValues:
    """What logits of an `endgame` network with these endings mean."""

    def __init__(self, endings: Sequence[str], goal: str, moves: int) -> None:
        """Take the sizes of the network; `moves` is the longest win it can represent."""
        self.endings, self.goal, self.moves = list(endings), goal, moves
        self.layout = Layout(tables_of(endings, goal), settled=goal == "promotion")
        steps = np.arange(moves + 2, dtype=np.float32) / (2 * (moves + 1))
        # Value of each class for the strong side.
        self.worth = np.where(steps < 0.5, 1 - steps, 0).astype(np.float32)

    def distances(self, logits: Floats) -> Ints:
        """The most probable class [N] of logits [N, C]; a win only with the margin CAUTION."""
        best = logits[:, :-1].argmax(-1)
        wins = logits[:, :-1].max(-1) > logits[:, -1] + CAUTION
        found: Ints = np.where(wins, best, logits.shape[1] - 1)
        return found

    def worth_of(self, logits: Floats) -> Floats:
        """Values in [0, 1] for the strong side from class logits [N, C]."""
        means = _softmax(logits) @ self.worth
        best = self.worth[self.distances(logits)]
        return np.asarray((best + MEAN_SHARE * means) / (1 + MEAN_SHARE), np.float32)

    def action_values(
        self, observations: NDArray[Any], legal: Ints, rows: Ints, classes: Classes
    ) -> tuple[Floats, Floats]:
        """Q values [L] of the legal actions, and values [B]: the expected result."""
        boards = Boards.read(observations)
        if bool((self.layout.placements(boards).ending < 0).any()):
            known = ", ".join(self.layout.endings)
            raise ValueError(f"a position has other material than this network's: {known}")
        return self.q_values(boards, legal, rows, classes), self.values(boards, classes)

    def q_values(self, boards: Boards, legal: Ints, rows: Ints, classes: Classes) -> Floats:
        """Q values [L] of the legal actions."""
        after = boards.after(legal, rows)
        logits, won = self._evaluate(after, classes)
        best = self.worth_of(logits) * won
        # After an action the other side is to move.
        return np.where(after.strong_to_move == 0, best, -best)

    def values(self, boards: Boards, classes: Classes) -> Floats:
        """Expected results [B]."""
        logits, won = self._evaluate(boards, classes)
        expected = (1 - _softmax(logits)[:, -1]) * won
        return np.where(boards.strong_to_move == 1, expected, -expected)

    def _evaluate(self, boards: Boards, classes: Classes) -> tuple[Floats, Floats]:
        """Class logits [N, C], and 0 where neither side can win, else 1 [N]."""
        placements = self.layout.placements(boards)
        alive = (placements.ending >= 0).astype(np.float32)
        return classes(self.layout.features_of(placements)), alive

    def state_distances(self, rows: Ints, classes: Classes) -> Values:
        """The predicted distance of each state's rows [N, F], or NOT_WON."""
        found = _in_batches(rows, lambda part: self.distances(classes(part))).astype(np.uint8)
        found[found > self.moves] = NOT_WON
        return found

    def state_worth(self, states: EndingStates, classes: Classes) -> Floats:
        """Value [N] of each state for the strong side, as in the Q values."""
        rows = self.layout.state_rows(states)
        return _in_batches(rows, lambda part: self.worth_of(classes(part)))


def _in_batches(rows: Ints, function: Callable[[Ints], NDArray[Any]]) -> NDArray[Any]:
    parts = range(0, len(rows), BATCH)
    return np.concatenate([function(rows[start : start + BATCH]) for start in parts])


def _softmax(logits: Floats) -> Floats:
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    shares: Floats = weights / weights.sum(-1, keepdims=True)
    return shares
