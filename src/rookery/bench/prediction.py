"""Self-play processes that share one network against all games in one process (paper 002, 3.8).

The same games, the same network and the same batches through each collector of AlphaZero. Besides
the clock the processors' time of all processes is measured: on a busy machine it says more, and it
shows what the processes cost; what they gain (trees are searched while the network works) only the
clock shows, on a machine with cores to spare.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

from rookery.bench.mcts import residual
from rookery.bench.measure import Comparison, Result
from rookery.selfplay.collector import Collector, Order

SECONDS = 2.0
REPETITIONS = 3
# Games from random openings that soon end, so that some end in every order.
RESIDUAL_GAMES, SQUARES_GAMES = 128, 512  # leaves of a batch
SIMULATIONS, MAX_PLIES = 16, 24
ORDER = {"6x64": 128, "squares": 4096}  # samples that are asked for at a time


def game_options(games: int, observation: str) -> dict[str, Any]:
    """Options of `SelfPlay`."""
    return {
        "games": games, "observation": observation, "simulations": SIMULATIONS,
        "random_share": 1.0, "random_plies": (4, 20), "max_plies": MAX_PLIES, "cache_megabytes": 0,
    }  # fmt: skip


def cpu_seconds(children: list[int]) -> float:
    """Processor time of this process and of children that still run."""
    total = time.process_time()
    ticks = os.sysconf("SC_CLK_TCK")
    for pid in children:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / ticks
    return total


def measure(
    collector: Collector, network: Any, samples: int, seconds: float
) -> tuple[float, float]:
    """Evaluations per second, and per second of processor time."""
    order = Order(samples, SIMULATIONS, SIMULATIONS, -2.0, 1.0)
    children = [peer.process.pid for peer in getattr(collector, "peers", [])]
    before = collector.counts()["evaluations"]
    began, used = time.perf_counter(), cpu_seconds(children)
    while time.perf_counter() - began < seconds:
        collector.begin(network, order)()
    done = collector.counts()["evaluations"] - before
    return done / (time.perf_counter() - began), done / (cpu_seconds(children) - used)


def collectors(cores: int) -> dict[str, tuple[Collector, Any, int]]:
    """Everything that is measured by name: collector, network, samples of an order."""
    from rookery.nets import make_network
    from rookery.nets.native import network_evaluator
    from rookery.selfplay.local import BatchCollector, ThreadCollector
    from rookery.selfplay.server import ServerCollector
    from rookery.selfplay.server_messages import GROUPS

    judge = residual("planes119", 6, 64)
    squares = make_network("squares", "tactical70", "az4672")

    def server(
        games: int, observation: str, make: Callable[[Any], Any], processes: int
    ) -> ServerCollector:
        options = game_options(games // processes, observation)
        return ServerCollector(options, list(range(GROUPS * processes)), make)

    def native(network: Any) -> Any:
        return network_evaluator(network, threads=cores)

    batch = BatchCollector(game_options(RESIDUAL_GAMES, "planes119"), 0, lambda _: judge)
    threads = ThreadCollector(
        game_options(SQUARES_GAMES // cores, "tactical70"), list(range(cores))
    )
    return {
        "6x64, one process": (batch, judge, ORDER["6x64"]),
        f"6x64, {cores} processes and a server": (
            server(RESIDUAL_GAMES, "planes119", lambda _: judge, cores),
            judge,
            ORDER["6x64"],
        ),
        "squares, one process": (threads, squares, ORDER["squares"]),
        f"squares, {cores} processes and a server": (
            server(SQUARES_GAMES, "tactical70", native, cores),
            squares,
            ORDER["squares"],
        ),
    }


def run() -> Result:
    """Measure all collectors in turn."""
    import torch

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    threads = torch.get_num_threads()
    torch.set_num_threads(cores)
    measured = collectors(cores)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in measured}
    try:
        for _ in range(REPETITIONS):
            for name, (collector, network, samples) in measured.items():
                found[name].append(measure(collector, network, samples, SECONDS))
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
        f"self-play with a 6x64 network, {cores} processes that search and one that judges",
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
