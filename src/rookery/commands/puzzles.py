"""Solve tactics puzzles.

Let a player solve puzzles from a Lichess CSV file (or one with the columns fen and
solution_uci). It must find the whole line; any checkmate counts as correct. With --mate N, only
mates in at most N moves are used, only the first move counts, and a search stops as soon as it
announces a mate.
"""

from __future__ import annotations

import argparse
from typing import Any

from rookery.commands._common import (
    add_exam_options,
    add_limit_options,
    exam_player,
    print_result,
    sit_exam,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("player", metavar="PLAYER", help="see 'rookery players'")
    parser.add_argument(
        "file", metavar="FILE", help="CSV file, plain or gzipped; with --mate also .fen or .epd"
    )
    parser.add_argument("--mate", type=int, metavar="N", help="only mates in at most N moves")
    parser.add_argument("--missed", action="store_true", help="with --mate: list the missed mates")
    add_exam_options(parser, "use N puzzles chosen at random")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
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
    return print_result(args, summary | {"file": args.file}, text)


def mate_report(summary: dict[str, Any], missed: bool) -> str:
    """Format the result of --mate as text."""

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
    """Format the result as text: rating bands, and themes with enough puzzles."""
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
