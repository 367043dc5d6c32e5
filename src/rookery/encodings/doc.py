"""Renders the layout tables of `encodings/__init__.py` as docs/encodings.md.

`python -m rookery.encodings.doc > docs/encodings.md`; a test checks that the file is up to date.
"""

from __future__ import annotations

import math

from rookery import encodings
from rookery.encodings import ACTIONS, OBSERVATIONS, PLANES_PER_ORIGIN, SPARSE_OBSERVATIONS, Slice

FEATURE_NOTES = """Terms of `pepper353` and `giraffe363`:

- The slots of a kind are filled in ascending order of the mover-oriented square; a promoted piece
  beyond the slots is left out, and an empty slot is all 0.
- *Lowest attacker* is the value of the cheapest enemy piece that attacks the piece's square,
  *lowest defender* that of the cheapest friend that protects it: P 1, N 3, B 3, R 5, Q 9, K 10,
  divided by 10, and 0 if there is none. Pins and x-rays are ignored.
- *Squares within reach* in a direction: the empty squares up to the first piece, and that piece's
  square if it can be captured; divided by 7. Directions are in the mover's orientation.
- *Safe mobility*: squares that the piece attacks, that no friend occupies and that no enemy piece
  of lower value attacks; divided by 16."""


def _bound(value: float) -> str:
    fractions = {-1 / 64: "-1/64", 63 / 64: "63/64", 27 / 16: "27/16", math.inf: "unbounded"}
    return fractions.get(value, f"{value:g}")


def _table(slices: tuple[Slice, ...], index_name: str, with_range: bool) -> list[str]:
    grouped = any(part.group for part in slices)
    head = ["group"] * grouped + [index_name, "name", "meaning"] + ["range"] * with_range
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for part in slices:
        span = f"{part.start}" if part.length == 1 else f"{part.start}-{part.stop - 1}"
        cells = [part.group] * grouped + [span, part.name, part.meaning]
        if with_range:
            cells.append(f"{_bound(part.range[0])} to {_bound(part.range[1])}")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def render_markdown() -> str:
    """Return the text of docs/encodings.md."""
    text = encodings.__doc__ or ""
    words = text[text.index("Words used") :].strip()
    lines = ["# Observations and actions", ""]
    lines += ["Generated from `rookery/encodings/` by `python -m rookery.encodings.doc`.", ""]
    lines += [words, "", "## Observations", ""]
    lines += ["| name | shape | orientation | types | paper |", "|---|---|---|---|---|"]
    for layout in OBSERVATIONS.values():
        shape = "x".join(map(str, layout.shape))
        types = ", ".join(layout.dtypes)
        lines.append(
            f"| `{layout.name}` | {shape} | {layout.orientation} | {types} | {layout.paper} |"
        )
    for layout in OBSERVATIONS.values():
        index_name = "plane" if len(layout.shape) == 3 else "entry"
        lines += ["", f"### `{layout.name}`, version {layout.version}", "", layout.summary, ""]
        lines += _table(layout.slices, index_name, with_range=True)
    lines += ["", FEATURE_NOTES]
    for layout in SPARSE_OBSERVATIONS.values():
        lines += ["", f"### `{layout.name}`, version {layout.version}", "", layout.summary, ""]
        lines += _table(layout.slices, "index", with_range=False)
    lines += ["", "## Actions"]
    for action in ACTIONS.values():
        by_square = action.origins > 1
        rule = f"`action = {PLANES_PER_ORIGIN} * origin + plane`. " if by_square else ""
        lines += ["", f"### `{action.name}`, {action.count} actions, version {action.version}", ""]
        lines += [f"{action.summary} Seen in the {action.orientation} orientation."]
        lines += ["", f"{rule}Paper: {action.paper}.", ""]
        lines += _table(action.slices, "plane" if by_square else "action", with_range=False)
        if action.extra:
            lines += ["", *_table(action.extra, "action", with_range=False)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(render_markdown(), end="")
