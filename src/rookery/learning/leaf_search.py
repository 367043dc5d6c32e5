"""The engine's search, asked where its principal lines end: for methods that learn from leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rookery._core import BatchEvaluator, Engine, Game, NnueNetwork
from rookery.base.scales import value_of_score

HASH = 4  # MiB; shallow searches need no more
# A search that takes more is cut off. Untrained networks may take every capture for a gain, and the
# captures of one position can then be followed for hundreds of thousands of nodes.
MOST_NODES = 100_000


@dataclass(frozen=True)
class Found:
    """What a search of one position found."""

    move: str  # best, UCI
    value: float  # [-1, 1], for the side to move
    leaf: Game  # where the principal line ends
    line: tuple[str, ...]
    decided: bool  # whether the game is over at the leaf


class LeafSearch:
    """Searches to a fixed depth, each from nothing, so that a resumed run finds the same."""

    def __init__(self, evaluator: Callable[[], NnueNetwork | BatchEvaluator], depth: int) -> None:
        """Search `depth` plies and quiescence; `evaluator` gives the present network."""
        self._evaluator = evaluator
        self._depth = depth
        self._engine = Engine(evaluator(), 1, HASH)

    def __call__(self, games: Sequence[Game]) -> list[Found]:
        """Best move and leaf of each game; none of the games may be over."""
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
