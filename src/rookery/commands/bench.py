"""Benchmark Rookery against other libraries.

Run the named benchmarks, or all of them. Rookery and its peers are measured in turn during the
same run; peers that are not installed are skipped with a message.
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="benchmark; default: all")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Run the benchmarks."""
    from rookery import bench

    return int(bench.main(args.names, args.json))
