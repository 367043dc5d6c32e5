"""An inference server with self-play processes against one process (Vanhoutte 2022, 3.8).

Every collector of AlphaZero gets the same games, network and batches. Besides wall-clock time the
CPU time of all processes is measured: it is more reliable on a busy machine and shows the cost of
the processes. Their gain (tree search overlaps with inference) shows only in wall-clock time, on a
machine with spare cores.
"""

from __future__ import annotations

import os
import statistics
import time
from typing import Any

from rookery.base.cores import usable_cores
from rookery.bench.measure import Comparison, Result
from rookery.selfplay.collector import Collector, Weights, make_collector
from rookery.selfplay.trees import TreeHarvest, TreeOrder, TreePlan

Measured = tuple[Collector[TreeOrder, TreeHarvest], Weights, int]  # samples per order

RESIDUAL = {"blocks": 6, "filters": 64}
SECONDS = 2.0
REPETITIONS = 3
# Short games from random openings, so that some end in every order.
RESIDUAL_GAMES, SQUARES_GAMES = 128, 512  # leaves per batch
SIMULATIONS, MAX_PLIES = 16, 24
# Samples per order: about two seconds, so that loading the weights hardly matters.
ORDER = {"6x64": 512, "squares": 16384}


def cpu_seconds(children: list[int]) -> float:
    """Return the CPU time of this process and of running children."""
    total = time.process_time()
    ticks = os.sysconf("SC_CLK_TCK")
    for pid in children:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / ticks
    return total


def measure(
    collector: Collector[TreeOrder, TreeHarvest], weights: Weights, samples: int, seconds: float
) -> tuple[float, float]:
    """Return evaluations per second of wall-clock time and of CPU time."""
    from rookery.selfplay.server import ServerCollector

    order = TreeOrder(samples, SIMULATIONS, SIMULATIONS, -2.0, 1.0)
    peers = collector.peers if isinstance(collector, ServerCollector) else []
    children = [peer.process.pid for peer in peers]
    before = collector.counts()["evaluations"]
    used, began = cpu_seconds(children), time.perf_counter()
    collector.begin(weights, order)()
    while time.perf_counter() - began < seconds:
        collector.begin(weights, order)()
    done = collector.counts()["evaluations"] - before
    return done / (time.perf_counter() - began), done / (cpu_seconds(children) - used)


def collectors(cores: int) -> dict[str, Measured]:
    """Return the collectors to measure, by name."""
    from rookery.nets import make_network
    from rookery.nets.inference import Precision, has_fast_bfloat16
    from rookery.selfplay.networks import weights_of

    residual = make_network("resnet", "planes119", "az4672", RESIDUAL)
    squares = make_network("squares", "tactical70", "az4672")
    precision: Precision = "bfloat16" if has_fast_bfloat16() else "float32"

    def measured(backend: str, network: Any, games: int, samples: int) -> Measured:
        options = {
            "observation": network.observation, "simulations": SIMULATIONS, "random_share": 1.0,
            "random_plies": (4, 20), "max_plies": MAX_PLIES, "cache_megabytes": 0,
        }  # fmt: skip
        plan = TreePlan(options, games, 0, cores, cores, precision)
        return make_collector("trees", backend, plan), weights_of(network), samples

    threads = SQUARES_GAMES // cores  # games per thread
    served = f"{cores} processes and a server"
    return {
        "6x64, one process": measured("batches", residual, RESIDUAL_GAMES, ORDER["6x64"]),
        f"6x64, {served}": measured("server", residual, RESIDUAL_GAMES, ORDER["6x64"]),
        "squares, one process": measured("threads", squares, threads, ORDER["squares"]),
        f"squares, {served}": measured("server", squares, SQUARES_GAMES, ORDER["squares"]),
    }


def run() -> Result:
    """Run the benchmark."""
    import torch

    cores = usable_cores()
    threads = torch.get_num_threads()
    torch.set_num_threads(cores)
    measured = collectors(cores)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in measured}
    try:
        for _ in range(REPETITIONS):
            for name, (collector, weights, samples) in measured.items():
                found[name].append(measure(collector, weights, samples, SECONDS))
    finally:
        torch.set_num_threads(threads)
        for collector, _, _ in measured.values():
            collector.close()
    details = {}
    for name, rates in found.items():
        details[name] = statistics.median(wall for wall, _ in rates)
        details[f"{name}, by processor time"] = statistics.median(cpu for _, cpu in rates)
    one, served, one_squares, served_squares = (details[name] for name in found)
    return Result(
        served,
        "evaluations/s",
        f"self-play with a 6x64 network, {cores} search processes and an inference server",
        [
            Comparison(
                "the same in one process", one, served,
                f"6x64, batches of {RESIDUAL_GAMES}, {cores} threads of torch",
            ),
            Comparison(
                "squares in one process", one_squares, served_squares,
                f"{cores} threads with games of their own, against {cores} processes",
            ),
        ],
        details=details,
    )  # fmt: skip
