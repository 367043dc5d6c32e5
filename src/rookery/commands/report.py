"""Write an HTML report about training runs.

Write one self-contained HTML page that compares runs: evaluations, curves, sample games on a
board, and the differences between their configurations.
"""

from __future__ import annotations

import argparse
import sys

from rookery.commands._common import print_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "runs", metavar="RUN", nargs="+", help="run folders, or those of 'rookery tune' or 'race'"
    )
    parser.add_argument("--out", metavar="FILE", required=True, help=".html file to write")
    parser.add_argument("--svg", metavar="DIR", help="write each chart to a file of DIR as well")
    parser.add_argument("--title", default="Training report", help="page heading")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Read the runs and write the page."""
    from pathlib import Path

    from rookery.training import require_extra

    require_extra("pydantic")
    from rookery.base.storage import atomic_write
    from rookery.race.plan import is_race, run_folders
    from rookery.report.document import write_drawings
    from rookery.report.page import make_page
    from rookery.report.population import is_population, members, population_section
    from rookery.report.read import read_runs

    out = Path(args.out)
    left_out: list[str] = []
    folders = [Path(name) for name in args.runs]
    sections = [population_section(folder) for folder in folders if is_population(folder)]
    paths: list[Path] = []
    for folder in folders:
        if is_population(folder):
            paths += members(folder)
        else:
            paths += run_folders(folder) if is_race(folder) else [folder]
    runs = read_runs(paths, left_out.append)
    page = make_page(runs, args.title, sections)
    atomic_write(out, page)
    if args.svg:
        write_drawings(page, Path(args.svg))
    for reason in left_out:
        print(f"left out: {reason}", file=sys.stderr)
    result = {
        "file": str(out), "bytes": out.stat().st_size, "runs": len(runs), "left_out": left_out
    }  # fmt: skip
    text = f"{out}: {len(runs)} {'run' if len(runs) == 1 else 'runs'}"
    return print_result(args, result, text)
