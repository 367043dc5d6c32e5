"""The engine's gate: numbered pairs of games between two networks, colours swapped.

A pair is determined by its number, the seed and both networks, so the collector has no state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rookery._core import NetworkMatch
from rookery.nets.nnue import tensors_of
from rookery.selfplay.collector import Collector, Hooks, Piece, Weights
from rookery.selfplay.networks import network_of


@dataclass(frozen=True)
class PairPlan:
    """Constants of a run."""

    nodes: int  # per move, never exceeded
    workers: int = 1  # cores to use


@dataclass(frozen=True)
class PairOrder:
    """Pairs to play."""

    piece: Piece
    opponent: Weights | None


@dataclass(frozen=True)
class PairHarvest:
    """Points [0, 2] of the network in each pair."""

    points: Sequence[float]


class PairCollector(Collector[PairOrder, PairHarvest]):
    """Plays on all cores when the result of `begin` is called."""

    def __init__(self, plan: PairPlan, hooks: Hooks) -> None:
        """Keep the plan; there are no games yet."""
        self.plan = plan
        self._match: tuple[Any, NetworkMatch] | None = None  # with its key

    def begin(self, weights: Weights, order: PairOrder) -> Callable[[], PairHarvest]:
        """Load both networks; the games are played when the result is called."""
        piece, match = order.piece, self._match_for(weights, order)

        def finish() -> PairHarvest:
            pairs = match.run(piece.first, len(piece))
            return PairHarvest([1.0 + (white[0] + black[0]) / 2.0 for white, black in pairs])

        return finish

    def _match_for(self, weights: Weights, order: PairOrder) -> NetworkMatch:
        assert order.opponent is not None
        key = (weights.digest, order.opponent.digest, order.piece.seed)
        if self._match is None or self._match[0] != key:
            match = NetworkMatch(
                tensors_of(network_of(weights)),  # type: ignore[arg-type]
                tensors_of(network_of(order.opponent)),  # type: ignore[arg-type]
                seed=order.piece.seed,
                nodes=self.plan.nodes,
                threads=self.plan.workers,
            )
            self._match = (key, match)
        return self._match[1]
