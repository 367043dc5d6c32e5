"""The tree of an alpha-beta search, for the same picture as that of a tree search.

Alpha-beta keeps no tree: it visits most positions only to refute them. What it considers is shown
by searching with several principal variations, first in the root and then, one after another, in
the most relevant position that has not been searched yet. Relevant is what is played if each side
gives away as little as possible on the way there. A node's number is that of the positions
searched for the picture below it.
"""

from __future__ import annotations

import heapq
from itertools import count

from rookery._core import Game
from rookery.data.notation import sans_of
from rookery.players.base import Limits
from rookery.players.thinking import Line, Thinker, Thought
from rookery.report.tree import Drawn

LINES = 3  # principal variations of one search
NODES_EACH = 20_000  # positions of one search, unless the player has its own limit


def alphabeta_tree(player: Thinker, game: Game, nodes: int, depth: int) -> Drawn:
    """Search and return the tree: about `nodes` nodes below the root, at most `depth` plies."""
    root = Drawn("root", 0, None, "open", game.fen())
    order = count()
    waiting: list[tuple[float, int, Drawn, Game, tuple[Drawn, ...]]] = []
    heapq.heappush(waiting, (0.0, next(order), root, game, (root,)))
    drawn = 0
    while waiting and drawn < nodes:
        given_away, _, node, position, path = heapq.heappop(waiting)
        thought = _search(player, position)
        for ancestor in path:
            ancestor.visits += thought.nodes
        if node is root:
            root.value = thought.lines[0].value
        best = thought.lines[0].value
        for line in thought.lines:
            child = _child(position, line, node.depth + 1)
            node.children.append(child)
            drawn += 1
            after = position.copy()
            after.push(line.moves[0])
            if child.depth < depth and after.outcome() is None:
                loss = given_away + best - line.value
                heapq.heappush(waiting, (loss, next(order), child, after, (*path, child)))
    return root


def _search(player: Thinker, game: Game) -> Thought:
    latest = Thought(())

    def report(thought: Thought) -> None:
        nonlocal latest
        latest = thought

    lines = min(LINES, game.legal_count())
    player.new_game()
    player.think(game, Limits(nodes=NODES_EACH), report, lines=lines)
    return latest


def _child(game: Game, line: Line, depth: int) -> Drawn:
    import chess

    (label,) = sans_of(chess.Board(game.fen()), line.moves[:1])
    status = "open" if line.mate is None else "won" if line.mate > 0 else "lost"
    score = f"{line.centipawns:+d} centipawns" if line.mate is None else f"mate in {line.mate}"
    hint = f"{line.moves[0]}: {score} for the side that moves"
    return Drawn(label, 0, line.value, status, hint, depth=depth)
