"""Self-play of the engine, as numbered games.

A game is determined by its number, the seed, the weights and the settings of plan and order,
independently of other games, so the collector has no state.
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
    """Constants of a run."""

    options: Mapping[str, Any]  # other arguments of `DataGenerator`
    workers: int = 1  # cores to use


@dataclass(frozen=True)
class DataOrder:
    """Games to play."""

    piece: Piece
    nodes: int  # per move, a soft limit
    adjudicate: bool  # whether clear wins and draws are adjudicated


@dataclass(frozen=True)
class DataHarvest:
    """Training positions and statistics of their games."""

    samples: NDArray[np.uint8]  # [N, 32], game by game; see rookery.runs.positions
    games: int
    plies: int  # searched
    nodes: int
    openings: NDArray[np.uint64]  # by game, keys four plies after the random ones; 0: it was over
    results: Mapping[str, int]  # white, draw, black
    endings: Mapping[str, int]

    @property
    def distinct_openings(self) -> int:
        """Different positions four plies after the random ones; games over by then count too."""
        return len(np.unique(self.openings[self.openings > 0])) + int((self.openings == 0).sum())


class DataCollector(Collector[DataOrder, DataHarvest]):
    """Plays on all cores when the result of `begin` is called."""

    def __init__(self, plan: DataPlan, hooks: Hooks) -> None:
        """Keep the plan; there are no games yet."""
        self.plan = plan
        self._generator: tuple[Any, DataGenerator] | None = None  # with its key

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
                openings=np.array(played.openings, dtype=np.uint64),
                results=dict(white=played.white_wins, draw=played.draws, black=played.black_wins),
                endings=played.endings,
            )

        return finish

    def _generator_for(self, weights: Weights, order: DataOrder) -> DataGenerator:
        """A generator for an order; the last one is reused if it fits."""
        piece = order.piece
        if piece.weights != weights.digest:
            raise ValueError(f"the piece {piece} is not for the weights {weights.digest[:16]}")
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
