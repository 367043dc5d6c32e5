"""`rookery bench`: how fast we are, and how fast others are, measured in the same run.

Benchmarks are modules with a function `run() -> Result`; `BENCHMARKS` names them. Other parts of
Rookery add theirs to that table.
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
    "env": ("rookery.bench.env", "random play in an environment"),
    "encode": ("rookery.bench.encode", "observations in batches"),
    "ppo": ("rookery.bench.ppo", "training by PPO, playing and learning together"),
    "arena": ("rookery.bench.arena", "whole games between native players"),
    "alphabeta": ("rookery.bench.alphabeta", "alpha-beta search with a network"),
    "datagen": ("rookery.bench.datagen", "games of a network against itself"),
    "nnue_learner": ("rookery.bench.nnue_learner", "learning of the engine's network"),
    "mcts": ("rookery.bench.mcts", "simulations of tree search in self-play"),
    "prediction": ("rookery.bench.prediction", "self-play processes that share one network"),
    "dqn": ("rookery.bench.dqn", "deep Q-learning on king and pawn against king"),
}

__all__ = ["BENCHMARKS", "Comparison", "Result", "main", "run"]


def run(name: str) -> Result:
    """Run one benchmark.

    Raises:
        ValueError: if there is none of that name.
    """
    if name not in BENCHMARKS:
        near = difflib.get_close_matches(name, BENCHMARKS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"unknown benchmark {name!r}{hint} (known: {', '.join(BENCHMARKS)})")
    result: Result = importlib.import_module(BENCHMARKS[name][0]).run()
    return result


def main(names: Sequence[str], json: bool) -> int:
    """Run the benchmarks named (all if none is); returns the exit status.

    With `json` one object goes to standard output: per benchmark its `value` and `unit`, and
    where it compares `peer`, `peer_value`, `ratio` and the list `comparisons`.
    """
    from rookery.base.json_output import write_json

    chosen = list(dict.fromkeys(names)) or list(BENCHMARKS)
    for name in chosen:
        if name not in BENCHMARKS:
            run(name)  # raises before anything is measured
    results: dict[str, object] = {}
    for name in chosen:
        print(f"measuring {name} ({BENCHMARKS[name][1]}) ...", file=sys.stderr, flush=True)
        begin = time.perf_counter()
        try:
            result = run(name)
        except ImportError as error:
            if names:
                raise
            print(f"{name} was left out: {error}", file=sys.stderr)
            continue
        seconds = time.perf_counter() - begin
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        extra = {"seconds": round(seconds, 1), "load": round(load, 2)}
        results[name] = result.as_json() | extra
        for peer, reason in result.missing.items():
            print(f"{name}: {peer} was left out: {reason}", file=sys.stderr)
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
    table.add_column("who")
    table.add_column("value", justify="right")
    table.add_column("ours is", justify="right")
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
