"""Many tiny workers against one learner: throughput, and memory that does not grow.

    PYTHONPATH=tests python benchmarks/cluster_many.py --workers 64 --pieces 4000

A local Ray cluster pretends to have many cores; pieces sleep and return bytes, so that one real
machine can hold them. The learner takes results as fast as it can, then with a pause after each, so
that results pile up in front of it as far as the window lets them.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from rookery.cluster.jobs import Job
from rookery.cluster.pool import Pool


def resident(pid: int) -> float:
    """Megabytes of memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def jobs(count: int, seconds: float, size: int, label: str) -> Iterator[Job]:
    """Pieces that differ by their number."""
    for number in range(count):
        content = f"{seconds} {size} {label}{number}".encode()
        yield Job(f"{label} {number}", "support.cluster_work:simulated", content)


def measure(pool: Pool, work: Iterator[Job], pause: float) -> dict[str, float]:
    """Take all results; speed and largest memory of the trainer and of the bridge."""
    assert pool._process is not None
    began, done, taken = time.monotonic(), 0, 0
    largest = [0.0, 0.0]
    for data in pool.map(work):
        done, taken = done + 1, taken + len(data)
        if pause:
            time.sleep(pause)
        if done % 50 == 0:
            now = (resident(os.getpid()), resident(pool._process.pid))
            largest = [max(pair) for pair in zip(largest, now, strict=True)]
    seconds = time.monotonic() - began
    return {
        "pieces": done,
        "pieces_per_second": round(done / seconds, 1),
        "megabytes_per_second": round(taken / seconds / 1e6, 2),
        "trainer_megabytes": round(largest[0]),
        "bridge_megabytes": round(largest[1]),
        "window": pool.window,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--pieces", type=int, default=4000)
    parser.add_argument("--seconds", type=float, default=0.5, help="of a piece")
    parser.add_argument("--bytes", type=int, default=50_000, help="of a result")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds of the slow learner")
    args = parser.parse_args()
    with Pool("local", cores=args.workers, check_share=0.0) as pool:
        pool.wait_for_nodes(args.workers)
        warm = jobs(2 * args.workers, args.seconds, args.bytes, "warm")
        print(json.dumps({"warm": measure(pool, warm, 0.0)}), flush=True)
        for name, count, pause in (
            ("fast", args.pieces, 0.0),
            ("slow", args.pieces // 10, args.pause),
        ):
            found = measure(pool, jobs(count, args.seconds, args.bytes, name), pause)
            print(json.dumps({name: found}), flush=True)


if __name__ == "__main__":
    main()
