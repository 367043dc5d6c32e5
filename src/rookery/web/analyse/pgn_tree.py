"""A PGN game with its comments and variations, as a flat list of nodes for the analysis board.

Node 0 is the start; every other node has a parent and a move. Of several nodes with the same
parent the first is the main move. The list is built while parsing, without recursion, so that
deeply nested variations are as cheap as any others.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Any

import chess
import chess.pgn

from rookery.data.pgn import PgnGame
from rookery.web.games.records import start_game

MOST_NODES = 4000
LONGEST_COMMENT = 600  # characters
NAGS = {1: "!", 2: "?", 3: "!!", 4: "??", 5: "!?", 6: "?!"}


@dataclass
class Node:
    """One move of the tree."""

    parent: int  # index of its parent; -1: it is the start
    uci: str = ""
    san: str = ""
    fen: str = ""
    comment: str = ""
    nags: list[str] = field(default_factory=list)  # as signs: "!", "??"

    def to_json(self) -> dict[str, Any]:
        """For the page."""
        return {**vars(self), "nags": "".join(self.nags)}


class PgnTree(PgnGame):
    """Parses a game with its variations; `moves` is the main line."""

    def __init__(self, plies: int | None = None) -> None:
        """Parse all of it."""
        super().__init__(plies)
        self.nodes = [Node(-1, fen=chess.STARTING_FEN)]
        self._here = 0
        self._known: dict[tuple[int, str], int] = {}  # parent and move -> node
        self._forks: list[int] = []  # where each open variation leaves

    def visit_board(self, board: chess.Board) -> None:
        """Keep the first position."""
        if self.start is None:
            self.nodes[0].fen = board.fen()
        super().visit_board(board)

    def begin_variation(self) -> chess.pgn.SkipType | None:  # type: ignore[override]
        """Go back by one move, which the variation replaces."""
        self._forks.append(self._here)
        self._here = max(0, self.nodes[self._here].parent)
        return None

    def end_variation(self) -> None:
        """Return to the line that the variation left."""
        self._here = self._forks.pop() if self._forks else self._here

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        """Add a node."""
        if not self._forks:
            super().visit_move(board, move)
        if len(self.nodes) > MOST_NODES:
            raise ValueError(f"the game has more than {MOST_NODES} moves and variations")
        if not move:
            return
        key = (self._here, board.uci(move))
        if key in self._known:  # a variation that repeats the main move
            self._here = self._known[key]
            return
        san = board.san(move)
        after = board.copy(stack=False)
        after.push(move)
        self.nodes.append(Node(self._here, board.uci(move), san, after.fen()))
        self._here = self._known[key] = len(self.nodes) - 1

    def visit_comment(self, comment: str | list[str]) -> None:
        """Keep a comment on the last move."""
        text = comment if isinstance(comment, str) else " ".join(comment)
        node = self.nodes[self._here]
        node.comment = f"{node.comment} {' '.join(text.split())}".strip()[:LONGEST_COMMENT]

    def visit_nag(self, nag: int) -> None:
        """Keep a sign on the last move."""
        if nag in NAGS:
            self.nodes[self._here].nags.append(NAGS[nag])


def tree_of_pgn(text: str) -> PgnTree:
    """The first game of a text; a `ValueError` says what is wrong with it."""
    tree = PgnTree()
    try:
        found = chess.pgn.read_game(io.StringIO(text), Visitor=lambda: tree)
    except Exception as error:  # python-chess's parser can raise anything
        raise ValueError(f"the PGN is invalid: {str(error)[:120]}") from None
    if found is None or not (tree.moves or tree.error or "FEN" in tree.headers):
        raise ValueError("the PGN contains no game")
    if tree.error:
        raise ValueError(f"the PGN is invalid: {tree.error[:120]}")
    start_game(tree.nodes[0].fen)  # also refuses Chess960
    return tree
