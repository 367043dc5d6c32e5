"""`rookery train blind-paper`: imitation of recorded games, then PPO in self-play; no search.

After arXiv 2208.02029: supervised learning of senses, moves and results on games of other players
gives a start; PPO then plays against itself, a pool of past versions and other players. The loss,
the advantages and the optimiser step of PPO are those of `rookery.algorithms.ppo`.
"""

from __future__ import annotations

import copy
import functools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from rookery.algorithms.mlp_update import Factors
from rookery.algorithms.ppo import AutogradUpdate, batch_of
from rookery.blind.arena import BlindSettings, run_blind_match
from rookery.blind.imitation import Imitation, read_imitation
from rookery.blind.network import BlindNetwork, load_blind_network, policy_of
from rookery.blind.players import BlindPlayer
from rookery.blind.policy import PolicyPlayer
from rookery.blind.registry import make_blind_player
from rookery.blind.rollouts import BlindRollouts
from rookery.blind.train_recipe import BlindRecipe
from rookery.nets import ragged
from rookery.runs.state import State
from rookery.training.trainer import Context, MatchScore, Metrics, Trainer

ADAM_EPSILON = 1e-5


def opponents(names: Sequence[str], games: int) -> list[BlindPlayer]:
    """One player for each of so many games; two games in a row have the same name."""
    return [make_blind_player(names[i // 2 % len(names)]) for i in range(games)] if names else []


class BlindTrainer(Trainer):
    """Imitate, then improve; see `rookery.training.trainer.Trainer`."""

    def __init__(self, context: Context[BlindRecipe]) -> None:
        """Make network, optimiser and games; read the records if they are needed."""
        self.context = context
        recipe = context.recipe
        self.network = BlindNetwork(recipe.network)
        self.network.initialise(context.torch_generator("weights"))
        if recipe.supervised.start:
            self._begin_with(Path(recipe.supervised.start))
        self.pool: list[BlindNetwork] = []  # past versions, oldest first
        self.rng = context.generator("learn")
        self.update = AutogradUpdate(self.network, recipe.supervised.learning_rate, ADAM_EPSILON)
        self.rollouts = BlindRollouts(
            recipe.ppo.games,
            recipe.ppo.turn_limit,
            recipe.pool.share,
            context.seed("play"),
            opponents(recipe.pool.players, round(recipe.pool.players_share * recipe.ppo.games)),
        )
        self._imitation: Imitation | None = None

    def _begin_with(self, path: Path) -> None:
        if not path.is_file():
            raise ValueError(f"supervised.start: there is no model file {path}")
        start = load_blind_network(path)
        if start.sizes != self.network.sizes:
            raise ValueError(f"supervised.start: {path} has other sizes: {start.sizes}")
        self.network.load_state_dict(start.state_dict())

    @property
    def imitating(self) -> bool:
        """Whether the supervised part is not over."""
        return self.context.iteration < self.context.recipe.supervised.iterations

    def iterate(self) -> Metrics:
        """One iteration of the part that the run is in."""
        return self._imitate() if self.imitating else self._improve()

    # --- Supervised ---

    def _imitate(self) -> Metrics:
        began = time.perf_counter()
        data, settings = self._data(), self.context.recipe.supervised
        self._set_rate(
            settings.learning_rate * (1 - 0.9 * self.context.iteration / settings.iterations)
        )
        sums = np.zeros(3)
        for _ in range(settings.steps):
            self.context.check_stop()
            index = np.sort(self.rng.integers(len(data), size=settings.minibatch))
            sums += self._imitation_step(data, index)
        means = sums / settings.steps
        return Metrics(
            samples=settings.steps * settings.minibatch,
            losses={"policy": float(means[0]), "value": float(means[1])},
            values={"agreement": float(means[2])},
            timing={"learn": time.perf_counter() - began},
        )

    def _imitation_step(self, data: Imitation, index: np.ndarray[Any, Any]) -> list[float]:
        """One optimiser step; returns policy loss, value loss and agreement with the teacher."""
        observations, legal, rows, chosen = map(torch.from_numpy, data.take(index))
        logits, values = self.network(observations, legal, rows)
        log_probabilities = ragged.log_softmax(logits, rows, len(index))
        its, taught = log_probabilities[chosen], torch.from_numpy(data.taught[index])
        policy = -its[taught].sum() / taught.sum().clamp(min=1)
        value = functional.mse_loss(values, torch.from_numpy(data.results[index]))
        optimizer = self.update.optimizer
        optimizer.zero_grad()
        total = policy + self.context.recipe.supervised.value_weight * value
        total.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        with torch.no_grad():
            best = torch.full((len(index),), -torch.inf)
            best = best.scatter_reduce(0, rows, log_probabilities, "amax")
            agreement = (its >= best)[taught].float().mean()
        return [float(policy.detach()), float(value.detach()), float(agreement)]

    def _data(self) -> Imitation:
        if self._imitation is None:
            settings = self.context.recipe.data
            self._imitation = read_imitation(settings.records, settings.teachers)
            self.context.log(
                f"{int(self._imitation.taught.sum())} senses and requests of teachers, "
                f"{len(self._imitation)} of all players, in {self._imitation.games} games"
            )
        return self._imitation

    # --- PPO ---

    def _improve(self) -> Metrics:
        began = time.perf_counter()
        self._imitation = None  # frees its memory
        settings = self.context.recipe.ppo
        number = self.context.iteration - self.context.recipe.supervised.iterations
        if number % self.context.recipe.pool.every == 0:
            past = copy.deepcopy(self.network).eval()
            self.pool = [*self.pool, past][-self.context.recipe.pool.versions :]
        rival = self.pool[int(self.rng.integers(len(self.pool)))]
        rollout = self.rollouts.play(self.network, rival, settings.turns, settings.draw)
        played = time.perf_counter()
        batch = batch_of(rollout, settings.discount, settings.gae_lambda)
        self._set_rate(settings.learning_rate)
        weights = Factors(
            clip=settings.clip,
            value=settings.value_weight,
            value_clip=0.0,
            entropy=settings.entropy,
            kl=0.0,
            gradient_norm=settings.gradient_norm,
        )
        sums, steps = np.zeros(4), 0
        for _ in range(settings.passes):
            self.context.check_stop()
            order = self.rng.permutation(len(batch))
            terms, count = self.update.learn(batch, order, settings.minibatch, weights)
            sums, steps = sums + terms, steps + count
        policy, value, entropy, kl = (sums / steps).tolist()
        return Metrics(
            samples=len(batch),
            games=sum(rollout.endings.values()),
            losses={"policy": policy, "value": value},
            values={"entropy": entropy, "kl": kl} | self._scores(),
            results=dict(sorted(rollout.results.items())),
            terminations=dict(sorted(rollout.endings.items())),
            timing={"play": played - began, "learn": time.perf_counter() - played},
        )

    def _scores(self) -> dict[str, float]:
        """The learner's points per game of this iteration against each opponent."""
        return {
            f"score_{name}": (wins + draws / 2) / (wins + draws + losses)
            for name, (wins, draws, losses) in sorted(self.rollouts.scores.items())
        }

    def _set_rate(self, rate: float) -> None:
        for group in self.update.optimizer.param_groups:
            group["lr"] = rate

    # --- For the loop ---

    def model(self) -> Any:
        """The network."""
        return self.network

    def evaluate(self, rng: np.random.Generator) -> list[MatchScore]:
        """Matches of the most probable actions against blind players."""
        settings = self.context.recipe.evaluation
        found = []
        for opponent in settings.opponents:
            result = run_blind_match(
                (
                    lambda: PolicyPlayer("network", policy_of(self.network)),
                    functools.partial(make_blind_player, opponent),
                ),
                ("network", opponent),
                BlindSettings(games=settings.games, seed=int(rng.integers(1 << 30))),
            )
            if result["interrupted"]:
                raise KeyboardInterrupt
            white, black = (
                (side["wins"], side["draws"], side["losses"])
                for side in (result["as_white"], result["as_black"])
            )
            found.append(MatchScore(opponent, white, black))
            if self.context.evaluation_is_over():
                break
        return found

    def state(self) -> State:
        """Weights, optimiser, random streams, games, past versions."""
        state = self.rollouts.state()
        state.put_module("network", self.network)
        state.put_optimizer("optimizer", self.update.optimizer)
        state.put_generator("learn", self.rng)
        for number, past in enumerate(self.pool):
            state.put_module(f"past{number}", past)
        state.values["pool"] = len(self.pool)
        return state

    def load_state(self, state: State) -> None:
        """Restore a `state()`."""
        self.rollouts.load_state(state)
        state.get_module("network", self.network)
        state.get_optimizer("optimizer", self.update.optimizer)
        state.get_generator("learn", self.rng)
        self.pool = []
        for number in range(state.value("pool")):
            past = copy.deepcopy(self.network).eval()
            state.get_module(f"past{number}", past)
            self.pool.append(past)
