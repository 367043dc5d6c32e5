"""A slow, obvious tree search to compare the native one with.

Nodes are objects, boards are python-chess boards, every rule stands where it is used. It knows
networks as a function: board history -> (logits by UCI move, value).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import chess
import numpy as np

Answer = tuple[dict[str, float], float]  # logits by UCI move, value of the side to move


@dataclass
class Edge:
    """A move of a node, with its statistics and what has been proven about it."""

    move: chess.Move
    prior: float
    visits: int = 0
    value_sum: float = 0.0  # of the mover
    in_flight: int = 0
    child: Node | None = None
    status: str = "open"
    mate: int = 0  # plies, this move included


@dataclass
class Node:
    """An evaluated position of the tree."""

    value: float
    edges: list[Edge]
    visits: int = 1
    value_sum: float = 0.0  # of the side to move
    in_flight: int = 0


@dataclass
class Options:
    """Options of the search; names and defaults are those of the native one."""

    c_init: float = 1.745
    c_base: float = 38739
    c_factor: float = 3.894
    fpu_reduction: float = 0.33
    root_fpu_reduction: float = 0.0
    draw_visits: float = 0.0
    gumbel_actions: int = 0
    c_visit: float = 50.0
    c_scale: float = 1.0
    proofs: bool = True
    twofold_draw: bool = True


@dataclass
class ReferenceSearch:
    """Search from a board with its history."""

    board: chess.Board
    network: Callable[[chess.Board], Answer]
    options: Options = field(default_factory=Options)
    move_order: Callable[[chess.Board], list[str]] | None = None  # how the core lists moves
    root: Node | None = None
    root_priors: list[float] = field(default_factory=list)
    gumbel: list[float] = field(default_factory=list)

    def run(self, simulations: int, leaves: int = 1) -> None:
        """Search; several leaves at a time are chosen with virtual losses."""
        if self.root is None:
            self.root = self.expand(self.board, self.network(self.board))
            self.root_priors = self.root_priors or [e.prior for e in self.root.edges]
            self.gumbel = self.gumbel or [0.0] * len(self.root.edges)
            self.see_mates(self.root)
        considered = min(self.options.gumbel_actions, len(self.root.edges))
        schedule = halving(considered, simulations) if considered else []
        started = 0
        while started < simulations and self.root_status() == "open":
            waiting: list[tuple[list[tuple[Node, Edge]], chess.Board]] = []
            while len(waiting) < leaves and started < simulations and self.root_status() == "open":
                wanted = schedule[started] if schedule else None
                outcome = self.descend(waiting, wanted)
                if outcome == "collision":
                    break
                started += 1
            for path, board in waiting:
                answer = self.network(board)
                node = self.expand(board, answer)
                path[-1][1].child = node
                for parent, edge in path:
                    parent.in_flight -= 1
                    edge.in_flight -= 1
                self.back_up(path, node.value)

    def see_mates(self, root: Node) -> None:
        """A mate on the board is seen before anything is searched."""
        for edge in root.edges if self.options.proofs else []:
            board = self.board.copy()
            board.push(edge.move)
            if board.is_checkmate():
                edge.status, edge.mate = "won", 1

    def expand(self, board: chess.Board, answer: Answer) -> Node:
        """Make a node: priors are the softmax of the logits, edges sorted by prior."""
        logits, value = answer
        moves = self.move_order(board) if self.move_order else list(logits)
        # The core works with float32 here, and with an exp that differs in the last bit.
        raw = np.array([logits[m] for m in moves], np.float32)
        weights = np.exp(raw - raw.max(), dtype=np.float32)
        total = np.float32(0)
        for weight in weights:
            total += weight
        priors = [float(w / total) for w in weights]
        edges = [Edge(chess.Move.from_uci(m), p) for m, p in zip(moves, priors, strict=True)]
        edges.sort(key=lambda e: -e.prior)  # stable: equal ones stay in order
        value = float(np.float32(value))
        return Node(value, edges, 1, value)

    def descend(self, waiting: list[Any], wanted: int | None) -> str:
        """Walk from the root to a leaf; returns "done", "pending" or "collision"."""
        node, board = self.root, self.board.copy()
        assert node is not None
        path: list[tuple[Node, Edge]] = []
        while True:
            edge = self.select_root(wanted) if not path else self.select(node, node.edges, None)
            path.append((node, edge))
            board.push(edge.move)
            if edge.status != "open" or edge.child is None:
                break
            node = edge.child
        if edge.status != "open":
            value = {"won": 1.0, "lost": -1.0}.get(edge.status, 0.0)
            self.back_up(path, -value)
            return "done"
        if edge.in_flight:
            return "collision"
        edge.status = self.end(board, len(path))
        if edge.status != "open":
            self.back_up(path, -1.0 if edge.status == "won" else 0.0)
            if edge.status == "won":
                edge.mate = 1
                self.prove(path)
            return "done"
        for parent, taken in path:
            parent.in_flight += 1
            taken.in_flight += 1
        waiting.append((path, board))
        return "pending"

    def end(self, board: chess.Board, depth: int) -> str:
        """How the rules end the game here, `depth` plies below the root, or "open"."""
        if board.is_checkmate():
            return "won"
        if board.is_stalemate() or board.is_insufficient_material():
            return "draw"
        if board.halfmove_clock >= 100 or board.is_repetition(3):
            return "draw"
        if self.options.twofold_draw:
            key, line = board._transposition_key(), board.copy()
            for _ in range(depth):
                line.pop()
                if line._transposition_key() == key:
                    return "repeat"
        return "open"

    def select_root(self, wanted: int | None) -> Edge:
        """Choose the root's edge: by PUCT, or among those with the wanted number of visits."""
        assert self.root is not None
        if wanted is None:
            return self.select(self.root, self.root.edges, self.root_priors)
        scores = self.scores()
        fits = [i for i, e in enumerate(self.root.edges) if e.visits + e.in_flight == wanted]
        return self.root.edges[max(fits, key=lambda i: scores[i])]

    def select(self, node: Node, edges: list[Edge], priors: list[float] | None) -> Edge:
        """Choose the edge with the largest PUCT score."""
        o = self.options
        total = node.visits + node.in_flight
        growth = math.log((1 + total + o.c_base) / o.c_base)
        factor = (growth * o.c_factor + o.c_init) * math.sqrt(total)
        visited = sum(e.prior for e in edges if e.visits + e.in_flight)
        reduction = o.fpu_reduction if priors is None else o.root_fpu_reduction
        first_play = node.value_sum / node.visits - reduction * math.sqrt(visited)
        best, best_score = edges[0], -math.inf
        ranked = sorted(enumerate(edges), key=lambda pair: pair[1].visits + pair[1].in_flight == 0)
        for index, edge in ranked:  # those with visits first, as it matters for equal scores
            n = edge.visits + edge.in_flight
            prior = edge.prior if priors is None else priors[index]
            if edge.status == "lost":
                continue
            if n == 0:
                q = first_play if o.draw_visits == 0 else 0.0
            else:
                q = (edge.value_sum - edge.in_flight) / (n + o.draw_visits)
            score = q + factor * prior / (1 + n)
            if score > best_score:
                best, best_score = edge, score
        return best

    def back_up(self, path: list[tuple[Node, Edge]], value: float) -> None:
        """Add a leaf's value (of the side to move there) along the path, sign alternating."""
        for node, edge in reversed(path):
            value = -value
            edge.value_sum += value
            edge.visits += 1
            node.value_sum += value
            node.visits += 1

    def prove(self, path: list[tuple[Node, Edge]]) -> None:
        """Carry a proven mate up the path, as far as it decides the nodes above."""
        if not self.options.proofs:
            return
        for index in range(len(path) - 1, 0, -1):
            node, edge = path[index]
            above = path[index - 1][1]
            if edge.status == "won":
                above.status, above.mate = "lost", edge.mate + 1
            elif all(other.status == "lost" for other in node.edges):
                above.status = "won"
                above.mate = max(other.mate for other in node.edges) + 1
            else:
                return

    def root_status(self) -> str:
        """Whether the root is proven: "won", "lost" or "open"."""
        assert self.root is not None
        if self.options.proofs:
            if any(e.status == "won" for e in self.root.edges):
                return "won"
            if all(e.status == "lost" for e in self.root.edges):
                return "lost"
        return "open"

    def scores(self, with_gumbel: bool = True) -> list[float]:
        """Gumbel + logit + sigma(completed q) of the root's edges."""
        assert self.root is not None
        o, edges, priors = self.options, self.root.edges, self.root_priors

        def q_of(edge: Edge) -> float:
            if edge.status in ("won", "lost"):
                return 1.0 if edge.status == "won" else -1.0
            return (edge.value_sum - edge.in_flight) / (edge.visits + edge.in_flight)

        visits = [e.visits + e.in_flight for e in edges]
        seen = [i for i, n in enumerate(visits) if n]
        mixed = self.root.value
        if seen:
            mean = sum(priors[i] * q_of(edges[i]) for i in seen) / sum(priors[i] for i in seen)
            mixed = (mixed + sum(visits) * mean) / (1 + sum(visits))
        result = []
        for i, edge in enumerate(edges):
            q = q_of(edge) if visits[i] else mixed
            sigma = (o.c_visit + max(visits)) * o.c_scale * (q + 1) / 2
            result.append(math.log(max(priors[i], 1e-30)) + sigma)
            if with_gumbel:
                result[-1] += self.gumbel[i]
        return result

    def as_dict(self, node: Node | None = None) -> dict[str, Any]:
        """What the native search's `tree()` says, FENs left out."""
        node = node or self.root
        assert node is not None
        edges = []
        for edge in node.edges:
            if not edge.visits:
                continue
            one: dict[str, Any] = {
                "move": edge.move.uci(),
                "visits": edge.visits,
                "value": edge.value_sum / edge.visits,
                "status": edge.status,
            }
            if edge.child is not None:
                one["node"] = self.as_dict(edge.child)
            edges.append(one)
        return {"visits": node.visits, "value": node.value_sum / node.visits, "edges": edges}


def halving(considered: int, simulations: int) -> list[int]:
    """Visits that the move of each simulation has (mctx's sequence of considered visits)."""
    if considered <= 1:
        return list(range(simulations))
    phases = math.ceil(math.log2(considered))
    sequence: list[int] = []
    visits = [0] * considered
    number = considered
    while len(sequence) < simulations:
        for _ in range(max(1, int(simulations / (phases * number)))):
            sequence += visits[:number]
            for i in range(number):
                visits[i] += 1
        number = max(2, number // 2)
    return sequence[:simulations]
