"""Train a network from a recipe.

Train a network and keep everything in one run folder. Ctrl-C saves a checkpoint and stops;
'rookery resume RUN' continues as if the run had never stopped.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rookery.base.json_output import write_json
from rookery.base.output import print_nowhere, reader_is_gone
from rookery.commands._common import add_board_option

# What to do with a finished run.
PLAYING = (("play it", "play {run}"), ("rate it", "rate {run}"))  # if it plays whole games
READING = (("report", "report {run} --out report.html"),)
MORE = (("go on", "resume {run} --budget +1h"),)  # if there is anything left to do

if TYPE_CHECKING:
    from rookery.training.loop import Outcome


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "recipe", metavar="RECIPE", help="name (see 'rookery recipes') or .toml file"
    )
    parser.add_argument(
        "--run",
        metavar="DIR",
        dest="folder",
        help="run folder; default: runs/RECIPE, or RECIPE-2, ... if that exists",
    )
    parser.add_argument(
        "--budget", metavar="B", help="length of training: 30m, 2h, 1000it, 50000samples, 200games"
    )
    seeds = parser.add_mutually_exclusive_group()
    seeds.add_argument("--seed", metavar="N", type=int, help="random seed")
    seeds.add_argument(
        "--seeds",
        metavar="N,N,...",
        type=seed_list,
        help="train one run per seed, one after the other; again, after Ctrl-C: go on with them",
    )
    add_settings(parser)
    add_board_option(parser, None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_settings(parser: argparse.ArgumentParser, cluster: str = "") -> None:
    """Add the options that `train` and `resume` share; `cluster` is a note to that option."""
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="override a recipe key, as in --set ppo.learning_rate=3e-4; repeatable",
    )
    parser.add_argument("--workers", metavar="N", type=int, help="number of cores; 0: all")
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help=f"Ray cluster that plays the games: auto, local or HOST:PORT{cluster} "
        "(docs/cluster.md)",
    )


def run(args: argparse.Namespace) -> int:
    """Train until the budget is used up or a signal arrives."""
    from rookery.training.session import start

    if args.seeds:
        return run_seeds(args)
    settings = settings_of(args)
    outcome = start(
        args.recipe,
        args.folder,
        args.budget,
        args.seed,
        args.workers,
        settings,
        cluster=args.cluster,
    )
    return report(outcome, args.json)


def settings_of(args: argparse.Namespace) -> list[str]:
    """The changes of --set and --board."""
    return [*args.settings, *([f"board={args.board}"] if args.board else [])]


def seed_list(text: str) -> list[int]:
    """Read "1,2,3"."""
    try:
        seeds = [int(part) for part in text.split(",")]
    except ValueError:
        seeds = []
    if not seeds or len(set(seeds)) < len(seeds):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of different seeds such as 1,2,3")
    return seeds


def run_seeds(args: argparse.Namespace) -> int:
    """Train one run per seed, in FOLDER-seed1 and so on; Ctrl-C ends them all.

    Runs that are there already go on, or are left alone if they have finished.
    """
    from rookery.training.seeds import train_seed

    name = args.folder or f"runs/{Path(args.recipe).stem}"
    outcomes = []
    for seed in args.seeds:
        folder = f"{name}-seed{seed}"
        outcome, had_finished = train_seed(
            args.recipe,
            folder,
            args.budget,
            seed,
            args.workers,
            settings_of(args),
            cluster=args.cluster,
        )
        outcomes.append(outcome)
        if had_finished:
            print(f"skipped: {folder} has finished already", file=sys.stderr)
        elif not args.json:
            report(outcome, as_json=False)
        if not outcome.finished:
            print("the same command goes on from here", file=sys.stderr)
            break
    if args.json:
        write_json({"runs": [asdict(outcome) for outcome in outcomes]})
    else:
        runs = " ".join(outcome.run for outcome in outcomes)
        print(f"compare them with: rookery report {runs} --out report.html")
    return 0


def report(outcome: Outcome, as_json: bool) -> int:
    """Report how the session ended and how to resume it; status 0 even if nobody reads that."""
    try:
        _print(outcome, as_json)
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as error:
        if not reader_is_gone(error):
            raise
        print_nowhere(sys.stdout, sys.stderr)
    return 0


def _print(outcome: Outcome, as_json: bool) -> None:
    if as_json:
        write_json(asdict(outcome))
    stream = sys.stderr if as_json else sys.stdout
    if outcome.finished:
        print(f"finished: {outcome.run}/model.safetensors", file=stream)
        playing = PLAYING if _plays_whole_games(outcome) else ()
        for what, command in (*playing, *READING, *(() if outcome.solved else MORE)):
            print(f"{what:9} rookery {command.format(run=outcome.run)}", file=stream)
    else:
        print(f"saved; resume with: rookery resume {outcome.run}", file=stream)


def _plays_whole_games(outcome: Outcome) -> bool:
    from rookery.runs.algorithms import ALGORITHMS
    from rookery.training.folder import RunFolder

    algorithm = RunFolder.open(Path(outcome.run)).recipe().algorithm
    return ALGORITHMS.find(algorithm).whole_games
