"""Solve an EPD test suite.

Let a player choose a move in every position of an EPD file. Counts how often it finds a best
move (bm) and avoids bad ones (am), and adds up the points of suites that have them.
"""

from __future__ import annotations

import argparse

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
    parser.add_argument("file", metavar="FILE.epd", help="EPD file, plain or gzipped")
    add_exam_options(parser, "only the first N positions")
    parser.add_argument(
        "--missed", action="store_true", help="list the positions that were not solved"
    )
    parser.add_argument(
        "--settled",
        type=int,
        default=0,
        metavar="N",
        help="stop a search once its best move has been correct for N depths in a row; 0: never",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_limit_options(parser)


def run(args: argparse.Namespace) -> int:
    """Solve and report."""
    from pathlib import Path

    from rookery.exams.suites import read_suite, run_suite, summarise_suite

    name = exam_player(args)
    positions = read_suite(Path(args.file))[: args.limit]
    answers = sit_exam(args, name, run_suite, positions, args.settled)
    summary = summarise_suite(name, answers) | {"file": args.file}
    solved, total = sum(a.solved for a in answers), len(answers)
    lines = [f"{name}: {solved} of {total} solved ({100 * solved / total:.1f} %) in {args.file}"]
    if "points" in summary:
        lines.append(f"{summary['points']} of {summary['max_points']} points")
    if args.missed:
        lines += [f"  {a.position.name}: {a.fault or a.move}" for a in answers if not a.solved]
    return print_result(args, summary, "\n".join(lines))
