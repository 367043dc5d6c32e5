"""A small but real algorithm for tests of training runs: a value network fitted to material.

Each iteration plays random moves in a few games and fits the value head of a tiny network to the
material balance. It has everything that a large algorithm has: vector games, an optimiser with
moments, random streams of NumPy and torch, a schedule and evaluations.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from pydantic import Field

from rookery import VectorGames
from rookery.base.section import Section
from rookery.nets import make_network
from rookery.runs.algorithms import Algorithm
from rookery.runs.state import State
from rookery.training.recipe import Recipe
from rookery.training.trainer import Context, MatchScore, Metrics, Trainer

WORTH = np.array([0, 1, 3, 3, 5, 9, 0, -1, -3, -3, -5, -9, 0], dtype=np.float32)


class TinySettings(Section):
    """The algorithm."""

    RENAMED: ClassVar = {"boards": "games"}
    learning_rate: float = Field(default=1e-2, gt=0)
    """Step size of Adam at the start; falls linearly to half of it."""
    games: int = Field(default=8, ge=1, le=1024)
    """Games played at the same time."""
    steps: int = Field(default=4, ge=1)
    """Moves in each game per iteration."""
    hidden: int = Field(default=8, ge=1)
    """Width of the hidden layer."""
    pause: float = Field(default=0.0, ge=0)
    """Seconds to wait in each iteration, so that tests can interrupt it."""
    obedient: bool = True
    """Whether an iteration can be given up while it waits."""
    nan_at: int = 0
    """Iteration whose loss is not a number; 0: none."""
    nan_weight_at: int = 0
    """Iteration after which a weight is not a number; 0: none."""
    fail_at: int = 0
    """Iteration that raises; 0: none."""
    schedule: bool = True
    """Whether the step size depends on the progress of the run."""


class TinyRecipe(Recipe):
    """A recipe of the tests' algorithm."""

    tiny: TinySettings = TinySettings()


class TinyTrainer(Trainer):
    """Learns material by random games, in milliseconds."""

    def __init__(self, context: Context[TinyRecipe]) -> None:
        self.context = context
        self.settings = context.recipe.tiny
        self.network = make_network(
            "mlp",
            "vector66",
            "kpk",  # ten actions: a small file
            {"hidden": [self.settings.hidden], "scale": 12.0},
            context.torch_generator("weights"),
        )
        self.optimizer = torch.optim.Adam(self.network.parameters(), self.settings.learning_rate)
        self.rng = context.generator("moves")
        self.noise = context.torch_generator("noise")
        self.games = VectorGames(self.settings.games, "vector66", seed=context.seed("games"))
        self.games.reset(context.seed("games"))
        self.average = 0.0

    def iterate(self) -> Metrics:
        """Play a few random moves in every game and take one step of Adam."""
        if self.settings.pause >= 1.0:
            self.context.log("waits")
        end = time.monotonic() + self.settings.pause
        while time.monotonic() < end:
            if self.settings.obedient:
                self.context.check_stop()
            time.sleep(min(0.01, self.settings.pause))
        number = self.context.iteration + 1
        if number == self.settings.fail_at:
            raise ValueError("asked to fail")
        if self.settings.schedule:
            rate = self.settings.learning_rate * (1 - self.context.progress / 2)
            self.optimizer.param_groups[0]["lr"] = rate
        boards, finished = [], 0
        terminations: dict[str, int] = {}
        for _ in range(self.settings.steps):
            boards.append(np.array(self.games.observations))
            first, last = self.games.legal_offsets[:-1], self.games.legal_offsets[1:]
            places = self.rng.integers(first, last)
            self.games.step(self.games.legal_actions[places].astype(np.int64))
            ended = int(self.games.terminations.sum())
            finished += ended
            if ended:
                terminations["any"] = terminations.get("any", 0) + ended
        inputs = torch.from_numpy(np.concatenate(boards))
        targets = torch.from_numpy(WORTH[inputs[:, :64].long().numpy()].sum(1) / 10)
        # Noise from both kinds of random streams of torch, so that losing either shows.
        targets = targets + 0.01 * torch.randn(targets.shape, generator=self.noise)
        targets = targets + 0.01 * torch.randn(targets.shape)
        values = self.network.dense(inputs)[1]
        loss = (values - targets).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.average = 0.9 * self.average + 0.1 * loss.item()
        if number == self.settings.nan_weight_at:
            with torch.no_grad():
                self.network.value.bias.fill_(float("nan"))
        value = float("nan") if number == self.settings.nan_at else loss.item()
        return Metrics(
            samples=len(inputs),
            games=finished,
            losses={"value": value},
            values={"average": self.average, "undefined": float("nan")},
            results={"draws": finished},
            terminations=terminations,
            timing={"pause": self.settings.pause},
        )

    def state(self) -> State:
        """Return everything that the next iteration depends on."""
        state = State()
        state.put_module("network", self.network)
        state.put_optimizer("optimizer", self.optimizer)
        state.put_generator("moves", self.rng)
        state.put_generator("noise", self.noise)
        state.put_bytes("games", self.games.get_state())
        state.values["average"] = self.average
        return state

    def load_state(self, state: State) -> None:
        """Restore what `state` returned."""
        state.get_module("network", self.network)
        state.get_optimizer("optimizer", self.optimizer)
        state.get_generator("moves", self.rng)
        state.get_generator("noise", self.noise)
        self.games.set_state(state.get_bytes("games"))
        self.average = state.value("average")

    def model(self) -> Any:
        """Return the network to be saved."""
        return self.network

    def evaluate(self, rng: np.random.Generator) -> Sequence[MatchScore]:
        """Make up a score, with a game whose event is a script."""
        wins = int(rng.integers(0, 6))
        game = '[Event "<script>alert(1)</script>"]\n[White "tiny"]\n[Black "random"]\n'
        game += '[Result "1-0"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n'
        return [MatchScore("random", (wins, 5 - wins, 0), (5 - wins, wins, 0), games=[game])]


ALGORITHM = Algorithm(
    "tiny", "support.tiny_algorithm:TinyRecipe", "support.tiny_algorithm:TinyTrainer"
)
