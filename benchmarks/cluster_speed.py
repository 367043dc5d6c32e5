"""Two one-core nodes against two local threads: positions per second, and CPU for each.

    PYTHONPATH=tests python benchmarks/cluster_speed.py --rounds 4

The engine's games, the same orders, in turns in one process: first one, then the other. The cluster
plays ahead, as in training, so an order is begun before its turn; its time runs until the last of
several orders is there.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from cluster_costs import cpu_of
from rookery.cluster.pool import Pool
from rookery.nets import make_network
from rookery.selfplay.collector import Hooks, Piece, make_collector
from rookery.selfplay.datagen import DataOrder, DataPlan
from rookery.selfplay.networks import weights_of
from support.loopback_cluster import LoopbackCluster

ORDERS = 3  # of a turn


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--games", type=int, default=128)
    parser.add_argument("--nodes", type=int, default=200)
    args = parser.parse_args()
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(1)
    weights = weights_of(make_network("nnue", "nnue768", "none", {"hidden": 64}, generator))
    order = DataOrder(Piece(weights.digest, 1, 0, args.games - 1), args.nodes, adjudicate=True)
    with LoopbackCluster(2) as cluster, Pool(cluster.address) as pool:
        pool.wait_for_nodes(2)
        here = make_collector("data", "threads", DataPlan({}, workers=2))
        there = make_collector("data", "threads", DataPlan({}, workers=2), Hooks(pool=pool))
        there.begin(weights, order)()  # processes start, and import torch
        there.close()
        rows = []
        for number, turn in enumerate(turns(order, args.rounds), 1):
            row = {"load": os.getloadavg()[0]}
            row |= {f"machine_{k}": v for k, v in timed(here, weights, turn, None).items()}
            row |= {f"cluster_{k}": v for k, v in timed(there, weights, turn, pool).items()}
            there.close()
            row["ratio"] = row["cluster_speed"] / row["machine_speed"]
            rows.append(row)
            print(json.dumps({"round": number, **{k: round(v, 4) for k, v in row.items()}}))
    ratios = [row["ratio"] for row in rows]
    overhead = [row["cluster_overhead"] for row in rows]
    each = [row["cluster_overhead_a_piece"] for row in rows]
    print(
        json.dumps(
            {
                "ratio": round(float(np.mean(ratios)), 3),
                "ratios": [round(ratio, 3) for ratio in ratios],
                "overhead_share_of_cpu": round(float(np.mean(overhead)), 4),
                "overhead_seconds_a_piece": round(float(np.mean(each)), 4),
            }
        )
    )


def turns(order: DataOrder, count: int) -> Iterator[list[DataOrder]]:
    """Orders of consecutive games, new ones in each turn."""
    size = len(order.piece)
    for turn in range(1, count + 1):
        firsts = [(turn * ORDERS + n) * size for n in range(ORDERS)]
        yield [
            replace(order, piece=replace(order.piece, first=first, last=first + size - 1))
            for first in firsts
        ]


def timed(collector: Any, weights: Any, orders: list[DataOrder], pool: Pool | None) -> Any:
    """Speed, and the CPU that is not spent on games, as a share of the CPU that is."""
    bridge = pool._process.pid if pool is not None and pool._process is not None else None
    before = time.process_time(), cpu_of(bridge) if bridge else 0.0
    busy = sum(node["cpu"] for node in pool.status["nodes"]) if pool is not None else 0.0
    pieces = pool.status["pieces"] if pool is not None else 0
    began = time.perf_counter()
    positions = sum(len(collector.begin(weights, order)().samples) for order in orders)
    seconds = time.perf_counter() - began
    found = {"speed": positions / seconds, "seconds": seconds}
    if pool is not None and bridge:
        time.sleep(1.5)  # for the status; what is played ahead costs and counts meanwhile
        spent = time.process_time() - before[0] + cpu_of(bridge) - before[1]
        played = sum(node["cpu"] for node in pool.status["nodes"]) - busy
        found["overhead"] = spent / max(played, 1e-9)
        found["overhead_a_piece"] = spent / max(pool.status["pieces"] - pieces, 1)
    return found


if __name__ == "__main__":
    main()
