"""Building blocks of the report's HTML; they escape all text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def section(title: str, content: str) -> str:
    """A part of the page under a heading."""
    return f"<section><h2>{escape(title)}</h2>{content}</section>"


def paragraph(text: str) -> str:
    """A paragraph of plain text."""
    return f"<p>{escape(text)}</p>"


def charts(drawings: Sequence[str]) -> str:
    """Charts in a grid that fits the width of the window."""
    return f'<div class="charts">{"".join(drawings)}</div>'


def wide(drawing: str) -> str:
    """A chart over the full width."""
    return f'<div class="wide">{drawing}</div>'


def legend(names: Sequence[tuple[str, int]]) -> str:
    """Names with the number of their colour."""
    items = (
        f'<li><span class="swatch s{colour % 10}"></span>{escape(name)}</li>'
        for name, colour in names
    )
    return f'<ul class="legend">{"".join(items)}</ul>'


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "") -> str:
    """A table with a header row."""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f'<div class="scroll"><table class="{kind}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
