"""Proximal policy optimisation (PPO) on chess, without search.

Schulman et al., "Proximal Policy Optimization Algorithms" (2017): play with the current policy,
estimate the advantage of each move (GAE), then make several passes over these moves with the
clipped surrogate objective.

Each colour of a game is a separate trajectory: its rewards are those of its moves and of the
opponent's replies, and its next state is the position in which it moves again. Only legal actions
have logits (`rookery.nets.ragged`).
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from rookery._core import Game
from rookery.algorithms.mlp_update import Factors, MlpUpdate
from rookery.algorithms.ppo_recipe import PPORecipe
from rookery.data.starts import random_endings
from rookery.learning.matches import policy_match
from rookery.nets import PolicyValueNetwork, make_network, ragged
from rookery.nets.mlp import Mlp
from rookery.runs.live import write_live
from rookery.runs.state import State
from rookery.selfplay.collector import Collector, Hooks, Weights, make_collector
from rookery.selfplay.networks import network_of, weights_of
from rookery.selfplay.rollout import Incentives, Rollout, RolloutOrder, RolloutPlan
from rookery.training.trainer import Context, MatchScore, Metrics, Trainer

# --- Targets ---


def advantages(rollout: Rollout, discount: float, gae_lambda: float) -> NDArray[np.float32]:
    """Generalised advantages [T, N] of the learner's plies (Schulman et al. 2016); 0 elsewhere.

    Iterates backwards, keeping for each game and colour the value and the advantage of the state in
    which this colour moves next, and the rewards in between.
    """
    plies, count = rollout.rewards.shape
    each = np.arange(count)
    value = np.zeros((count, 2), dtype=np.float32)
    advantage = np.zeros((count, 2), dtype=np.float32)
    pending = np.zeros((count, 2), dtype=np.float32)
    # The critic's value is for the side to move, and the game is zero-sum.
    value[each, rollout.last_colours] = rollout.last_values
    value[each, 1 - rollout.last_colours] = -rollout.last_values
    result = np.zeros((plies, count), dtype=np.float32)
    for t in reversed(range(plies)):
        ended, mover = rollout.ended[t], rollout.colours[t]
        value[ended] = rollout.bootstrap[t, ended]
        advantage[ended] = 0.0
        pending[ended] = 0.0
        pending[each, 1 - mover] += rollout.other_rewards[t]
        reward = rollout.rewards[t] + pending[each, mover]
        error = reward + discount * value[each, mover] - rollout.values[t]
        now = error + discount * gae_lambda * advantage[each, mover]
        learning = rollout.learning[t]
        result[t, learning] = now[learning]
        chosen, colour = each[learning], mover[learning]
        value[chosen, colour] = rollout.values[t, learning]
        advantage[chosen, colour] = now[learning]
        pending[chosen, colour] = 0.0
    return result


@dataclass
class Batch:
    """The samples of a rollout: B positions, L legal actions in all."""

    observations: Tensor  # [B, *shape]
    legal: Tensor  # int64 [L]
    offsets: NDArray[np.int64]  # [B + 1]
    places: NDArray[np.int64]  # [B] index of the action in its position's legal list
    log_probabilities: Tensor  # [L] of the acting policy
    advantages: Tensor  # [B], normalised
    returns: Tensor  # [B], targets of the critic

    def __len__(self) -> int:
        """B."""
        return len(self.places)

    def minibatch(self, index: NDArray[np.int64]) -> tuple[Tensor, ...]:
        """Observations, legal, rows, chosen entries, old log probabilities of some samples."""
        counts = self.offsets[index + 1] - self.offsets[index]
        firsts = np.cumsum(counts) - counts  # where each sample's list begins in the minibatch
        entries = np.repeat(self.offsets[index] - firsts, counts) + np.arange(counts.sum())
        rows = torch.from_numpy(np.repeat(np.arange(len(index)), counts))
        chosen = torch.from_numpy(firsts + self.places[index])
        old = self.log_probabilities[torch.from_numpy(entries)]
        samples = torch.from_numpy(index)
        return self.observations[samples], self.legal[torch.from_numpy(entries)], rows, chosen, old


def batch_of(rollout: Rollout, discount: float, gae_lambda: float) -> Batch:
    """The learner's plies with their targets."""
    gained = advantages(rollout, discount, gae_lambda)
    learning = rollout.learning
    counts = np.concatenate([np.diff(offsets) for offsets in rollout.offsets])
    listed = np.repeat(learning.ravel(), counts)  # legal actions of the learner's plies
    chosen = gained[learning]
    return Batch(
        observations=torch.from_numpy(rollout.observations[learning]),
        legal=torch.from_numpy(np.concatenate(rollout.legal)[listed]),
        offsets=np.concatenate([[0], np.cumsum(counts[learning.ravel()])]),
        places=rollout.places[learning],
        log_probabilities=torch.from_numpy(np.concatenate(rollout.log_probabilities)[listed]),
        advantages=torch.from_numpy((chosen - chosen.mean()) / (chosen.std() + 1e-8)),
        returns=torch.from_numpy(chosen + rollout.values[learning]),
    )


# --- Loss ---


@dataclass(frozen=True)
class Losses:
    """Terms of the objective, each a mean over the minibatch."""

    policy: Tensor
    value: Tensor
    entropy: Tensor
    kl: Tensor


def losses(
    network: PolicyValueNetwork,
    batch: Batch,
    index: NDArray[np.int64],
    clip: float,
    value_clip: float,
) -> Losses:
    """The clipped objective, value loss, entropy and KL on some samples of a batch."""
    count = len(index)
    observations, legal, rows, chosen, old = batch.minibatch(index)
    logits, values = network(observations, legal, rows)
    new = ragged.log_softmax(logits, rows, count)
    samples = torch.from_numpy(index)
    advantage, target = batch.advantages[samples], batch.returns[samples]
    ratio = (new[chosen] - old[chosen]).exp()
    clipped = ratio.clamp(1 - clip, 1 + clip)
    value_error = functional.mse_loss(values, target, reduction="none")
    if value_clip:
        value_error = value_error.clamp(max=value_clip)
    return Losses(
        policy=-torch.min(ratio * advantage, clipped * advantage).mean(),
        value=value_error.mean(),
        entropy=ragged.entropy(new, rows, count).mean(),
        kl=ragged.kl_divergence(old, new, rows, count).mean(),
    )


class AutogradUpdate:
    """Adam on these losses, for any network; `MlpUpdate` is a faster form for the family `mlp`."""

    def __init__(self, network: Any, learning_rate: float, adam_epsilon: float) -> None:
        """Make the optimiser."""
        self.network = network
        parameters = network.parameters()
        self.optimizer = torch.optim.Adam(
            parameters, lr=learning_rate, eps=adam_epsilon, fused=True
        )

    def learn(
        self, batch: Batch, order: NDArray[np.int64], size: int, weights: Factors
    ) -> tuple[NDArray[np.float64], int]:
        """One pass in minibatches; sums of policy loss, value loss, entropy, KL [4], and steps."""
        sums, starts = np.zeros(4), range(0, len(order), size)
        for start in starts:
            index = np.sort(order[start : start + size])
            terms = losses(self.network, batch, index, weights.clip, weights.value_clip)
            total = terms.policy + weights.value * terms.value
            total = total - weights.entropy * terms.entropy + weights.kl * terms.kl
            self.optimizer.zero_grad()
            total.backward()  # type: ignore[no-untyped-call]
            if weights.gradient_norm:
                torch.nn.utils.clip_grad_norm_(self.network.parameters(), weights.gradient_norm)
            self.optimizer.step()
            sums += [float(term.detach()) for term in vars(terms).values()]
        return sums, len(starts)

    def take(self) -> None:
        """Do nothing: the optimiser uses the network's own weights."""

    def publish(self) -> None:
        """Do nothing: the optimiser uses the network's own weights."""


# --- The loop ---


class PPOTrainer(Trainer):
    """Collect, estimate, improve; see `rookery.training.trainer.Trainer`."""

    def __init__(self, context: Context[PPORecipe]) -> None:
        """Make the network, the optimiser and the games."""
        self.context = context
        recipe = context.recipe
        settings = recipe.ppo
        self.network = self._new_network()
        self.ring: list[Weights] = []  # snapshots, oldest first
        kind = MlpUpdate if isinstance(self.network, Mlp) else AutogradUpdate
        self.update = kind(self.network, settings.learning_rate, settings.adam_epsilon)
        self.optimizer = self.update.optimizer
        self.kl_coefficient = settings.kl_coefficient
        self.rng = context.generator("learn")
        hooks = Hooks(
            context.log,
            context.check_stop,
            lambda boards: write_live(context.folder, boards),
            context.pool,
        )
        self.collector: Collector[RolloutOrder, Rollout] = make_collector(
            "rollouts", "batches", self._plan(), hooks
        )

    def _new_network(self) -> Any:
        network, game = self.context.recipe.network, self.context.recipe.game
        sizes = getattr(network, network.family)
        generator = self.context.torch_generator("weights")
        made = make_network(network.family, game.observation, game.actions, sizes, generator)
        made.board = self.context.recipe.board
        return made

    def _plan(self) -> RolloutPlan:
        recipe, game = self.context.recipe, self.context.recipe.game
        games = {
            "num_games": recipe.ppo.games,
            "board": recipe.board,
            "claims": "action" if game.actions == "az4673" else "automatic",
            "random_plies": (game.random_plies[0], game.random_plies[1]),
            "start_fens": self._start_fens(),
            "dtype": "uint8" if game.observation == "tactical70" else "float32",
            **game.model_dump(
                include={
                    "observation", "actions", "win", "loss", "draw", "move", "max_plies",
                    "draw_after_plies",
                }
            ),
        }  # fmt: skip
        return RolloutPlan(
            games=games,
            seed=recipe.run.seed,
            learn_both=recipe.opponent.learn_both,
            rival_share=recipe.opponent.rival_share,
            book=game.book,
            tablebase=game.tablebase,
            sets=recipe.ppo.sets,
        )

    def _start_fens(self) -> list[str]:
        """Random endings mixed with start positions by `endings_share`; empty: start positions."""
        game = self.context.recipe.game
        if not game.endings or not game.endings_share:
            return []
        board = self.context.recipe.board
        fens = random_endings(game.endings, self.context.generator("endings"), board)
        standard = round(len(fens) * (1 - game.endings_share) / game.endings_share)
        return fens + [Game(board=board).fen()] * standard

    def iterate(self) -> Metrics:
        """Collect a rollout, compute its targets, learn from it."""
        settings, progress = self.context.recipe.ppo, self.context.progress
        began = time.perf_counter()
        weights = weights_of(self.network)
        order = RolloutOrder(settings.plies, self._rival(weights), self._incentives(progress))
        rollout = self.collector.begin(weights, order)()
        played = time.perf_counter()
        batch = batch_of(rollout, settings.discount, settings.gae_lambda)
        means = self._learn(batch, progress)
        predicted = torch.from_numpy(rollout.values[rollout.learning])
        unexplained = float((batch.returns - predicted).var() / batch.returns.var())
        self._adapt_kl(means["kl"])
        return Metrics(
            samples=len(batch),
            games=len(rollout.lengths),
            losses={"policy": means["policy"], "value": means["value"]},
            values={
                "entropy": means["entropy"],
                "kl": means["kl"],
                "kl_coefficient": self.kl_coefficient,
                "explained_variance": 1.0 - unexplained,
                "game_plies": float(np.mean(rollout.lengths)) if rollout.lengths else float("nan"),
            },
            results=dict(sorted(rollout.results.items())),
            terminations=dict(sorted(rollout.endings.items())),
            timing={"play": played - began, "learn": time.perf_counter() - played},
        )

    def _incentives(self, progress: float) -> Incentives:
        game = self.context.recipe.game
        left = max(0.0, 1.0 - progress / game.incentives_end)
        return Incentives(game.draw_incentive * left, game.material_incentive * left)

    def _learn(self, batch: Batch, progress: float) -> dict[str, float]:
        """Passes over the batch in random order; the mean of each loss."""
        settings = self.context.recipe.ppo
        explored = min(1.0, progress / settings.entropy_end)
        weights = Factors(
            clip=settings.clip,
            value=settings.value_weight,
            value_clip=settings.value_clip,
            entropy=_between(settings.entropy, settings.final_entropy, explored),
            kl=self.kl_coefficient,
            gradient_norm=settings.gradient_norm,
        )
        for group in self.optimizer.param_groups:
            group["lr"] = _between(settings.learning_rate, settings.final_learning_rate, progress)
        sums, steps = np.zeros(4), 0
        for _ in range(settings.passes):
            self.context.check_stop()
            order = self.rng.permutation(len(batch))
            terms, count = self.update.learn(batch, order, settings.minibatch, weights)
            sums += terms
            steps += count
        self.update.publish()
        return dict(zip(("policy", "value", "entropy", "kl"), (sums / steps).tolist(), strict=True))

    def _adapt_kl(self, kl: float) -> None:
        """RLlib's rule: keep the KL divergence within a factor of two of the target."""
        target = self.context.recipe.ppo.kl_target
        if kl > 2.0 * target:
            self.kl_coefficient *= 1.5
        elif kl < 0.5 * target:
            self.kl_coefficient *= 0.5

    def _rival(self, weights: Weights) -> Weights | None:
        """The rival of this iteration, a random snapshot of the learner; None: a random mover."""
        opponent = self.context.recipe.opponent
        if opponent.rival != "snapshots" or opponent.rival_share == 0:
            return None
        if not self.ring or self.context.iteration % opponent.snapshot_every == 0:
            self.ring = [*self.ring, weights][-opponent.snapshots :]
        return self.ring[int(self.rng.integers(len(self.ring)))]

    def model(self) -> PolicyValueNetwork:
        """The network."""
        return cast(PolicyValueNetwork, self.network)

    def evaluate(self, rng: np.random.Generator) -> list[MatchScore]:
        """Matches of the policy, without search, against simple players."""
        settings = self.context.recipe.evaluation
        return [
            policy_match(
                self.network,
                bot,
                settings.games,
                int(rng.integers(1 << 62)),
                settings.temperature,
                self.context.recipe.game.draw_after_plies,
                self.context.recipe.board,
                self.context.evaluation_is_over,
            )
            for bot in settings.opponents
        ]

    def state(self) -> State:
        """Weights, optimiser, games, random streams, snapshots."""
        state = self.collector.state()
        state.put_module("network", self.network)
        state.put_optimizer("optimizer", self.optimizer)
        state.put_generator("learn", self.rng)
        for number, weights in enumerate(self.ring):
            state.put_module(f"ring{number}", network_of(weights))
        state.values["ring"] = len(self.ring)
        state.values["kl_coefficient"] = self.kl_coefficient
        return state

    def load_state(self, state: State) -> None:
        """Restore a `state()`."""
        state.get_module("network", self.network)
        state.get_optimizer("optimizer", self.optimizer)
        self.update.take()
        self.collector.load_state(state)
        state.get_generator("learn", self.rng)
        self.ring = [self._snapshot(state, number) for number in range(state.value("ring"))]
        self.kl_coefficient = state.value("kl_coefficient")

    def _snapshot(self, state: State, number: int) -> Weights:
        network = copy.deepcopy(self.network)
        state.get_module(f"ring{number}", network)
        return weights_of(network)

    def close(self) -> None:
        """Close the collector."""
        self.collector.close()


def _between(first: float, last: float, progress: float) -> float:
    return first + (last - first) * progress
