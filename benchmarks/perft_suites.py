"""Check every line of the perft suites at full depth.

    python benchmarks/perft_suites.py --threads 2 [--hash MB] [--max-nodes N] [FILE.epd ...]

Lines are `FEN ;D1 20 ;D2 400 ...`. Without file names, all suites of the data folder (the
environment variable ROOKERY_DATA, or shared/data beside the checkout). The largest depth within
--max-nodes is counted; it implies the smaller ones. Exits 1 on a difference.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rookery._core import PerftTable, perft
from rookery.data.paths import data_folder

CHESS960_SUITES = ("chess960.epd", "tricky.epd")  # these use Chess960 castling
PROGRESS_SECONDS = 10.0


@dataclass(frozen=True)
class Line:
    """One position of a suite with its published node counts."""

    suite: str
    fen: str
    nodes: dict[int, int]  # by depth

    @property
    def chess960(self) -> bool:
        """Whether the suite uses Chess960 castling."""
        return self.suite in CHESS960_SUITES

    def deepest(self, max_nodes: int) -> int | None:
        """Return the largest depth with at most max_nodes nodes."""
        return max((depth for depth, n in self.nodes.items() if n <= max_nodes), default=None)


def read_suite(path: Path) -> Iterator[Line]:
    """Read the lines of a suite, plain or gzipped."""
    data = path.read_bytes()
    text = gzip.decompress(data).decode() if path.suffix == ".gz" else data.decode()
    for line in text.splitlines():
        fen, *rest = line.strip().split(";")
        if fen.strip():
            pairs = (part.split() for part in rest if part.startswith("D"))
            nodes = {int(depth[1:]): int(count) for depth, count in pairs}
            yield Line(path.name.removesuffix(".gz"), fen.strip(), nodes)


def default_suites() -> list[Path]:
    """List the suites in the data folder."""
    folder = data_folder()
    return [] if folder is None else sorted((folder / "perft").glob("*.epd*"))


def main() -> int:
    """Count and compare; returns the exit code."""
    parser = argparse.ArgumentParser(description="Perft suites at full depth.")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--hash", type=int, default=0, metavar="MB", help="hash table for transpositions"
    )
    parser.add_argument("--max-nodes", type=int, default=sys.maxsize)
    arguments = parser.parse_args()
    paths = arguments.files or default_suites()
    if not paths:
        parser.error("no suites found: name files, or set ROOKERY_DATA to the data folder")

    work: list[tuple[Line, int]] = []
    skipped = 0
    for path in paths:
        for line in read_suite(path):
            depth = line.deepest(arguments.max_nodes)
            skipped += depth is None
            if depth is not None:
                work.append((line, depth))
    total = sum(line.nodes[depth] for line, depth in work)

    tables = threading.local()  # one hash table per thread

    def count(task: tuple[Line, int]) -> int:
        line, depth = task
        if not arguments.hash:
            return perft(line.fen, depth, chess960=line.chess960)  # without the GIL
        if not hasattr(tables, "mine"):
            tables.mine = PerftTable(arguments.hash)
        found: int = tables.mine.count(line.fen, depth, chess960=line.chess960)
        return found

    differences: list[str] = []
    nodes = 0
    begin = last = time.perf_counter()
    with ThreadPoolExecutor(arguments.threads) as pool:
        for (line, depth), found in zip(work, pool.map(count, work), strict=True):
            nodes += found
            if found != line.nodes[depth]:
                differences.append(f"{line.fen} depth {depth}: {found}, not {line.nodes[depth]}")
                print(differences[-1], file=sys.stderr)
            now = time.perf_counter()
            if now - last > PROGRESS_SECONDS:
                last = now
                print(
                    f"{nodes / 1e9:,.1f} of {total / 1e9:,.1f} billion nodes, "
                    f"{nodes / (now - begin) / 1e6:,.0f} million/s",
                    file=sys.stderr,
                )
    summary = {
        "lines": len(work),
        "skipped": skipped,
        "nodes": nodes,
        "seconds": round(time.perf_counter() - begin, 1),
        "differences": len(differences),
        "first_differences": differences[:20],
    }
    print(json.dumps(summary, indent=2))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
