"""What a piece of work costs: bytes, CPU of a node, CPU of the trainer's machine.

    python benchmarks/cluster_costs.py                       # pieces, in this process
    python benchmarks/cluster_costs.py --cluster HOST:PORT   # and what the way to a node adds

The results are the inputs of cluster_simulation.py. CPU seconds, not seconds on a clock: they mean
the same on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rookery._core import NnueLearner
from rookery.algorithms.engine_learning import new_weights
from rookery.base.messages import pack, unpack
from rookery.cluster.jobs import Job
from rookery.cluster.node import perform
from rookery.cluster.pool import Pool
from rookery.learning.policy_value import learn_step, make_optimizer, new_network
from rookery.nets import make_network
from rookery.selfplay.cluster import WORK, revive, state_content
from rookery.selfplay.collector import Piece, Weights, make_collector
from rookery.selfplay.datagen import DataHarvest, DataOrder, DataPlan
from rookery.selfplay.networks import weights_of
from rookery.selfplay.trees import TreeHarvest, TreeOrder, TreePlan
from rookery.training.recipe import load_recipe

ROUNDS = 3


def engine_piece(games: int, nodes: int) -> tuple[bytes, tuple[bytes, ...]]:
    """Content and shared bytes of a piece of the engine's games."""
    weights = weights_of(make_network("nnue", "nnue768", "none", {"hidden": 64}))
    order = DataOrder(Piece(weights.digest, 1, 0, games - 1), nodes, adjudicate=True)
    content = {"kind": "data", "backend": "threads", "further": [], "order": order}
    return pack(content), (pack(DataPlan({})), weights.data)


def alphazero_piece(recipe: Any, games: int) -> tuple[bytes, tuple[bytes, ...], Weights]:
    """The same of one of AlphaZero's sets, in the middle of its games."""
    weights = weights_of(new_network(recipe.network, torch.Generator().manual_seed(1)))
    tree = recipe.tree.model_dump(
        exclude={"simulations", "fast_simulations", "full_share", "reuse", "first_simulations"}
    )
    options = {"observation": recipe.network.observation, "tree": tree, "max_plies": 200}
    plan = TreePlan(options, games=games, seed=1, sets=1)
    order = TreeOrder(1, 32, 32, -2.0, 1.0)
    collector = make_collector("trees", "threads", plan)
    collector.begin(weights, order)()
    content = {
        "kind": "trees",
        "backend": "threads",
        "further": [],
        "order": TreeOrder(8 * games, 32, 32, -2.0, 1.0),
        "state": state_content(collector.state()),
    }
    return pack(content), (pack(plan), weights.data), weights


def piece_costs(content: bytes, shared: tuple[bytes, ...]) -> dict[str, float]:
    """CPU of a node, positions and bytes of a piece."""
    cpu, data, positions = [], b"", 0
    for _ in range(ROUNDS):
        data, _, positions, _, seconds = perform(WORK, content, shared)
        cpu.append(seconds)
    return {
        "node_seconds": round(float(np.median(cpu)), 4),
        "positions": positions,
        "result_bytes": len(data),
        "order_bytes": len(content),
        "weights_bytes": len(shared[1]),
    }


def engine_learning(content: bytes, shared: tuple[bytes, ...]) -> float:
    """CPU seconds of the learner for one new position, with the recipe's visits."""
    recipe: Any = load_recipe("engine")
    harvest = revive(DataHarvest, unpack(perform(WORK, content, shared)[0])["harvest"])
    samples = np.concatenate([harvest.samples] * (1 + 65536 // max(1, len(harvest.samples))))
    learner = NnueLearner(64, 8, 1)
    for name, array in new_weights(64, 8, torch.Generator().manual_seed(1)).items():
        learner.weights()[name][:] = array
    steps = len(samples) // 8192
    began = time.process_time()
    learner.train(samples, 0, 8192, 0, np.full(steps, 1e-3, np.float32), 0.5, 2.5)
    each = (time.process_time() - began) / (steps * 8192)
    return each * float(recipe.learn.visits)


def alphazero_learning(recipe: Any, content: bytes, shared: tuple[bytes, ...]) -> float:
    """CPU seconds of the learner for one new sample, with the recipe's passes."""
    harvest = revive(TreeHarvest, unpack(perform(WORK, content, shared)[0])["harvest"])
    network = new_network(recipe.network, torch.Generator().manual_seed(1))
    optimizer, size = make_optimizer(network, recipe.learn), recipe.learn.minibatch
    index = np.resize(np.arange(len(harvest.block)), size)
    minibatch = harvest.block.take(index)
    learn_step(network, optimizer, minibatch, recipe.learn, 0.0)
    began = time.process_time()
    for _ in range(ROUNDS):
        learn_step(network, optimizer, minibatch, recipe.learn, 0.0)
    each = (time.process_time() - began) / (ROUNDS * size)
    return float(each * recipe.replay.passes)


def cpu_of(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def way_costs(address: str, size: int, count: int) -> dict[str, float]:
    """CPU of the trainer's machine for a piece with a result of `size` bytes."""
    from support import cluster_work  # noqa: F401 (nodes need it, so fail early)

    with Pool(address, check_share=0.0) as pool:
        pool.wait_for_nodes()
        work = "support.cluster_work:double"
        contents = [n.to_bytes(8, "little") * (size // 16) for n in range(count)]
        jobs = [Job(f"cost {n}", work, content) for n, content in enumerate(contents)]
        list(pool.map(jobs[:20]))
        assert pool._process is not None
        before = cpu_of(pool._process.pid), time.process_time()
        began = time.monotonic()
        list(pool.map(jobs[20:]))
        after = cpu_of(pool._process.pid), time.process_time()
        seconds = time.monotonic() - began
    count -= 20
    return {
        "result_bytes": size,
        "bridge_cpu_seconds": round((after[0] - before[0]) / count, 5),
        "trainer_cpu_seconds": round((after[1] - before[1]) / count, 5),
        "pieces_per_second": round(count / seconds, 1),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cluster", metavar="ADDRESS")
    parser.add_argument("--pieces", type=int, default=320)
    args = parser.parse_args()
    torch.set_num_threads(1)
    content, shared = engine_piece(games=16, nodes=200)
    engine = piece_costs(content, shared)
    engine["learn_seconds"] = round(engine_learning(content, shared) * engine["positions"], 4)
    print(json.dumps({"engine": engine}), flush=True)
    recipe: Any = load_recipe("alphazero")
    content, shared, _ = alphazero_piece(recipe, games=64)
    alphazero = piece_costs(content, shared)
    each = alphazero_learning(recipe, content, shared)
    alphazero["learn_seconds"] = round(each * alphazero["positions"], 4)
    print(json.dumps({"alphazero": alphazero}), flush=True)
    if args.cluster:
        for size in (20_000, 1_000_000):
            print(json.dumps({"way": way_costs(args.cluster, size, args.pieces)}), flush=True)


if __name__ == "__main__":
    main()
