"""`rookery report`: one page about any set of runs."""

from __future__ import annotations

import argparse

from rookery.base.json_output import write_json

HELP = "make a page of curves, tables and games out of runs"
DESCRIPTION = (
    "Make one self-contained HTML page that compares runs: evaluations, curves, "
    "sample games on a board, and configurations with their differences."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("runs", metavar="RUN", nargs="+", help="run folders")
    parser.add_argument("--out", metavar="FILE", required=True, help="the .html file to write")
    parser.add_argument("--title", default="Training report", help="heading of the page")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    """Read the runs and write the page."""
    from pathlib import Path

    from rookery.training import require_extra

    require_extra("pydantic")
    from rookery.base.storage import atomic_write
    from rookery.report.page import make_page
    from rookery.report.read import read_runs

    out = Path(args.out)
    page = make_page(read_runs([Path(name) for name in args.runs]), args.title)
    atomic_write(out, page)
    if args.json:
        write_json({"file": str(out), "bytes": out.stat().st_size, "runs": len(args.runs)})
    else:
        print(f"{out}: {len(args.runs)} {'run' if len(args.runs) == 1 else 'runs'}")
    return 0
