"""Resume a training run.

Resume a run from its newest valid checkpoint, as if it had never stopped. The budget is
the total over all sessions of the run; '+1h' adds one hour to it.
"""

from __future__ import annotations

import argparse

from rookery.commands.train import add_settings, report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "folder", metavar="RUN", nargs="?", help="run folder; default: the most recent in runs/"
    )
    parser.add_argument(
        "--budget", metavar="B", help="new total (3h, 2000it) or extension (+1h, +100it)"
    )
    add_settings(parser, "; default: the run's own, if it has one; '': this machine plays")
    parser.add_argument(
        "--accept-changes",
        action="store_true",
        help="resume even though the recipe differs from the checkpoint's",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Train until the budget is used up or a signal arrives."""
    from rookery.training.session import resume

    outcome = resume(
        args.folder,
        args.budget,
        args.workers,
        args.settings,
        args.accept_changes,
        cluster=args.cluster,
    )
    return report(outcome, args.json)
