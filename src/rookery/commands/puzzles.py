"""`rookery puzzles`: solve tactics puzzles."""

from __future__ import annotations

import argparse
from typing import Any

from rookery.commands import Subparsers, write_json
from rookery.commands._match_options import ProgressLine, add_limit_options, limits_of


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "puzzles",
        help="solve tactics puzzles",
        description="Let a player solve puzzles of a Lichess CSV file (or one with the columns fen "
        "and solution_uci). The whole line must be found; any checkmate is right.",
    )
    parser.add_argument("player", metavar="PLAYER")
    parser.add_argument("file", metavar="FILE", help="CSV file, plain or gzipped")
    parser.add_argument("--limit", type=int, metavar="N", help="N puzzles drawn by the seed")
    parser.add_argument("--concurrency", type=int, default=1, metavar="N", help="threads (1)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed (0)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    add_limit_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Solve and report."""
    from pathlib import Path

    from rookery.arena.puzzles import read_puzzles, run_puzzles, summarise_puzzles
    from rookery.players.registry import check_player, make_player

    name = check_player(args.player)
    if args.tc:
        raise ValueError(
            "puzzles have no clock; use --movetime, --nodes or --depth instead of --tc"
        )
    puzzles = read_puzzles(Path(args.file), args.limit, args.seed)
    line = ProgressLine(f"{name}: ")
    answers = run_puzzles(
        lambda: make_player(args.player),
        puzzles,
        limits_of(args).for_move(None, None),
        args.seed,
        args.concurrency,
        lambda done: line.write(f"{done}/{len(puzzles)}"),
    )
    line.clear()
    summary = summarise_puzzles(name, answers) | {"file": args.file}
    if args.json:
        write_json(summary)
    else:
        print(report(summary))
    return 0


def report(summary: dict[str, Any]) -> str:
    """The result for people: bands, and the themes with enough puzzles."""
    lines = [
        f"{summary['player']}: {summary['solved']} of {summary['total']} solved "
        f"({100 * summary['rate']:.1f} %)"
    ]
    if summary["rating"] is not None:
        lines.append(
            f"puzzle rating {summary['rating']:.0f} "
            f"[{summary['rating_low']:.0f}, {summary['rating_high']:.0f}]"
        )
    for title, shares in (("rating", summary["bands"]), ("theme", summary["themes"])):
        for key, share in shares.items():
            if share["total"] >= max(1, summary["total"] // 50):
                counts = f"{share['solved']}/{share['total']}"
                lines.append(f"  {title} {key:24}{counts:>12}{100 * share['rate']:7.1f} %")
    return "\n".join(lines)
