"""The engine's games against itself: numbered, so that any part of them is a piece of work.

A game is determined by its number, the seed, the weights and the settings of plan and order; it
knows nothing of other games, and the collector has no state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import DataGenerator
from rookery.nets.nnue import tensors_of
from rookery.selfplay.collector import Collector, Hooks, Piece, Weights
from rookery.selfplay.networks import network_of


@dataclass(frozen=True)
class DataPlan:
    """What stays the same in a run."""

    options: Mapping[str, Any]  # further arguments of `DataGenerator`
    workers: int = 1  # cores of this machine to use


@dataclass(frozen=True)
class DataOrder:
    """Games to play."""

    piece: Piece
    nodes: int  # a move, softly
    adjudicate: bool  # whether decided games are cut short


@dataclass(frozen=True)
class DataHarvest:
    """Kept positions, and what is known of their games."""

    samples: NDArray[np.uint8]  # [N, 32], game by game; see rookery.runs.positions
    games: int
    plies: int  # searched
    nodes: int
    distinct_openings: int  # different positions four plies after the random ones
    results: Mapping[str, int]  # white, draw, black
    endings: Mapping[str, int]


class DataCollector(Collector[DataOrder, DataHarvest]):
    """Plays on all cores while it is waited for."""

    def __init__(self, plan: DataPlan, hooks: Hooks) -> None:
        """Nothing is played yet."""
        self.plan = plan
        self._generator: tuple[Any, DataGenerator] | None = None  # what it was made for

    def begin(self, weights: Weights, order: DataOrder) -> Callable[[], DataHarvest]:
        """Load the weights; the games are played when the result is called."""
        piece, generator = order.piece, self._generator_for(weights, order)

        def finish() -> DataHarvest:
            played = generator.run(piece.first, len(piece))
            return DataHarvest(
                samples=played.samples,
                games=played.games,
                plies=played.plies,
                nodes=played.nodes,
                distinct_openings=played.distinct_openings,
                results=dict(white=played.white_wins, draw=played.draws, black=played.black_wins),
                endings=played.endings,
            )

        return finish

    def _generator_for(self, weights: Weights, order: DataOrder) -> DataGenerator:
        """The generator of the last order, if it fits."""
        piece = order.piece
        if piece.weights != weights.digest:
            raise ValueError(f"the piece {piece} is not of the weights {weights.digest[:16]}")
        key = (piece.weights, piece.seed, order.nodes, order.adjudicate)
        if self._generator is None or self._generator[0] != key:
            generator = DataGenerator(
                tensors_of(network_of(weights)),  # type: ignore[arg-type]
                seed=piece.seed,
                soft_nodes=order.nodes,
                adjudicate=order.adjudicate,
                threads=self.plan.workers,
                **self.plan.options,
            )
            self._generator = (key, generator)
        return self._generator[1]
