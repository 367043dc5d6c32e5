"""Double DQN over alpha-beta: a value network learnt from random weights by self-play.

Inman and Ezra Marin, "Double Deep Q-Learning Chess Agent with Action Replay" (2022), let a network
judge the leaves of an alpha-beta search and teach it by double Q-learning (van Hasselt, Guez and
Silver, 2016). This is the same method with everything that made it stronger:

    play    the online network searches, moves (sometimes at random) and remembers each position
            with the leaf of its principal variation
    judge   the target network, an older copy, gives that leaf its value: one network chooses the
            line, the other judges its end, so that errors are not chosen for being high
    return  values along a game are mixed by lambda, up to the next random move
    learn   positions are drawn from the memory, all alike or by their last error (prioritised
            replay)

A game's result enters only as the reward of its last move. `rookery.papers.inman2022` is the
published version.
"""

from __future__ import annotations

import math
import time

import numpy as np
import torch

from rookery._core import NnueLearner, NnueNetwork
from rookery.algorithms.ddqn_memory import ENDED, QUIET, Memory, Values, flags, judge_leaves, settle
from rookery.algorithms.ddqn_recipe import DdqnRecipe
from rookery.algorithms.engine_learning import (
    get_learner,
    new_weights,
    nnue_network,
    put_learner,
    tensors_of,
)
from rookery.learning.matches import bot_matches
from rookery.nets import ValueNetwork
from rookery.players.alphabeta import AlphaBetaPlayer
from rookery.runs.positions import Samples
from rookery.runs.state import State
from rookery.selfplay.collector import Collector, Hooks, Piece, make_collector
from rookery.selfplay.networks import weights_of
from rookery.selfplay.transitions import TransitionHarvest, TransitionOrder, TransitionPlan
from rookery.training.trainer import Context, MatchScore, Metrics, Trainer

BUCKETS = 8  # of the network's last layer, by the number of pieces
ALL = slice(None)


class DdqnTrainer(Trainer):
    """Play, judge, learn; see `rookery.training.trainer.Trainer`."""

    def __init__(self, context: Context[DdqnRecipe]) -> None:
        """Begin with random weights, the same in both networks."""
        self.context = context
        learn = context.recipe.learn
        self.online = NnueLearner(learn.hidden, BUCKETS, context.workers)
        self.online.set_adam(weight_decay=learn.weight_decay)
        self.target = NnueLearner(learn.hidden, BUCKETS, context.workers)
        weights = new_weights(learn.hidden, BUCKETS, context.torch_generator("weights"))
        for name, array in self.online.weights().items():
            array[:] = weights[name]
        self.games = 0  # played so far
        self.lambda_ = learn.lambda_  # of the current targets
        self.rng = context.generator("replay")
        keep = context.recipe.run.keep_checkpoints
        self.memory = Memory(context.folder / "replay", learn.memory, keep, context.log)
        self._copy_weights()
        self.collector: Collector[TransitionOrder, TransitionHarvest] = make_collector(
            "transitions",
            "threads",
            self._plan(),
            Hooks(context.log, context.check_stop, pool=context.pool),
        )

    def iterate(self) -> Metrics:
        """Play some games and learn from the memory."""
        learn = self.context.recipe.learn
        began = time.perf_counter()
        if self.context.iteration and self.context.iteration % learn.copy_every == 0:
            self._update_target()
        metrics, new = self._play()
        self.context.check_stop()
        played = time.perf_counter()
        loss, drawn = self._learn(int(self.memory.priorities[new].astype(bool).sum()))
        learnt = time.perf_counter()
        metrics.losses = {"value": loss}
        timing = {"play_seconds": played - began, "learn_seconds": learnt - played}
        metrics.timing = {**timing, "learnt_per_second": drawn / (learnt - began)}
        return metrics

    # --- Play and judge ---

    def _plan(self) -> TransitionPlan:
        play = self.context.recipe.play
        options = play.model_dump(include={"depth", "nodes", "random_moves", "max_plies"})
        options["random_plies"] = (play.random_plies[0], play.random_plies[1])
        return TransitionPlan(options, self.context.workers)

    def _play(self) -> tuple[Metrics, slice]:
        """Remember new games; metrics, and the places of their positions."""
        play, learn = self.context.recipe.play, self.context.recipe.learn
        chooser = self.online if learn.double else self.target
        weights, last = weights_of(nnue_network(chooser.weights())), self.games + play.games - 1
        piece = Piece(weights.digest, self.context.seed("games"), self.games, last)
        played = self.collector.begin(weights, TransitionOrder(piece))()
        self.games += play.games
        transitions = played.transitions
        unsettled = settle_transitions(transitions, chooser)
        new = self.memory.add(transitions)
        self.memory.judge(new, self._judge, learn.gamma, self.lambda_)
        values = values_of(self.online, self.memory.positions[new])
        self.memory.prioritise(new, self._online, learn.priority)
        leaves, positions = self.memory.leaves[new], self.memory.positions[new]
        chosen = judge_leaves(positions, leaves, lambda samples: values_of(chooser, samples))
        count = max(1, len(positions))
        metrics = Metrics(
            samples=int(flags(leaves, QUIET).sum()),
            games=played.games,
            values={
                "nodes": played.nodes / count,
                "game_plies": count / max(1, played.games),
                "finished": float(flags(leaves, ENDED).sum()) / max(1, played.games),
                "error": float(np.abs(self.memory.targets[new] - values).mean()),
                "value_deviation": float(values.std()),
                "unsettled": unsettled,
                # How much higher the lines look to the network that chose them.
                "optimism": float((chosen - self.memory.judged[new]).mean()),
            },
            results={"white": played.white_wins, "draw": played.draws, "black": played.black_wins},
            terminations={"ply_cap": played.cut_off},
        )
        return metrics, new

    def _judge(self, leaves: Samples) -> Values:
        return values_of(self.target, leaves)

    def _copy_weights(self) -> None:
        for name, array in self.target.weights().items():
            array[:] = self.online.weights()[name]

    def _update_target(self) -> None:
        """Copy the online weights; judge the whole memory again."""
        learn = self.context.recipe.learn
        self._copy_weights()
        self.lambda_ = learn.lambda_ + (learn.final_lambda - learn.lambda_) * self.context.progress
        self.memory.judge(ALL, self._judge, learn.gamma, self.lambda_)
        self.memory.prioritise(ALL, self._online, learn.priority)

    # --- Learn ---

    def _online(self, positions: Samples) -> Values:
        return values_of(self.online, positions)

    def _learn(self, new: int) -> tuple[float, int]:
        """Steps on positions drawn by priority: mean squared error, positions drawn."""
        learn = self.context.recipe.learn
        steps = max(1, round(learn.visits * new / learn.minibatch))
        places = self.memory.draw(steps * learn.minibatch, self.rng)
        if not len(places):
            return 0.0, 0
        low, high = learn.final_learning_rate, learn.learning_rate
        falling = (1.0 + math.cos(math.pi * self.context.progress)) / 2.0
        rates = np.full(steps, low + falling * (high - low), dtype=np.float32)
        samples = self.memory.samples(places)
        loss = self.online.train(samples, 0, learn.minibatch, 0, rates, 0.0, 2.0)
        if learn.priority:
            self.memory.prioritise(np.unique(places), self._online, learn.priority)
        return 4.0 * loss, len(places)  # of values in [-1, 1] instead of scores in [0, 1]

    # --- Publishing, measuring ---

    def model(self) -> ValueNetwork:
        """The online network."""
        return nnue_network(self.online.weights())

    def evaluate(self, rng: np.random.Generator) -> list[MatchScore]:
        """Matches at a fixed depth against simple players."""
        settings = self.context.recipe.evaluation
        network = NnueNetwork(*tensors_of(self.online.weights()))
        player = AlphaBetaPlayer(network, "ddqn", depth=settings.depth)
        over = self.context.evaluation_is_over
        return bot_matches(player, settings.opponents, settings.games, rng, over)

    # --- Resuming ---

    def state(self) -> State:
        """Both networks, the optimiser, the memory with its priorities, counters."""
        state = State()
        put_learner(state, "online", self.online)
        weights = {name: torch.from_numpy(array) for name, array in self.target.weights().items()}
        state.put_tensors("target", weights)
        self.memory.put(state)
        state.put_generator("replay", self.rng)
        state.values["ddqn"] = {
            "games": self.games, "lambda": self.lambda_, "steps": self.online.steps
        }  # fmt: skip
        return state

    def load_state(self, state: State) -> None:
        """Restore a `state()`."""
        learn = self.context.recipe.learn
        get_learner(state, "online", self.online)
        for name, tensor in state.get_tensors("target").items():
            self.target.weights()[name][:] = tensor.numpy()
        state.get_generator("replay", self.rng)
        counters = state.value("ddqn")
        self.games, self.lambda_ = int(counters["games"]), float(counters["lambda"])
        self.online.steps = int(counters["steps"])
        whole = self.memory.get(state)
        self.memory.judge(ALL, self._judge, learn.gamma, self.lambda_)
        if not whole:
            self.memory.prioritise(ALL, self._online, learn.priority)

    def close(self) -> None:
        """Close the collector."""
        self.collector.close()


def settle_transitions(transitions: Samples, chooser: NnueLearner) -> float:
    """Settle the leaves of transitions [2N, 32] in place; the share that was not settled."""
    leaves = np.ascontiguousarray(transitions[1::2])
    share = settle(leaves, lambda samples: values_of(chooser, samples))
    transitions[1::2] = leaves
    return share


def values_of(learner: NnueLearner, samples: Samples) -> Values:
    """Values [N] in [-1, 1] of positions [N, 32] for the side to move, by the float weights."""
    return np.asarray(np.tanh(learner.evaluate(samples) / 2.0), dtype=np.float32)
