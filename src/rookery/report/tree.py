"""A search tree as a picture (paper 002, figure 6): SVG with a layout of our own.

Leaves of the drawn part are spread evenly from left to right, parents stand over the middle of
their children, depth grows downwards. Width and colour of a line say how often and how well a
move was searched; a text on hovering tells the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

LEAF_WIDTH = 76.0
LEVEL_HEIGHT = 92.0
MARGIN = 48.0
BOX_WIDTH, BOX_HEIGHT = 68.0, 40.0
MATE_FIRST = 1 << 40  # more than any visits

STYLE = (
    "text{font-family:system-ui,sans-serif;font-size:11px;text-anchor:middle;fill:#1d2733}"
    ".move{font-weight:600;font-size:12px}.small{fill:#56616e;font-size:10px}"
    "rect{stroke:#56616e;stroke-width:1}"
)


@dataclass
class Drawn:
    """A node of the picture."""

    label: str  # SAN of the move that leads here, or "root"
    visits: int
    value: float | None  # [-1, 1] for the side that made the move; for the root, to move
    status: str
    hint: str
    children: list[Drawn] = field(default_factory=list)
    x: float = 0.0
    depth: int = 0


def most_visited(tree: dict[str, Any], nodes: int, depth: int) -> Drawn:
    """The part of a `MctsSearch.tree()` with the most visits: `nodes` nodes below the root."""
    import chess

    root = Drawn("root", tree["visits"], tree["value"], "open", f"{tree['fen']}")
    candidates: list[tuple[int, int, dict[str, Any], Drawn, str]] = []
    number = 0

    def offer(node: dict[str, Any], drawn: Drawn) -> None:
        nonlocal number
        if drawn.depth >= depth:
            return
        for edge in node["edges"]:
            number += 1
            # A mate is worth drawing even if it was seen without any visit.
            rank = -MATE_FIRST if edge["status"] == "won" else -edge["visits"]
            candidates.append((rank, number, edge, drawn, node["fen"]))

    offer(tree, root)
    for _ in range(nodes):
        if not candidates:
            break
        candidates.sort(key=lambda one: one[:2])
        _, _, edge, parent, fen = candidates.pop(0)
        board = chess.Board(fen)
        move = chess.Move.from_uci(edge["move"])
        hint = f"{edge['move']}: prior {edge['prior']:.1%}, {edge['visits']} visits"
        if edge["value"] is not None:
            hint += f", value {edge['value']:+.3f}"
        if edge["status"] != "open":
            hint += f", {edge['status']}"
        drawn = Drawn(board.san(move), edge["visits"], edge["value"], edge["status"], hint)
        drawn.depth = parent.depth + 1
        parent.children.append(drawn)
        if "node" in edge:
            offer(edge["node"], drawn)
    return root


def place(root: Drawn) -> tuple[int, int]:
    """Give every node its x in units of leaves; returns how many leaves and levels there are."""
    leaves = levels = 0
    # From the leaves up, without recursion: trees can be deep.
    order, stack = [], [root]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(reversed(node.children))
    for node in order:
        levels = max(levels, node.depth)
        if not node.children:
            node.x = leaves + 0.5
            leaves += 1
    for node in reversed(order):
        if node.children:
            node.x = (node.children[0].x + node.children[-1].x) / 2
    return leaves, levels + 1


def colour(value: float | None, status: str) -> str:
    """Red for -1 over grey to green for +1; proven mates are strong."""
    value = {"won": 1.0, "lost": -1.0}.get(status, value if value is not None else 0.0)
    share = max(-1.0, min(1.0, value))
    target = (46, 139, 87) if share > 0 else (200, 60, 60)
    mixed = [round(215 + (end - 215) * abs(share)) for end in target]
    return f"rgb({mixed[0]},{mixed[1]},{mixed[2]})"


def tree_svg(tree: dict[str, Any], title: str, nodes: int = 60, depth: int = 8) -> str:
    """The picture of a search.

    Args:
        tree: What `MctsSearch.tree()` gives.
        title: Above the picture.
        nodes: Most nodes drawn below the root, those with the most visits.
        depth: Most plies drawn.
    """
    root = most_visited(tree, nodes, depth)
    leaves, levels = place(root)
    width = max(320.0, 2 * MARGIN + leaves * LEAF_WIDTH)
    height = 2 * MARGIN + levels * LEVEL_HEIGHT

    def point(node: Drawn) -> tuple[float, float]:
        return MARGIN + node.x * LEAF_WIDTH, MARGIN + 24 + node.depth * LEVEL_HEIGHT

    lines, boxes = [], []
    stack = [root]
    while stack:
        node = stack.pop()
        x, y = point(node)
        for child in node.children:
            below_x, below_y = point(child)
            thickness = 1 + 9 * child.visits / max(1, root.visits)
            lines.append(
                f'<path d="M{x:.1f} {y + BOX_HEIGHT:.1f} C{x:.1f} {y + 70:.1f} {below_x:.1f} '
                f'{below_y - 30:.1f} {below_x:.1f} {below_y:.1f}" fill="none" '
                f'stroke="{colour(child.value, child.status)}" stroke-width="{thickness:.2f}"/>'
            )
            stack.append(child)
        value = "" if node.value is None else f"{node.value:+.2f}"
        if node.status != "open":
            value = node.status
        boxes.append(
            f'<g><title>{escape(node.hint)}</title><rect x="{x - BOX_WIDTH / 2:.1f}" y="{y:.1f}" '
            f'width="{BOX_WIDTH:g}" height="{BOX_HEIGHT:g}" rx="6" '
            f'fill="{colour(node.value, node.status)}"/>'
            f'<text class="move" x="{x:.1f}" y="{y + 16:.1f}">{escape(node.label)}</text>'
            f'<text class="small" x="{x:.1f}" y="{y + 31:.1f}">N {node.visits} · {value}</text></g>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style>"
        f'<rect width="100%" height="100%" fill="#fff" style="stroke:none"/>'
        f'<text x="{width / 2:.0f}" y="26" class="move">{escape(title)}</text>'
        + "".join(lines + boxes)
        + "</svg>\n"
    )
