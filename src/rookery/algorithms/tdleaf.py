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

import numpy as np
import torch
from numpy.typing import NDArray

from rookery.algorithms.tdleaf_networks import (
    GiraffeLeaves,
    Learner,
    Metric,
    NnueLeaves,
    Samples,
    Values,
    in_check,
    material_values,
    mirrored,
    other_side,
    white_to_move,
)
from rookery.algorithms.tdleaf_recipe import TdLeafRecipe
from rookery.algorithms.tdleaf_results import OpenGames
from rookery.base.scales import scores_of_values
from rookery.learning.matches import bot_matches
from rookery.nets import ValueNetwork
from rookery.players.alphabeta import AlphaBetaPlayer
from rookery.runs.state import State
from rookery.selfplay.collector import Collector, Hooks, Piece, make_collector
from rookery.selfplay.leaves import LeafHarvest, LeafOrder, LeafPlan
from rookery.selfplay.networks import weights_of
from rookery.training.trainer import Context, MatchScore, Metrics, Trainer

# Of one search: an untrained network may see a gain in every capture, and a quiescence search
# could then take hundreds of thousands of nodes.
MOST_NODES = 100_000
CASTLING = 0b11110  # of byte 26 of a packed sample


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


# --- The loop ---


class TdLeafTrainer(Trainer):
    """Search, play, estimate, learn; see `rookery.training.trainer.Trainer`."""

    def __init__(self, context: Context[TdLeafRecipe]) -> None:
        """Begin all games."""
        torch.set_num_threads(1)  # more would only wait for each other in such small networks
        self.context = context
        settings = context.recipe.tdleaf
        kind = NnueLeaves if settings.network == "nnue" else GiraffeLeaves
        self.learner: Learner = kind(settings, context.torch_generator("weights"))
        self.rng = context.generator("order")
        self.starts: Samples | None = None  # where the games stand, [games, 32]; None: nowhere yet
        self.leaves = np.zeros((0, 32), dtype=np.uint8)  # of the window
        self.goals = np.zeros(0, dtype=np.float32)  # their targets, for the side to move
        self.open = OpenGames(settings.result_share)
        options = settings.model_dump(
            include={
                "depth", "plies", "random_plies", "max_plies", "new_games", "random_start",
                "random_moves",
            }
        )  # fmt: skip
        options["win_score"] = int(scores_of_values(np.array([settings.win_value]))[0])
        self.collector: Collector[LeafOrder, LeafHarvest] = make_collector(
            "leaves",
            "threads",
            LeafPlan({**options, "nodes": MOST_NODES}, context.workers),
            Hooks(context.log, context.check_stop, pool=context.pool),
        )

    @property
    def _by_material(self) -> bool:
        return self.context.iteration < self.context.recipe.tdleaf.material_iterations

    @property
    def _rate(self) -> float:
        settings = self.context.recipe.tdleaf
        return self._between(settings.learning_rate, settings.final_learning_rate)

    @property
    def _result_share(self) -> float:
        settings = self.context.recipe.tdleaf
        end = settings.final_result_share
        return settings.result_share if end is None else self._between(settings.result_share, end)

    def _between(self, start: float, end: float) -> float:
        """The value at this point of the run of what changes linearly."""
        return start + (end - start) * self.context.progress

    def iterate(self) -> Metrics:
        """Play a segment of all games and learn from it."""
        settings = self.context.recipe.tdleaf
        began = time.perf_counter()
        played = self._play()
        searched = time.perf_counter()
        values = self._white_values(played)
        ends, breaks = played.ends.T.astype(np.float64), played.unrelated.T.astype(bool)
        wanted = targets(values, ends, breaks, settings.lambda_)
        loss, samples = self._learn(*self._samples(played, wanted))
        moves = self._learn_moves(played)
        results = {"white": played.white_wins, "draw": played.draws, "black": played.black_wins}
        return Metrics(
            samples=samples,
            games=sum(played.endings.values()),
            losses={"value": loss},
            values={
                "mean_change": float(np.abs(wanted - values).mean()),
                "value_deviation": float(values.std()),
                "nodes": played.nodes / values.size,
                **moves,
            },
            results={name: count for name, count in results.items() if count},
            terminations=played.endings,
            timing={"play": searched - began, "learn": time.perf_counter() - searched},
        )

    def _play(self) -> LeafHarvest:
        count = self.context.recipe.tdleaf.games
        first, weights = self.context.iteration * count, weights_of(self.learner.network())
        piece = Piece(weights.digest, self.context.seed("play"), first, first + count - 1)
        order = LeafOrder(piece, self.starts, self._by_material)
        played = self.collector.begin(weights, order)()
        self.starts = played.next
        return played

    def _white_values(self, played: LeafHarvest) -> Values:
        """Values of leaves for White [T, N]; the search's value where the game is over."""
        values = self.learner.values(played.leaves)
        values = np.where(white_to_move(played.leaves), values, -values)
        shape = played.values.shape
        return np.where(played.decided, played.values, values.reshape(shape)).T

    def _samples(self, played: LeafHarvest, wanted: Values) -> tuple[Samples, Values]:
        """Positions to learn and their targets for the side to move."""
        undecided = np.flatnonzero(played.decided == 0)
        positions, places = played.leaves[undecided], undecided
        if self.context.recipe.tdleaf.roots:
            quiet = np.flatnonzero(played.quiet)
            positions = np.concatenate([positions, played.roots[quiet]])
            places = np.concatenate([places, quiet])
        if self._by_material:
            return positions, material_values(positions)
        self.open.share = self._result_share
        positions, goals = self.open.add(played, positions, wanted.T.ravel()[places], places)
        return positions, np.where(white_to_move(positions), goals, -goals)

    def _learn(self, leaves: Samples, goals: Values) -> tuple[float, int]:
        """Minibatch steps on the new leaves and the window; mean loss, and number of new leaves."""
        settings = self.context.recipe.tdleaf
        new = len(leaves)
        if settings.both_sides:
            turn = (self.rng.random(new) < 0.5) & ~in_check(leaves)
            leaves[turn], goals[turn] = other_side(leaves[turn]), -goals[turn]
        if settings.window:
            if self.context.iteration == settings.material_iterations:  # material is learnt
                self.leaves, self.goals = self.leaves[:0], self.goals[:0]
            self.leaves = np.concatenate([self.leaves, leaves])[-settings.window :]
            single = goals.astype(np.float32)
            self.goals = np.concatenate([self.goals, single])[-settings.window :]
            leaves, goals = self.leaves, self.goals.astype(np.float64)
        losses = [
            self.learner.learn(self._augmented(leaves[chosen]), goals[chosen], self._rate)
            for chosen in self._minibatches(new, len(leaves))
        ]
        return float(np.mean(losses)) if losses else 0.0, new

    def _augmented(self, leaves: Samples) -> Samples:
        """A minibatch; half of it mirrored where castling does not tell the wings apart."""
        if self.context.recipe.tdleaf.mirror:
            turn = (self.rng.random(len(leaves)) < 0.5) & (leaves[:, 26] & CASTLING == 0)
            leaves[turn] = mirrored(leaves[turn])
        return leaves

    def _learn_moves(self, played: LeafHarvest) -> Metric:
        """Minibatch steps of the move probabilities; means of their metrics."""
        settings = self.context.recipe.tdleaf
        if not settings.moves:
            return {}
        roots, actions = played.roots, played.actions.ravel()
        order = self.rng.permutation(len(roots))[: settings.move_samples]
        steps = [
            self.learner.learn_moves(roots[chosen], actions[chosen], self._rate)
            for chosen in np.array_split(order, -(-len(order) // settings.minibatch))
        ]
        return {name: float(np.mean([step[name] for step in steps])) for name in steps[0]}

    def _minibatches(self, new: int, count: int) -> Iterator[NDArray[np.int64]]:
        """Indices below `count`: as many as `passes` over the new leaves have."""
        settings = self.context.recipe.tdleaf
        for _ in range(settings.passes):
            self.context.check_stop()
            whole = new == count
            order = self.rng.permutation(count) if whole else self.rng.integers(count, size=new)
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
        over = self.context.evaluation_is_over
        return bot_matches(player, settings.opponents, settings.games, rng, over)

    def state(self) -> State:
        """Weights, optimiser, games, random stream."""
        state = State()
        self.learner.put(state)
        state.put_generator("order", self.rng)
        if self.starts is not None:
            state.put_tensors("games", {"starts": torch.from_numpy(self.starts)})
        window = {"leaves": torch.from_numpy(self.leaves), "goals": torch.from_numpy(self.goals)}
        state.put_tensors("window", window)
        state.put_tensors("open", self.open.tensors())
        return state

    def load_state(self, state: State) -> None:
        """Restore a `state()`."""
        self.learner.get(state)
        state.get_generator("order", self.rng)
        if "games.starts" in state.tensors:
            self.starts = state.get_tensors("games")["starts"].numpy().copy()
        window = state.get_tensors("window")
        self.leaves, self.goals = window["leaves"].numpy().copy(), window["goals"].numpy().copy()
        self.open.load(state.get_tensors("open"))

    def close(self) -> None:
        """Close the collector."""
        self.collector.close()
