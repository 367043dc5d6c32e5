"""Supervised learning of policy and value from recorded games or engine labels.

`rookery data pgn|label|puzzles` makes the samples; `rookery train supervised --set
data.samples=FOLDER` learns from them. The resulting network can play, and AlphaZero can start from
it (`--set initial=runs/supervised`), as Vanhoutte 2022 recommends.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import cast

import numpy as np
import torch
from pydantic import Field

from rookery.base.section import Section
from rookery.data.samples import SampleBlock, SampleError, read_samples
from rookery.learning.matches import policy_match
from rookery.learning.policy_value import (
    LearnSettings,
    NetworkSettings,
    learn_step,
    losses,
    make_optimizer,
    mean_losses,
    new_network,
)
from rookery.learning.window import Sampler
from rookery.nets import PolicyValueNetwork
from rookery.runs.state import State
from rookery.training.recipe import Recipe
from rookery.training.trainer import Context, MatchScore, Metrics, Trainer

HELD_OUT_MOST = 4096  # validation samples evaluated after each iteration


class DataSettings(Section):
    """The training data."""

    samples: str = "data/samples"
    """A Parquet file, or a folder of them, that `rookery data` made."""
    held_out: float = Field(default=0.02, ge=0, lt=1)
    """Share of the games used for validation only."""
    steps: int = Field(default=100, ge=1)
    """Optimiser steps per iteration."""


class EvaluationSettings(Section):
    """What is measured at every tenth of the run."""

    games: int = Field(default=100, ge=2, multiple_of=2)
    """Against a random mover, by the policy alone."""


class SupervisedRecipe(Recipe):
    """All settings of a supervised run."""

    data: DataSettings = DataSettings()
    network: NetworkSettings = NetworkSettings()
    learn: LearnSettings = LearnSettings()
    evaluation: EvaluationSettings = EvaluationSettings()


def split_by_game(block: SampleBlock, share: float) -> tuple[SampleBlock, SampleBlock | None]:
    """Training and validation samples, split by game; the split depends on game numbers only."""
    mixed = (block.games.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)
    held = mixed.astype(np.float64) / (1 << 24) < share
    if not held.any() or held.all():
        return block, None
    return block.take(np.flatnonzero(~held)), block.take(np.flatnonzero(held))


class SupervisedTrainer(Trainer):
    """Learn; see `rookery.training.trainer.Trainer`."""

    def __init__(self, context: Context[SupervisedRecipe]) -> None:
        """Read the samples and make the network."""
        self.context = context
        recipe = context.recipe
        settings = recipe.network
        try:
            block = read_samples(Path(recipe.data.samples), settings.observation)
        except SampleError as error:
            raise SampleError(
                f"{error}; make samples with 'rookery data pgn' or 'rookery data label' and name "
                "them with --set data.samples=PATH"
            ) from None
        learnt, self.held_out = split_by_game(block, recipe.data.held_out)
        self.sampler = Sampler([learnt], 0.0)
        context.log(
            f"{len(learnt)} samples to learn, "
            f"{len(self.held_out) if self.held_out is not None else 0} held out"
        )
        self.network = new_network(settings, context.torch_generator("weights")).to(context.device)
        self.optimizer = make_optimizer(self.network, recipe.learn)
        self.rng = context.generator("learn")

    def iterate(self) -> Metrics:
        """Optimiser steps, then the losses on the validation samples."""
        began = time.perf_counter()
        recipe = self.context.recipe
        size = recipe.learn.minibatch
        terms = []
        for _ in range(recipe.data.steps):
            self.context.check_stop()
            minibatch = self.sampler.draw(size, self.rng)
            progress = self.context.progress
            terms.append(
                learn_step(self.network, self.optimizer, minibatch, recipe.learn, progress)
            )
        means = mean_losses(terms)
        return Metrics(
            samples=size * recipe.data.steps,
            losses={"policy": means["policy"], "value": means["value"]},
            values={
                "agreement": means["agreement"],
                "explained_variance": means["explained_variance"],
                "legal_share": means["legal_share"],
                **self._measure(),
            },
            timing={"learn": time.perf_counter() - began},
        )

    def _measure(self) -> dict[str, float]:
        if self.held_out is None:
            return {}
        count = min(len(self.held_out), HELD_OUT_MOST)
        index = np.linspace(0, len(self.held_out) - 1, count).astype(np.int64)
        self.network.eval()
        with torch.no_grad():
            search_value = self.context.recipe.learn.search_value
            terms = losses(self.network, self.held_out.take(index), search_value)
        return {f"held_out_{name}": value for name, value in mean_losses([terms]).items()}

    def model(self) -> PolicyValueNetwork:
        """The network."""
        return cast(PolicyValueNetwork, self.network)

    def evaluate(self, rng: np.random.Generator) -> list[MatchScore]:
        """A match of the policy, without search, against a random mover."""
        self.network.eval()
        games = self.context.recipe.evaluation.games
        seed, over = int(rng.integers(1 << 62)), self.context.evaluation_is_over
        return [policy_match(self.network, "random", games, seed, over=over)]

    def state(self) -> State:
        """Weights, optimiser, random stream; the samples are read again."""
        state = State()
        state.put_module("network", self.network)
        state.put_optimizer("optimizer", self.optimizer)
        state.put_generator("learn", self.rng)
        return state

    def load_state(self, state: State) -> None:
        """Restore weights, optimiser and random stream."""
        state.get_module("network", self.network)
        state.get_optimizer("optimizer", self.optimizer)
        state.get_generator("learn", self.rng)
