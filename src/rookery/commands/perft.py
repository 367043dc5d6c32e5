"""`rookery perft`: count the leaves of the tree of legal moves."""

from __future__ import annotations

import argparse

from rookery.commands import Subparsers, interrupt_at_once, write_json

MOST_PLIES = 64  # as the core


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "perft",
        help="count the positions reached by all legal move sequences of a length",
        description="Count the leaves of the tree of legal moves, to check the rules and to "
        "measure their speed.",
    )
    parser.add_argument("fen", metavar="FEN", help="position in quotes, or 'startpos'")
    parser.add_argument("depth", metavar="DEPTH", type=int, help=f"plies, 0 to {MOST_PLIES}")
    parser.add_argument("--divide", action="store_true", help="a count per first move as well")
    parser.add_argument("--chess960", action="store_true", help="Chess960 castling rules")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Count, and print the count with its speed."""
    import time

    from rookery._core import STARTING_FEN, perft, perft_divide

    if not 0 <= args.depth <= MOST_PLIES:
        raise ValueError(f"DEPTH is {args.depth}; it must be from 0 to {MOST_PLIES}")
    if args.divide and args.depth == 0:
        raise ValueError("--divide needs a DEPTH of 1 or more")
    fen = STARTING_FEN if args.fen == "startpos" else args.fen
    began = time.perf_counter()
    divided: dict[str, int] = {}
    with interrupt_at_once():
        if args.divide:
            divided = perft_divide(fen, args.depth, args.chess960)
            nodes = sum(divided.values())
        else:
            nodes = perft(fen, args.depth, args.chess960)
    seconds = time.perf_counter() - began
    speed = nodes / max(seconds, 1e-9)
    if args.json:
        result = {"fen": fen, "depth": args.depth, "nodes": nodes, "seconds": seconds}
        result["nodes_per_second"] = speed
        if args.divide:
            result["divide"] = divided
        write_json(result)
        return 0
    for move, count in sorted(divided.items()):
        print(f"{move}: {count}")
    print(f"{nodes} nodes in {seconds:.3f} s, {speed / 1e6:.1f} million per second")
    return 0
