"""Deep Q-learning (Mnih et al. 2015) as Kanis 2016 applies it to king and pawn against king.

    act       argmax Q(s, a), or a random action with probability epsilon
    store     (s, a, r, s'), where s' is the position in which the agent moves again
    targets   y = r + discount * max Q_target(s', a'), or y = r at the end of the game
    loss      (y - Q(s, a))^2 on moves drawn from the replay memory
    update    Adam; after every 100 games the target network becomes a copy of the learner

Options: prioritised replay (Schaul et al. 2016), double Q-learning (van Hasselt et al. 2016),
dueling networks (Wang et al. 2016, in `pyramid.py`), n-step returns, Huber loss, and masking of
illegal moves instead of the paper's penalty.

The paper learns from 32 moves after each move of a single game. We play `games` games in parallel
and learn from `games` x 32 moves after each round, in `updates` steps: the same replay ratio with
fewer, larger minibatches. The network and Adam are native (`core/nets/pyramid_net.h`; with
convolutions they are torch's, `torch_net.py`), and the
target network's value of s' is stored with each move, since it changes only with that network.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from rookery._core import PyramidNet
from rookery.nets import ActionValueNetwork, make_network
from rookery.papers.kanis2016.pyramid import Pyramid
from rookery.papers.kanis2016.recipe import DQNRecipe, DQNSettings
from rookery.papers.kanis2016.torch_net import TorchNet
from rookery.papers.kanis2016.worlds import ACTIONS, World, make_world
from rookery.runs.state import State
from rookery.training.trainer import Context, MatchScore, Metrics, Trainer

PRIORITY_FLOOR = 1e-2  # keeps every move drawable
DRAWN = ("squares", "actions", "rewards", "discounts", "best")
LEARNT = ("weights", "first_moments", "second_moments")


# --- Store ---


@dataclass
class Minibatch:
    """B moves drawn from the memory, for one step of the optimiser."""

    places: NDArray[np.int64]  # [B] in the memory
    squares: NDArray[np.int64]  # [B, 3]
    actions: NDArray[np.int64]  # [B]
    rewards: NDArray[np.float32]  # [B], discounted sum of `steps` rewards
    discounts: NDArray[np.float32]  # [B], of the next position's value; 0 after the end
    best: NDArray[np.float32]  # [B], the target network's value of the next position
    weights: NDArray[np.float32] | None  # [B], importance sampling; None: all equal


class ReplayMemory:
    """A ring buffer of the newest moves, drawn uniformly or by priority."""

    def __init__(self, capacity: int, exponent: float, importance: float) -> None:
        """Allocate `capacity` moves; `exponent` and `importance` are Schaul's alpha and beta."""
        self.capacity, self.exponent, self.importance = capacity, exponent, importance
        self.arrays: dict[str, NDArray[Any]] = {
            "squares": np.zeros((capacity, 3), dtype=np.int64),
            "actions": np.zeros(capacity, dtype=np.int64),
            "rewards": np.zeros(capacity, dtype=np.float32),
            "following": np.zeros((capacity, 3), dtype=np.int64),
            "legal": np.zeros((capacity, ACTIONS), dtype=np.bool_),
            "discounts": np.zeros(capacity, dtype=np.float32),
            "best": np.zeros(capacity, dtype=np.float32),
        }
        self.priorities = np.zeros(capacity, dtype=np.float64)
        self.next = 0
        self.size = 0

    def add(self, **rows: NDArray[Any]) -> None:
        """Store moves, replacing the oldest; new moves get the highest priority."""
        count = len(rows["actions"])
        places = (self.next + np.arange(count)) % self.capacity
        for name, values in rows.items():
            self.arrays[name][places] = values
        if self.exponent:
            self.priorities[places] = self.priorities.max() or 1.0
        self.next = int((self.next + count) % self.capacity)
        self.size = min(self.size + count, self.capacity)

    def draw(self, count: int, rng: np.random.Generator) -> Minibatch:
        """Draw with replacement."""
        weights = None
        if not self.exponent:
            places = rng.integers(0, self.size, count)
        else:
            cumulative = np.cumsum(self.priorities[: self.size] ** self.exponent)
            places = np.searchsorted(cumulative, rng.random(count) * cumulative[-1])
            chance = self.priorities[places] ** self.exponent / cumulative[-1]
            scaled = (self.size * chance) ** -self.importance
            weights = (scaled / scaled.max()).astype(np.float32)
        drawn = {name: self.arrays[name][places] for name in DRAWN}
        return Minibatch(places=places, weights=weights, **drawn)

    def set_errors(self, places: NDArray[np.int64], errors: NDArray[np.float32]) -> None:
        """Store the network's errors on these moves as their priorities."""
        self.priorities[places] = np.abs(errors) + PRIORITY_FLOOR


class Pending:
    """The last `steps` moves of each game, until their n-step returns are known."""

    def __init__(self, games: int, steps: int, discount: float) -> None:
        """Begin empty."""
        self.steps, self.discount = steps, discount
        self.squares = np.zeros((games, steps, 3), dtype=np.int64)
        self.actions = np.zeros((games, steps), dtype=np.int64)
        self.rewards = np.zeros((games, steps), dtype=np.float32)
        self.length = np.zeros(games, dtype=np.int64)

    def push(
        self, squares: NDArray[np.int64], actions: NDArray[np.int64], rewards: NDArray[np.float32]
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
        found: list[dict[str, NDArray[Any]]] = []
        powers = self.discount ** np.arange(self.steps, dtype=np.float32)
        while True:
            ready = np.flatnonzero((self.length == self.steps) | (ended & (self.length > 0)))
            if not len(ready):
                break
            pushed = np.arange(self.steps) < self.length[ready, None]
            found.append(
                {
                    "squares": self.squares[ready, 0],
                    "actions": self.actions[ready, 0],
                    "rewards": (self.rewards[ready] * pushed * powers).sum(1),
                    "following": following[ready],
                    "legal": legal[ready],
                    "discounts": np.where(ended[ready], 0.0, self.discount ** self.length[ready]),
                }
            )
            for values in (self.squares, self.actions, self.rewards):
                values[ready, :-1] = values[ready, 1:]
            self.length[ready] -= 1
        return {
            name: np.concatenate([moves[name] for moves in found]) for name in (found or [{}])[0]
        }

    def drop(self, where: NDArray[np.bool_]) -> None:
        """Forget the moves of games that were cut off."""
        self.length[where] = 0


# --- Targets ---


class QValues(Protocol):
    """A Q network, native or a test's."""

    def q_values(self, squares: NDArray[np.int64]) -> NDArray[np.float32]:
        """Q values [B, A] of squares [B, 3]."""


def best_of(
    target: QValues,
    following: NDArray[np.int64],
    legal: NDArray[np.bool_],
    settings: DQNSettings,
    chooser: QValues | None = None,
) -> NDArray[np.float32]:
    """The maximum of Q_target [B], or Q_target of the `chooser`'s best action (double Q)."""
    values = target.q_values(following)
    preferences = values if chooser is None else chooser.q_values(following)
    if settings.illegal == "mask":
        preferences = np.where(legal, preferences, -np.inf)
    chosen: NDArray[np.float32] = values[np.arange(len(values)), preferences.argmax(1)]
    return chosen


# --- The learner ---


class Learner:
    """The online network and the target network."""

    def __init__(self, network: Pyramid, settings: DQNSettings) -> None:
        """Start from the weights of `network`, which `publish` updates."""
        self.settings, self.network, sizes = settings, network, network.sizes
        self.net: PyramidNet | TorchNet
        self.target: PyramidNet | TorchNet
        if sizes.convolutions:
            self.net, self.target = TorchNet(network), TorchNet(network)
        else:
            self.net = PyramidNet(sizes.hidden, ACTIONS, sizes.dueling)
            self.target = PyramidNet(sizes.hidden, ACTIONS, sizes.dueling)
            self.net.set("weights", network.flat())
        self.copy()

    def copy(self) -> None:
        """Copy the online network to the target network."""
        self.target.set("weights", self.net.get())

    def learn(self, batch: Minibatch, learning_rate: float) -> tuple[float, NDArray[np.float32]]:
        """One step of Adam towards the targets of Kanis 2016, equation 2; loss and errors [B]."""
        targets: NDArray[np.float32] = batch.rewards + batch.discounts * batch.best
        huber = self.settings.loss == "huber"
        return self.net.learn(
            batch.squares, batch.actions, targets, batch.weights, learning_rate, huber
        )

    def publish(self) -> Pyramid:
        """The torch network with the current weights."""
        self.network.load_flat(self.net.get())
        return self.network

    def save(self, state: State) -> None:
        """Store both networks and the optimiser."""
        parts = {name: self.net.get(name) for name in LEARNT}
        parts["target"] = self.target.get()
        state.put_tensors("learner", {k: torch.from_numpy(v) for k, v in parts.items()})
        state.values["learner_steps"] = self.net.steps

    def load(self, state: State) -> None:
        """Restore them."""
        parts = {k: v.numpy() for k, v in state.get_tensors("learner").items()}
        for name in LEARNT:
            self.net.set(name, parts[name])
        self.target.set("weights", parts["target"])
        self.net.steps = state.value("learner_steps")


# --- The loop ---


class DQNTrainer(Trainer):
    """Act, store, learn; see `rookery.training.trainer.Trainer`."""

    def __init__(self, context: Context[DQNRecipe]) -> None:
        """Make the networks, the memory and the games."""
        self.context = context
        recipe, settings = context.recipe, context.recipe.dqn
        weights = context.torch_generator("weights")
        network: Pyramid = make_network("pyramid", "kpk3", "kpk", recipe.network, weights)
        self.learner = Learner(network, settings)
        self.memory = ReplayMemory(settings.replay, settings.prioritised, settings.importance)
        self.pending = Pending(settings.games, settings.steps, settings.discount)
        self.world: World = make_world(recipe.world, settings.games, context.seed("games"))
        self.rng = context.generator("play")
        self.moves = 0  # of the agent, illegal attempts included
        self.games_since_copy = 0

    def epsilon(self) -> float:
        """The current share of random moves."""
        settings = self.context.recipe.dqn
        done = min(1.0, self.moves / settings.epsilon_moves)
        return settings.epsilon_start + done * (settings.epsilon_end - settings.epsilon_start)

    def iterate(self) -> Metrics:
        """Play some rounds, learning after each."""
        settings, progress = self.context.recipe.dqn, self.context.progress
        opponent = self.world.choose_opponent(progress)
        if opponent:
            self.context.log(f"the opponent is now {opponent}")
        start, end = settings.learning_rate, settings.final_learning_rate
        learning_rate = start + (end - start) * progress
        counts: Counter[str] = Counter()
        losses: list[float] = []
        highest: list[float] = []
        played = 0.0
        for _ in range(settings.rounds):
            self.context.check_stop()
            began = time.perf_counter()
            highest.append(self._play_round(counts))
            played += time.perf_counter() - began
            if self.memory.size >= settings.replay_start:
                losses += [self._update(learning_rate) for _ in range(settings.updates)]
        return Metrics(
            samples=settings.rounds * settings.games,
            games=counts["games"],
            losses={"q": float(np.mean(losses))} if losses else {},
            values={
                "highest_q": float(np.mean(highest)),
                "epsilon": self.epsilon(),
                "win_rate": share(counts["converted"], counts["winnable"]),
                "drawn_win_rate": share(
                    counts["won"] - counts["converted"], counts["games"] - counts["winnable"]
                ),
            },
            results={
                "won": counts["won"],
                "other": counts["games"] - counts["won"],
                "cut": counts["cut"],
            },
            timing={"play": played},
        )

    def _play_round(self, counts: Counter[str]) -> float:
        """One move in each game, added to `counts`; the mean of the highest Q values."""
        settings, world = self.context.recipe.dqn, self.world
        squares, promising = world.squares, world.promising
        q_values = self.learner.net.q_values(squares)
        actions = choose_actions(q_values, world.legal, self.epsilon(), settings, self.rng)
        step = world.step(actions)
        self.pending.push(squares, actions, step.rewards)
        ready = self.pending.pop(world.squares, world.legal, step.ended)
        if ready:
            if not settings.double:
                ready["best"] = best_of(
                    self.learner.target, ready["following"], ready["legal"], settings
                )
            self.memory.add(**ready)
        self.pending.drop(step.cut)
        self.moves += len(actions)
        counts.update(
            games=int(step.ended.sum()),
            winnable=int((step.ended & promising).sum()),
            won=int(step.won.sum()),
            converted=int((step.won & promising).sum()),
            cut=int(step.cut.sum()),
        )
        self.games_since_copy += int(step.ended.sum())
        if self.games_since_copy >= settings.target_games:
            self.games_since_copy = 0
            self._copy()
        return float(q_values.max(1).mean())

    def _copy(self) -> None:
        """Copy the online network to the target network; update the values stored with moves."""
        self.learner.copy()
        settings = self.context.recipe.dqn
        if not settings.double:
            stored = {k: v[: self.memory.size] for k, v in self.memory.arrays.items()}
            stored["best"][:] = best_of(
                self.learner.target, stored["following"], stored["legal"], settings
            )

    def _update(self, learning_rate: float) -> float:
        """One step of the optimiser; its loss."""
        settings = self.context.recipe.dqn
        count = max(1, settings.replay_ratio * settings.games // settings.updates)
        batch = self.memory.draw(count, self.rng)
        if settings.double:  # the online network chooses, and it changes with every step
            following, legal = (self.memory.arrays[k][batch.places] for k in ("following", "legal"))
            batch.best = best_of(self.learner.target, following, legal, settings, self.learner.net)
        loss, errors = self.learner.learn(batch, learning_rate)
        if settings.prioritised:
            self.memory.set_errors(batch.places, errors)
        return loss

    def evaluate(self, rng: np.random.Generator) -> list[MatchScore]:
        """Greedy play from random positions; only those that can be won are counted."""
        recipe = self.context.recipe
        limit, opponent = recipe.evaluation.max_moves, recipe.evaluation.opponent
        settings = recipe.world.model_copy(
            update={"max_moves": limit, "opponent": opponent, "opponents": []}
        )
        world = make_world(settings, recipe.evaluation.games, int(rng.integers(1 << 62)))
        open_ones = np.ones(recipe.evaluation.games, dtype=np.bool_)
        promising = world.promising.copy()
        won = np.zeros(len(open_ones), dtype=np.bool_)
        try:
            for _ in range(limit):
                q_values = self.learner.net.q_values(world.squares)
                step = world.step(np.where(world.legal, q_values, -np.inf).argmax(1))
                won |= open_ones & step.won
                open_ones &= ~(step.ended | step.cut)
        finally:
            world.close()
        name = opponent if recipe.world.name == "kpk" else recipe.world.name
        wins, positions = int((won & promising).sum()), int(promising.sum())
        drawn = len(won) - positions
        values = {"drawn_win_rate": share(int((won & ~promising).sum()), drawn)} if drawn else {}
        counts = (wins, 0, positions - wins)
        return [MatchScore(name, counts, (0, 0, 0), values, is_match=False)]

    def model(self) -> ActionValueNetwork:
        """The current network."""
        return self.learner.publish()

    def state(self) -> State:
        """Networks, optimiser, memory, games, random stream."""
        state = State()
        self.learner.save(state)
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
        """Restore them."""
        self.learner.load(state)
        for name, tensor in state.get_tensors("memory").items():
            where = self.memory.arrays.get(name, self.memory.priorities)
            where[:] = tensor.numpy()
        for name, tensor in state.get_tensors("pending").items():
            getattr(self.pending, name)[:] = tensor.numpy()
        counters = state.value("counters")
        self.memory.next, self.memory.size, self.moves, self.games_since_copy = counters
        state.get_generator("play", self.rng)
        self.world.load(state)


def share(part: int, whole: int) -> float:
    """`part / whole`; NaN if `whole` is 0."""
    return part / whole if whole else float("nan")


def choose_actions(
    q_values: NDArray[np.float32],
    legal: NDArray[np.bool_],
    epsilon: float,
    settings: DQNSettings,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Epsilon-greedy actions [N] among all actions, or among the legal ones if masked."""
    noise = rng.random(q_values.shape)
    if settings.illegal == "mask":
        q_values, noise = np.where(legal, q_values, -np.inf), np.where(legal, noise, -1.0)
    random = rng.random(len(q_values)) < epsilon
    actions: NDArray[np.int64] = np.where(random, noise.argmax(1), q_values.argmax(1))
    return actions
