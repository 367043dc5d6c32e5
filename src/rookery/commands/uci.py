"""Run a player as a UCI engine.

Speak UCI on standard input and output, so that any chess GUI can use the player.
docs/chess-guis.md explains how to add it to common GUIs.
"""

from __future__ import annotations

import argparse

from rookery.commands._common import add_board_option, check_numbers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "player",
        metavar="PLAYER",
        nargs="?",
        default="rookery",
        help="see 'rookery players'",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="random seed, to reproduce a session")
    add_board_option(parser, None)
    parser.add_argument(
        "--launcher",
        metavar="FILE",
        help="write a script that starts this engine, for GUIs that cannot pass arguments",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until `quit` or the end of input; with --launcher, only write the script."""
    from rookery._core import Game
    from rookery.players.registry import make_player
    from rookery.players.spec import parse_spec
    from rookery.uci.stream import serve

    check_numbers(args)
    spec = parse_spec(args.player)
    if spec.name == "human":
        raise ValueError("player 'human' cannot be a UCI engine: UCI uses standard input")
    if args.board is not None:
        Game(board=args.board)  # raises unless it is a board with a start position
    if args.launcher is not None:
        write_launcher(args.launcher, args.player, args.seed, args.board)
        return 0
    name = "" if str(spec) == "rookery" else str(spec)
    serve(lambda: make_player(args.player), name=name, seed=args.seed, board=args.board)


def write_launcher(path: str, player: str, seed: int | None, board: str | None) -> None:
    """Write a script that starts this engine from any directory."""
    import os
    import shlex
    import sys
    from pathlib import Path

    from rookery.players.registry import check_player

    check_player(player)  # fail now: GUIs hide errors
    words = [sys.executable, "-m", "rookery.cli", "uci", player]
    words += [] if seed is None else ["--seed", str(seed)]
    words += [] if board is None else ["--board", board]
    # The player may be a relative path.
    text = f"#!/bin/sh\ncd {shlex.quote(os.getcwd())} && exec {shlex.join(words)}\n"
    target = Path(path)
    if target.exists():
        raise ValueError(f"{path!r} exists already; remove it or choose another name")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    target.chmod(0o755)
    print(f"wrote {target}: add this file to the chess GUI as a UCI engine")
