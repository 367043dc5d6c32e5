"""`rookery doctor`: tell what is installed, what is missing, and what this machine can do."""

from __future__ import annotations

import argparse

from rookery.base.json_output import write_json
from rookery.commands import Subparsers


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "doctor",
        help="tell what is installed, what is missing and how to get it",
        description="Look at this machine and at everything optional that Rookery can use.",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Examine and report; the status is 0 unless something that is there is broken."""
    from rookery.doctor import examine, report

    result = examine()
    if args.json:
        write_json(result)
    else:
        print(report(result))
    return 1 if result["problems"] else 0
