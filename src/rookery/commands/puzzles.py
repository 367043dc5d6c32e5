"""`rookery puzzles`: solve tactics puzzles."""

from __future__ import annotations

import argparse
from typing import Any

from rookery.base.json_output import write_json
from rookery.commands._match_options import (
    add_exam_options,
    add_limit_options,
    exam_player,
    sit_exam,
)

HELP = "solve tactics puzzles"
DESCRIPTION = (
    "Let a player solve puzzles of a Lichess CSV file (or one with the columns fen "
    "and solution_uci). The whole line must be found; any checkmate is right. With --mate N, "
    "only mates in at most N moves are asked for, by their first move; searches end when they "
    "see one."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("player", metavar="PLAYER")
    parser.add_argument(
        "file", metavar="FILE", help="CSV file, plain or gzipped; with --mate also .fen or .epd"
    )
    parser.add_argument(
        "--mate",
        type=int,
        metavar="N",
        help="only mates in N moves or fewer, any of which is right",
    )
    parser.add_argument("--missed", action="store_true", help="with --mate: list what was missed")
    add_exam_options(parser, "N puzzles drawn by the seed")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    add_limit_options(parser)


def run(args: argparse.Namespace) -> int:
    """Solve and report."""
    from pathlib import Path

    from rookery.data.puzzles import read_puzzles
    from rookery.exams import mates, puzzles

    name = exam_player(args)
    if args.missed and args.mate is None:
        raise ValueError("--missed lists missed mates; add --mate N, or leave it out")
    path = Path(args.file)
    if args.mate is None:
        tasks = read_puzzles(path, args.limit, args.seed)
        summary = puzzles.summarise_puzzles(name, sit_exam(args, name, puzzles.run_puzzles, tasks))
        text = report(summary)
    else:
        positions = mates.read_mates(path, args.mate, args.limit, args.seed)
        summary = mates.summarise_mates(name, sit_exam(args, name, mates.run_mates, positions))
        text = mate_report(summary, args.missed)
    if args.json:
        write_json(summary | {"file": args.file})
    else:
        print(text)
    return 0


def mate_report(summary: dict[str, Any], missed: bool) -> str:
    """The result for people."""

    def row(title: str, counts: dict[str, Any]) -> str:
        return (
            f"{title}: {counts['solved']} of {counts['total']} solved "
            f"({100 * counts['rate']:.1f} %), {counts['announced']} announced in time"
        )

    lines = [f"{row(summary['player'], summary)}, {summary['seconds']:.0f} s of thinking"]
    lines += [row(f"  mate in {moves}", counts) for moves, counts in summary["moves"].items()]
    if missed:
        for entry in summary["missed"]:
            played = entry["fault"] or f"{entry['played']} instead of {entry['first'] or 'a mate'}"
            lines.append(f"  {entry['id']}: {played} in {entry['fen']}")
    return "\n".join(lines)


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
