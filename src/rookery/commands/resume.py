"""`rookery resume`: continue a run."""

from __future__ import annotations

import argparse

from rookery.commands.train import add_settings, report

HELP = "continue a run as if it had never stopped"
DESCRIPTION = (
    "Continue a run from its newest sound checkpoint. A budget is the total of "
    "the run, over all its sessions; '+1h' means one hour more."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "folder", metavar="RUN", nargs="?", help="run folder; default: the last one in runs/"
    )
    parser.add_argument("--budget", metavar="B", help="new total: 3h, 2000it; or more: +1h, +100it")
    add_settings(parser)
    parser.add_argument(
        "--accept-changes",
        action="store_true",
        help="continue although the recipe is not that of the checkpoint",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    """Train until the budget is used up or a signal arrives."""
    from rookery.training.session import resume

    outcome = resume(args.folder, args.budget, args.workers, args.settings, args.accept_changes)
    return report(outcome, args.json)
