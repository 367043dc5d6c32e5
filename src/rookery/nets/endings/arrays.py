"""Networks of the family `endgame` in NumPy: they play without torch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import EndingStates
from rookery.nets.endings.layout import Ints, is_ending
from rookery.nets.endings.values import EndgameValues, Floats
from rookery.nets.evaluator import Answer, Array, check_answer, check_batch
from rookery.nets.model_arrays import Weights, require_shapes
from rookery.nets.model_file import ModelFileError, ModelInfo

TENSORS = (
    "rows.weight", "bias", "second.weight", "second.bias", "output.weight", "output.bias",
)  # fmt: skip


class EndgameArrays:
    """An `Evaluator` of small endings; Q values serve as logits."""

    bounded = True

    def __init__(self, weights: Weights, info: ModelInfo, name: str = "endgame") -> None:
        """Use these weights; errors do not name the file."""
        sizes = info.sizes
        endings, goal, moves = sizes.get("endings"), sizes.get("goal"), sizes.get("moves")
        if not isinstance(endings, list) or not endings or not all(map(is_ending, endings)):
            raise ModelFileError(f"{endings!r} are not endings such as KPvK, KQvK or KBNvK")
        if goal not in ("promotion", "mate") or not isinstance(moves, int) or not 1 <= moves <= 250:
            raise ModelFileError(f"the sizes have the goal {goal!r} and {moves!r} moves")
        self.name = name
        self.observation, self.actions = info.observation, info.actions
        self.endings, self.goal, self.moves = endings, goal, moves
        self.meaning = EndgameValues(endings, goal, moves)
        width, hidden = sizes.get("width"), sizes.get("hidden")
        require_shapes(
            weights,
            dict(
                zip(
                    TENSORS,
                    [
                        (self.meaning.layout.rows, width),
                        (width,),
                        (hidden, width),
                        (hidden,),
                        (moves + 2, hidden),
                        (moves + 2,),
                    ],
                    strict=True,
                )
            ),
        )
        self._rows, self._bias, *layers = (weights[name] for name in TENSORS)
        self._second, self._second_bias, self._output, self._output_bias = layers

    def logits(self, rows: Ints) -> Floats:
        """Class logits [N, C] from rows [N, F] (`Layout.features_of`)."""
        hidden = np.maximum(self._rows[rows].sum(1) + self._bias, 0)
        hidden = np.maximum(hidden @ self._second.T + self._second_bias, 0)
        logits: Floats = hidden @ self._output.T + self._output_bias
        return logits

    def evaluate(self, observations: Array, legal_actions: Array, legal_offsets: Array) -> Answer:
        """Evaluate B positions."""
        rows = check_batch(self, observations, legal_actions, legal_offsets)
        answer = self.meaning.action_values(observations, legal_actions, rows, self.logits)
        return check_answer(self, *answer)

    def all_states(self) -> tuple[EndingStates, NDArray[Any]]:
        """All states of its endings, and their values for the strong side."""
        states = EndingStates(self.endings, self.goal)
        return states, self.meaning.state_worth(states, self.logits)
