"""Watch a training run in the browser.

Show curves, results, ratings and current games of a run while it trains, and play against its
checkpoints. The default is the run in runs/ with the most recent activity.
"""

from __future__ import annotations

import argparse

from rookery.commands.play import add_server_options, kept_games, token_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("folder", metavar="RUN", nargs="?", help="run folder")
    add_server_options(parser)


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    from pathlib import Path

    from rookery.web.choices import FOLDER_NAME, run_names
    from rookery.web.serve import run_until_interrupted, start

    runs = Path(args.runs)
    name = ""
    if args.folder:
        path = Path(args.folder)
        if not (path / "recipe.toml").is_file() and (runs / args.folder).is_dir():
            path = runs / args.folder
        if not (path / "recipe.toml").is_file():
            raise ValueError(f"{args.folder} is not a run folder: it has no recipe.toml")
        runs, name = path.resolve().parent, path.resolve().name
        if not FOLDER_NAME.fullmatch(name):
            raise ValueError(f"the page cannot show a run called {name!r}; rename its folder")
    elif not run_names(runs):
        raise ValueError(f"there is no run in {runs}/ yet; start one with 'rookery train ppo'")
    first = {"tab": "watch", "run": name}
    token = token_of(args)
    running = start(
        args.host,
        args.port,
        token,
        runs=runs,
        first=first,
        names=args.allow_host,
        games=kept_games(args),
    )
    return run_until_interrupted(running, not args.no_browser, "#watch", token)
