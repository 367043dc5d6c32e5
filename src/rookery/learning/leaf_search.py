"""Alpha-beta search that returns the leaf of the principal variation, for TD-leaf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rookery._core import BatchEvaluator, Engine, Game, NnueNetwork
from rookery.base.scales import value_of_score

HASH = 4  # MiB; enough for shallow searches
# An untrained network may see a gain in every capture, and a quiescence search could then take
# hundreds of thousands of nodes.
MOST_NODES = 100_000


@dataclass(frozen=True)
class Found:
    """The result of one search."""

    move: str  # best, UCI
    value: float  # [-1, 1], for the side to move
    leaf: Game  # end of the principal variation
    line: tuple[str, ...]  # principal variation
    decided: bool  # whether the game is over at the leaf


class LeafSearch:
    """Searches to a fixed depth with an empty hash table, so that a resumed run agrees."""

    def __init__(self, evaluator: Callable[[], NnueNetwork | BatchEvaluator], depth: int) -> None:
        """Search `depth` plies plus quiescence; `evaluator` returns the current network."""
        self._evaluator, self._depth = evaluator, depth
        self._engine = Engine(evaluator(), 1, HASH)

    def __call__(self, games: Sequence[Game]) -> list[Found]:
        """Best move and leaf of each game; no game may be over."""
        self._engine.set_evaluator(self._evaluator())
        return [self._search(game) for game in games]

    def _search(self, game: Game) -> Found:
        self._engine.new_game()
        self._engine.prepare()
        result = self._engine.search(game, depth=self._depth, nodes=MOST_NODES)
        leaf, line = game.copy(), tuple(result.lines[0].moves)
        for move in line:
            leaf.push(move)
        value = value_of_score(result.score)
        return Found(result.best, value, leaf, line, leaf.outcome() is not None)
