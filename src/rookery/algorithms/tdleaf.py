"""TD-leaf(lambda): learn a value function from the leaves of principal variations in self-play.

Baxter, Tridgell and Weaver, "KnightCap" (1999); Lai, "Giraffe" (2015). Let v(t) be the network's
value, for White, of the leaf of the principal variation at ply t. Correct values would not change
from move to move, so each is moved towards its successors:

    d(t) = v(t+1) - v(t)                          after the last ply, v is the game's result
    target(t) = v(t) + d(t) + lambda d(t+1) + lambda^2 d(t+2) + ...

The gradient of (v(t) - target(t))^2 with the target held fixed is TD-leaf's update. Games continue
from iteration to iteration; each learns from a segment of `plies` plies.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, Literal, Protocol, cast

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field

from rookery._core import (
    Game,
    NnueLearner,
    NnueNetwork,
    encode_batch,
    pack_samples,
    play_random_plies,
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
from rookery.learning.leaf_search import Found, LeafSearch
from rookery.learning.matches import player_match
from rookery.nets import ValueNetwork, make_network
from rookery.nets.value_evaluator import value_evaluator
from rookery.players.base import Decision, Limits
from rookery.players.bots import BotPlayer
from rookery.runs.state import State
from rookery.training.recipe import Recipe
from rookery.training.trainer import Context, MatchScore, Metrics, Trainer

Values = NDArray[np.float64]
PAWNS = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9}
MATERIAL_SCALE = 5.0  # pawns of material worth a value of tanh(1)
LARGEST_VALUE = 0.999  # limit of targets, so that their logits are finite


# --- Settings ---


class TdLeafSettings(Section):
    """The algorithm."""

    RENAMED: ClassVar = {"batch": "minibatch", "trace": "lambda_"}
    network: Literal["nnue", "giraffe"] = "nnue"
    """The engine's sparse network, or Giraffe's over grouped features."""
    width: int = Field(default=32, ge=16, le=1024, multiple_of=16)
    """Width of the hidden layer."""
    depth: int = Field(default=4, ge=1, le=20)
    """Search depth in plies."""
    games: int = Field(default=64, ge=1)
    """Games played in parallel."""
    plies: int = Field(default=12, ge=2)
    """Plies of each game per iteration."""
    random_plies: int = Field(default=10, ge=0)
    """Most random plies at the start of a game; the number is drawn for each."""
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
    passes: int = Field(default=1, ge=1)
    """Passes over the leaves of an iteration."""
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


# --- The two networks: search, evaluate, learn ---


class Learner(Protocol):
    """A network with its search and optimiser."""

    search: LeafSearch

    def values(self, leaves: Sequence[Game]) -> Values:
        """Values [B] in [-1, 1] for the side to move."""

    def learn(self, leaves: Sequence[Game], wanted: Values, rate: float) -> float:
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
        self.search = LeafSearch(self._quantised, settings.depth)

    def _quantised(self) -> NnueNetwork:
        return NnueNetwork(*tensors_of(self._learner.weights()))

    def values(self, leaves: Sequence[Game]) -> Values:
        """Evaluate with the float weights."""
        raw = self._learner.evaluate(_packed(leaves, np.zeros(len(leaves)))).astype(np.float64)
        return np.asarray(np.tanh(raw / 2.0))

    def learn(self, leaves: Sequence[Game], wanted: Values, rate: float) -> float:
        """One native step on samples whose scores are the targets."""
        clipped = wanted.clip(-LARGEST_VALUE, LARGEST_VALUE)
        samples = _packed(leaves, scores_of_values(clipped))
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


def _packed(games: Sequence[Game], scores: Values) -> NDArray[np.uint8]:
    zeros = [0] * len(games)
    return pack_samples(list(games), np.rint(scores).astype(int).tolist(), zeros, zeros)


class GiraffeLeaves:
    """Giraffe's network, with native search and gradients by torch."""

    def __init__(self, settings: TdLeafSettings, generator: torch.Generator) -> None:
        """Begin with random weights."""
        self._network = make_network(
            "giraffe", "giraffe363", "none", {"width": settings.width}, generator
        )
        self._optimizer = torch.optim.AdamW(self._network.parameters(), lr=1e-3)
        self.search = LeafSearch(lambda: value_evaluator(self._network), settings.depth)

    def values(self, leaves: Sequence[Game]) -> Values:
        """Evaluate in torch."""
        with torch.no_grad():
            values: torch.Tensor = self._network.values(_features(leaves))
        return values.numpy().astype(np.float64)

    def learn(self, leaves: Sequence[Game], wanted: Values, rate: float) -> float:
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


def _features(games: Sequence[Game]) -> torch.Tensor:
    inputs = np.zeros((len(games), *OBSERVATIONS["giraffe363"].shape), dtype=np.float32)
    encode_batch(list(games), "giraffe363", inputs)
    return torch.from_numpy(inputs)


class LearnerPlayer:
    """A learner with its search as a `Player`."""

    name = "TD-leaf"

    def __init__(self, learner: Learner) -> None:
        """Play with the present weights."""
        self._learner = learner

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Search as in training; `limits` are ignored."""
        found = self._learner.search([game])[0]
        return Decision(found.move, found.value, found.line)

    def new_game(self) -> None:
        """Do nothing: there is no state between games."""

    def close(self) -> None:
        """Do nothing: there are no resources."""


# --- The loop ---


class TdLeafTrainer(Trainer):
    """Search, play, estimate, learn; see `rookery.training.trainer.Trainer`."""

    def __init__(self, context: Context[TdLeafRecipe]) -> None:
        """Begin all games."""
        self.context = context
        settings = context.recipe.tdleaf
        kind = NnueLeaves if settings.network == "nnue" else GiraffeLeaves
        self.learner: Learner = kind(settings, context.torch_generator("weights"))
        self.rng = context.generator("play")
        self.games = [self._new_game() for _ in range(settings.games)]

    def _new_game(self) -> Game:
        plies = int(self.rng.integers(self.context.recipe.tdleaf.random_plies + 1))
        while True:
            game = Game()
            play_random_plies(game, plies, int(self.rng.integers(1 << 62)))
            if game.outcome(claim_draw=True) is None:
                return game

    def iterate(self) -> Metrics:
        """Play a segment of all games and learn from it."""
        settings = self.context.recipe.tdleaf
        began = time.perf_counter()
        count = len(self.games)
        values = np.zeros((settings.plies, count))  # of the leaves, for White
        ends = np.full((settings.plies, count), np.nan)
        breaks = np.zeros((settings.plies, count), dtype=bool)
        leaves: list[list[Found]] = []
        terminations: Counter[str] = Counter()
        results: Counter[str] = Counter()
        for t in range(settings.plies):
            self.context.check_stop()
            found = self.learner.search(self.games)
            leaves.append(found)
            values[t] = self._white_values(found)
            for index, choice in enumerate(found):
                move = self._explore(self.games[index], choice.move)
                breaks[t, index] = move != choice.move
                self.games[index].push(move)
                self._restart_if_over(t, index, ends, breaks, terminations, results)
        played = time.perf_counter()
        wanted = targets(values, ends, breaks, settings.lambda_)
        loss = self._learn(leaves, wanted)
        return Metrics(
            samples=sum(not each.decided for row in leaves for each in row),
            games=sum(terminations.values()),
            losses={"value": loss},
            values={
                "mean_change": float(np.abs(wanted - values).mean()),
                "value_deviation": float(values.std()),
            },
            results=dict(sorted(results.items())),
            terminations=dict(sorted(terminations.items())),
            timing={"play": played - began, "learn": time.perf_counter() - played},
        )

    def _white_values(self, found: Sequence[Found]) -> Values:
        """Values of leaves for White; the search's value where the game is over."""
        values = self.learner.values([each.leaf for each in found])
        for index, each in enumerate(found):
            if each.decided:
                values[index] = each.value
                white = self.games[index].turn
            else:
                white = each.leaf.turn
            values[index] *= 1.0 if white else -1.0
        return values

    def _explore(self, game: Game, best: str) -> str:
        if self.rng.random() >= self.context.recipe.tdleaf.random_moves:
            return best
        return str(self.rng.choice(game.legal_moves()))

    def _restart_if_over(
        self,
        t: int,
        index: int,
        ends: Values,
        breaks: NDArray[np.bool_],
        terminations: Counter[str],
        results: Counter[str],
    ) -> None:
        """Record the result of a game that is over after ply `t`, and begin a new one."""
        game = self.games[index]
        outcome = game.outcome(claim_draw=True)
        if outcome is not None:
            termination, winner = outcome
            ends[t, index] = 0.0 if winner is None else 1.0 if winner else -1.0
            results["draw" if winner is None else "white" if winner else "black"] += 1
        elif game.ply >= self.context.recipe.tdleaf.max_plies:
            termination = "ply_cap"
            breaks[t, index] = True
        else:
            return
        terminations[termination] += 1
        self.games[index] = self._new_game()

    def _learn(self, leaves: list[list[Found]], wanted: Values) -> float:
        """Minibatch steps over all leaves in random order; mean loss."""
        settings = self.context.recipe.tdleaf
        positions: list[Game] = []
        goals: list[float] = []
        by_material = self.context.iteration < settings.material_iterations
        for row, goal_row in zip(leaves, wanted, strict=True):
            for each, goal in zip(row, goal_row, strict=True):
                if not each.decided:
                    positions.append(each.leaf)
                    white = material_value(each.leaf) if by_material else goal
                    goals.append(white if each.leaf.turn else -white)
        start, end = settings.learning_rate, settings.final_learning_rate
        rate = start + (end - start) * self.context.progress
        losses = []
        for _ in range(settings.passes):
            order = self.rng.permutation(len(positions))
            for first in range(0, len(order), settings.minibatch):
                chosen = order[first : first + settings.minibatch]
                batch = [positions[index] for index in chosen]
                losses.append(self.learner.learn(batch, np.array(goals)[chosen], rate))
        return float(np.mean(losses)) if losses else 0.0

    def model(self) -> ValueNetwork:
        """The current network."""
        return self.learner.network()

    def evaluate(self, rng: np.random.Generator) -> list[MatchScore]:
        """Matches with search against simple players."""
        settings = self.context.recipe.evaluation
        player = LearnerPlayer(self.learner)
        return [
            player_match(player, BotPlayer(bot), settings.games, rng, {})
            for bot in settings.opponents
        ]

    def state(self) -> State:
        """Weights, optimiser, games, random stream."""
        state = State()
        self.learner.put(state)
        state.put_generator("play", self.rng)
        state.values["games"] = [[game.start_fen, *game.moves()] for game in self.games]
        return state

    def load_state(self, state: State) -> None:
        """Restore a `state()`."""
        self.learner.get(state)
        state.get_generator("play", self.rng)
        self.games = []
        for fen, *moves in state.value("games"):
            game = Game(fen)
            for move in moves:
                game.push(move)
            self.games.append(game)


def material_value(game: Game) -> float:
    """Material balance for White as a value in [-1, 1]."""
    pieces = filter(str.isalpha, game.fen().split()[0])
    pawns = sum(PAWNS.get(c.lower(), 0) * (1 if c.isupper() else -1) for c in pieces)
    return float(np.tanh(pawns / MATERIAL_SCALE))
