"""Speed of the core against another build of it: perft and a fixed search, by turns on one core.

    git worktree add ../before COMMIT && make -C ../before build
    python benchmarks/core_ratio.py ../before/build/*/_core.*.so --pairs 15

Each measurement is a process of its own that loads one native module. The order of a pair changes
from pair to pair. Prints ratios of processor time, other / ours: above 1, ours is faster. Searches
are compared only if both visit the same nodes.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


def load(path: Path) -> Any:
    """Import a native module by its file."""
    spec = importlib.util.spec_from_file_location("_core", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no native module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measure(path: Path, depth: int, searches: int) -> dict[str, float]:
    """Processor time of perft and of the searches, and what they counted."""
    core = load(path)
    core.perft(KIWIPETE, 3)  # tables and caches are warm
    begin = time.process_time()
    leaves = core.perft(KIWIPETE, depth)
    middle = time.process_time()
    nodes = [core.bench()[0] for _ in range(searches)]
    end = time.process_time()
    return {
        "perft": middle - begin,
        "search": end - middle,
        "leaves": leaves,
        "nodes": sum(nodes),
    }


def in_process(path: Path, depth: int, searches: int) -> dict[str, float]:
    """`measure` in a new process."""
    words = [sys.executable, __file__, str(path), "--once"]
    words += ["--depth", str(depth), "--searches", str(searches)]
    found: dict[str, float] = json.loads(subprocess.check_output(words))
    return found


def compare(other: Path, ours: Path, options: argparse.Namespace) -> None:
    """Play pairs of measurements and print their ratios."""
    ratios: dict[str, list[float]] = {"perft": [], "search": []}
    best: dict[str, list[float]] = {"perft": [1e9, 1e9], "search": [1e9, 1e9]}
    for pair in range(options.pairs):
        rows: dict[Path, dict[str, float]] = {}
        for path in (other, ours) if pair % 2 == 0 else (ours, other):
            rows[path] = in_process(path, options.depth, options.searches)
        for key in ("leaves", "nodes"):
            if rows[other][key] != rows[ours][key]:
                raise SystemExit(f"{key} differ: {rows[other][key]} and {rows[ours][key]}")
        for key, found in ratios.items():
            found.append(rows[other][key] / rows[ours][key])
            for place, path in enumerate((other, ours)):
                best[key][place] = min(best[key][place], rows[path][key])
    for key, found in ratios.items():
        print(
            f"{key}: median {statistics.median(found):.4f}, best against best "
            f"{best[key][0] / best[key][1]:.4f}, pairs {min(found):.3f} to {max(found):.3f}"
        )


def main() -> None:
    """Compare two builds, or measure one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("other", type=Path, help="the other _core module")
    parser.add_argument("ours", type=Path, nargs="?", help="default: that of this environment")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--depth", type=int, default=5, help="of perft")
    parser.add_argument("--searches", type=int, default=3, help="of bench() in one measurement")
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        print(json.dumps(measure(options.other, options.depth, options.searches)))
        return
    import rookery._core

    compare(options.other, options.ours or Path(rookery._core.__file__), options)


if __name__ == "__main__":
    main()
