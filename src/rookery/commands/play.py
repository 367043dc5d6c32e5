"""Play against any player.

Play in the browser or, with --terminal, in this terminal. The default opponent is the engine
that comes with Rookery; the page also offers all other players and levels and shows training
runs.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from rookery.commands._common import add_board_option

FALLBACK = "greedy-safe"
LONGEST_TOKEN = 1000  # characters


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "player", metavar="PLAYER", nargs="?", help="opponent; see 'rookery players'"
    )
    parser.add_argument(
        "--color", choices=("white", "black", "random"), default="white", help="your colour"
    )
    parser.add_argument("--terminal", action="store_true", help="play in the terminal")
    add_board_option(parser, None)
    add_server_options(parser)


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that serve the web page."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8000, help="port, or the next free one")
    add_token_options(parser)
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="additional host name of this machine; repeatable",
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--runs", default="runs", metavar="DIR", help="folder with training runs")
    parser.add_argument(
        "--games",
        default=None,
        metavar="DIR",
        help="folder in which your games are kept; default: rookery/games in your data folder",
    )


def add_token_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the access token."""
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help="file with the password that a public --host requires; or set ROOKERY_TOKEN",
    )
    parser.add_argument(
        "--token",
        default="",
        metavar="WORD",
        help="the password itself; other users of this machine can see it in the list of processes",
    )


def token_of(args: argparse.Namespace) -> str:
    """The access token: --token, the file, or the environment variable; "" if there is none."""
    if args.token:
        return str(args.token)
    if args.token_file is None:
        return os.environ.get("ROOKERY_TOKEN", "")
    try:
        with open(args.token_file, encoding="utf-8") as file:
            token = file.read(LONGEST_TOKEN + 1).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"--token-file {args.token_file!r} cannot be read: {error}") from None
    if not token or len(token.split()) > 1 or len(token) > LONGEST_TOKEN:
        raise ValueError(f"--token-file {args.token_file!r} must hold one word")
    return token


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C, or play in the terminal."""
    from rookery._core import STANDARD_BOARD, find_board

    board = chosen_board(args.player, args.board)
    player = args.player or (default_player() if board == STANDARD_BOARD else FALLBACK)
    if args.terminal:
        from rookery.terminal import play as terminal_play

        pgn = Path(args.games) / terminal_play.PGN_FILE if args.games else None
        return terminal_play.run(
            player if args.player else usual_level(player), args.color, pgn=pgn, board=board
        )
    from rookery.players.registry import KINDS, check_player
    from rookery.web.serve import run_until_interrupted, start

    if args.player:
        player = check_player(args.player)  # fail now, not at the first move
    token = token_of(args)
    running = start(
        args.host,
        args.port,
        token,
        given=player,
        runs=Path(args.runs),
        first={
            "player": player if player in KINDS else "given",
            "color": args.color,
            "position": "" if board == STANDARD_BOARD else find_board(board).start,
        },
        names=args.allow_host,
        games=kept_games(args),
    )
    return run_until_interrupted(running, not args.no_browser, token=token)


def chosen_board(player: str | None, wanted: str | None) -> str:
    """Return the board: the one asked for, which the player must know, or else the player's own."""
    from rookery._core import STANDARD_BOARD, Game
    from rookery.players.base import capabilities_of, require_board
    from rookery.players.registry import make_player

    board = wanted or STANDARD_BOARD
    Game(board=board)  # raises unless it is a board with a start position
    if player is None:
        return board
    made = make_player(player)
    boards = capabilities_of(made).boards
    made.close()
    if wanted is None and boards and STANDARD_BOARD not in boards:
        return boards[0]
    require_board(player, boards, board)
    return board


def kept_games(args: argparse.Namespace) -> Path:
    """Return the folder in which games are kept."""
    from rookery.base.user_folders import games_folder

    return Path(args.games) if args.games else games_folder()


def usual_level(player: str) -> str:
    """Return the shipped engine at the level that the page starts with."""
    from rookery.players.offered_levels import RATED_ENGINE

    return f"rookery,level={RATED_ENGINE.default}" if player == "rookery" else player


def default_player() -> str:
    """Return the shipped engine if it is installed."""
    from rookery.web.choices import shipped_engine

    if shipped_engine() is not None:
        return "rookery"
    print(f"note: the shipped engine is not installed; {FALLBACK} plays instead", file=sys.stderr)
    return FALLBACK
