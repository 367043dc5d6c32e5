"""A search tree as an SVG picture, after figure 6 of Vanhoutte 2022.

The leaves of the drawn part are spread evenly from left to right, and parents are centred above
their children. The width of a line shows the visits of a move, its colour the value; a tooltip
shows the rest.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from html import escape
from itertools import count
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
    counter = count()  # of equal ranks, the first is drawn first
    candidates: list[tuple[int, int, dict[str, Any], Drawn, str]] = []

    def offer(node: dict[str, Any], drawn: Drawn) -> None:
        for edge in node["edges"] if drawn.depth < depth else ():
            # A proven mate is drawn even without visits.
            rank = -MATE_FIRST if edge["status"] == "won" else -edge["visits"]
            heapq.heappush(candidates, (rank, next(counter), edge, drawn, node["fen"]))

    offer(tree, root)
    for _ in range(nodes):
        if not candidates:
            break
        _, _, edge, parent, fen = heapq.heappop(candidates)
        label = chess.Board(fen).san(chess.Move.from_uci(edge["move"]))
        hint = f"{edge['move']}: prior {edge['prior']:.1%}, {edge['visits']} visits"
        if edge["value"] is not None:
            hint += f", value {edge['value']:+.3f}"
        if edge["status"] != "open":
            hint += f", {edge['status']}"
        drawn = Drawn(label, edge["visits"], edge["value"], edge["status"], hint)
        drawn.depth = parent.depth + 1
        parent.children.append(drawn)
        if "node" in edge:
            offer(edge["node"], drawn)
    return root


def place(root: Drawn) -> tuple[int, int]:
    """Give every node its x in units of leaves; the numbers of leaves and of levels."""
    nodes = _preorder(root)
    leaves = [node for node in nodes if not node.children]
    for index, leaf in enumerate(leaves):
        leaf.x = index + 0.5
    for node in reversed(nodes):
        if node.children:
            node.x = (node.children[0].x + node.children[-1].x) / 2
    return len(leaves), max(node.depth for node in nodes) + 1


def _preorder(root: Drawn) -> list[Drawn]:
    """All nodes, parents before children, without recursion as trees can be deep."""
    order, stack = [], [root]
    while stack:
        order.append(stack.pop())
        stack.extend(reversed(order[-1].children))
    return order


def colour(value: float | None, status: str) -> str:
    """Red for -1, grey for 0, green for +1; a proven mate counts as +1 or -1."""
    value = {"won": 1.0, "lost": -1.0}.get(status, value if value is not None else 0.0)
    share = max(-1.0, min(1.0, value))
    target = (46, 139, 87) if share > 0 else (200, 60, 60)
    mixed = [round(215 + (end - 215) * abs(share)) for end in target]
    return f"rgb({mixed[0]},{mixed[1]},{mixed[2]})"


def tree_svg(tree: dict[str, Any], title: str, nodes: int = 60, depth: int = 8) -> str:
    """The picture of a `MctsSearch.tree()`: the `nodes` most visited nodes, to `depth` plies."""
    return draw_tree(most_visited(tree, nodes, depth), title)


def draw_tree(root: Drawn, title: str) -> str:
    """The picture of a tree."""
    leaves, levels = place(root)
    width = max(320.0, 2 * MARGIN + leaves * LEAF_WIDTH)
    height = 2 * MARGIN + levels * LEVEL_HEIGHT

    def point(node: Drawn) -> tuple[float, float]:
        return MARGIN + node.x * LEAF_WIDTH, MARGIN + 24 + node.depth * LEVEL_HEIGHT

    lines, boxes = [], []
    for node in _preorder(root):
        x, y = point(node)
        for child in node.children:
            below_x, below_y = point(child)
            thickness = 1 + 9 * child.visits / max(1, root.visits)
            lines.append(
                f'<path d="M{x:.1f} {y + BOX_HEIGHT:.1f} C{x:.1f} {y + 70:.1f} {below_x:.1f} '
                f'{below_y - 30:.1f} {below_x:.1f} {below_y:.1f}" fill="none" '
                f'stroke="{colour(child.value, child.status)}" stroke-width="{thickness:.2f}"/>'
            )
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
