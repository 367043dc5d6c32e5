"""Play and view reconnaissance blind chess.

Play a match between two blind players in colour-swapped pairs and report the Elo difference with
its 95 % interval. A PLAYER is a name with options, such as random, trout,nodes=5000 or blind, or
the path of a reconchess bot's Python file; 'rookery blind players' lists them.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from rookery.commands._common import ProgressLine, check_numbers, print_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    about = (__doc__ or "").partition(".\n\n")[2]
    arena = actions.add_parser("arena", help="play a match", description=about)
    arena.add_argument("first", metavar="PLAYER", help="the player whose score is reported")
    arena.add_argument("second", metavar="PLAYER", help="its opponent")
    arena.add_argument("--games", type=int, default=100, metavar="N", help="number of games")
    arena.add_argument("--seed", type=int, default=0, metavar="N", help="random seed")
    arena.add_argument("--concurrency", type=int, default=1, metavar="N", help="games at once")
    arena.add_argument(
        "--tc", default="900+5", metavar="S+I", help="each clock in seconds + increment per turn"
    )
    arena.add_argument(
        "--turn-limit", type=int, default=0, metavar="N", help="draw after N full turns; 0: never"
    )
    arena.add_argument(
        "--records", metavar="FILE", help="write one JSON object per game to this new file"
    )
    arena.add_argument("--json", action="store_true", help="print one JSON object")
    arena.set_defaults(action=_arena)
    view = actions.add_parser(
        "view", help="show a recorded game with what both sides knew, as a page"
    )
    view.add_argument("file", metavar="FILE", help="records of 'rookery blind arena --records'")
    view.add_argument("--game", type=int, default=1, metavar="N", help="which game of the file")
    view.add_argument("--out", default="blind.html", metavar="FILE", help="page to write")
    view.set_defaults(action=_view)
    players = actions.add_parser("players", help="list the blind players")
    players.add_argument("--json", action="store_true", help="print one JSON object")
    players.set_defaults(action=_players)


def run(args: argparse.Namespace) -> int:
    """Do what was asked for."""
    status: int = args.action(args)
    return status


def _arena(args: argparse.Namespace) -> int:
    from pathlib import Path

    from rookery.arena.limits import parse_time_control
    from rookery.arena.results import Tally
    from rookery.blind.arena import BlindSettings, run_blind_match
    from rookery.blind.registry import make_blind_player

    check_numbers(args, concurrency=1, turn_limit=0)
    clock = parse_time_control(args.tc)
    for text in (args.first, args.second):
        make_blind_player(text).close()  # refuse a bad player before any game
    settings = BlindSettings(
        games=args.games,
        seed=args.seed,
        concurrency=args.concurrency,
        seconds=clock.seconds,
        increment=clock.increment,
        turn_limit=args.turn_limit,
        records=Path(args.records) if args.records else None,
    )
    line = ProgressLine()

    def progress(tally: Tally) -> None:
        counts = (tally.count(key) for key in ("wins", "draws", "losses"))
        line.write(f"{tally.games}/{args.games} games  +{{}} ={{}} -{{}}".format(*counts))

    summary = run_blind_match(
        (lambda: make_blind_player(args.first), lambda: make_blind_player(args.second)),
        (args.first, args.second),
        settings,
        progress,
    )
    line.clear()
    for player, text in summary["fault_examples"].items():
        print(f"rookery: warning: {player} failed, for example {text}", file=sys.stderr)
    print_result(args, summary, _report(summary))
    return 130 if summary["interrupted"] else 0


def _report(summary: dict[str, Any]) -> str:
    from rookery.commands.arena import match_lines

    return "\n".join(
        [
            *match_lines(summary),
            f"{summary['limits']}, seed {summary['seed']}, {summary['seconds']:.1f} s; "
            f"longest turns {summary['longest_turn_seconds']['first']:.2f} s and "
            f"{summary['longest_turn_seconds']['second']:.2f} s",
            "ended by " + ", ".join(f"{why} {n}" for why, n in summary["reasons"].items()),
        ]
    )


def _view(args: argparse.Namespace) -> int:
    from pathlib import Path

    from rookery.base.storage import atomic_write
    from rookery.blind.viewer import page_of, read_record

    page = page_of(read_record(Path(args.file), args.game))
    atomic_write(Path(args.out), page.encode())
    print(args.out)
    return 0


def _players(args: argparse.Namespace) -> int:
    from rookery.blind.registry import KINDS

    found = {
        name: {
            "summary": kind.summary,
            "options": {key: meaning for key, (_, meaning) in kind.options.items()},
        }
        for name, kind in KINDS.items()
    }
    lines = []
    for name, kind in KINDS.items():
        lines.append(f"{name:12} {kind.summary}")
        lines += [f"{'':14}{key}: {meaning}" for key, (_, meaning) in kind.options.items()]
    lines.append(f"{'FILE.py':12} any reconchess bot")
    return print_result(args, {"players": found}, "\n".join(lines))
