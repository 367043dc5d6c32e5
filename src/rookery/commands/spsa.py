"""Tune the parameters of the engine's search by playing games.

Every step plays the engine with slightly changed search parameters against the engine with the
opposite changes, and moves all of them towards the winner (docs/engine.md). The same command
resumes an interrupted tuning. With --check, the tuned engine then plays the engine as it is.
"""

from __future__ import annotations

import argparse
import sys

from rookery.commands._common import check_numbers, print_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--network",
        default="rookery",
        metavar="NETWORK",
        help="model file, run folder or shipped network of the family nnue",
    )
    parser.add_argument(
        "--parameters", metavar="A,B", help="parameters to tune; default: all (see --list)"
    )
    parser.add_argument("--list", action="store_true", help="list the parameters and exit")
    parser.add_argument("--pairs", type=int, default=20_000, metavar="N", help="pairs of games")
    parser.add_argument("--nodes", type=int, default=4000, metavar="N", help="nodes per move")
    parser.add_argument(
        "--rate",
        type=float,
        default=0.02,
        metavar="R",
        help="step per point at the end, as a share of the perturbation",
    )
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="games at once")
    parser.add_argument(
        "--check",
        type=int,
        default=0,
        metavar="GAMES",
        help="games of the tuned engine against the engine as it is",
    )
    parser.add_argument(
        "--check-nodes",
        type=int,
        default=0,
        metavar="N",
        help="nodes per move of these games; 0: as --nodes",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed")
    parser.add_argument("--out", default="runs/spsa", metavar="DIR", help="folder of spsa.json")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Tune, compare, and print the values."""
    from rookery._core import search_parameters

    check_numbers(args, pairs=1, nodes=1, threads=1, check=0, check_nodes=0)
    if not args.rate > 0:
        raise ValueError(f"--rate is {args.rate}; it must be above 0")
    known = search_parameters()
    if args.list:
        rows = [f"{name} {value} ({low} to {high})" for name, (value, low, high) in known.items()]
        ranges = {name: list(values) for name, values in known.items()}
        return print_result(args, {"parameters": ranges}, "\n".join(rows))

    from pathlib import Path

    from rookery.training import require_extra

    require_extra()
    from rookery.tuning.spsa import Plan, Tuning, compare, load_tuning, tune

    names = tuple(args.parameters.split(",")) if args.parameters else tuple(known)
    plan = Plan(args.network, names, args.pairs, args.nodes, args.rate, seed=args.seed)
    folder = Path(args.out)
    tuning, tensors = load_tuning(folder, plan), _tensors(args.network)
    folder.mkdir(parents=True, exist_ok=True)
    every = max(plan.batch, args.pairs // 100)

    def show(now: Tuning) -> None:
        if now.played % every < plan.batch:
            text = ", ".join(f"{name} {value:.0f}" for name, value in _furthest(now.values))
            print(f"{now.played} of {args.pairs} pairs: {text}", file=sys.stderr, flush=True)

    tune(tuning, tensors, folder, args.threads, show)
    result = {
        "pairs": tuning.played,
        "nodes": args.nodes,
        "values": tuning.rounded(),
        "before": {name: known[name][0] for name in names},
        "file": str(folder / "spsa.json"),
    }
    lines = [f"{name}: {known[name][0]} -> {value}" for name, value in tuning.rounded().items()]
    if args.check:
        nodes = args.check_nodes or args.nodes
        pairs = (args.check + 1) // 2
        found = compare(tensors, tuning.rounded(), pairs, nodes, args.seed, args.threads)
        result["check"] = {
            "games": 2 * pairs,
            "nodes": nodes,
            "elo": found.elo,
            "elo_low": found.elo_low,
            "elo_high": found.elo_high,
        }
        lines.append(
            f"against the engine as it is, {2 * pairs} games at {nodes} nodes: {found.elo:+.0f} "
            f"Elo [{found.elo_low:+.0f}, {found.elo_high:+.0f}]"
        )
    return print_result(args, result, "\n".join(lines))


def _furthest(values: dict[str, float], count: int = 4) -> list[tuple[str, float]]:
    """Those that have moved most of their range."""
    from rookery._core import search_parameters

    known = search_parameters()

    def moved(item: tuple[str, float]) -> float:
        before, low, high = known[item[0]]
        return abs(item[1] - before) / (high - low)

    return sorted(values.items(), key=moved, reverse=True)[:count]


def _tensors(source: str) -> object:
    """The network's weights in the order of the native module."""
    from rookery.nets.evaluator import load_network
    from rookery.nets.nnue import Nnue, tensors_of

    network = load_network(source)
    if not isinstance(network, Nnue):
        raise ValueError(f"{source} is not a network of the engine; give one of the family nnue")
    return tensors_of(network)
