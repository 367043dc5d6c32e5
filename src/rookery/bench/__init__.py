"""`rookery bench`: the speed of Rookery and its peers, measured in the same run.

A benchmark is a module with a function `run() -> Result`, listed in `BENCHMARKS`.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import time
from collections.abc import Sequence

from rookery.bench.measure import Comparison, Result

# Name: (module, what it measures).
BENCHMARKS = {
    "perft": ("rookery.bench.perft", "legal move generation"),
    "env": ("rookery.bench.env", "random play in environments"),
    "encode": ("rookery.bench.encode", "observations in batches"),
    "ppo": ("rookery.bench.ppo", "PPO training, rollouts and updates"),
    "arena": ("rookery.bench.arena", "whole games between native players"),
    "alphabeta": ("rookery.bench.alphabeta", "alpha-beta search with a network"),
    "giraffe": ("rookery.bench.giraffe", "Giraffe's features and network in self-play"),
    "datagen": ("rookery.bench.datagen", "engine self-play"),
    "nnue_learner": ("rookery.bench.nnue_learner", "training of the engine's network"),
    "mcts": ("rookery.bench.mcts", "MCTS simulations in self-play"),
    "prediction": (
        "rookery.bench.prediction",
        "self-play processes that share one inference server",
    ),
    "ddqn": ("rookery.bench.ddqn", "double DQN on whole games"),
    "blind": ("rookery.bench.blind", "random play of blind chess"),
    "dqn": ("rookery.bench.dqn", "DQN on king and pawn against king"),
    "pepper": ("rookery.bench.pepper", "self-play on Deep Pepper's features"),
}

__all__ = ["BENCHMARKS", "Comparison", "Result", "main", "run"]


def run(name: str) -> Result:
    """Run one benchmark; an unknown name is a `ValueError`."""
    if name not in BENCHMARKS:
        near = difflib.get_close_matches(name, BENCHMARKS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"unknown benchmark {name!r}{hint} (known: {', '.join(BENCHMARKS)})")
    result: Result = importlib.import_module(BENCHMARKS[name][0]).run()
    return result


def main(names: Sequence[str], json: bool) -> int:
    """Run the named benchmarks (default: all) and return the exit status.

    With `json`, print one object with the `Result.as_json` of each benchmark.
    """
    from rookery.base.json_output import write_json

    chosen = list(dict.fromkeys(names)) or list(BENCHMARKS)
    for name in chosen:
        if name not in BENCHMARKS:
            run(name)  # raises before any measurement
    results: dict[str, object] = {}
    for name in chosen:
        print(f"measuring {name} ({BENCHMARKS[name][1]}) ...", file=sys.stderr, flush=True)
        begin = time.perf_counter()
        try:
            result = run(name)
        except ImportError as error:
            if names:
                raise
            print(f"{name} was skipped: {error}", file=sys.stderr)
            continue
        seconds = time.perf_counter() - begin
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        extra = {"seconds": round(seconds, 1), "load": round(load, 2)}
        results[name] = result.as_json() | extra
        for peer, reason in result.missing.items():
            print(f"{name}: {peer} was skipped: {reason}", file=sys.stderr)
        if not json:
            _show(name, result)
    if json:
        write_json(results)
    return 0


def _show(name: str, result: Result) -> None:
    """Print a result as a table."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{name}: {BENCHMARKS[name][1]} ({result.unit})", title_justify="left")
    table.add_column("program")
    table.add_column("value", justify="right")
    table.add_column("ratio", justify="right")
    table.add_column("conditions", overflow="fold")
    table.add_row("rookery", f"{result.value:,.0f}", "", result.conditions)
    for comparison in result.comparisons:
        digits = 2 if comparison.ratio < 10 else 0
        ratio = f"{comparison.ratio:,.{digits}f} x"
        table.add_row(
            comparison.peer, f"{comparison.peer_value:,.0f}", ratio, comparison.conditions
        )
    for label, value in result.details.items():
        table.add_row(f"  {label}", f"{value:,.0f}", "", "")
    Console().print(table)
