"""`rookery bench`: measure speed, ours and that of peers, in the same run."""

from __future__ import annotations

import argparse

from rookery.commands import Subparsers


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "bench",
        help="measure speed against peers, in the same run",
        description="Run benchmarks: all of them, or those named. Peers that are not installed "
        "are left out, with a message.",
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="a benchmark; default: all")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Hand over to the benchmarks."""
    from rookery import bench

    status: int = bench.main(args.names, args.json)
    return status
