"""`rookery demo`: train an engine before your eyes, measure it, play it."""

from __future__ import annotations

import argparse

HELP = "train an engine for five minutes, then play it"
DESCRIPTION = (
    "Train an engine from random weights by self-play, with everything to be "
    "watched in the browser; measure it before and after; open a board to play it and all "
    "its checkpoints. Ctrl-C during training ends it early."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--budget", default="5m", metavar="B", help="length of training (5m)")
    parser.add_argument("--recipe", default="engine", help="what to train (engine)")
    parser.add_argument("--run", dest="folder", metavar="DIR", help="run folder (runs/demo)")
    parser.add_argument("--seed", type=int, metavar="N", help="source of all randomness")
    parser.add_argument("--games", type=int, default=40, metavar="N", help="of a match (40)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port (8000, or the next free one)")
    parser.add_argument("--token", default="", metavar="WORD", help="needed with another --host")
    parser.add_argument("--no-browser", action="store_true", help="only print addresses")
    parser.add_argument(
        "--json", action="store_true", help="train and measure without a page; one JSON object"
    )


def run(args: argparse.Namespace) -> int:
    """Train, measure, serve."""
    from pathlib import Path

    from rookery.training import require_extra
    from rookery.training.budget import parse_budget
    from rookery.web.demo import DemoSettings, run_demo

    require_extra()
    parse_budget(args.budget)
    return run_demo(
        DemoSettings(
            recipe=args.recipe,
            budget=args.budget,
            run=Path(args.folder) if args.folder else None,
            seed=args.seed,
            games=args.games,
            host=args.host,
            port=args.port,
            token=args.token,
            browser=not args.no_browser,
            json=args.json,
        )
    )
