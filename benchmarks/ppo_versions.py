"""Make the tables and plot of docs/results.md about the ten versions of Salisch 2023.

    python benchmarks/ppo_versions.py runs/ppo-v* --svg docs/images/ppo-versions.svg
    python benchmarks/ppo_versions.py runs/ppo-v6-seed2 --earlier docs/results.md

Prints Markdown: every run of every version with its evaluations, and the paper's claims over the
seeds. The plot has one panel per version: a line for each run, rings for the paper. `--earlier`
adds the runs of a table that was printed before, whose folders may be gone. Runs without
evaluations count for the training time only. `rookery report` shows the same runs in full.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rookery.papers.salisch2023.claims import Curve, rows
from rookery.papers.salisch2023.report import (
    CHANGES,
    OPPONENT,
    PUBLISHED,
    VERSION,
    minutes,
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
EVERY = 100  # iterations between evaluations
LINE = re.compile(
    r"\| (?P<version>10|[1-9])(?:, `(?P<changes>[^`]*)`)? \| (?P<seed>\d+) \| [^|]* \| "
    r"(?P<gains>[-+]\d+(?:, [-+]\d+)*) \| (?P<last>\+\d+ =\d+ -\d+) \| (?P<minutes>\d+) \|"
)


@dataclass(frozen=True)
class Line:
    """A run as a line of the table."""

    version: int
    changes: str
    seed: int
    curve: Curve  # iteration -> wins minus losses in 1000 games
    last: str  # evaluation
    minutes: float

    @property
    def key(self) -> tuple[int, str, int]:
        """What tells runs apart, in the order of the table."""
        return self.version, self.changes, self.seed


def lines_of(versions: Sequence[tuple[Group, int]]) -> Iterator[Line]:
    """The runs with evaluations."""
    for group, number in versions:
        # A shorter run is the same up to there: nothing in the versions depends on the budget.
        changes = [each for each in group.changes.split(", ") if not each.startswith("run.")]
        for run in group.runs:
            found = [row for row in run.against(OPPONENT) if row.get("iteration")]
            if found:
                yield _line(number, ", ".join(changes), run, found)


def _line(version: int, changes: str, run: RunData, found: list[dict[str, object]]) -> Line:
    last = found[-1]
    return Line(
        version,
        changes,
        int(run.recipe.get("run.seed", 0)),
        {int(str(row["iteration"])): net_wins(row) for row in found},
        f"+{last['wins']} ={last['draws']} -{last['losses']}",
        run.seconds / 60,
    )


def lines_in(text: str) -> Iterator[Line]:
    """The lines of a table that was printed before."""
    for found in LINE.finditer(text):
        gains = [float(gain) for gain in found["gains"].split(", ")]
        curve = {EVERY * (place + 1): gain for place, gain in enumerate(gains)}
        yield Line(
            int(found["version"]),
            found["changes"] or "",
            int(found["seed"]),
            curve,
            found["last"],
            float(found["minutes"]),
        )


def versions_table(lines: Sequence[Line]) -> str:
    """Markdown, one line for each run."""
    text = [
        "| version | seed | paper's best | ours after 100, 200, ... iterations | last evaluation | "
        "minutes |",
        "|---|---|---|---|---|---|",
    ]
    named: set[int] = set()
    for line in lines:
        best = "" if line.version in named or line.changes else paper(line.version)
        named.add(line.version)
        gains = ", ".join(f"{gain:+.0f}" for gain in line.curve.values())
        text.append(
            f"| {line.version}{f', `{line.changes}`' if line.changes else ''} | {line.seed} | "
            f"{best} | {gains} | {line.last} | {line.minutes:.0f} |"
        )
    return "\n".join(text)


def paper(version: int) -> str:
    """Return the paper's best value."""
    value, at = published(version)
    return f"{value:+d} at {at}" if at else f"at most {value:+d}"


def claims_table(lines: Sequence[Line], versions: Sequence[tuple[Group, int]]) -> str:
    """Markdown, one line for each claim."""
    curves: dict[int, list[Curve]] = {}
    for line in lines:
        if not line.changes:
            curves.setdefault(line.version, []).append(line.curve)
    heads = ["claim", "versions", "runs", "checkpoints", "difference", "our runs say"]
    table = [heads, ["---"] * len(heads), *rows(curves, minutes(versions))]
    return "\n".join("| " + " | ".join(line) + " |" for line in table)


def picture(lines: Sequence[Line]) -> str:
    """Draw one panel per version; all but the first share a scale."""
    wide, high = SCALE * WIDTH, SCALE * HEIGHT
    numbers = sorted({line.version for line in lines})
    panels = []
    for place, number in enumerate(numbers):
        own = [line for line in lines if line.version == number and not line.changes]
        drawn = [
            Series(
                f"seed {line.seed}",
                [(float(at), gain) for at, gain in line.curve.items()],
                colour,
                marked=True,
            )
            for colour, line in enumerate(own)
        ]
        known = [(float(x), float(y)) for x, y in PUBLISHED.get(number, {}).items()]
        drawn.append(Series("paper", known, 9, marked=True, style="dashed"))
        title = f"Version {number}: {CHANGES[number]}"
        axis = [0.0] if number == 1 else [-60.0, 140.0]
        panel = line_chart(title, drawn, "iterations", include=axis)
        corner = f'x="{place % COLUMNS * wide:.0f}" y="{place // COLUMNS * high:.0f}"'
        size = f'width="{wide:.0f}" height="{high:.0f}"'
        panels.append(panel.replace("<svg ", f"<svg {corner} {size} ", 1))
    total = f"{COLUMNS * wide:.0f} {(len(numbers) + COLUMNS - 1) // COLUMNS * high:.0f}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total}">'
    return f"{head}<style>{STYLE}</style>{''.join(panels)}</svg>\n"


def main() -> None:
    """Read the runs, print the tables, write the plot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="*", type=Path, help="run folders of ppo-v1 ... ppo-v10")
    parser.add_argument("--earlier", type=Path, help="file with a table printed before")
    parser.add_argument("--svg", type=Path, help="file for the plot")
    options = parser.parse_args()
    versions = [
        (group, int(found[1]))
        for group in group_runs(read_runs(options.runs) if options.runs else [])
        if (found := VERSION.fullmatch(group.recipe))
    ]
    known = (
        {line.key: line for line in lines_in(options.earlier.read_text())}
        if options.earlier
        else {}
    )
    known |= {line.key: line for line in lines_of(versions)}
    lines = [known[key] for key in sorted(known)]
    print(versions_table(lines), claims_table(lines, versions), sep="\n\n")
    if options.svg:
        options.svg.write_text(picture(lines))


if __name__ == "__main__":
    main()
