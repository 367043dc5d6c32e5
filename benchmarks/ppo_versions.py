"""Make the tables and plot of docs/results.md about the ten versions of Salisch 2023.

    python benchmarks/ppo_versions.py runs/ppo-v* --svg docs/images/ppo-versions.svg

Prints Markdown: every run of every version with its evaluations, and the paper's claims over the
seeds. The plot has one panel per version: a line for each run, rings for the paper. `rookery
report` shows the same runs in full.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rookery.papers.salisch2023.claims import rows
from rookery.papers.salisch2023.report import (
    CHANGES,
    OPPONENT,
    PUBLISHED,
    VERSION,
    curves,
    published,
)
from rookery.report.chart import HEIGHT, WIDTH, Series, line_chart
from rookery.report.groups import Group, group_runs, net_wins
from rookery.report.read import RunData, read_runs

COLUMNS, SCALE = 2, 0.85
STYLE = """
svg { background: #fff; color: #0072b2 }
.title { font: 600 15px sans-serif; fill: #1d2126 }
.tick, .label { font: 12px sans-serif; fill: #6b7280 }
.middle { text-anchor: middle } .end { text-anchor: end }
.grid { stroke: #d9dbe0 }
.line { fill: none; stroke: currentColor; stroke-width: 1.6 }
.line.dotted { stroke-dasharray: 1 3; stroke-linecap: round }
.dot { fill: currentColor }
.line.dashed { stroke-dasharray: 4 3 }
.dot.dashed { fill: #fff; stroke: currentColor; stroke-width: 1.5 }
.s0 { color: #0072b2 } .s1 { color: #009e73 } .s2 { color: #cc79a7 } .s9 { color: #d55e00 }
"""


def versions_table(versions: Sequence[tuple[Group, int]]) -> str:
    """Markdown, one line for each run."""
    lines = [
        "| version | seed | paper: best | ours after 100, 200, ... iterations | last evaluation | "
        "minutes |",
        "|---|---|---|---|---|---|",
    ]
    for group, number in versions:
        value, at = published(number)
        for index, run in enumerate(sorted(group.runs, key=seed)):
            found = run.against(OPPONENT)
            gains = ", ".join(f"{net_wins(row):+.0f}" for row in found)
            last = found[-1]
            lines.append(
                f"| {number}{f', `{group.changes}`' if group.changes else ''} | {seed(run)} | "
                f"{paper(value, at) if index == 0 and not group.changes else ''} | {gains} | "
                f"+{last['wins']} ={last['draws']} -{last['losses']} | {run.seconds / 60:.0f} |"
            )
    return "\n".join(lines)


def seed(run: RunData) -> str:
    """Return the seed of a run."""
    return str(run.recipe.get("run.seed", ""))


def paper(value: int, at: int) -> str:
    """Return the paper's best value."""
    return f"{value:+d} at {at}" if at else f"at most {value:+d}"


def claims_table(versions: Sequence[tuple[Group, int]]) -> str:
    """Markdown, one line for each claim."""
    heads = ["claim", "versions", "runs", "checkpoints", "difference", "our runs say"]
    lines = [heads, ["---"] * len(heads), *rows(curves(versions))]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def picture(versions: Sequence[tuple[Group, int]]) -> str:
    """Draw one panel per version; all but the first share a scale."""
    wide, high = SCALE * WIDTH, SCALE * HEIGHT
    plain = [(group, number) for group, number in versions if not group.changes]
    panels = []
    for place, (group, number) in enumerate(plain):
        lines = []
        for colour, run in enumerate(sorted(group.runs, key=seed)):
            points = [(float(row["iteration"]), net_wins(row)) for row in run.against(OPPONENT)]
            lines.append(Series(f"seed {seed(run)}", points, colour, marked=True))
        known = [(float(x), float(y)) for x, y in PUBLISHED.get(number, {}).items()]
        lines.append(Series("paper", known, 9, marked=True, style="dashed"))
        title = f"Version {number}: {CHANGES[number]}"
        axis = [0.0] if number == 1 else [-60.0, 140.0]
        panel = line_chart(title, lines, "iterations", include=axis)
        corner = f'x="{place % COLUMNS * wide:.0f}" y="{place // COLUMNS * high:.0f}"'
        size = f'width="{wide:.0f}" height="{high:.0f}"'
        panels.append(panel.replace("<svg ", f"<svg {corner} {size} ", 1))
    total = f"{COLUMNS * wide:.0f} {(len(plain) + COLUMNS - 1) // COLUMNS * high:.0f}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total}">'
    return f"{head}<style>{STYLE}</style>{''.join(panels)}</svg>\n"


def main() -> None:
    """Read the runs, print the tables, write the plot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=Path, help="run folders of ppo-v1 ... ppo-v10")
    parser.add_argument("--svg", type=Path, help="file for the plot")
    options = parser.parse_args()
    evaluated = [run for run in read_runs(options.runs) if run.against(OPPONENT)]
    versions = [
        (group, int(found[1]))
        for group in group_runs(evaluated)
        if (found := VERSION.fullmatch(group.recipe))
    ]
    versions.sort(key=lambda pair: (pair[1], pair[0].changes))
    print(versions_table(versions), claims_table(versions), sep="\n\n")
    if options.svg:
        options.svg.write_text(picture(versions))


if __name__ == "__main__":
    main()
