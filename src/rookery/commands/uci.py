"""`rookery uci`: any player as a UCI engine, for chess programs."""

from __future__ import annotations

import argparse

from rookery.commands._match_options import check_numbers

HELP = "be a UCI engine, for chess programs"
DESCRIPTION = (
    "Speak UCI on standard input and output, so that any chess program can use "
    "the player. docs/chess-guis.md tells how to add it to the usual ones."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "player",
        metavar="PLAYER",
        nargs="?",
        default="rookery",
        help="who plays, as in 'rookery players' (default: rookery, the shipped engine)",
    )
    parser.add_argument("--seed", type=int, help="of random choices, to repeat a session")
    parser.add_argument(
        "--launcher",
        metavar="FILE",
        help="write a program that starts this engine, for chess programs that take no arguments",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until `quit` or the end of the input; with --launcher only write the launcher."""
    from rookery.players.registry import make_player
    from rookery.players.spec import parse_spec
    from rookery.uci.stream import serve

    check_numbers(args)
    spec = parse_spec(args.player)
    if spec.name == "human":
        raise ValueError("player 'human' cannot be a UCI engine: standard input is taken")
    if args.launcher is not None:
        write_launcher(args.launcher, args.player, args.seed)
        return 0
    name = "" if str(spec) == "rookery" else str(spec)
    serve(lambda: make_player(args.player), name=name, seed=args.seed)


def write_launcher(path: str, player: str, seed: int | None) -> None:
    """Write an executable file that starts this engine from wherever it is called."""
    import os
    import shlex
    import sys
    from pathlib import Path

    from rookery.players.registry import check_player

    check_player(player)  # mistakes show now, and not in a chess program that hides them
    words = [sys.executable, "-m", "rookery.cli", "uci", player]
    words += [] if seed is None else ["--seed", str(seed)]
    # Players may be files beside which the chess program is not started.
    text = f"#!/bin/sh\ncd {shlex.quote(os.getcwd())} && exec {shlex.join(words)}\n"
    target = Path(path)
    if target.exists():
        raise ValueError(f"{path!r} exists already; remove it or choose another name")
    target.write_text(text, encoding="utf-8")
    target.chmod(0o755)
    print(f"wrote {target}: give this file to the chess program as a UCI engine")
