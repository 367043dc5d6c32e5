"""`rookery train`: run a recipe in a new run folder."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from rookery.base.json_output import write_json

if TYPE_CHECKING:
    from rookery.training.loop import Outcome

HELP = "train a network by a recipe"
DESCRIPTION = (
    "Train a network. Everything goes into one run folder. Ctrl-C saves and "
    "stops; 'rookery resume RUN' continues as if nothing had happened."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("recipe", metavar="RECIPE", help="a name ('rookery recipes') or a .toml")
    parser.add_argument(
        "--run",
        metavar="DIR",
        dest="folder",
        help="default: runs/RECIPE, or RECIPE-2, ... if that is taken",
    )
    parser.add_argument("--budget", metavar="B", help="total length: 30m, 2h, 1000it")
    parser.add_argument("--seed", metavar="N", type=int, help="source of all randomness")
    add_settings(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Options that `train` and `resume` share."""
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="change a key of the recipe, as in --set ppo.learning_rate=3e-4; may be repeated",
    )
    parser.add_argument("--workers", metavar="N", type=int, help="cores to use; 0: all")


def run(args: argparse.Namespace) -> int:
    """Train until the budget is used up or a signal arrives."""
    from rookery.training.session import start

    outcome = start(args.recipe, args.folder, args.budget, args.seed, args.workers, args.settings)
    return report(outcome, args.json)


def report(outcome: Outcome, as_json: bool) -> int:
    """Say how a session ended, and how to continue."""
    if as_json:
        write_json(asdict(outcome))
    stream = sys.stderr if as_json else sys.stdout
    if outcome.finished:
        print(f"finished: {outcome.run}/model.safetensors", file=stream)
        print(f"for more: rookery resume {outcome.run} --budget +1h", file=stream)
    else:
        print(f"saved; continue with: rookery resume {outcome.run}", file=stream)
    return 0
