"""The networks that TD-leaf trains: the engine's and Giraffe's, each with its optimiser.

Positions are packed samples, uint8 [B, 32] (core/nnue/packed_position.h). The native loop plays and
searches with `evaluator()`, a copy of the weights.
"""

from __future__ import annotations

from typing import Any, Protocol, cast

import numpy as np
import torch
from numpy.typing import NDArray

from rookery._core import (
    BatchEvaluator,
    NnueLearner,
    NnueNetwork,
    encode_samples,
    sample_move_rows,
)
from rookery.algorithms.engine_learning import (
    get_learner,
    new_weights,
    nnue_network,
    put_learner,
    tensors_of,
)
from rookery.algorithms.tdleaf_recipe import TdLeafSettings
from rookery.base.scales import scores_of_values
from rookery.encodings import OBSERVATIONS
from rookery.nets import ValueNetwork, make_network, ragged
from rookery.nets.value_evaluator import value_evaluator
from rookery.runs.state import State

Values = NDArray[np.float64]
Metric = dict[str, float]
Samples = NDArray[np.uint8]
PAWNS = (1, 3, 3, 5, 9, 0, 0, 0)  # worth of pawn, knight, bishop, rook, queen, king
MATERIAL_SCALE = 5.0  # pawns of material worth a value of tanh(1)
NO_SQUARE = 64
KING_ATTACKER = 17  # of giraffe363: the cheapest attacker of the mover's king
LARGEST_VALUE = 0.999  # limit of targets, so that their logits are finite


def white_to_move(samples: Samples) -> NDArray[np.bool_]:
    """Whether White is to move [B]."""
    return np.asarray((samples[:, 26] & 1) == 0)


def other_side(samples: Samples) -> Samples:
    """The same positions with the other side to move."""
    turned = samples.copy()
    turned[:, 26] ^= 1
    turned[:, 27] = NO_SQUARE  # en passant
    return turned


def mirrored(samples: Samples) -> Samples:
    """The same positions with the files reversed; castling rights must be gone."""
    occupied = np.unpackbits(samples[:, :8], axis=1, bitorder="little").astype(bool)
    nibbles = np.stack([samples[:, 8:24] & 15, samples[:, 8:24] >> 4], axis=2).reshape(-1, 32)
    board: NDArray[np.uint8] = np.zeros(occupied.shape, dtype=np.uint8)
    board[occupied] = nibbles[np.arange(32) < occupied.sum(axis=1)[:, None]]
    occupied = occupied.reshape(-1, 8, 8)[:, :, ::-1].reshape(-1, 64)
    board = board.reshape(-1, 8, 8)[:, :, ::-1].reshape(-1, 64)
    nibbles = np.zeros_like(nibbles)
    nibbles[np.arange(32) < occupied.sum(axis=1)[:, None]] = board[occupied]
    turned = samples.copy()
    turned[:, :8] = np.packbits(occupied, axis=1, bitorder="little")
    turned[:, 8:24] = nibbles[:, ::2] | nibbles[:, 1::2] << 4
    turned[:, 27] ^= np.where(turned[:, 27] < NO_SQUARE, 7, 0).astype(np.uint8)
    return turned


def in_check(samples: Samples) -> NDArray[np.bool_]:
    """Whether the side to move is in check [B]."""
    return (_features(samples)[:, KING_ATTACKER] > 0).numpy()


def material_values(samples: Samples) -> Values:
    """Material balance as values [B] in [-1, 1] for the side to move."""
    nibbles = np.stack([samples[:, 8:24] & 15, samples[:, 8:24] >> 4], axis=2).reshape(-1, 32)
    counts = np.unpackbits(samples[:, :8], axis=1).sum(axis=1)
    worth = np.array(PAWNS + tuple(-pawns for pawns in PAWNS), dtype=np.float64)[nibbles]
    worth[np.arange(32) >= counts[:, None]] = 0.0
    white: Values = np.tanh(worth.sum(axis=1) / MATERIAL_SCALE)
    return np.where(white_to_move(samples), white, -white)


class Learner(Protocol):
    """A network with its optimiser."""

    def evaluator(self) -> NnueNetwork | BatchEvaluator:
        """A native copy of the present weights, for searches."""

    def values(self, leaves: Samples) -> Values:
        """Values [B] in [-1, 1] for the side to move."""

    def learn(self, leaves: Samples, wanted: Values, rate: float) -> float:
        """One step towards `wanted` [B]; the mean squared error before it."""

    def learn_moves(self, roots: Samples, actions: NDArray[np.int32], rate: float) -> Metric:
        """One step of the move probabilities, if the network has them; its metrics."""

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

    def learn_moves(self, roots: Samples, actions: NDArray[np.int32], rate: float) -> Metric:
        """Nothing: this network has no move probabilities."""
        return {}

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
        sizes["moves"] = settings.moves
        self._network = make_network("giraffe", "giraffe363", "none", sizes, generator)
        parameters = [p for n, p in self._network.named_parameters() if not n.startswith("moves.")]
        self._optimizer = torch.optim.AdamW(parameters, lr=1e-3)
        self._move_optimizer: torch.optim.AdamW | None = None
        if self._network.moves is not None:
            self._move_optimizer = torch.optim.AdamW(self._network.moves.parameters(), lr=1e-3)

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

    def learn_moves(self, roots: Samples, actions: NDArray[np.int32], rate: float) -> Metric:
        """One step of cross-entropy towards the chosen moves; loss and share of first ranks."""
        if self._move_optimizer is None:
            return {}
        moves, offsets, chosen = map(torch.from_numpy, sample_move_rows(roots, actions))
        rows = ragged.rows_of(offsets)
        logits = self._network.moves(_features(roots), moves.long(), rows)
        logs = ragged.log_softmax(logits, rows, len(roots))
        loss = -logs[chosen].mean()
        for group in self._move_optimizer.param_groups:
            group["lr"] = rate
        self._move_optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._move_optimizer.step()
        with torch.no_grad():
            better = (logs > logs[chosen].index_select(0, rows)).float()
            ranks = ragged.segment_sum(better, rows, len(roots))
        return {
            "move_loss": float(loss.detach()),
            "move_top1": float((ranks < 1).float().mean()),
            "move_top3": float((ranks < 3).float().mean()),
        }

    def network(self) -> ValueNetwork:
        """The network itself."""
        return cast(ValueNetwork, self._network)

    def put(self, state: State) -> None:
        """Store weights and optimiser."""
        state.put_module("giraffe", self._network)
        state.put_optimizer("optimizer", self._optimizer)
        if self._move_optimizer is not None:
            state.put_optimizer("move_optimizer", self._move_optimizer)

    def get(self, state: State) -> None:
        """Restore weights and optimiser."""
        state.get_module("giraffe", self._network)
        state.get_optimizer("optimizer", self._optimizer)
        if self._move_optimizer is not None:
            state.get_optimizer("move_optimizer", self._move_optimizer)


def _features(samples: Samples) -> torch.Tensor:
    inputs = np.zeros((len(samples), *OBSERVATIONS["giraffe363"].shape), dtype=np.float32)
    encode_samples(samples, "giraffe363", inputs)
    return torch.from_numpy(inputs)
