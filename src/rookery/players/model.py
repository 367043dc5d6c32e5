"""Players from model files and run folders, as `make_player` asks for them.

What plays depends on the network's family: `nnue` searches with alpha-beta, `giraffe` full-width
to a small depth; of the others the policy plays alone, unless options ask for a tree search
with the same network (`simulations` or `movetime`).
"""

from __future__ import annotations

from collections.abc import Mapping

from rookery.players.base import Player
from rookery.players.policy import policy_player

TREE_SEARCH = frozenset({"simulations", "movetime", "gumbel"})  # options that ask for one


def load_player(source: str, options: Mapping[str, str]) -> Player:
    """Make a player from a path and its options as written."""
    family = family_of(source)
    if family == "endgame":
        from rookery.players.endgame import endgame_player

        return endgame_player(source, options)
    if family == "giraffe":
        from rookery.players.leaf_search import leaf_search_player

        return leaf_search_player(source, dict(options))
    if family == "nnue":
        from rookery.players.alphabeta import alphabeta_player
        from rookery.players.registry import ALPHABETA_OPTIONS, parse_options
        from rookery.players.spec import PlayerSpec

        values = parse_options(source, options, ALPHABETA_OPTIONS)
        return alphabeta_player(str(PlayerSpec(source, options)), source, values)
    if TREE_SEARCH & options.keys():
        from rookery.players.mcts import mcts_player

        return mcts_player(source, options)
    return policy_player(source, options)


def family_of(source: str) -> str:
    """The family of a model's network; empty for an exported .onnx file."""
    from rookery.evaluator import read_model
    from rookery.model_arrays import parse_family

    if source.endswith(".onnx"):
        return ""
    origin, data = read_model(source)
    return parse_family(data, origin)
