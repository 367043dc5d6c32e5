"""Deep Q-learning (Mnih et al. 2015) as paper 003 applies it to king and pawn against king.

    act       the move of the greatest Q value, or with probability epsilon a random one
    store     position, move, reward and the position in which the agent moves again
    targets   reward + discount * max Q of the target network there, 0 after the end
    loss      (target - Q of the move made)^2 on moves drawn from the replay memory
    update    Adam; after every 100 games the target network becomes a copy of the learner

Switches: prioritised replay (Schaul et al. 2016), double Q-learning (van Hasselt et al. 2016),
dueling networks (Wang et al. 2016, in `nets/pyramid.py`), n-step returns, Huber loss, and legal
masking instead of the paper's penalty for illegal moves.

Where the paper learns from 32 moves after each move of one game, we play `games` games side by side
and learn from `games` x 32 moves after each round, in `updates` steps: the same number of moves
learnt per move played, in fewer and larger batches.
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

from rookery.algorithms.dqn_recipe import DQNRecipe, DQNSettings
from rookery.algorithms.dqn_worlds import ACTIONS, World, make_world
from rookery.nets import Network, make_network
from rookery.nets.pyramid import Pyramid
from rookery.training.state import State
from rookery.training.trainer import Algorithm, Context, Evaluation, Metrics

PRIORITY_FLOOR = 1e-2  # so that no move is never drawn again


# --- Store ---


@dataclass
class Batch:
    """B moves drawn from the memory."""

    places: NDArray[np.int64]  # [B] in the memory
    squares: Tensor  # int64 [B, 3]
    actions: Tensor  # int64 [B]
    rewards: Tensor  # [B], discounted sum of `steps` rewards
    following: Tensor  # int64 [B, 3]
    legal: Tensor  # bool [B, A], in the following position
    discounts: Tensor  # [B], of what follows; 0 after the end
    weights: Tensor  # [B], importance of the sample; 1 if drawn alike


class ReplayMemory:
    """The newest moves, drawn alike or by the size of their last error."""

    def __init__(self, capacity: int, exponent: float, importance: float) -> None:
        """Make room for `capacity` moves."""
        self.capacity, self.exponent, self.importance = capacity, exponent, importance
        self.arrays: dict[str, NDArray[Any]] = {
            "squares": np.zeros((capacity, 3), dtype=np.int64),
            "actions": np.zeros(capacity, dtype=np.int64),
            "rewards": np.zeros(capacity, dtype=np.float32),
            "following": np.zeros((capacity, 3), dtype=np.int64),
            "legal": np.zeros((capacity, ACTIONS), dtype=np.bool_),
            "discounts": np.zeros(capacity, dtype=np.float32),
        }
        self.priorities = np.zeros(capacity, dtype=np.float64)
        self.next = 0
        self.size = 0

    def add(self, **rows: NDArray[Any]) -> None:
        """Store moves over the oldest ones; new moves have the greatest priority."""
        count = len(rows["actions"])
        places = (self.next + np.arange(count)) % self.capacity
        for name, values in rows.items():
            self.arrays[name][places] = values
        self.priorities[places] = self.priorities.max() or 1.0
        self.next = int((self.next + count) % self.capacity)
        self.size = min(self.size + count, self.capacity)

    def draw(self, count: int, rng: np.random.Generator) -> Batch:
        """Draw with replacement."""
        if not self.exponent:
            places = rng.integers(0, self.size, count)
            weights = np.ones(count, dtype=np.float32)
        else:
            cumulative = np.cumsum(self.priorities[: self.size] ** self.exponent)
            places = np.searchsorted(cumulative, rng.random(count) * cumulative[-1])
            chance = self.priorities[places] ** self.exponent / cumulative[-1]
            scaled = (self.size * chance) ** -self.importance
            weights = (scaled / scaled.max()).astype(np.float32)
        drawn = {name: torch.from_numpy(values[places]) for name, values in self.arrays.items()}
        return Batch(places=places, weights=torch.from_numpy(weights), **drawn)

    def set_errors(self, places: NDArray[np.int64], errors: NDArray[np.float32]) -> None:
        """Remember how wrong the network was about these moves."""
        self.priorities[places] = np.abs(errors) + PRIORITY_FLOOR


class Pending:
    """The last `steps` moves of each game, until their returns are known."""

    def __init__(self, games: int, steps: int, discount: float) -> None:
        """Nothing has been played."""
        self.steps, self.discount = steps, discount
        self.squares = np.zeros((games, steps, 3), dtype=np.int64)
        self.actions = np.zeros((games, steps), dtype=np.int64)
        self.rewards = np.zeros((games, steps), dtype=np.float32)
        self.length = np.zeros(games, dtype=np.int64)

    def push(
        self,
        squares: NDArray[np.int64],
        actions: NDArray[np.int64],
        rewards: NDArray[np.float32],
    ) -> None:
        """Add a move to each game; none may be full."""
        each = np.arange(len(actions))
        self.squares[each, self.length] = squares
        self.actions[each, self.length] = actions
        self.rewards[each, self.length] = rewards
        self.length += 1

    def pop(
        self, following: NDArray[np.int64], legal: NDArray[np.bool_], ended: NDArray[np.bool_]
    ) -> dict[str, NDArray[Any]]:
        """Moves whose return is known: the oldest where full, all where the game has ended."""
        found: list[tuple[NDArray[Any], ...]] = []
        while True:
            ready = np.flatnonzero((self.length == self.steps) | (ended & (self.length > 0)))
            if not len(ready):
                break
            powers = self.discount ** np.arange(self.steps, dtype=np.float32)
            inside = np.arange(self.steps) < self.length[ready, None]
            returns = (self.rewards[ready] * inside * powers).sum(1)
            left = np.where(ended[ready], 0.0, self.discount ** self.length[ready])
            found.append(
                (self.squares[ready, 0], self.actions[ready, 0], returns, following[ready],
                 legal[ready], left)
            )  # fmt: skip
            for values in (self.squares, self.actions, self.rewards):
                values[ready, :-1] = values[ready, 1:]
            self.length[ready] -= 1
        names = ("squares", "actions", "rewards", "following", "legal", "discounts")
        if not found:
            return {}
        return {
            name: np.concatenate(v) for name, v in zip(names, zip(*found, strict=True), strict=True)
        }

    def drop(self, where: NDArray[np.bool_]) -> None:
        """Forget the moves of games that were cut off."""
        self.length[where] = 0


# --- Targets and loss ---


def targets_of(network: Pyramid, target: Pyramid, batch: Batch, settings: DQNSettings) -> Tensor:
    """What Q of the moves made should have been, [B] (paper 003, equation 2)."""
    with torch.no_grad():
        following = target.q_values(batch.following)
        chooser = network.q_values(batch.following) if settings.double else following
        if settings.illegal == "mask":
            chooser = chooser.masked_fill(~batch.legal, -torch.inf)
        best = chooser.argmax(-1, keepdim=True)
        return batch.rewards + batch.discounts * following.gather(1, best).squeeze(1)


def loss_of(predicted: Tensor, targets: Tensor, weights: Tensor, kind: str) -> Tensor:
    """Mean loss of a batch."""
    function = functional.mse_loss if kind == "squared" else functional.huber_loss
    return (weights * function(predicted, targets, reduction="none")).mean()


# --- The loop ---


class DQNTrainer:
    """Act, store, learn; see `rookery.training.trainer.Trainer`."""

    def __init__(self, context: Context[DQNRecipe]) -> None:
        """Make the network, its copy, the memory and the games."""
        self.context = context
        recipe, settings = context.recipe, context.recipe.dqn
        weights = context.torch_generator("weights")
        self.network: Pyramid = make_network("pyramid", "kpk3", "kpk", recipe.network, weights)
        self.target: Pyramid = copy.deepcopy(self.network)
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), lr=settings.learning_rate, fused=True
        )
        self.memory = ReplayMemory(settings.replay, settings.prioritised, settings.importance)
        self.pending = Pending(settings.games, settings.steps, settings.discount)
        self.world: World = make_world(recipe.world, settings.games, context.seed("games"))
        self.rng = context.generator("play")
        self.moves = 0  # of the agent, illegal attempts included
        self.games_since_copy = 0

    def epsilon(self) -> float:
        """Share of random moves now."""
        settings = self.context.recipe.dqn
        done = min(1.0, self.moves / settings.epsilon_moves)
        return settings.epsilon_start + done * (settings.epsilon_end - settings.epsilon_start)

    def iterate(self) -> Metrics:
        """Play some rounds, learning after each."""
        settings = self.context.recipe.dqn
        start, end = settings.learning_rate, settings.final_learning_rate
        for group in self.optimizer.param_groups:
            group["lr"] = start + (end - start) * self.context.progress
        counts = {"won": 0, "other": 0, "cut": 0}
        losses: list[float] = []
        highest: list[float] = []
        played = 0.0
        for _ in range(settings.rounds):
            began = time.perf_counter()
            highest.append(self._play_round(counts))
            played += time.perf_counter() - began
            if self.memory.size >= settings.replay_start:
                losses += [self._update() for _ in range(settings.updates)]
        games = counts["won"] + counts["other"]
        return Metrics(
            samples=settings.rounds * settings.games,
            games=games,
            losses={"q": float(np.mean(losses))} if losses else {},
            values={
                "highest_q": float(np.mean(highest)),
                "epsilon": self.epsilon(),
                "win_rate": counts["won"] / games if games else float("nan"),
            },
            results=counts,
            timing={"play": played},
        )

    def _play_round(self, counts: dict[str, int]) -> float:
        """One move in each game; the mean of the highest Q values that the network saw."""
        settings, world = self.context.recipe.dqn, self.world
        squares = world.squares.copy()
        with torch.no_grad():
            q_values = self.network.q_values(torch.from_numpy(squares)).numpy()
        actions = choose_actions(q_values, world.legal, self.epsilon(), settings, self.rng)
        step = world.step(actions)
        self.pending.push(squares, actions, step.rewards)
        ready = self.pending.pop(world.squares, world.legal, step.ended)
        if ready:
            self.memory.add(**ready)
        self.pending.drop(step.cut)
        self.moves += len(actions)
        ended, won = int(step.ended.sum()), int(step.won.sum())
        counts["won"] += won
        counts["other"] += ended - won
        counts["cut"] += int(step.cut.sum())
        self.games_since_copy += ended
        if self.games_since_copy >= settings.target_games:
            self.target.load_state_dict(self.network.state_dict())
            self.games_since_copy = 0
        return float(q_values.max(1).mean())

    def _update(self) -> float:
        """One step of the optimiser; its loss."""
        settings = self.context.recipe.dqn
        count = max(1, settings.batch * settings.games // settings.updates)
        batch = self.memory.draw(count, self.rng)
        targets = targets_of(self.network, self.target, batch, settings)
        q_values = self.network.q_values(batch.squares)
        predicted = q_values.gather(1, batch.actions[:, None]).squeeze(1)
        loss = loss_of(predicted, targets, batch.weights, settings.loss)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        if settings.prioritised:
            self.memory.set_errors(batch.places, (targets - predicted.detach()).numpy())
        return float(loss.detach())

    def evaluate(self, rng: np.random.Generator) -> list[Evaluation]:
        """Greedy games from random positions against the opponent of the recipe."""
        recipe = self.context.recipe
        limit = recipe.evaluation.max_moves
        settings = recipe.world.model_copy(update={"max_moves": limit})
        world = make_world(settings, recipe.evaluation.games, int(rng.integers(1 << 62)))
        open_ones = np.ones(recipe.evaluation.games, dtype=np.bool_)
        won = 0
        try:
            for _ in range(limit):
                with torch.no_grad():
                    q_values = self.network.q_values(torch.from_numpy(world.squares)).numpy()
                step = world.step(np.where(world.legal, q_values, -np.inf).argmax(1))
                won += int((open_ones & step.won).sum())
                open_ones &= ~(step.ended | step.cut)
        finally:
            world.close()
        name = recipe.world.opponent if recipe.world.name == "kpk" else recipe.world.name
        return [Evaluation(name, (won, len(open_ones) - won, 0), (0, 0, 0))]

    def model(self) -> Network:
        """The network as it is."""
        network: Any = self.network
        return cast(Network, network)

    def state(self) -> State:
        """Networks, optimiser, memory, games, random stream."""
        state = State()
        state.put_module("network", self.network)
        state.put_module("target", self.target)
        state.put_optimizer("optimizer", self.optimizer)
        memory, pending = self.memory, self.pending
        stored = {**memory.arrays, "priorities": memory.priorities}
        state.put_tensors("memory", {k: torch.from_numpy(v) for k, v in stored.items()})
        waiting = {k: v for k, v in vars(pending).items() if isinstance(v, np.ndarray)}
        state.put_tensors("pending", {k: torch.from_numpy(v) for k, v in waiting.items()})
        state.values["counters"] = [memory.next, memory.size, self.moves, self.games_since_copy]
        state.put_generator("play", self.rng)
        self.world.save(state)
        return state

    def load_state(self, state: State) -> None:
        """Go on from there."""
        state.get_module("network", self.network)
        state.get_module("target", self.target)
        state.get_optimizer("optimizer", self.optimizer)
        for name, tensor in state.get_tensors("memory").items():
            where = self.memory.arrays.get(name, self.memory.priorities)
            where[:] = tensor.numpy()
        for name, tensor in state.get_tensors("pending").items():
            getattr(self.pending, name)[:] = tensor.numpy()
        counters = state.value("counters")
        self.memory.next, self.memory.size, self.moves, self.games_since_copy = counters
        state.get_generator("play", self.rng)
        self.world.load(state)


def choose_actions(
    q_values: NDArray[np.float32],
    legal: NDArray[np.bool_],
    epsilon: float,
    settings: DQNSettings,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Epsilon-greedy actions [N]: among all actions, or among the legal ones if masked."""
    noise = rng.random(q_values.shape)
    if settings.illegal == "mask":
        q_values, noise = np.where(legal, q_values, -np.inf), np.where(legal, noise, -1.0)
    random = rng.random(len(q_values)) < epsilon
    actions: NDArray[np.int64] = np.where(random, noise.argmax(1), q_values.argmax(1))
    return actions


ALGORITHM = Algorithm(DQNRecipe, DQNTrainer)
