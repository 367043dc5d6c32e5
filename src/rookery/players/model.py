"""Players from model files and run folders, as `make_player` asks for them.

Today the policy plays alone; players that search with the same network are told apart by their
options (`simulations`, `depth`) and join here.
"""

from __future__ import annotations

from collections.abc import Mapping

from rookery.evaluator import read_model
from rookery.model_file import info_of
from rookery.players.base import Player
from rookery.players.policy import policy_player


def load_player(source: str, options: Mapping[str, str]) -> Player:
    """Make a player from a path and its options as written."""
    if not source.endswith(".onnx"):
        origin, data = read_model(source)
        if info_of(data, origin).family == "endgame":
            from rookery.players.endgame import endgame_player

            return endgame_player(source, options)
    return policy_player(source, options)
