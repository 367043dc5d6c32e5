"""Games on a real Ray cluster of two nodes are, byte for byte, those of one machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from rookery.base.messages import pack
from rookery.cluster.pool import Pool
from rookery.nets import make_network
from rookery.runs.state import State
from rookery.selfplay.cluster import state_content
from rookery.selfplay.collector import Hooks, Piece, Weights, make_collector
from rookery.selfplay.datagen import DataOrder, DataPlan
from rookery.selfplay.leaves import LeafOrder, LeafPlan
from rookery.selfplay.networks import weights_of
from rookery.selfplay.pairs import PairOrder, PairPlan
from rookery.selfplay.rollout import RolloutOrder, RolloutPlan
from rookery.selfplay.transitions import TransitionOrder, TransitionPlan
from rookery.selfplay.trees import TreeOrder, TreePlan

torch.set_num_threads(1)


def weights(seed: int, family: str = "nnue") -> Weights:
    sizes: dict[str, tuple[str, str, dict[str, Any]]] = {
        "nnue": ("nnue768", "none", {"hidden": 16}),
        "squares": ("tactical70", "az4672", {"width": 16, "key_width": 8}),
        "resnet": ("planes19", "az4672", {"blocks": 1, "filters": 4}),
    }
    observation, actions, size = sizes[family]
    generator = torch.Generator().manual_seed(seed)
    return weights_of(make_network(family, observation, actions, size, generator))


def both(kind: str, backend: str, plan: Any, pool: Pool) -> tuple[Any, Any]:
    """The collector of this machine, and that of the cluster."""
    return make_collector(kind, backend, plan), make_collector(
        kind, backend, plan, Hooks(pool=pool)
    )


def numbered(network: Weights, first: int, last: int) -> Piece:
    return Piece(network.digest, 7, first, last)


def same(here: Any, there: Any) -> bool:
    return pack(here) == pack(there)


def test_the_engines_games(pool: Pool) -> None:
    here, there = both("data", "threads", DataPlan({"max_plies": 60}), pool)
    for network in (weights(1), weights(2)):  # what was played ahead is of no use then
        for first in (0, 40):
            order = DataOrder(numbered(network, first, first + 39), nodes=10, adjudicate=False)
            assert same(here.begin(network, order)(), there.begin(network, order)())
    there.close()


def test_the_engines_gate(pool: Pool) -> None:
    one, other = weights(1), weights(2)
    here, there = both("pairs", "threads", PairPlan(nodes=20), pool)
    order = PairOrder(numbered(one, 3, 8), other)
    found = there.begin(one, order)()
    assert same(here.begin(one, order)(), found) and len(found.points) == 6


def test_the_games_of_double_dqn(pool: Pool) -> None:
    plan = TransitionPlan({"depth": 1, "nodes": 200, "max_plies": 20})
    here, there = both("transitions", "threads", plan, pool)
    order = TransitionOrder(numbered(weights(1), 5, 16))
    assert same(here.begin(weights(1), order)(), there.begin(weights(1), order)())


def test_the_segments_of_tdleaf(pool: Pool) -> None:
    here, there = both("leaves", "threads", LeafPlan({"depth": 2, "plies": 4}), pool)
    starts = None
    for first, by_material in ((0, True), (12, False)):
        order = LeafOrder(numbered(weights(1), first, first + 11), starts, by_material)
        found = here.begin(weights(1), order)()
        assert same(found, there.begin(weights(1), order)())
        starts = found.next


@pytest.mark.parametrize(("family", "backend"), [("squares", "threads"), ("resnet", "batches")])
def test_alphazeros_games_continue_elsewhere(family: str, backend: str, pool: Pool) -> None:
    """Native and torch networks, three sets on two nodes, saved and loaded in between."""
    options = {
        "observation": "tactical70" if family == "squares" else "planes19",
        "max_plies": 30, "simulations": 6, "fast_simulations": 6, "random_plies": (0, 4),
    }  # fmt: skip
    plan = TreePlan(options, games=4, seed=3, sets=3)
    here, there = both("trees", backend, plan, pool)
    assert here.overlaps and there.overlaps
    for step in range(3):
        network, order = weights(step, family), TreeOrder(40, 6, 6, -2.0, 1.0)
        assert same(here.begin(network, order)(), there.begin(network, order)())
        assert here.counts() == there.counts() and there.counts()["simulations"] > 0
        state = there.state()
        assert same_state(here.state(), state)
        if step == 1:
            there.close()
            there = make_collector("trees", backend, plan, Hooks(pool=pool))
            there.load_state(state)
    here.close()


def same_state(one: State, other: State) -> bool:
    return same(state_content(one), state_content(other))


def test_ppos_games_continue_elsewhere(pool: Pool) -> None:
    games = {
        "num_games": 6, "observation": "tactical70", "actions": "az4672", "dtype": "uint8",
        "claims": "automatic", "max_plies": 40, "random_plies": (0, 2),
    }  # fmt: skip
    plan = RolloutPlan(games, seed=5, learn_both=True, rival_share=0.5, sets=3)
    here, there = both("rollouts", "batches", plan, pool)
    for rival in (None, weights(9, "squares")):
        network, order = weights(1, "squares"), RolloutOrder(12, rival)
        mine, theirs = here.begin(network, order)(), there.begin(network, order)()
        assert same(mine, theirs) and mine.values.shape == (12, 6)
        assert same_state(here.state(), there.state())
        for t in range(12):
            assert mine.offsets[t][-1] == len(mine.legal[t])


def test_one_set_is_what_it_was_before_there_were_sets(pool: Pool) -> None:
    """The first set of several has the games of a single one."""
    options = {"observation": "tactical70", "max_plies": 20, "simulations": 4}
    one = make_collector("trees", "threads", TreePlan(options, games=4, seed=3))
    three = make_collector("trees", "threads", TreePlan(options, games=4, seed=3, sets=3))
    network, order = weights(1, "squares"), TreeOrder(30, 4, 4, -2.0, 1.0)
    single = one.begin(network, order)().block
    several = three.begin(network, replace(order, samples=90))().block
    first = several.take(np.flatnonzero(several.games % 3 == 0))
    assert np.array_equal(single.observations, first.observations)
