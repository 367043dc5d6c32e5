"""Train an engine for five minutes, then play it.

Train an engine from random weights by self-play while the browser shows its progress, measure
it before and after, and open a board to play it or any of its checkpoints. Ctrl-C during
training ends it early.
"""

from __future__ import annotations

import argparse

from rookery.commands.play import add_token_options, token_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--budget", default="5m", metavar="B", help="length of training")
    parser.add_argument("--recipe", default="engine", help="recipe to train")
    parser.add_argument(
        "--run", dest="folder", metavar="DIR", help="run folder; default: runs/demo"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="random seed")
    parser.add_argument("--games", type=int, default=40, metavar="N", help="games per match")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8000, help="port, or the next free one")
    add_token_options(parser)
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument(
        "--json",
        action="store_true",
        help="train and measure without a page; print one JSON object",
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
            token=token_of(args),
            browser=not args.no_browser,
            json=args.json,
        )
    )
