"""A tree search in the way of Vanhoutte 2022's code: python-chess, FENs, one position at a time.

Every node keeps a FEN, every simulation parses it, makes a child for each legal move and evaluates
one position with the residual network of 19 blocks and 256 filters on 19 planes. Written anew for
this comparison; the network is ours, in torch on one core.
"""

from __future__ import annotations

import math
from collections.abc import Callable

LABEL = "python-chess tree in the way of Vanhoutte 2022"
CONDITIONS = "19x256 on 19 planes in float32, one position per evaluation, torch on one core"
SIMULATIONS = 8
C_BASE, C_INIT = 20000.0, 2.0


class Node:
    """A position and the edge that leads to it."""

    def __init__(self, fen: str, prior: float = 1.0) -> None:
        """A node without visits."""
        self.fen, self.prior = fen, prior
        self.visits, self.total = 0, 0.0
        self.children: list[Node] = []

    def bound(self, parent_visits: int) -> float:
        """Upper confidence bound (its equations 1 and 2)."""
        rate = math.log((1 + parent_visits + C_BASE) / C_BASE) + C_INIT
        explored = rate * self.prior * math.sqrt(parent_visits) / (1 + self.visits)
        return explored + self.total / (self.visits + 1)


def prepare() -> Callable[[], int]:
    """Return a function that searches the start position and returns the simulations."""
    import chess
    import torch

    from rookery import Game
    from rookery.nets import make_network
    from rookery.nets.evaluator import TorchEvaluator, evaluate_position
    from rookery.players.policy import softmax

    torch.set_num_threads(1)
    network = make_network("resnet", "planes19", "az4672", {"blocks": 19, "filters": 256})
    evaluator = TorchEvaluator(network)

    def expand(node: Node) -> float:
        board = chess.Board(node.fen)
        moves = list(board.legal_moves)
        if not moves:
            return -1.0 if board.is_check() else 0.0
        game = Game(node.fen)
        legal = game.legal_actions("az4672")
        logits, value = evaluate_position(evaluator, game, legal)
        priors = dict(zip(legal.tolist(), softmax(logits, 1.0).tolist(), strict=True))
        for move in moves:
            prior = priors[game.action_of(move.uci())]
            board.push(move)
            node.children.append(Node(board.fen(), prior))
            board.pop()
        return float(value)

    def search() -> int:
        root = Node(chess.STARTING_FEN)
        for _ in range(SIMULATIONS):
            path = [root]
            while path[-1].children:
                visits = path[-1].visits
                path.append(max(path[-1].children, key=lambda node: node.bound(visits)))
            value = expand(path[-1])
            for node in reversed(path):
                value = -value  # a node counts for the side that moved to it
                node.visits += 1
                node.total += value
        return SIMULATIONS

    return search
