"""Show what is installed, what is missing and how to get it.

Check this machine and every optional package, engine, book and tablebase that Rookery can use.
The exit status is 1 if something that is installed does not work. With --cluster, list the nodes
of a Ray cluster instead, and what each of them has.
"""

from __future__ import annotations

import argparse

from rookery.commands._common import print_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--cluster", metavar="ADDRESS", help="examine a Ray cluster: auto, local or HOST:PORT"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Examine this machine, or a cluster, and report."""
    if args.cluster:
        from rookery.cluster.doctor import examine_cluster, report_cluster

        found = examine_cluster(args.cluster)
        print_result(args, found, report_cluster(found))
        return 1 if found["problems"] else 0
    from rookery.doctor import examine, report

    result = examine()
    print_result(args, result, report(result))
    return 1 if result["problems"] else 0
