"""Self-play of double DQN, as numbered games; see core/datagen/transitions.h.

A game is determined by its number, the seed and the weights, so the collector has no state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import TransitionGenerator
from rookery.nets.nnue import tensors_of
from rookery.selfplay.collector import Collector, Hooks, Piece, Weights
from rookery.selfplay.networks import network_of


@dataclass(frozen=True)
class TransitionPlan:
    """Constants of a run."""

    options: Mapping[str, Any]  # other arguments of `TransitionGenerator`
    workers: int = 1  # cores to use


@dataclass(frozen=True)
class TransitionOrder:
    """Games to play."""

    piece: Piece


@dataclass(frozen=True)
class TransitionHarvest:
    """Transitions and statistics of their games."""

    transitions: NDArray[np.uint8]  # [2N, 32], game by game: a position, the leaf of its search
    games: int
    white_wins: int
    draws: int
    black_wins: int
    cut_off: int
    nodes: int


class TransitionCollector(Collector[TransitionOrder, TransitionHarvest]):
    """Plays on all cores when the result of `begin` is called."""

    def __init__(self, plan: TransitionPlan, hooks: Hooks) -> None:
        """Keep the plan; there are no games yet."""
        self.plan = plan

    def begin(self, weights: Weights, order: TransitionOrder) -> Callable[[], TransitionHarvest]:
        """Load the weights; the games are played when the result is called."""
        generator = TransitionGenerator(
            tensors_of(network_of(weights)),  # type: ignore[arg-type]
            order.piece.seed,
            threads=self.plan.workers,
            **self.plan.options,
        )

        def finish() -> TransitionHarvest:
            played = generator.run(order.piece.first, len(order.piece))
            return TransitionHarvest(
                transitions=played.transitions.copy(),
                games=played.games,
                white_wins=played.white_wins,
                draws=played.draws,
                black_wins=played.black_wins,
                cut_off=played.cut_off,
                nodes=played.nodes,
            )

        return finish
