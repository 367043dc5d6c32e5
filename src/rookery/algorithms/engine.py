"""The engine's NNUE network, learnt by self-play alone, from random weights or from a network.

A generation has three phases, split into iterations of a few seconds:

    play   the newest network plays itself at a few hundred nodes per move; quiet positions are
           kept with the search's score and the game's result
    learn  a candidate (the newest network, possibly widened) learns from the newest generations
    gate   the candidate plays the newest network in pairs of games, and is published only if it
           wins more than it loses

The first generation is played with random weights: the search sees little but mates, and only
results are learnt. Later generations give the search's scores more and more weight. The schedule
counts positions, so it does not depend on the budget; the end of the budget only shortens the last
generation, early enough to learn from it (`learn.final_share`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import torch

from rookery._core import sample_fens
from rookery.algorithms.engine_learning import (
    SMALLEST_MINIBATCH,
    Candidate,
    NnueWeights,
    Place,
    Window,
    new_weights,
    nnue_network,
    read_weights,
    tensors_of,
    widen,
)
from rookery.algorithms.engine_recipe import EngineRecipe
from rookery.arena.elo import estimate_from_pairs, pentanomial_of
from rookery.arena.sprt import Sprt
from rookery.learning.matches import engine_match
from rookery.nets import ValueNetwork
from rookery.runs.live import write_live
from rookery.runs.positions import Samples, fields
from rookery.runs.state import State
from rookery.selfplay.collector import Collector, Hooks, Piece, make_collector
from rookery.selfplay.datagen import DataHarvest, DataOrder, DataPlan
from rookery.selfplay.networks import weights_of
from rookery.selfplay.pairs import PairHarvest, PairOrder, PairPlan
from rookery.training.trainer import Context, MatchScore, Metrics, Trainer

# Shares of the budget at which learning and gating of the last generation end.
LEARNING_ENDS, GATE_ENDS = 0.96, 0.99
SHOWN_GAMES = 6  # on the page of `rookery watch`

Item = TypeVar("Item")


def of_generation(values: Sequence[Item], generation: int) -> Item:
    """The value of a schedule for a generation, counted from 1; the last one repeats."""
    return values[min(generation, len(values)) - 1]


def live_boards(samples: Samples, generation: int) -> Iterator[dict[str, object]]:
    """Some of the games just played, as their kept positions."""
    numbers = fields(samples)["game"]
    starts = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
    for first, last in pairwise(starts[: SHOWN_GAMES + 1]):
        yield {"title": f"generation {generation}", "frames": sample_fens(samples[first:last])}


class EngineTrainer(Trainer):
    """Play, learn, gate; see `rookery.training.trainer.Trainer`."""

    def __init__(self, context: Context[EngineRecipe]) -> None:
        """Begin with random weights, or with those of `initial`."""
        self.context = context
        self.generation = 1
        self.phase = "play"
        self.games = 0  # played so far
        self.newest = self._first_weights()
        self.newest_generation = 0
        self.anchor: NnueWeights | None = None
        self.total_elo = 0.0  # sum of the gains measured by the gates
        self.final = False  # the current generation is the last of the budget
        self.finished = False  # the last generation of the budget is complete
        self.pair_points: list[float] = []  # of the gate
        self.candidate: Candidate | None = None
        keep = context.recipe.run.keep_checkpoints
        self.window = Window(context.folder / "replay", keep, context.log)
        hooks = Hooks(context.log, context.check_stop, pool=context.pool)
        self.collector: Collector[DataOrder, DataHarvest] = make_collector(
            "data", "threads", self._plan(), hooks
        )
        pairs = PairPlan(context.recipe.gate.nodes, context.workers)
        self.gate: Collector[PairOrder, PairHarvest] = make_collector(
            "pairs", "threads", pairs, hooks
        )
        self._learning: tuple[Samples, Samples] | None = None

    def _first_weights(self) -> NnueWeights:
        recipe = self.context.recipe
        if recipe.initial:
            return read_weights(recipe.initial, recipe.learn.buckets)
        generator = self.context.torch_generator("weights")
        return new_weights(recipe.learn.hidden[0], recipe.learn.buckets, generator)

    def _scheduled(self, values: Sequence[Item]) -> Item:
        """The value of a schedule for this generation: the last one after `initial`."""
        return values[-1] if self.context.recipe.initial else of_generation(values, self.generation)

    def iterate(self) -> Metrics:
        """Continue the current phase."""
        began = time.perf_counter()
        metrics = {"play": self._play, "learn": self._learn, "gate": self._gate}[self.phase]()
        values = {"generation": float(self.generation), "total_elo": self.total_elo}
        metrics.values = {**values, **metrics.values}
        seconds = time.perf_counter() - began
        rates = {f"{key}_per_second": v / seconds for key, v in metrics.timing.items()}
        metrics.timing = {**rates, f"{self.phase}_seconds": seconds}
        return metrics

    # --- Play ---

    def _plan(self) -> DataPlan:
        play = self.context.recipe.play
        options = play.model_dump(
            include={"max_opening_score", "max_score", "max_plies", "play_on_share"}
        )
        options["random_plies"] = (play.random_plies[0], play.random_plies[1])
        return DataPlan(options, self.context.workers)

    def _play(self) -> Metrics:
        play = self.context.recipe.play
        nodes = self._scheduled(play.nodes)
        weights, last = weights_of(self.model()), self.games + play.games - 1
        piece = Piece(weights.digest, self.context.seed("games"), self.games, last)
        order = DataOrder(piece, nodes, self._adjudicates())
        played = self.collector.begin(weights, order)()
        self.games += play.games
        samples = played.samples
        write_live(self.context.folder, live_boards(samples, self.generation))
        self.window.add(samples, self.generation)
        self._check_budget()
        if self.window.count(self.generation) >= self._positions_wanted() or self.final:
            self._begin_learning()
        return Metrics(
            samples=len(samples),
            games=played.games,
            values={
                "nodes": float(nodes),
                "game_plies": played.plies / max(1, played.games),
                "kept_share": len(samples) / max(1, played.plies),
                "distinct_openings": played.distinct_openings / max(1, played.games),
            },
            results=played.results,
            terminations=played.endings,
            timing={"positions": len(samples), "nodes": played.nodes},
        )

    def _check_budget(self) -> None:
        """Reserve the last part of the budget for one final generation."""
        late = self.context.progress >= 1.0 - self.context.recipe.learn.final_share
        self.finished = self.finished and late  # the budget may have been extended
        self.final = late and not self.finished and self.context.progress < LEARNING_ENDS

    def _adjudicates(self) -> bool:
        """Whether the newest network knows enough for clear games to be cut short."""
        recipe = self.context.recipe
        return bool(recipe.initial) or self.generation >= recipe.play.adjudicate_from

    def _positions_wanted(self) -> float:
        play = self.context.recipe.play
        if self.context.recipe.initial:
            return play.most_positions
        grown = play.first_positions * play.growth ** (self.generation - 1)
        return min(grown, play.most_positions)

    # --- Learn ---

    def _begin_learning(self) -> None:
        learn = self.context.recipe.learn
        self.phase = "learn"
        self.window.drop_before(self.generation - math.ceil(learn.window * self.generation) + 1)
        width = max(self._scheduled(learn.hidden), self._width())
        generator = self.context.torch_generator("widen", self.generation)
        self.candidate = Candidate(
            widen(self.newest, width, generator),
            self.context.workers,
            learn.weight_decay,
            self.context.progress,
        )

    def _width(self) -> int:
        return len(self.newest["feature_bias"])

    def _learn(self) -> Metrics:
        learn = self.context.recipe.learn
        assert self.candidate is not None
        if self._learning is None:
            self._learning = self.window.split()
        samples, test = self._learning
        candidate, place = self.candidate, self.candidate.place
        wdl = self._scheduled(learn.wdl)
        size = min(learn.minibatch, max(SMALLEST_MINIBATCH, len(samples) // learn.least_steps))
        seed = self.context.seed("order", self.generation, place.finished)
        started = place.passes
        loss = candidate.learn(samples, seed, learn.positions, size, self._rate, wdl, learn.power)
        tested = candidate.test(test, wdl, learn.power)
        if self._share_learnt(place) >= 1.0:
            self.phase, self.pair_points, self._learning = "gate", [], None
        losses = {"train": loss}
        if "validation" in tested:
            losses["validation"] = tested.pop("validation")
        return Metrics(
            samples=0,
            losses=losses,
            values={
                **tested,
                "wdl": wdl,
                "window": float(len(samples)),
                "hidden": float(candidate.learner.hidden),
                "passes": place.passes,
            },
            timing={"learnt": (place.passes - started) * len(samples)},
        )

    def _share_learnt(self, place: Place) -> float:
        """Share of a candidate's learning that is done, [0, 1]."""
        share = place.passes / self._passes()
        # If the budget is too short for all passes, its end decides.
        room = max(LEARNING_ENDS - place.began, 1e-9)
        return min(1.0, max(share, (self.context.progress - place.began) / room))

    def _passes(self) -> float:
        """Passes of the candidate over the window."""
        learn = self.context.recipe.learn
        window = sum(map(self.window.count, range(self.generation + 1)))
        # At least one, even if shards were lost.
        passes = max(1.0, learn.visits * self.window.count(self.generation) / max(1, window))
        return max(passes, learn.final_passes) if self.final else passes

    def _rate(self, place: Place) -> float:
        """Learning rate: a cosine over all passes."""
        learn = self.context.recipe.learn
        low, high = learn.final_learning_rate, learn.learning_rate
        falling = (1.0 + math.cos(math.pi * self._share_learnt(place))) / 2.0
        return low + falling * (high - low)

    # --- Gate ---

    def _gate(self) -> Metrics:
        gate = self.context.recipe.gate
        assert self.candidate is not None
        weights = self.candidate.weights()
        candidate, seed = (
            weights_of(nnue_network(weights)),
            self.context.seed("gate", self.generation),
        )
        first, last = len(self.pair_points), len(self.pair_points) + gate.pairs - 1
        piece = Piece(candidate.digest, seed, first, last)
        order = PairOrder(piece, weights_of(self.model()))
        points = self.gate.begin(candidate, order)().points
        self.pair_points += points
        counts = pentanomial_of(self.pair_points)
        estimate = estimate_from_pairs(counts)
        test = Sprt(0.0, gate.elo1)
        decision = test.decision(test.llr_of_pairs(counts))
        generation = self.generation
        full = 2 * len(self.pair_points) >= gate.games or self.context.progress >= GATE_ENDS
        if decision != "continue" or full:
            accepted = decision == "elo1" or (decision == "continue" and estimate.score > 0.5)
            self._end_generation(weights, accepted, estimate.elo)
        return Metrics(
            samples=0,
            games=2 * len(points),
            values={
                "generation": float(generation),
                "gate_score": estimate.score,
                "gate_elo": estimate.elo,
                "gate_elo_low": estimate.elo_low,
                "gate_elo_high": estimate.elo_high,
                "gate_games": 2.0 * len(self.pair_points),
                "published": float(self.newest_generation),
            },
            timing={"games": 2.0 * len(points)},
        )

    def _end_generation(self, weights: NnueWeights, accepted: bool, elo: float) -> None:
        games = 2 * len(self.pair_points)
        score = sum(self.pair_points) / max(1, games)
        text = f"generation {self.generation}: {100 * score:.1f} % of {games} games against "
        text += f"generation {self.newest_generation}, {elo:+.0f} Elo"
        self.context.log(text + ("" if accepted else "; not published"))
        if accepted:
            self.newest, self.newest_generation = weights, self.generation
            self.total_elo += elo
            if self.generation == self.context.recipe.evaluation.anchor:
                self.anchor = weights
        self.generation += 1
        self.phase = "play"
        self.finished = self.finished or self.final
        self.final = False
        self.candidate = None

    # --- Publishing, measuring ---

    def model(self) -> ValueNetwork:
        """The newest network that passed its gate."""
        return nnue_network(self.newest)

    def evaluate(self, rng: np.random.Generator) -> list[MatchScore]:
        """Matches against bots, and against the anchor generation once it exists."""
        settings = self.context.recipe.evaluation
        opponents: dict[str, Any] = {bot: bot for bot in settings.opponents}
        if self.anchor is not None and self.newest_generation > settings.anchor:
            opponents[f"generation {settings.anchor}"] = tensors_of(self.anchor)
        return [
            engine_match(
                tensors_of(self.newest),
                opponent,
                name,
                settings.games,
                settings.nodes,
                seed=int(rng.integers(1 << 62)),
                threads=self.context.workers,
                over=self.context.evaluation_is_over,
            )
            for name, opponent in opponents.items()
        ]

    # --- Resuming ---

    def state(self) -> State:
        """Weights, candidate with its optimiser, samples, counters."""
        state = State()
        for name, weights in (("newest", self.newest), ("anchor", self.anchor)):
            if weights is not None:
                state.put_tensors(name, {k: torch.from_numpy(v) for k, v in weights.items()})
        if self.candidate is not None:
            self.candidate.put(state)
        self.window.put(state)
        state.values["engine"] = {name: getattr(self, name) for name in _COUNTERS}
        return state

    def load_state(self, state: State) -> None:
        """Restore a `state()`."""
        for name, value in state.value("engine").items():
            setattr(self, name, value)
        self.newest = _arrays(state, "newest")
        has_anchor = any(name.startswith("anchor.") for name in state.tensors)
        self.anchor = _arrays(state, "anchor") if has_anchor else None
        self.window.get(state)
        self._learning = self.candidate = None
        if "candidate" in state.values:
            weights = _arrays(state, "candidate.weights")
            decay = self.context.recipe.learn.weight_decay
            self.candidate = Candidate(weights, self.context.workers, decay)
            self.candidate.get(state)

    def close(self) -> None:
        """Close the collectors."""
        self.collector.close()
        self.gate.close()


_COUNTERS = (
    "generation", "phase", "games", "newest_generation", "total_elo", "final", "finished",
    "pair_points",
)  # fmt: skip


def _arrays(state: State, name: str) -> NnueWeights:
    return {key: np.array(tensor.numpy()) for key, tensor in state.get_tensors(name).items()}
