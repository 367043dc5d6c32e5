"""Self-play of TD-leaf in numbered segments of games; see core/datagen/leaf_games.h.

A segment is determined by its number, the seed, the weights and where its game stands, which is
part of the order, so the collector has no state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import BatchEvaluator, LeafGames, NnueNetwork
from rookery.nets.nnue import Nnue, tensors_of
from rookery.nets.value_evaluator import value_evaluator
from rookery.selfplay.collector import Collector, Hooks, Piece, Weights
from rookery.selfplay.networks import network_of


@dataclass(frozen=True)
class LeafPlan:
    """Constants of a run."""

    options: Mapping[str, Any]  # other arguments of `LeafGames`
    workers: int = 1  # cores to use


@dataclass(frozen=True)
class LeafOrder:
    """Segments to play; N of them, of T plies."""

    piece: Piece
    starts: NDArray[np.uint8] | None  # [N, 32] where the games stand; None: they begin
    by_material: bool = False  # search with the material balance instead of the weights


@dataclass(frozen=True)
class LeafHarvest:
    """What the searches found; values are for White. As `rookery._core.LeafSegments`."""

    roots: NDArray[np.uint8]  # [N * T, 32]
    leaves: NDArray[np.uint8]  # [N * T, 32]
    next: NDArray[np.uint8]  # [N, 32]
    actions: NDArray[np.int32]  # [N, T]
    values: NDArray[np.float32]  # [N, T]
    ends: NDArray[np.float32]  # [N, T]
    decided: NDArray[np.uint8]  # [N, T]
    unrelated: NDArray[np.uint8]  # [N, T]
    quiet: NDArray[np.uint8]  # [N, T]
    continued: NDArray[np.uint8]  # [N]
    endings: Mapping[str, int]
    white_wins: int
    draws: int
    black_wins: int
    nodes: int


class LeafCollector(Collector[LeafOrder, LeafHarvest]):
    """Plays on all cores when the result of `begin` is called."""

    def __init__(self, plan: LeafPlan, hooks: Hooks) -> None:
        """Keep the plan; there are no games yet."""
        self.plan = plan

    def begin(self, weights: Weights, order: LeafOrder) -> Callable[[], LeafHarvest]:
        """Load the weights; the games are played when the result is called."""
        piece = order.piece
        evaluator = NnueNetwork.material() if order.by_material else search_evaluator(weights)
        games = LeafGames(evaluator, piece.seed, threads=self.plan.workers, **self.plan.options)

        def finish() -> LeafHarvest:
            played = games.run(piece.first, len(piece), order.starts)
            fields = LeafHarvest.__dataclass_fields__
            return LeafHarvest(**{name: getattr(played, name) for name in fields})

        return finish


def search_evaluator(weights: Weights) -> NnueNetwork | BatchEvaluator:
    """A value network as the alpha-beta search takes it."""
    network = network_of(weights)
    if isinstance(network, Nnue):
        return NnueNetwork(*tensors_of(network))
    return value_evaluator(network)
