"""Exact play by proof (`solver`), for small boards and short games.

Each move is judged by the proven value of the position after it: the fastest win, else a draw, else
what is not proven lost, else the slowest loss. Equally good moves are drawn at random, so that many
games against it try different defences.
"""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

from rookery._core import Game, Solver
from rookery.players.base import Capabilities, Decision, Limits, legal_moves
from rookery.players.spec import PlayerSpec

VALUES = {"win": 1.0, "draw": 0.0, "loss": -1.0}
MOST_KNOWN = 100_000  # judged positions to remember
Rank = tuple[int, int]  # the higher, the better for the mover


class SolverPlayer:
    """Plays the moves that the solver proves best."""

    def __init__(self, name: str = "solver", moves: int = 8, nodes: int = 300_000) -> None:
        """Look for mates in at most `moves`, with `nodes` for each position.

        Endings with at most a tenth as many positions are judged exactly, draws included.
        """
        self.name = name
        self.capabilities = Capabilities(memoryless=True, boards=None)
        self._solver = Solver(moves, nodes, positions=max(1, nodes // 10))
        self._known: dict[int, Rank] = {}  # by key of the position after the move

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Draw one of the best moves."""
        ranks = {move: self._rank(game, move) for move in legal_moves(game)}
        top = max(ranks.values())
        best = [move for move, rank in ranks.items() if rank == top]
        value = {2: 1.0, 1: 0.0, -1: -1.0}.get(top[0])
        return Decision(best[int(rng.integers(len(best)))], value, details={"equal": len(best)})

    def _rank(self, game: Game, move: str) -> Rank:
        """(2, fast) won, (1, 0) drawn, (0, 0) not known, (-1, slow) lost."""
        after = game.copy()
        after.push(move)
        if after.is_threefold or after.is_fifty_moves:
            return (1, 0)
        if after.key not in self._known:
            found = self._solver.solve(after)[0]
            ranks = {
                "loss": (2, -found.mate_in),  # of the opponent
                "draw": (1, 0),
                "unknown": (0, 0),
                "win": (-1, found.mate_in),
            }
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[after.key] = ranks[found.value]
        return self._known[after.key]

    def new_game(self) -> None:
        """Keep what is known: it does not depend on the game."""

    def close(self) -> None:
        """Do nothing."""


def solver_player(spec: PlayerSpec, options: dict[str, Any]) -> SolverPlayer:
    """The player `solver`."""
    return SolverPlayer(str(spec), **options)
