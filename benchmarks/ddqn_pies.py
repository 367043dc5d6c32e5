"""Draw the pie charts of Inman and Ezra Marin (2022) beside ours, from the table of the results.

    python benchmarks/ddqn_pies.py docs/results.md docs/images/ddqn-pies.svg

`rookery report` draws the same from run folders.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rookery.base.storage import atomic_write
from rookery.papers.inman2022.pies import Counts
from rookery.papers.inman2022.report import OPPONENTS, SETTINGS, Setting, figure
from rookery.report.document import standalone

HEAD = "| gamma, normalisation, source, episodes |"


def read_table(text: str) -> list[tuple[Setting, list[Counts]]]:
    """Our results in Markdown, a line for each of SETTINGS in their order."""
    lines = text[text.index(HEAD) :].splitlines()[2 : 2 + len(SETTINGS)]
    found = []
    for setting, line in zip(SETTINGS, lines, strict=True):
        cells = [cell.strip(" *") for cell in line.strip("|").split("|")]
        published = "/".join(map(str, setting.published)) if setting.published else "-"
        if cells[1] != published:
            raise ValueError(f"the table has {cells[1]} for {setting.name}, not {published}")
        ours: list[Counts] = []
        for cell in cells[2 : 2 + len(OPPONENTS)]:
            wins, draws, losses = map(int, cell.split(", "))
            ours.append((wins, draws, losses))
        found.append((setting, ours))
    return found


def drawing(text: str) -> str:
    """The figure of a page of results, an SVG file."""
    return standalone(figure(read_table(text)))


def main() -> None:
    """Write the figure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", type=Path, help="the page with the table")
    parser.add_argument("svg", type=Path, help="the file to write")
    args = parser.parse_args()
    atomic_write(args.svg, drawing(args.results.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
