"""A shallow full-width search whose leaves are judged together, for networks that torch runs.

All games and all their leaves go through the network in one batch, so that even a slow network is
asked only a few times. Depth is small: every legal move is followed, as in the first computers'
"brute force". Alpha-beta with the engine's own network is `rookery.players.alphabeta`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import Game
from rookery.nets import ValueNetwork
from rookery.players.base import Decision, Limits
from rookery.players.spec import PlayerSpec

DEFAULT_DEPTH = 2  # plies
# Values [B] in [-1, 1] of positions for their side to move.
Judge = Callable[[Sequence[Game]], NDArray[np.float64]]


@dataclass
class Found:
    """What a search of one position found."""

    move: str  # best, UCI
    value: float  # [-1, 1], of the side to move
    leaf: Game  # where the principal line ends
    line: tuple[str, ...]
    decided: bool  # whether the game is over at the leaf


@dataclass
class _Node:
    game: Game
    move: str
    value: float = 0.0  # of the side to move at this node
    children: tuple[_Node, ...] = ()
    decided: bool = False


def search(games: Sequence[Game], depth: int, judge: Judge) -> list[Found]:
    """The best move of each game by minimax to `depth` plies; none of the games may be over."""
    roots = [_Node(game, "") for game in games]
    leaves: list[_Node] = []
    for root in roots:
        _grow(root, depth, leaves)
    if leaves:
        for leaf, value in zip(leaves, judge([leaf.game for leaf in leaves]), strict=True):
            leaf.value = float(value)
    return [_best(root) for root in roots]


def _grow(node: _Node, depth: int, leaves: list[_Node]) -> None:
    outcome = node.game.outcome()
    # A position that has stood before is a draw inside the tree, as whoever liked it repeats it.
    if outcome is not None or (node.move and node.game.repetitions > 1):
        node.decided = True
        node.value = -1.0 if outcome is not None and outcome[1] is not None else 0.0
    elif depth == 0:
        leaves.append(node)
    else:
        children = []
        for move in node.game.legal_moves():
            after = node.game.copy()
            after.push(move)
            child = _Node(after, move)
            _grow(child, depth - 1, leaves)
            children.append(child)
        node.children = tuple(children)


def _best(root: _Node) -> Found:
    leaf, line = _settle(root)
    return Found(line[0], root.value, leaf.game, line, leaf.decided)


def _settle(node: _Node) -> tuple[_Node, tuple[str, ...]]:
    """Give inner nodes their values; the leaf of the principal line, and the line."""
    if not node.children:
        return node, ()
    settled = [_settle(child) for child in node.children]
    best = min(range(len(settled)), key=lambda index: node.children[index].value)
    node.value = -node.children[best].value
    leaf, line = settled[best]
    return leaf, (node.children[best].move, *line)


class LeafSearchPlayer:
    """Plays the best move of such a search; see `rookery.players.base.Player`."""

    def __init__(self, judge: Judge, depth: int = DEFAULT_DEPTH, name: str = "value") -> None:
        """Search `depth` plies with `judge` at the leaves."""
        self.name = name
        self._judge = judge
        self._depth = depth

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Search to the player's depth, or to the limit's if that is less."""
        depth = self._depth
        if limits is not None and limits.depth:
            depth = min(depth, limits.depth)
        found = search([game], depth, self._judge)[0]
        return Decision(found.move, found.value, found.line)

    def new_game(self) -> None:
        """Nothing is kept between games."""

    def close(self) -> None:
        """Nothing is held."""


def network_judge(network: ValueNetwork) -> Judge:
    """Judge positions with a value network of `rookery.nets`."""
    import torch

    from rookery._core import encode_batch
    from rookery.encodings import OBSERVATIONS

    observation = network.observation
    shape = OBSERVATIONS[observation].shape

    def judge(games: Sequence[Game]) -> NDArray[np.float64]:
        inputs = np.zeros((len(games), *shape), dtype=np.float32)
        encode_batch(list(games), observation, inputs)
        with torch.no_grad():
            values = network.values(torch.from_numpy(inputs))
        return np.asarray(values.numpy(), dtype=np.float64)

    return judge


def leaf_search_player(spec: PlayerSpec, options: dict[str, Any]) -> LeafSearchPlayer:
    """A player from a model file or run folder of family `giraffe`; option: depth."""
    from rookery.nets.evaluator import load_network

    judge = network_judge(load_network(spec.name))
    return LeafSearchPlayer(judge, options.get("depth", DEFAULT_DEPTH), str(spec))
