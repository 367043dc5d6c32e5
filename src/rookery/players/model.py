"""Players from model files and run folders, as `make_player` asks for them.

What plays depends on the network's family: `nnue` and `giraffe`, which have values alone, search
with alpha-beta. Networks that AlphaZero or its pretraining taught play with its tree search
(without it after `simulations=0`); of the others the policy plays alone, unless there is an option
that only such a search has (`simulations`, `movetime`, `gumbel`, ...).
"""

from __future__ import annotations

from collections.abc import Mapping

from rookery.players.base import Player
from rookery.players.policy import policy_player

POLICY_OPTIONS = frozenset({"temperature"})  # any other option asks for a tree search
# Algorithms whose networks are made for one.
TREE_SEARCHERS = frozenset({"alphazero", "supervised"})


def load_player(source: str, options: Mapping[str, str]) -> Player:
    """Make a player from a path and its options as written."""
    family, algorithm = origin_of(source)
    if family == "endgame":
        from rookery.players.endgame import endgame_player

        return endgame_player(source, options)
    if family in ("nnue", "giraffe"):
        from rookery.players.alphabeta import alphabeta_player
        from rookery.players.registry import ALPHABETA_OPTIONS, parse_options
        from rookery.players.spec import PlayerSpec

        values = parse_options(source, options, ALPHABETA_OPTIONS)
        return alphabeta_player(str(PlayerSpec(source, options)), source, values)
    if options.get("simulations") == "0":
        return policy_player(source, {k: v for k, v in options.items() if k != "simulations"})
    if algorithm in TREE_SEARCHERS or options.keys() - POLICY_OPTIONS:
        from rookery.players.mcts import mcts_player

        return mcts_player(source, options)
    return policy_player(source, options)


def origin_of(source: str) -> tuple[str, str]:
    """Family of a model's network and the algorithm that taught it; empty where unknown."""
    from rookery.nets.evaluator import read_model
    from rookery.nets.model_file import info_of

    if source.endswith(".onnx"):
        return "", ""
    origin, data = read_model(source)
    info = info_of(data, origin)
    return info.family, str(info.recipe.get("algorithm", ""))
