"""Playing a network's policy without search (`model.safetensors,temperature=0.5`).

`temperature` 0 (default) plays the move with the largest logit; otherwise moves are drawn with
probabilities proportional to exp(logit / temperature).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator

from rookery._core import Game, MoveError
from rookery.nets.evaluator import Evaluator, evaluate_position, load_evaluator
from rookery.nets.model_file import board_of
from rookery.players.base import Capabilities, Decision, Limits, Player, require_board
from rookery.players.spec import PlayerSpec, SpecError
from rookery.players.thinking import MoveNote

CLAIM = 4672  # the action of az4673 that claims a draw
# Layouts without history: no clock, no repetitions.
WITHOUT_PAST = frozenset({"vector66", "planes12", "planes14", "kpk3", "pepper353", "giraffe363"})


class PolicyPlayer:
    """Plays the policy of an evaluator."""

    def __init__(self, evaluator: Evaluator, temperature: float = 0.0, name: str = "") -> None:
        """Play greedily, or with a `temperature` above 0."""
        if not (np.isfinite(temperature) and temperature >= 0):
            raise ValueError(f"temperature is {temperature!r}; it must be 0 or more")
        self.name = name or evaluator.name
        self.evaluator = evaluator
        self.temperature = temperature
        memoryless = temperature == 0 and evaluator.observation in WITHOUT_PAST
        self.capabilities = Capabilities(memoryless=memoryless, boards=(board_of(evaluator),))

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Evaluate the position once."""
        require_board(self.name, self.capabilities.boards, game.board)
        actions = self.evaluator.actions
        legal = game.legal_actions(actions)
        if not len(legal):
            raise MoveError(f"there is no legal action to choose in {game.fen()!r}")
        logits, result = evaluate_position(self.evaluator, game, legal)
        probabilities = softmax(logits, self.temperature or 1.0)
        place = int(logits.argmax())
        if self.temperature > 0:
            place = int(rng.choice(len(legal), p=probabilities))
        # An unbounded value, in units of reward, is not an expected result.
        value = float(np.clip(result, -1, 1)) if self.evaluator.bounded else None
        details: Mapping[str, object] = {"probability": float(probabilities[place])}
        action = int(legal[place])
        if action == CLAIM and actions == "az4673":
            return Decision(game.legal_moves()[0], value, claims_draw=True, details=details)
        move = game.move_of(action, actions)
        return Decision(move, value, (move,), details=details)

    def notes(self, game: Game) -> list[MoveNote]:
        """The policy's probability of each legal move, the greatest first; without claims."""
        actions = self.evaluator.actions
        legal = game.legal_actions(actions)
        likely = softmax(evaluate_position(self.evaluator, game, legal)[0], self.temperature or 1.0)
        found = [
            MoveNote(game.move_of(int(legal[place]), actions), prior=float(likely[place]))
            for place in np.argsort(-likely, kind="stable")
        ]
        return [note for note in found if note.move != "draw"]

    def new_game(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def softmax(logits: Any, temperature: float) -> Any:
    """Probabilities in float64, precise enough for `Generator.choice`."""
    scaled = np.asarray(logits, np.float64) / temperature
    weights = np.exp(scaled - scaled.max())
    return weights / weights.sum()


def policy_player(spec: PlayerSpec, options: dict[str, Any]) -> Player:
    """The player of a network with the options POLICY.

    Options of a tree search make it search, unless `simulations=0`.
    """
    search = options.keys() - {"temperature"}
    if search and options.get("simulations") != 0:
        from rookery.players.mcts import search_player

        return search_player(spec, options)
    for key in search - {"simulations"}:
        raise SpecError(f"player {spec.name!r}: {key} needs a search, which simulations=0 forbids")
    return PolicyPlayer(load_evaluator(spec.name), options.get("temperature", 0.0), str(spec))
