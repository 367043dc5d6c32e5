"""Show what is installed, what is missing and how to get it.

Check this machine and every optional package, engine, book and tablebase that Rookery can use.
The exit status is 1 if something that is installed does not work.
"""

from __future__ import annotations

import argparse

from rookery.commands._common import print_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Examine this machine and report."""
    from rookery.doctor import examine, report

    result = examine()
    print_result(args, result, report(result))
    return 1 if result["problems"] else 0
