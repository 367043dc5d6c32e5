"""A network that plays without search: its policy alone (`model.safetensors,temperature=0.5`).

`temperature` 0 (default) plays the move of the largest logit; otherwise moves are drawn with
probabilities proportional to exp(logit / temperature).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rookery._core import Game, MoveError
from rookery.nets.evaluator import Evaluator, load_evaluator
from rookery.players.base import Capabilities, Decision, Limits, Player
from rookery.players.spec import PlayerSpec, SpecError
from rookery.players.thinking import MoveNote

CLAIM = 4672  # the action of az4673 that claims a draw
# Layouts that show the position and nothing of its past: no clock, no repetitions.
WITHOUT_PAST = frozenset({"vector66", "planes12", "planes14", "kpk3", "pepper353", "giraffe363"})


class PolicyPlayer:
    """Plays what an evaluator's policy says."""

    def __init__(self, evaluator: Evaluator, temperature: float = 0.0, name: str = "") -> None:
        """Take an evaluator; `temperature` is 0 or more."""
        if not (np.isfinite(temperature) and temperature >= 0):
            raise ValueError(f"temperature is {temperature!r}; it must be 0 or more")
        self.name = name or evaluator.name
        self.evaluator = evaluator
        self.temperature = temperature
        memoryless = temperature == 0 and evaluator.observation in WITHOUT_PAST
        self.capabilities = Capabilities(memoryless=memoryless)

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Ask the network once; `limits` are always kept."""
        actions = self.evaluator.actions
        legal = game.legal_actions(actions)
        if not len(legal):
            raise MoveError(f"there is no legal action to choose in {game.fen()!r}")
        offsets = np.array([0, len(legal)], dtype=np.int64)
        observation = game.encode(self.evaluator.observation)[np.newaxis]
        logits, values = self.evaluator.evaluate(observation, legal, offsets)
        probabilities = softmax(logits, self.temperature or 1.0)
        place = int(logits.argmax())
        if self.temperature > 0:
            place = int(rng.choice(len(legal), p=probabilities))
        # A value in units of reward says nothing about the expected result.
        value = float(np.clip(values[0], -1, 1)) if self.evaluator.bounded else None
        details: Mapping[str, object] = {"probability": float(probabilities[place])}
        action = int(legal[place])
        if action == CLAIM and actions == "az4673":
            return Decision(game.legal_moves()[0], value, claims_draw=True, details=details)
        move = game.move_of(action, actions)
        return Decision(move, value, (move,), details=details)

    def notes(self, game: Game) -> list[MoveNote]:
        """How likely the policy finds each legal move, the likeliest first; claims left out."""
        actions = self.evaluator.actions
        legal = game.legal_actions(actions)
        offsets = np.array([0, len(legal)], dtype=np.int64)
        observation = game.encode(self.evaluator.observation)[np.newaxis]
        logits, _ = self.evaluator.evaluate(observation, legal, offsets)
        likely = softmax(logits, self.temperature or 1.0)
        found = [
            MoveNote(game.move_of(int(legal[place]), actions), prior=float(likely[place]))
            for place in np.argsort(-likely, kind="stable")
        ]
        return [note for note in found if note.move != "draw"]

    def new_game(self) -> None:
        """Nothing is kept between games."""

    def close(self) -> None:
        """Nothing is held."""


def softmax(logits: Any, temperature: float) -> Any:
    """Probabilities, float64; sums to one exactly enough for `Generator.choice`."""
    scaled = np.asarray(logits, np.float64) / temperature
    weights = np.exp(scaled - scaled.max())
    return weights / weights.sum()


def policy_player(spec: PlayerSpec, options: dict[str, Any]) -> Player:
    """A player from a model file, an .onnx file, a run folder or a shipped network.

    Args:
        spec: Its name is the network's.
        options: Of `rookery.players.options.POLICY`; those of a tree search make it search, unless
            it has no simulations.
    """
    search = options.keys() - {"temperature"}
    if search and options.get("simulations") != 0:
        from rookery.players.mcts import search_player

        return search_player(spec, options)
    for key in search - {"simulations"}:
        raise SpecError(f"player {spec.name!r}: {key} is of a search, which simulations=0 forbids")
    return PolicyPlayer(load_evaluator(spec.name), options.get("temperature", 0.0), str(spec))
