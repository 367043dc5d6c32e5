"""The pie charts of Inman and Ezra Marin (2022) beside ours as one drawing: a row per setting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

Counts = tuple[int, int, int]  # wins, draws, losses
Row = tuple[Sequence[str], Sequence[Counts | None]]  # lines of text, a pie per column; None: none

NAME = "Won, drawn and lost: the paper and ours"
RESULTS = (("won", 2), ("drawn", 0), ("lost", 1))  # with the number of their colour
RADIUS = 27.0
ROW, COLUMN, LABELS, TOP = 88, 160, 180, 74  # heights and widths in pixels


def slices(x: float, y: float, counts: Counts) -> list[str]:
    """The slices of one pie, clockwise from the top; their colours are the page's."""
    found, begun, total = [], 0.0, max(1, sum(counts))
    for (word, colour), count in zip(RESULTS, counts, strict=True):
        share = count / total
        title = f"<title>{word} {100 * share:.1f} %</title>"
        if share >= 1.0:
            circle = f'<circle class="bar s{colour}" cx="{x:g}" cy="{y:g}" r="{RADIUS:g}">'
            found.append(f"{circle}{title}</circle>")
        elif share > 0:
            begin, end = (
                f"{x + RADIUS * math.sin(turn):.1f} {y - RADIUS * math.cos(turn):.1f}"
                for turn in (2 * math.pi * begun, 2 * math.pi * (begun + share))
            )
            arc = f"A{RADIUS:g} {RADIUS:g} 0 {int(share > 0.5)} 1 {end}"
            path = f"M{x:g} {y:g}L{begin}{arc}Z"
            found.append(f'<path class="bar s{colour}" d="{path}">{title}</path>')
        begun += share
    return found


def share_text(counts: Counts) -> str:
    """Percentages of wins, draws and losses."""
    total = max(1, sum(counts))
    return " / ".join(f"{100 * count / total:.0f}" for count in counts) + " %"


def pie_rows(columns: Sequence[Sequence[str]], rows: Sequence[Row]) -> str:
    """An SVG with a pie for every column of every row; columns have lines of text."""
    width, height = LABELS + COLUMN * len(columns), TOP + ROW * len(rows)
    parts = [
        f'<svg class="chart" viewBox="0 0 {width} {height}" role="img" aria-label="{NAME}">'
        f'<text class="title" x="8" y="16">{NAME}</text>'
    ]
    for number, (word, colour) in enumerate(RESULTS):
        left = LABELS + 80 * number + COLUMN
        parts.append(f'<rect class="bar s{colour}" x="{left}" y="6" width="11" height="11"/>')
        parts.append(f'<text class="tick" x="{left + 16}" y="16">{word}</text>')
    for place, column in enumerate(columns):
        for line, text in enumerate(column):
            parts.append(_text(LABELS + COLUMN * (place + 0.5), 42 + 19 * line, text))
    for number, (lines, pies) in enumerate(rows):
        top = TOP + ROW * number
        for line, text in enumerate(lines):
            parts.append(
                f'<text class="tick" x="8" y="{top + 26 + 19 * line}">{escape(text)}</text>'
            )
        for place, counts in enumerate(pies):
            x = LABELS + COLUMN * (place + 0.5)
            if counts is None:
                parts.append(_text(x, top + 36, "no chart"))
            else:
                parts += slices(x, top + 32.0, counts)
                parts.append(_text(x, top + 76, share_text(counts)))
    return "".join([*parts, "</svg>"])


def _text(x: float, y: float, text: str) -> str:
    return f'<text class="tick" x="{x:g}" y="{y:g}" text-anchor="middle">{escape(text)}</text>'
