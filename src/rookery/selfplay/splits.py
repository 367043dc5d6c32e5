"""How each kind of work is cut into pieces for a cluster, and put together again.

Numbered games (`data`, `pairs`, `transitions`, `leaves`) are cut by their numbers. Games that
continue from one order to the next (`trees`, `rollouts`) form sets, and a piece is one set: it
takes the games under way and returns them, so any node can play it and it can be played twice.
Either way the harvest is, byte for byte, that of one machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rookery.runs.state import State
from rookery.selfplay import rollout, trees
from rookery.selfplay.datagen import DataHarvest, DataOrder, DataPlan
from rookery.selfplay.leaves import LeafHarvest, LeafOrder, LeafPlan
from rookery.selfplay.pairs import PairHarvest, PairOrder, PairPlan
from rookery.selfplay.rollout import Rollout, RolloutOrder, RolloutPlan
from rookery.selfplay.transitions import TransitionHarvest, TransitionOrder, TransitionPlan
from rookery.selfplay.trees import TreeHarvest, TreeOrder, TreePlan

PIECES_PER_SLOT = 4  # of an order: so many that no node waits long for the last one


class Split:
    """One kind of work."""

    plan: type
    order: type
    harvest: type
    exact = True  # see `rookery.cluster.jobs.Job`
    weights: tuple[str, ...] = ()  # fields of an order that hold further weights

    def alone(self, plan: Any) -> Any:
        """The plan of one core of a node."""
        return replace(plan, workers=1)

    def parts(self, plan: Any, order: Any, slots: int) -> list[tuple[str, Any]]:
        """The orders of the pieces, with a part of their names."""
        raise NotImplementedError

    def merge(self, harvests: Sequence[Any]) -> Any:
        """One harvest from those of all pieces, in their order."""
        raise NotImplementedError

    def positions(self, harvest: Any) -> int:
        """Positions in a harvest, for speeds."""
        raise NotImplementedError

    def following(self, order: Any) -> Any:
        """The order that is likely to come next, with the same weights; None: unknown."""
        return None

    def sets(self, plan: Any, backend: str) -> int:
        """Sets of games that continue from order to order; 0: the games are numbered."""
        return 0


class Numbered(Split):
    """Games with numbers."""

    fewest, most = 1, 32  # games of a piece

    def parts(self, plan: Any, order: Any, slots: int) -> list[tuple[str, Any]]:
        """Ranges of games."""
        piece = order.piece
        size = len(piece) // (PIECES_PER_SLOT * max(1, slots))
        size = max(self.fewest, min(self.most, size))
        return [
            (f"{piece.seed}/{first}..{last}", self.cut(order, first, last))
            for first in range(piece.first, piece.last + 1, size)
            for last in [min(first + size - 1, piece.last)]
        ]

    def cut(self, order: Any, first: int, last: int) -> Any:
        """The same order for some of its games."""
        return replace(order, piece=replace(order.piece, first=first, last=last))


class DataSplit(Numbered):
    """The engine's games."""

    plan, order, harvest = DataPlan, DataOrder, DataHarvest
    fewest = 4

    def merge(self, harvests: Sequence[DataHarvest]) -> DataHarvest:
        """Concatenate samples, add counts."""
        endings = sum((Counter(each.endings) for each in harvests), Counter())
        results = sum((Counter(each.results) for each in harvests), Counter())
        return DataHarvest(
            samples=np.concatenate([each.samples for each in harvests]),
            games=sum(each.games for each in harvests),
            plies=sum(each.plies for each in harvests),
            nodes=sum(each.nodes for each in harvests),
            openings=np.concatenate([each.openings for each in harvests]),
            # In the order in which one machine names them.
            results={name: results[name] for name in ("white", "draw", "black")},
            endings=dict(sorted(endings.items())),
        )

    def positions(self, harvest: DataHarvest) -> int:
        """Samples."""
        return len(harvest.samples)

    def following(self, order: DataOrder) -> DataOrder:
        """The next numbers: a generation is many orders long."""
        piece = order.piece
        return self.cut(order, piece.last + 1, piece.last + len(piece))  # type: ignore[no-any-return]


class PairSplit(Numbered):
    """The engine's gate."""

    plan, order, harvest = PairPlan, PairOrder, PairHarvest
    weights = ("opponent",)

    def merge(self, harvests: Sequence[PairHarvest]) -> PairHarvest:
        """Concatenate points."""
        return PairHarvest([points for each in harvests for points in each.points])

    def positions(self, harvest: PairHarvest) -> int:
        """None: they are not learnt from."""
        return 0


class TransitionSplit(Numbered):
    """The games of double DQN."""

    plan, order, harvest = TransitionPlan, TransitionOrder, TransitionHarvest

    def merge(self, harvests: Sequence[TransitionHarvest]) -> TransitionHarvest:
        """Concatenate transitions, add counts."""
        names = ("games", "white_wins", "draws", "black_wins", "cut_off", "nodes")
        return TransitionHarvest(
            transitions=np.concatenate([each.transitions for each in harvests]),
            **{name: sum(getattr(each, name) for each in harvests) for name in names},
        )

    def positions(self, harvest: TransitionHarvest) -> int:
        """Pairs of position and leaf."""
        return len(harvest.transitions) // 2


class LeafSplit(Numbered):
    """The segments of TD-leaf; Giraffe's network sums in floating point."""

    plan, order, harvest = LeafPlan, LeafOrder, LeafHarvest
    exact = False

    def cut(self, order: LeafOrder, first: int, last: int) -> LeafOrder:
        """With the starts of these segments."""
        start = first - order.piece.first
        starts = None if order.starts is None else order.starts[start : start + last - first + 1]
        return replace(super().cut(order, first, last), starts=starts)  # type: ignore[no-any-return]

    def merge(self, harvests: Sequence[LeafHarvest]) -> LeafHarvest:
        """Concatenate segments, add counts."""
        arrays = (
            "roots", "leaves", "next", "actions", "values", "ends", "decided", "unrelated", "quiet",
            "continued",
        )  # fmt: skip
        counts = ("white_wins", "draws", "black_wins", "nodes")
        endings = sum((Counter(each.endings) for each in harvests), Counter())
        found: dict[str, Any] = {
            name: np.concatenate([getattr(each, name) for each in harvests]) for name in arrays
        }
        found |= {name: sum(getattr(each, name) for each in harvests) for name in counts}
        return LeafHarvest(**found, endings=dict(sorted(endings.items())))

    def positions(self, harvest: LeafHarvest) -> int:
        """Leaves."""
        return len(harvest.leaves)


class TreeSplit(Split):
    """AlphaZero's sets of games."""

    plan, order, harvest = TreePlan, TreeOrder, TreeHarvest
    exact = False
    overlaps = True

    def sets(self, plan: TreePlan, backend: str) -> int:
        """As on one machine."""
        if backend == "server":
            raise ValueError("selfplay.processes is for one machine; on a cluster set it to 0")
        return plan.sets or (plan.workers if backend == "threads" else 1)

    def one(self, plan: TreePlan, number: int) -> TreePlan:
        """The plan of one set."""
        return replace(plan, sets=1, first_set=number, workers=1)

    def order_of_set(self, order: TreeOrder, sets: int) -> TreeOrder:
        """The order for each set."""
        return order.share(sets)

    def merge(self, harvests: Sequence[TreeHarvest]) -> TreeHarvest:
        """As one machine does."""
        return trees.merge(harvests)

    def positions(self, harvest: TreeHarvest) -> int:
        """Samples."""
        return len(harvest.block)

    def join(self, plan: TreePlan, states: Sequence[State]) -> State:
        """The states of all sets as one."""
        sets = [trees.get_sets(each, plan.games, lambda text: None)[0] for each in states]
        return trees.put_sets(sets, plan.games)

    def divide(self, plan: TreePlan, state: State, sets: int, log: Any) -> list[State | None]:
        """The state of each set; None where there is none."""
        found = trees.get_sets(state, plan.games, log)
        parts: list[State | None] = [trees.put_sets([each], plan.games) for each in found[:sets]]
        return parts + [None] * (sets - len(parts))


class RolloutSplit(Split):
    """PPO's sets of games."""

    plan, order, harvest = RolloutPlan, RolloutOrder, Rollout
    exact = False
    weights = ("rival",)
    overlaps = False

    def sets(self, plan: RolloutPlan, backend: str) -> int:
        """As the recipe says."""
        return plan.sets

    def one(self, plan: RolloutPlan, number: int) -> RolloutPlan:
        """The plan of one set."""
        games = {**plan.games, "num_games": plan.games["num_games"] // plan.sets}
        return replace(plan, games=games, sets=1, first_set=number)

    def order_of_set(self, order: RolloutOrder, sets: int) -> RolloutOrder:
        """The same for all."""
        return order

    def merge(self, harvests: Sequence[Rollout]) -> Rollout:
        """As one machine does."""
        return rollout.merge(harvests)

    def positions(self, harvest: Rollout) -> int:
        """Plies."""
        return int(harvest.values.size)

    def join(self, plan: RolloutPlan, states: Sequence[State]) -> State:
        """The states of all sets as one."""
        return rollout.join_states(states)

    def divide(self, plan: RolloutPlan, state: State, sets: int, log: Any) -> list[State | None]:
        """The state of each set."""
        return list(rollout.split_state(state, sets))


SPLITS: dict[str, Any] = {
    "data": DataSplit(),
    "pairs": PairSplit(),
    "transitions": TransitionSplit(),
    "leaves": LeafSplit(),
    "trees": TreeSplit(),
    "rollouts": RolloutSplit(),
}
