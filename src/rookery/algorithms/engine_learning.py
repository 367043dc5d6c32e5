"""The samples and the candidate network of an engine run.

`Window` holds the samples of the newest generations, in memory for learning and in replay/ for
resuming. `Candidate` is the network being trained: native learner, progress, losses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from rookery._core import NnueLearner
from rookery.base.scales import SCORE_SCALE, expected_of_logits, expected_of_scores
from rookery.nets import ValueNetwork, make_network
from rookery.nets.evaluator import read_model
from rookery.nets.model_arrays import NNUE_TENSORS
from rookery.nets.model_file import parse_model
from rookery.runs.positions import PositionFormat, Samples, fields, results
from rookery.runs.replay import Replay
from rookery.runs.state import State

HELD_OUT = 64  # one game in 64 is held out for validation
BATCHES_AT_ONCE = 16  # per call of the native learner, so that Ctrl-C is noticed
SMALLEST_MINIBATCH = 1024
SHARD = 1 << 16  # positions per file in replay/

NnueWeights = dict[str, NDArray[np.float32]]

_NOTHING: Samples = np.zeros((0, 32), dtype=np.uint8)


def new_weights(hidden: int, buckets: int, generator: torch.Generator) -> NnueWeights:
    """Random weights."""
    sizes = {"hidden": hidden, "buckets": buckets}
    network = make_network("nnue", "nnue768", "none", sizes, generator)
    return {name: tensor.numpy().copy() for name, tensor in network.state_dict().items()}


def read_weights(source: str, buckets: int) -> NnueWeights:
    """The weights of a model file, run folder or shipped network.

    Raises:
        ValueError: It is no engine network, or has another number of buckets.
    """
    origin, data = read_model(source)
    network, _ = parse_model(data, origin)
    if network.family != "nnue":
        raise ValueError(f"initial: {origin} is a network of family {network.family!r}, not 'nnue'")
    weights = {name: tensor.numpy().copy() for name, tensor in network.state_dict().items()}
    found = len(weights["output_bias"])
    if found != buckets:
        raise ValueError(f"initial: {origin} has {found} buckets; learn.buckets is {buckets}")
    return weights


def nnue_network(weights: Mapping[str, NDArray[np.float32]]) -> ValueNetwork:
    """A copy of the weights as a torch network."""
    sizes = {"hidden": len(weights["feature_bias"]), "buckets": len(weights["output_bias"])}
    network = make_network("nnue", "nnue768", "none", sizes, torch.Generator())
    network.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    return cast(ValueNetwork, network.eval())


def widen(weights: NnueWeights, hidden: int, generator: torch.Generator) -> NnueWeights:
    """The same function with a wider hidden layer: the new units have output weights of 0."""
    old, buckets = len(weights["feature_bias"]), len(weights["output_bias"])
    if hidden == old:
        return {name: array.copy() for name, array in weights.items()}
    wide = new_weights(hidden, buckets, generator)
    wide["feature_weights"][:, :old] = weights["feature_weights"]
    wide["feature_bias"][:old] = weights["feature_bias"]
    wide["output_weights"][:] = 0.0
    wide["output_weights"][:, :old] = weights["output_weights"][:, :old]
    wide["output_weights"][:, hidden : hidden + old] = weights["output_weights"][:, old:]
    wide["output_bias"][:] = weights["output_bias"]
    return wide


def tensors_of(weights: NnueWeights) -> Any:
    """The weights as a tuple, in the order of the native module."""
    return tuple(np.ascontiguousarray(weights[name]) for name in NNUE_TENSORS)


def put_learner(state: State, name: str, learner: NnueLearner) -> None:
    """Store weights and Adam's moments, without the step count."""
    for kind, arrays in _learner_arrays(learner).items():
        tensors = {key: torch.from_numpy(array) for key, array in arrays.items()}
        state.put_tensors(f"{name}.{kind}", tensors)


def get_learner(state: State, name: str, learner: NnueLearner) -> None:
    """Restore what `put_learner` stored."""
    for kind, arrays in _learner_arrays(learner).items():
        for key, tensor in state.get_tensors(f"{name}.{kind}").items():
            arrays[key][:] = tensor.numpy()


def _learner_arrays(learner: NnueLearner) -> dict[str, dict[str, NDArray[np.float32]]]:
    first, second = learner.first_moments(), learner.second_moments()
    return {"weights": learner.weights(), "first": first, "second": second}


class Window:
    """Samples by generation, written to shards of at least `SHARD` positions.

    Only the number of positions decides what a shard holds: a run has the same files however often
    it is saved. The checkpoint holds the positions that are in no shard yet.
    """

    def __init__(self, folder: Path, keep: int, report: Callable[[str], None]) -> None:
        """Use the run's replay folder."""
        self.shards = Replay(folder, PositionFormat(), keep, report)
        self._samples: dict[int, list[Samples]] = {}
        self._unwritten: list[Samples] = []
        self._generation = 0  # of the unwritten ones

    def add(self, samples: Samples, generation: int) -> None:
        """Add samples of the newest generation."""
        if generation != self._generation:
            self._flush()
            self._generation = generation
        if len(samples):
            self._samples.setdefault(generation, []).append(samples)
            self._unwritten.append(samples)
        if sum(map(len, self._unwritten)) >= SHARD:
            self._flush()

    def _flush(self) -> None:
        """Write the samples that are in memory only."""
        if self._unwritten:
            self.shards.add(np.concatenate(self._unwritten), self._generation)
            self._unwritten = []

    def drop_before(self, generation: int) -> None:
        """Drop older generations."""
        self._flush()
        self.shards.drop_before(generation)
        self._samples = {g: s for g, s in self._samples.items() if g >= generation}

    def count(self, generation: int) -> int:
        """Positions of a generation."""
        return sum(map(len, self._samples.get(generation, [])))

    def split(self) -> tuple[Samples, Samples]:
        """All training samples, and the validation samples of the newest generation, by game."""
        learn: list[Samples] = []
        test: list[Samples] = []
        for generation in sorted(self._samples):
            for samples in self._samples[generation]:
                held = fields(samples)["game"] % HELD_OUT == 0
                learn.append(samples[~held])
                if generation == max(self._samples):
                    test.append(samples[held])
        return np.concatenate([_NOTHING, *learn]), np.concatenate([_NOTHING, *test])

    def put(self, state: State) -> None:
        """Store the list of shards and the samples that are in none."""
        state.values["shards"] = {**self.shards.state(), "generation": self._generation}
        unwritten = np.concatenate([_NOTHING, *self._unwritten])
        state.put_tensors("window", {"unwritten": torch.from_numpy(unwritten)})

    def get(self, state: State) -> None:
        """Read the listed shards and the samples that are in none."""
        self._samples, self._unwritten = {}, []
        stored = state.value("shards")
        for name, samples in self.shards.restore(stored).items():
            self._samples.setdefault(self.shards.label(name), []).append(samples)
        # Older checkpoints wrote all samples to shards.
        self._generation = stored.get("generation", max(self._samples, default=0))
        unwritten = state.tensors.get("window.unwritten")
        if unwritten is not None:
            self.add(unwritten.numpy().copy(), self._generation)


@dataclass
class Place:
    """A candidate's progress."""

    finished: int = 0  # passes
    batch: int = 0  # next batch of the current pass
    batches: int = 1  # per pass
    began: float = 0.0  # progress of the run at the start

    @property
    def passes(self) -> float:
        """Passes done, including part of the current one."""
        return self.finished + self.batch / self.batches


class Candidate:
    """A network in training on a window."""

    def __init__(
        self, weights: NnueWeights, threads: int, weight_decay: float, began: float = 0.0
    ) -> None:
        """Start from a copy of `weights`."""
        hidden, buckets = len(weights["feature_bias"]), len(weights["output_bias"])
        self.learner = NnueLearner(hidden, buckets, threads)
        self.learner.set_adam(weight_decay=weight_decay)
        self.place = Place(began=began)
        for name, array in self.learner.weights().items():
            array[:] = weights[name]

    def weights(self) -> NnueWeights:
        """A copy of the weights."""
        return {name: array.copy() for name, array in self.learner.weights().items()}

    def learn(
        self,
        samples: Samples,
        seed: int,
        positions: int,
        batch: int,
        rate: Callable[[Place], float],
        wdl: float,
        power: float,
    ) -> float:
        """Learn from about `positions` positions, at most to the end of the pass; mean loss.

        Args:
            samples: All samples of a pass.
            seed: Of the order of this pass.
            positions: Rounded up to whole batches.
            batch: Positions per optimiser step.
            rate: Learning rate at a place.
            wdl: Share of results in the target.
            power: Exponent of the error in the loss.
        """
        place = self.place
        place.batches = max(1, math.ceil(len(samples) / batch))
        left = min(math.ceil(positions / batch), place.batches - place.batch)
        total, used = 0.0, 0
        while left > 0:
            count = min(left, BATCHES_AT_ONCE)
            rates = np.empty(count, dtype=np.float32)
            first = place.batch
            for index in range(count):
                rates[index] = rate(place)
                place.batch += 1
            total += count * self.learner.train(samples, seed, batch, first, rates, wdl, power)
            used += count
            left -= count
        if place.batch >= place.batches:
            place.finished, place.batch = place.finished + 1, 0
        return total / used if used else 0.0

    def test(self, samples: Samples, wdl: float, power: float) -> dict[str, float]:
        """Validation loss and statistics."""
        if not len(samples):
            return {}
        raw = self.learner.evaluate(samples).astype(np.float64)
        expected, result = expected_of_logits(raw), results(samples).astype(np.float64)
        score = expected_of_scores(fields(samples)["score"])
        target = wdl * result + (1.0 - wdl) * score
        spread = expected.std() * result.std()
        covariance = float(np.mean((expected - expected.mean()) * (result - result.mean())))
        variance = float(result.var())
        return {
            "validation": float(np.mean(np.abs(expected - target) ** power)),
            "explained_variance": (
                1.0 - float(np.mean((result - expected) ** 2)) / variance if variance else math.nan
            ),
            "correlation": covariance / float(spread) if spread else math.nan,
            "value_deviation": float((SCORE_SCALE * raw).std()),
        }

    # --- Resuming ---

    def put(self, state: State) -> None:
        """Store everything in a state."""
        put_learner(state, "candidate", self.learner)
        state.values["candidate"] = {
            **vars(self.place),
            "steps": self.learner.steps,
            "hidden": self.learner.hidden,
        }

    def get(self, state: State) -> None:
        """Restore the state of a candidate of the same sizes."""
        stored = dict(state.value("candidate"))
        self.learner.steps = int(stored.pop("steps"))
        stored.pop("hidden")
        self.place = Place(**stored)
        get_learner(state, "candidate", self.learner)
