"""TD-leaf(lambda): learn a value function from the leaves of principal variations in self-play.

Baxter, Tridgell and Weaver, "KnightCap" (1999); Lai, "Giraffe" (2015). Let v(t) be the network's
value, for White, of the leaf of the principal variation at ply t. Correct values would not change
from move to move, so each is moved towards its successors:

    d(t) = v(t+1) - v(t)                          after the last ply, v is the game's result
    target(t) = v(t) + d(t) + lambda d(t+1) + lambda^2 d(t+2) + ...

The gradient of (v(t) - target(t))^2 with the target held fixed is TD-leaf's update. Each iteration
plays and searches `plies` plies of each of many games in C++ (core/datagen/leaf_games.h), and
learns from their leaves; the next one continues from there.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Protocol, cast

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field

from rookery._core import (
    BatchEvaluator,
    LeafGames,
    LeafSegments,
    NnueLearner,
    NnueNetwork,
    encode_samples,
)
from rookery.algorithms.engine_learning import (
    get_learner,
    new_weights,
    nnue_network,
    put_learner,
    tensors_of,
)
from rookery.base.scales import scores_of_values
from rookery.base.section import Section
from rookery.encodings import OBSERVATIONS
from rookery.learning.matches import player_match
from rookery.nets import ValueNetwork, make_network
from rookery.nets.value_evaluator import value_evaluator
from rookery.players.alphabeta import AlphaBetaPlayer
from rookery.players.bots import BotPlayer
from rookery.runs.state import State
from rookery.training.recipe import Recipe
from rookery.training.trainer import Context, MatchScore, Metrics, Trainer

Values = NDArray[np.float64]
Samples = NDArray[np.uint8]  # packed positions [B, 32] (core/nnue/packed_position.h)
PAWNS = (1, 3, 3, 5, 9, 0, 0, 0)  # worth of pawn, knight, bishop, rook, queen, king
MATERIAL_SCALE = 5.0  # pawns of material worth a value of tanh(1)
LARGEST_VALUE = 0.999  # limit of targets, so that their logits are finite
# Of one search: an untrained network may see a gain in every capture, and a quiescence search
# could then take hundreds of thousands of nodes.
MOST_NODES = 100_000


# --- Settings ---


class TdLeafSettings(Section):
    """The algorithm."""

    RENAMED: ClassVar = {"batch": "minibatch", "trace": "lambda_"}
    network: Literal["nnue", "giraffe"] = "nnue"
    """The engine's sparse network, or Giraffe's over grouped features."""
    width: int = Field(default=32, ge=16, le=1024, multiple_of=16)
    """Width of the hidden layer; of Giraffe's second one."""
    groups: tuple[int, int, int] | None = None
    """Widths of Giraffe's first layers (`rookery.nets.giraffe`)."""
    depth: int = Field(default=4, ge=1, le=20)
    """Search depth in plies."""
    games: int = Field(default=64, ge=1)
    """Games played in parallel."""
    plies: int = Field(default=12, ge=2)
    """Plies of each game per iteration."""
    random_plies: int = Field(default=10, ge=0)
    """Most random plies at the start of a game; the number is drawn for each."""
    new_games: float = Field(default=0.0, ge=0, le=1)
    """Share of games that are abandoned for a new one after each iteration."""
    random_start: bool = False
    """Begin each iteration with a random move in every game, as Giraffe's training positions."""
    max_plies: int = Field(default=300, ge=1)
    """A longer game is cut off without a result."""
    random_moves: float = Field(default=0.05, ge=0, le=1)
    """Share of random moves; targets do not look past them."""
    lambda_: float = Field(default=0.7, ge=0, le=1)
    """Discount of later value changes, as in TD(lambda)."""
    learning_rate: float = Field(default=1e-3, gt=0)
    """Learning rate of AdamW at the start."""
    final_learning_rate: float = Field(default=1e-4, ge=0)
    """Learning rate at the end of the run; linear in between."""
    window: int = Field(default=0, ge=0)
    """Recent leaves, with the targets they had, that minibatches are drawn from; 0: those of the
    iteration alone."""
    passes: int = Field(default=1, ge=1)
    """How often a leaf is learnt, on average."""
    minibatch: int = Field(default=256, ge=1)
    """Leaves per optimiser step."""
    material_iterations: int = Field(default=0, ge=0)
    """First iterations that learn the material balance instead, as in Giraffe."""


class EvaluationSettings(Section):
    """What is measured at every tenth of the run."""

    games: int = Field(default=40, ge=2, multiple_of=2)
    """Against each opponent, half of them with each colour."""
    opponents: list[Literal["random", "greedy", "greedy-safe"]] = Field(
        default=["random", "greedy-safe"]
    )


class TdLeafRecipe(Recipe):
    """All settings of a TD-leaf run."""

    tdleaf: TdLeafSettings = TdLeafSettings()
    evaluation: EvaluationSettings = EvaluationSettings()


# --- Targets ---


def targets(values: Values, ends: Values, breaks: NDArray[np.bool_], lambda_: float) -> Values:
    """Target values of the leaves, [T, N], for White.

    Args:
        values: Of the leaves, for White, [T, N].
        ends: Result for White of a game that ended with this ply, NaN elsewhere, [T, N].
        breaks: Whether the next value is unrelated, after a random move or a cut-off, [T, N].
        lambda_: Discount of later changes, [0, 1].
    """
    plies = len(values)
    result = values.copy()
    error = np.zeros(values.shape[1])  # d(t) + lambda d(t+1) + ...
    for t in reversed(range(plies)):
        ended = ~np.isnan(ends[t])
        following = values[t + 1] if t + 1 < plies else values[t]
        change = np.where(ended, ends[t] - values[t], following - values[t])
        error = change + np.where(ended, 0.0, lambda_ * error)
        error[breaks[t] & ~ended] = 0.0
        result[t] += error
    return result


# --- Packed positions ---


def white_to_move(samples: Samples) -> NDArray[np.bool_]:
    """Whether White is to move [B]."""
    return (samples[:, 26] & 1) == 0


def material_values(samples: Samples) -> Values:
    """Material balance as values [B] in [-1, 1] for the side to move."""
    nibbles = np.stack([samples[:, 8:24] & 15, samples[:, 8:24] >> 4], axis=2).reshape(-1, 32)
    counts = np.unpackbits(samples[:, :8], axis=1).sum(axis=1)
    worth = np.array(PAWNS + tuple(-pawns for pawns in PAWNS), dtype=np.float64)[nibbles]
    worth[np.arange(32) >= counts[:, None]] = 0.0
    white: Values = np.tanh(worth.sum(axis=1) / MATERIAL_SCALE)
    return np.where(white_to_move(samples), white, -white)


# --- The two networks: evaluate, learn ---


class Learner(Protocol):
    """A network with its optimiser."""

    def evaluator(self) -> NnueNetwork | BatchEvaluator:
        """A native copy of the present weights, for searches."""

    def values(self, leaves: Samples) -> Values:
        """Values [B] in [-1, 1] for the side to move."""

    def learn(self, leaves: Samples, wanted: Values, rate: float) -> float:
        """One step towards `wanted` [B]; the mean squared error before it."""

    def network(self) -> ValueNetwork:
        """The network to publish."""

    def put(self, state: State) -> None:
        """Store weights and optimiser."""

    def get(self, state: State) -> None:
        """Restore what `put` stored."""


class NnueLeaves:
    """The engine's network, with native search and gradients."""

    def __init__(self, settings: TdLeafSettings, generator: torch.Generator) -> None:
        """Begin with random weights."""
        self._learner = NnueLearner(settings.width)
        for name, array in new_weights(settings.width, 8, generator).items():
            self._learner.weights()[name][:] = array

    def evaluator(self) -> NnueNetwork:
        """The quantised network."""
        return NnueNetwork(*tensors_of(self._learner.weights()))

    def values(self, leaves: Samples) -> Values:
        """Evaluate with the float weights."""
        raw = self._learner.evaluate(leaves).astype(np.float64)
        return np.asarray(np.tanh(raw / 2.0))

    def learn(self, leaves: Samples, wanted: Values, rate: float) -> float:
        """One native step on samples whose scores are the targets."""
        samples = np.array(leaves)
        clipped = wanted.clip(-LARGEST_VALUE, LARGEST_VALUE)
        samples.view(np.int16)[:, 12] = np.rint(scores_of_values(clipped))
        rates = np.full(1, rate, dtype=np.float32)
        loss = self._learner.train(samples, 0, len(samples), 0, rates, 0.0, 2.0)
        return 4.0 * loss  # of values in [-1, 1] instead of scores in [0, 1]

    def network(self) -> ValueNetwork:
        """The same weights in torch."""
        return nnue_network(self._learner.weights())

    def put(self, state: State) -> None:
        """Store weights and moments."""
        put_learner(state, "nnue", self._learner)
        state.values["nnue"] = {"steps": self._learner.steps}

    def get(self, state: State) -> None:
        """Restore weights and moments."""
        get_learner(state, "nnue", self._learner)
        self._learner.steps = int(state.value("nnue")["steps"])


class GiraffeLeaves:
    """Giraffe's network, with gradients by torch."""

    def __init__(self, settings: TdLeafSettings, generator: torch.Generator) -> None:
        """Begin with random weights."""
        sizes: dict[str, Any] = {"width": settings.width, "groups": settings.groups}
        self._network = make_network("giraffe", "giraffe363", "none", sizes, generator)
        self._optimizer = torch.optim.AdamW(self._network.parameters(), lr=1e-3)

    def evaluator(self) -> BatchEvaluator:
        """A native copy."""
        return value_evaluator(self._network)

    def values(self, leaves: Samples) -> Values:
        """Evaluate in torch."""
        with torch.no_grad():
            values: torch.Tensor = self._network.values(_features(leaves))
        return values.numpy().astype(np.float64)

    def learn(self, leaves: Samples, wanted: Values, rate: float) -> float:
        """One step of AdamW."""
        target = torch.from_numpy(wanted.astype(np.float32))
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        loss = (self._network.values(_features(leaves)) - target).square().mean()
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        return float(loss.detach())

    def network(self) -> ValueNetwork:
        """The network itself."""
        return cast(ValueNetwork, self._network)

    def put(self, state: State) -> None:
        """Store weights and optimiser."""
        state.put_module("giraffe", self._network)
        state.put_optimizer("optimizer", self._optimizer)

    def get(self, state: State) -> None:
        """Restore weights and optimiser."""
        state.get_module("giraffe", self._network)
        state.get_optimizer("optimizer", self._optimizer)


def _features(samples: Samples) -> torch.Tensor:
    inputs = np.zeros((len(samples), *OBSERVATIONS["giraffe363"].shape), dtype=np.float32)
    encode_samples(samples, "giraffe363", inputs)
    return torch.from_numpy(inputs)


# --- The loop ---


class TdLeafTrainer(Trainer):
    """Search, play, estimate, learn; see `rookery.training.trainer.Trainer`."""

    def __init__(self, context: Context[TdLeafRecipe]) -> None:
        """Begin all games."""
        self.context = context
        settings = context.recipe.tdleaf
        kind = NnueLeaves if settings.network == "nnue" else GiraffeLeaves
        self.learner: Learner = kind(settings, context.torch_generator("weights"))
        self.rng = context.generator("order")
        self.starts: Samples | None = None  # where the games stand, [games, 32]; None: nowhere yet
        self.leaves = np.zeros((0, 32), dtype=np.uint8)  # of the window
        self.goals = np.zeros(0)  # their targets, for the side to move
        self._games = LeafGames(
            self.learner.evaluator(),
            context.seed("play"),
            depth=settings.depth,
            nodes=MOST_NODES,
            plies=settings.plies,
            random_plies=settings.random_plies,
            max_plies=settings.max_plies,
            new_games=settings.new_games,
            random_start=settings.random_start,
            random_moves=settings.random_moves,
            threads=context.workers,
        )

    @property
    def _by_material(self) -> bool:
        return self.context.iteration < self.context.recipe.tdleaf.material_iterations

    def iterate(self) -> Metrics:
        """Play a segment of all games and learn from it."""
        settings = self.context.recipe.tdleaf
        began = time.perf_counter()
        played = self._play()
        searched = time.perf_counter()
        leaves, values = played.leaves, self._white_values(played)
        ends, breaks = played.ends.T.astype(np.float64), played.unrelated.T.astype(bool)
        wanted = targets(values, ends, breaks, settings.lambda_)
        loss, samples = self._learn(leaves, wanted.T.ravel(), played.decided.ravel() == 0)
        results = {"white": played.white_wins, "draw": played.draws, "black": played.black_wins}
        return Metrics(
            samples=samples,
            games=sum(played.endings.values()),
            losses={"value": loss},
            values={
                "mean_change": float(np.abs(wanted - values).mean()),
                "value_deviation": float(values.std()),
                "nodes": played.nodes / values.size,
            },
            results={name: count for name, count in results.items() if count},
            terminations=played.endings,
            timing={"play": searched - began, "learn": time.perf_counter() - searched},
        )

    def _play(self) -> LeafSegments:
        count = self.context.recipe.tdleaf.games
        material = NnueNetwork.material() if self._by_material else None
        self._games.set_evaluator(material or self.learner.evaluator())
        played = self._games.run(self.context.iteration * count, count, self.starts)
        self.starts = played.next
        return played

    def _white_values(self, played: LeafSegments) -> Values:
        """Values of leaves for White [T, N]; the search's value where the game is over."""
        values = self.learner.values(played.leaves)
        values = np.where(white_to_move(played.leaves), values, -values)
        shape = played.values.shape
        return np.where(played.decided, played.values, values.reshape(shape)).T

    def _learn(
        self, leaves: Samples, wanted: Values, undecided: NDArray[np.bool_]
    ) -> tuple[float, int]:
        """Minibatch steps on the new leaves and the window; mean loss, and number of new leaves."""
        settings = self.context.recipe.tdleaf
        goals = np.where(white_to_move(leaves), wanted, -wanted)
        if self._by_material:
            goals = material_values(leaves)
        leaves, goals = leaves[undecided], goals[undecided]
        new = len(leaves)
        if settings.window:
            self.leaves = np.concatenate([self.leaves, leaves])[-settings.window :]
            self.goals = np.concatenate([self.goals, goals])[-settings.window :]
            leaves, goals = self.leaves, self.goals
        start, end = settings.learning_rate, settings.final_learning_rate
        rate = start + (end - start) * self.context.progress
        losses = [
            self.learner.learn(leaves[chosen], goals[chosen], rate)
            for chosen in self._minibatches(new, len(leaves))
        ]
        return float(np.mean(losses)) if losses else 0.0, new

    def _minibatches(self, new: int, count: int) -> Iterator[NDArray[np.int64]]:
        """Indices below `count`: as many as `passes` over the new leaves have."""
        settings = self.context.recipe.tdleaf
        for _ in range(settings.passes):
            order = self.rng.permutation(count)[:new]
            for first in range(0, len(order), settings.minibatch):
                yield order[first : first + settings.minibatch]

    def model(self) -> ValueNetwork:
        """The current network."""
        return self.learner.network()

    def evaluate(self, rng: np.random.Generator) -> list[MatchScore]:
        """Matches with search against simple players."""
        settings = self.context.recipe.evaluation
        depth = self.context.recipe.tdleaf.depth
        evaluator = self.learner.evaluator()
        player = AlphaBetaPlayer(evaluator, "TD-leaf", depth=depth, nodes=MOST_NODES)
        return [
            player_match(player, BotPlayer(bot), settings.games, rng, {})
            for bot in settings.opponents
        ]

    def state(self) -> State:
        """Weights, optimiser, games, random stream."""
        state = State()
        self.learner.put(state)
        state.put_generator("order", self.rng)
        if self.starts is not None:
            state.put_tensors("games", {"starts": torch.from_numpy(self.starts)})
        window = {"leaves": torch.from_numpy(self.leaves), "goals": torch.from_numpy(self.goals)}
        state.put_tensors("window", window)
        return state

    def load_state(self, state: State) -> None:
        """Restore a `state()`."""
        self.learner.get(state)
        state.get_generator("order", self.rng)
        if "games.starts" in state.tensors:
            self.starts = np.array(state.get_tensors("games")["starts"])
        window = state.get_tensors("window")
        self.leaves, self.goals = np.array(window["leaves"]), np.array(window["goals"])
