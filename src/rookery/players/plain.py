"""Plain alpha-beta to a fixed depth, without quiescence: `simplified`, and Inman 2022's.

`simplified,depth=2` judges leaves by material and piece-square tables, the baseline that Inman and
Ezra Marin (2022) really measured. `simplified,search=engine` puts the same evaluation under the
engine's search, to compare it with networks at the same depth, `search=full` under that search
without pruning and reductions, `search=fixed` also without extensions.

`search=plain` of an alpha-beta player is the same search with its network. At depth 1, the default
there, it plays the move after which the value is best: what the network knows without any search.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from rookery._core import BatchEvaluator, Game, NnueNetwork, PlainSearch, PositionEvaluator
from rookery.players.alphabeta import AlphaBetaPlayer
from rookery.players.base import (
    Capabilities,
    Decision,
    Limits,
    Player,
    legal_moves,
    require_board,
)
from rookery.players.spec import PlayerSpec, SpecError

DEFAULT_DEPTH = 2
MOST_DEPTH = 8
# Of the option `search`: the engine's, as AlphaBetaPlayer names them.
ENGINE_SEARCHES = {"engine": "selective", "full": "full", "fixed": "fixed"}


class PlainPlayer:
    """Fixed-depth alpha-beta over an evaluator; equally good moves: the first found."""

    def __init__(
        self,
        evaluator: BatchEvaluator | PositionEvaluator,
        name: str,
        depth: int = DEFAULT_DEPTH,
        bounded: bool = False,
    ) -> None:
        """Search `depth` plies; values that are not `bounded` by [-1, 1] are logits."""
        self.name = name
        self._bounded = bounded
        self._depth = depth
        self._search = PlainSearch(evaluator)

    @property
    def capabilities(self) -> Capabilities:
        """Never timed."""
        return Capabilities()

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Search to the fixed depth; `limits` are ignored."""
        require_board(self.name, self.capabilities.boards, game.board)
        legal_moves(game)  # raises if the game is over
        line, value, leaves = self._search.search(game, self._depth)
        details = {"leaves": leaves, "depth": self._depth}
        result = np.clip(value, -1, 1) if self._bounded else np.tanh(value)
        return Decision(line[0], float(result), tuple(line), details=details)

    def new_game(self) -> None:
        """Do nothing: there is no state between games."""

    def close(self) -> None:
        """Do nothing: there are no resources."""


def simplified_player(spec: PlayerSpec, options: dict[str, Any]) -> Player:
    """The player `simplified`."""
    depth = int(options.get("depth", DEFAULT_DEPTH))
    search = ENGINE_SEARCHES.get(options.get("search", "plain"))
    if search is not None:
        evaluator = PositionEvaluator.simplified()
        return AlphaBetaPlayer(evaluator, str(spec), depth=depth, search=search)
    _require_depth(spec, depth)
    return PlainPlayer(PositionEvaluator.simplified(bounded=False), str(spec), depth)


def plain_player(spec: PlayerSpec, options: dict[str, Any]) -> Player:
    """A convolutional value network, of which alone the leaves are judged."""
    from rookery.nets.evaluator import read_model
    from rookery.nets.model_file import parse_model
    from rookery.nets.value_evaluator import ConvolutionalNetwork, conv_evaluator

    depth = int(options.get("depth", DEFAULT_DEPTH))
    origin, data = read_model(spec.name)
    network = parse_model(data, origin)[0]
    if not isinstance(network, ConvolutionalNetwork):
        raise SpecError(f"player {str(spec)!r}: plain search needs a convolutional value network")
    search = ENGINE_SEARCHES.get(options.get("search", "plain"))
    if search is not None:
        return AlphaBetaPlayer(
            conv_evaluator(network, origin), str(spec), depth=depth, search=search
        )
    _require_depth(spec, depth)
    return PlainPlayer(conv_evaluator(network, origin, bounded=False), str(spec), depth)


def plain_value_player(
    spec: PlayerSpec, evaluator: NnueNetwork | BatchEvaluator, options: dict[str, Any]
) -> Player:
    """An alpha-beta player with `search=plain`: of its other options only `depth` makes sense."""
    for key in options.keys() - {"search", "depth"}:
        raise SpecError(f"player {str(spec)!r}: search=plain has a depth and no {key}")
    depth = int(options.get("depth", 1))
    _require_depth(spec, depth)
    if isinstance(evaluator, NnueNetwork):
        return PlainPlayer(PositionEvaluator.network(evaluator), str(spec), depth, bounded=True)
    return PlainPlayer(evaluator, str(spec), depth, bounded=True)


def _require_depth(spec: PlayerSpec, depth: int) -> None:
    if depth > MOST_DEPTH:
        raise SpecError(f"player {str(spec)!r}: plain search goes at most {MOST_DEPTH} plies deep")
