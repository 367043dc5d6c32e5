"""`rookery bench`: measure speed, ours and that of peers, in the same run."""

from __future__ import annotations

import argparse

HELP = "measure speed against peers, in the same run"
DESCRIPTION = (
    "Run benchmarks: all of them, or those named. Peers that are not installed "
    "are left out, with a message."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="a benchmark; default: all")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    """Hand over to the benchmarks."""
    from rookery import bench

    status: int = bench.main(args.names, args.json)
    return status
