"""Measure the latency of the UCI engine; prints one JSON object, in milliseconds.

    python benchmarks/uci_latency.py [PLAYER] [--repeats 10]

Reports median and maximum of the times from the start of the process to `uciok` and to the first
`readyok`; from `isready` to `readyok` during a search; from `stop` to `bestmove`; and from `quit`,
the end of input, closed output or Ctrl-C during a search to the end of the process.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

WAIT_SECONDS = 60.0
SEARCH_SECONDS = 0.2  # of an infinite search before it is stopped


class Engine:
    """A running engine."""

    def __init__(self, player: str) -> None:
        """Start it."""
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rookery.cli", "uci", player],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.input, self.output = self.process.stdin, self.process.stdout

    def send(self, text: str) -> None:
        """Write one line."""
        self.input.write(text.encode() + b"\n")
        self.input.flush()

    def wait(self, start: str) -> None:
        """Read up to a line with this prefix."""
        for line in self.output:
            if line.startswith(start.encode()):
                return
        raise RuntimeError(f"the engine exited before {start!r}")

    def searching(self) -> Engine:
        """Start an infinite search."""
        self.send("isready")
        self.wait("readyok")
        self.send("go infinite")
        time.sleep(SEARCH_SECONDS)
        return self

    def timed(self, act: Callable[[], object], until: str = "") -> float:
        """Return the milliseconds from an action to a line, or to the end of the process."""
        began = time.perf_counter()
        act()
        if until:
            self.wait(until)
        else:
            self.process.wait(WAIT_SECONDS)
        return (time.perf_counter() - began) * 1000


def measure(player: str) -> dict[str, float]:
    """Measure everything once."""
    times = {}
    engine = Engine(player)
    engine.send("uci")
    engine.wait("uciok")
    times["start_to_uciok"] = (time.perf_counter() - engine.began) * 1000
    engine.send("isready")
    engine.wait("readyok")
    times["start_to_readyok"] = (time.perf_counter() - engine.began) * 1000
    engine.searching()
    times["isready_in_search"] = engine.timed(lambda: engine.send("isready"), "readyok")
    times["stop_to_bestmove"] = engine.timed(lambda: engine.send("stop"), "bestmove")
    engine.searching()
    times["quit_to_end"] = engine.timed(lambda: engine.send("quit"))
    ended = Engine(player).searching()
    times["end_of_input_to_end"] = ended.timed(ended.input.close)
    unread = Engine(player).searching()
    times["reader_gone_to_end"] = unread.timed(unread.output.close)
    killed = Engine(player).searching()
    times["interrupt_to_end"] = killed.timed(lambda: os.kill(killed.process.pid, signal.SIGINT))
    return times


def main() -> int:
    """Repeat the measurement and print the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("player", nargs="?", default="greedy-safe")
    parser.add_argument("--repeats", type=int, default=10)
    args = parser.parse_args()
    runs = [measure(args.player) for _ in range(args.repeats)]
    result: dict[str, object] = {"player": args.player, "repeats": args.repeats, "unit": "ms"}
    for name in runs[0]:
        values = [run[name] for run in runs]
        result[name] = {
            "median": round(statistics.median(values), 1),
            "largest": round(max(values), 1),
        }
    print(json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
