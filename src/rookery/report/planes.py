"""The input planes of a position as small boards (Vanhoutte 2022, figure 9)."""

from __future__ import annotations

from html import escape

from rookery._core import Game
from rookery.encodings import OBSERVATIONS

CELL, GAP, COLUMNS = 10, 22, 7
HEADER = 34  # pixels above the boards
STYLE = "text{font:12px system-ui,sans-serif}.plane{font-size:9px;text-anchor:middle;fill:#444}"


def plane_labels(observation: str) -> list[str]:
    """A name for each plane of a layout: that of its slice, numbered where it has several."""
    labels = []
    for part in OBSERVATIONS[observation].slices:
        count = part.stop - part.start
        labels += [part.name if count == 1 else f"{part.name} {i + 1}" for i in range(count)]
    return labels


def planes_svg(observation: str, game: Game, title: str) -> str:
    """All planes of an observation [C, 8, 8]; the darker a square, the larger its entry."""
    planes = game.encode(observation)
    if planes.shape[1:] != (8, 8):
        raise ValueError(f"{observation} has no planes: its shape is {planes.shape}")
    rows = -(-len(planes) // COLUMNS)
    width = COLUMNS * (8 * CELL + GAP) + GAP
    height = HEADER + rows * (8 * CELL + GAP) + GAP
    parts = [f'<text x="{GAP}" y="18" font-weight="600">{escape(title)}</text>']
    for number, (plane, label) in enumerate(zip(planes, plane_labels(observation), strict=True)):
        x = GAP + number % COLUMNS * (8 * CELL + GAP)
        y = HEADER + GAP // 2 + number // COLUMNS * (8 * CELL + GAP)
        parts.append(
            f'<text class="plane" x="{x + 4 * CELL}" y="{y - 3}">{escape(label)}</text>'
            f'<rect x="{x - 1}" y="{y - 1}" width="{8 * CELL + 2}" height="{8 * CELL + 2}" '
            'fill="#fff" stroke="#999"/>'
        )
        largest = float(abs(plane).max()) or 1.0
        for rank in range(8):
            for file in range(8):
                if plane[rank, file]:
                    shade = f"{abs(float(plane[rank, file])) / largest:.2f}"
                    place = f'x="{x + CELL * file}" y="{y + CELL * (7 - rank)}"'
                    parts.append(
                        f'<rect {place} width="{CELL}" height="{CELL}" fill-opacity="{shade}"/>'
                    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )
