"""`rookery doctor`: tell what is installed, what is missing, and what this machine can do."""

from __future__ import annotations

import argparse

from rookery.base.json_output import write_json

HELP = "tell what is installed, what is missing and how to get it"
DESCRIPTION = "Look at this machine and at everything optional that Rookery can use."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    """Examine and report; the status is 0 unless something that is there is broken."""
    from rookery.doctor import examine, report

    result = examine()
    if args.json:
        write_json(result)
    else:
        print(report(result))
    return 1 if result["problems"] else 0
