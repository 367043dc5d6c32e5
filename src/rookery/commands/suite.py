"""`rookery suite`: find the key moves of an EPD test suite."""

from __future__ import annotations

import argparse

from rookery.base.json_output import write_json
from rookery.commands._match_options import (
    add_exam_options,
    add_limit_options,
    exam_player,
    sit_exam,
)

HELP = "solve an EPD test suite"
DESCRIPTION = (
    "Let a player choose a move in every position of an EPD file and count how "
    "often it is a key move (bm), none to avoid (am), and its points where the suite has them."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("player", metavar="PLAYER")
    parser.add_argument("file", metavar="FILE.epd", help="EPD file, plain or gzipped")
    add_exam_options(parser, "only the first N positions")
    parser.add_argument("--missed", action="store_true", help="list what was not solved")
    parser.add_argument(
        "--settled",
        type=int,
        default=0,
        metavar="N",
        help="stop a search early once a right move was the best for N depths in a row (never)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    add_limit_options(parser)


def run(args: argparse.Namespace) -> int:
    """Solve and report."""
    from pathlib import Path

    from rookery.exams.suites import read_suite, run_suite, summarise_suite

    name = exam_player(args)
    positions = read_suite(Path(args.file))[: args.limit]
    answers = sit_exam(args, name, run_suite, positions, args.settled)
    summary = summarise_suite(name, answers) | {"file": args.file}
    if args.json:
        write_json(summary)
        return 0
    solved, total = sum(a.solved for a in answers), len(answers)
    print(f"{name}: {solved} of {total} solved ({100 * solved / total:.1f} %) in {args.file}")
    if "points" in summary:
        print(f"{summary['points']} of {summary['max_points']} points")
    if args.missed:
        for answer in answers:
            if not answer.solved:
                print(f"  {answer.position.name}: {answer.fault or answer.move}")
    return 0
