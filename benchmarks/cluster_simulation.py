"""How far a cluster scales: the real dispatcher with nodes that do not exist.

    python benchmarks/cluster_simulation.py                       # the table of docs/cluster.md
    python benchmarks/cluster_simulation.py --work engine --nodes 1000 --speeds 0.5

Nodes, network and learner are simulated with a virtual clock from measured costs (INPUTS); which
node does which piece, the window, copies of late pieces and checks are decided by
`rookery.cluster.dispatcher.Dispatcher` itself. The trainer's process has one core: every piece
costs it `bridge_seconds` and the learner `learn_seconds`, and bytes cross one link.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
from dataclasses import dataclass, field, replace
from typing import Any

from rookery.cluster.dispatcher import TICK, Dispatcher
from rookery.cluster.jobs import Answer, Job, NodeInfo
from rookery.cluster.pool import SMALLEST_WINDOW, WINDOW
from rookery.cluster.tasks import Attempt


@dataclass(frozen=True)
class Work:
    """Measured costs of a piece; seconds are of one core."""

    node_seconds: float  # playing it
    positions: float  # in it
    result_bytes: float
    order_bytes: float  # sent with it
    bridge_seconds: float  # of the trainer's machine: dispatching, receiving, hashing
    learn_seconds: float  # of the learner, for its positions
    spread: float = 0.2  # relative standard deviation of its duration


@dataclass(frozen=True)
class Site:
    """The machines around it."""

    nodes: int = 10
    cores: int = 4
    bandwidth: float = 1.25e8  # bytes a second of the trainer's link: 1 Gbit/s
    latency: float = 0.5e-3  # seconds, one way
    speeds: float = 0.0  # share by which the slowest node is slower than the fastest
    kills: float = 0.0  # nodes that die, and come back, in an hour of each
    checks: float = 0.01


# Measured with benchmarks/cluster_costs.py; docs/cluster.md says where and when.
INPUTS = {
    "engine": Work(0.405, 1569, 50_620, 231, 3e-3, 0.0195),
    "alphazero": Work(1.71, 541, 1_251_659, 491_069, 5e-3, 0.0726),
}


@dataclass
class Simulation:
    """A run of `pieces` pieces; as `rookery.cluster.dispatcher.Reports`."""

    work: Work
    site: Site
    pieces: int
    now: float = 0.0
    done: int = 0
    taken: int = 0
    peak: int = 0  # results under way or waiting
    _due: list[tuple[float, int, str, Any]] = field(default_factory=list)
    _count: int = 0
    _link: float = 0.0  # when the trainer's link is free
    _bridge: float = 0.0  # when its process is free
    _learner: float = 0.0

    def __post_init__(self) -> None:
        """Let the nodes join."""
        self.random = random.Random(1)
        self.dispatcher = Dispatcher(self, self.site.checks)
        self.slowness: dict[str, float] = {}
        self.free: dict[str, list[float]] = {}
        self.busy = 0.0
        for number in range(self.site.nodes):
            self._join(f"node {number}")

    def _join(self, name: str) -> None:
        self.slowness[name] = 1.0 + self.site.speeds * self.random.random()
        self.free[name] = [self.now] * self.site.cores
        self.dispatcher.join(NodeInfo(name, name, self.site.cores), self.now)
        if self.site.kills:
            self._at(self.now + self.random.expovariate(self.site.kills / 3600), "die", name)

    def _at(self, when: float, what: str, item: Any) -> None:
        self._count += 1
        heapq.heappush(self._due, (when, self._count, what, item))

    # --- What the dispatcher asks for ---

    def start(self, node: str, job: Job) -> Attempt:
        """A piece goes over the link to a core of the node, and its result comes back."""
        attempt = self.dispatcher.nodes[node].running[-1]
        self._bridge = max(self._bridge, self.now) + self.work.bridge_seconds / 2
        self._link = max(self._link, self._bridge) + self.work.order_bytes / self.site.bandwidth
        arrives = self._link + self.site.latency
        core = min(range(self.site.cores), key=lambda place: self.free[node][place])
        seconds = max(0.1, self.random.gauss(1.0, self.work.spread)) * self.work.node_seconds
        seconds *= self.slowness[node]
        self.free[node][core] = max(self.free[node][core], arrives) + seconds
        self.busy += seconds
        self._at(self.free[node][core] + self.site.latency, "send", (attempt, job))
        return attempt

    def stop(self, handle: Any, silent: bool) -> None:
        """Nothing: a simulated piece that was given up ends by itself."""

    def result(self, job: Job, answer: Answer) -> None:
        """The learner takes results in their order; this one waits for its turn."""
        self.done += 1
        self._learner = max(self._learner, self.now) + self.work.learn_seconds
        self._at(self._learner, "taken", job)

    def failed(self, job: Job, reason: str) -> None:
        """Pieces do not fail here."""
        raise RuntimeError(reason)

    def dispute(self, job: Job, answers: dict[str, Answer]) -> None:
        """Nobody lies here."""

    def log(self, text: str) -> None:
        """Nobody reads it."""

    # --- Time ---

    def run(self) -> dict[str, float]:
        """All pieces; speeds and shares."""
        window = max(SMALLEST_WINDOW, WINDOW * self.site.nodes * self.site.cores + 2)
        asked = 0
        self._at(TICK, "tick", None)
        while self.taken < self.pieces:
            while asked < self.pieces and asked - self.taken < window:
                self.dispatcher.add(Job(f"piece {asked}", "simulated", str(asked).encode()))
                asked += 1
            self.peak = max(self.peak, asked - self.taken)
            self.dispatcher.fill(self.now)
            self.now, _, what, item = heapq.heappop(self._due)
            getattr(self, f"_{what}")(item)
        cores = self.site.nodes * self.site.cores
        ideal = cores * self.work.positions / self.work.node_seconds
        speed = self.pieces * self.work.positions / self.now
        return {
            "nodes": self.site.nodes,
            "cores": cores,
            "positions_per_second": round(speed),
            "of_ideal": round(speed / ideal, 3),
            "learner_busy": round(self.pieces * self.work.learn_seconds / self.now, 3),
            "bridge_busy": round(self.pieces * self.work.bridge_seconds / self.now, 3),
            "link_megabytes_per_second": round(
                self.pieces * (self.work.result_bytes + self.work.order_bytes) / self.now / 1e6, 1
            ),
            "waiting_megabytes": round(self.peak * self.work.result_bytes / 1e6, 1),
            "retries": self.dispatcher.totals["retries"],
            "copies": self.dispatcher.totals["copies"],
        }

    def _send(self, item: tuple[Attempt, Job]) -> None:
        if not item[0].over:
            self._link = max(self._link, self.now) + self.work.result_bytes / self.site.bandwidth
            self._at(self._link, "arrive", item)

    def _arrive(self, item: tuple[Attempt, Job]) -> None:
        self._bridge = max(self._bridge, self.now) + self.work.bridge_seconds / 2
        self._at(self._bridge, "over", item)

    def _over(self, item: tuple[Attempt, Job]) -> None:
        digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        answer = Answer(b"", digest, round(self.work.positions), self.work.node_seconds)
        self.dispatcher.finish(item[0], answer, self.now)

    def _tick(self, item: None) -> None:
        self.dispatcher.tick(self.now)
        self._at(self.now + TICK, "tick", None)

    def _taken(self, job: Job) -> None:
        self.taken += 1

    def _die(self, name: str) -> None:
        if name in self.dispatcher.nodes:
            self.dispatcher.leave(name)
            self._join(f"{name}'")


def main() -> None:
    """Print a table, or one result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", choices=INPUTS, default="engine")
    parser.add_argument("--nodes", type=int, nargs="*", default=[1, 2, 10, 30, 100, 300, 1000])
    for name in ("cores", "bandwidth", "latency", "speeds", "kills", "checks"):
        default = getattr(Site, name)
        parser.add_argument(f"--{name}", type=type(default), default=default)
    parser.add_argument("--pieces", type=int, default=20, help="per core")
    parser.add_argument("--learner", type=float, default=1.0, help="its cost, as a factor")
    args = parser.parse_args()
    names = ("cores", "bandwidth", "latency", "speeds", "kills", "checks")
    site = Site(**{name: getattr(args, name) for name in names})
    for nodes in args.nodes:
        work = INPUTS[args.work]
        work = replace(work, learn_seconds=args.learner * work.learn_seconds)
        simulation = Simulation(work, replace(site, nodes=nodes), args.pieces * nodes * args.cores)
        print(json.dumps(simulation.run()))


if __name__ == "__main__":
    main()
