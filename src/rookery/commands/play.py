"""`rookery play`: play against any player, in the browser or in the terminal."""

from __future__ import annotations

import argparse
import sys

FALLBACK = "greedy-safe"

HELP = "play against any player"
DESCRIPTION = (
    "Play in the browser (or, with --terminal, here). Without PLAYER the engine "
    "that comes with Rookery plays. The page offers all other players and levels, too, and "
    "shows training runs."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("player", metavar="PLAYER", nargs="?", help="'rookery players' lists them")
    parser.add_argument(
        "--color", choices=("white", "black", "random"), default="white", help="yours (white)"
    )
    parser.add_argument("--terminal", action="store_true", help="play here, without a browser")
    add_server_options(parser)


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Options of all commands that serve the page."""
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (127.0.0.1: this machine only)"
    )
    parser.add_argument("--port", type=int, default=8000, help="port (8000, or the next free one)")
    parser.add_argument(
        "--token", default="", metavar="WORD", help="what other machines must know to get in"
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a further name of this machine; may be repeated",
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--runs", default="runs", metavar="DIR", help="folder of runs (runs)")


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C, or play here."""
    from pathlib import Path

    player = args.player or default_player()
    if args.terminal:
        from rookery.terminal import play as terminal_play

        return terminal_play.run(player, args.color)
    from rookery.players.registry import check_player
    from rookery.web.serve import run_until_interrupted, start

    if args.player:
        player = check_player(args.player)  # mistakes show now, not at the first move
    running = start(
        args.host,
        args.port,
        args.token,
        given=player,
        runs=Path(args.runs),
        first={"player": first_choice(player), "color": args.color},
        names=args.allow_host,
    )
    return run_until_interrupted(running, not args.no_browser, token=args.token)


def default_player() -> str:
    """The shipped engine if it is there."""
    from rookery.web.choices import shipped_engine

    if shipped_engine() is not None:
        return "rookery"
    print(f"note: the shipped engine is not there; {FALLBACK} plays instead", file=sys.stderr)
    return FALLBACK


def first_choice(player: str) -> str:
    """The id under which the page knows a player that was given in words."""
    from rookery.players.registry import KINDS

    return player if player in KINDS else "given"
