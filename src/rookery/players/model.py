"""Players from model files and run folders, as `make_player` asks for them.

The policy plays alone unless options ask for a search with the same network: `simulations` or
`movetime` for a tree search.
"""

from __future__ import annotations

from collections.abc import Mapping

from rookery.players.base import Player
from rookery.players.policy import policy_player

TREE_SEARCH = frozenset({"simulations", "movetime", "gumbel"})  # options that ask for one


def load_player(source: str, options: Mapping[str, str]) -> Player:
    """Make a player from a path and its options as written."""
    if TREE_SEARCH & options.keys():
        from rookery.players.mcts import mcts_player

        return mcts_player(source, options)
    return policy_player(source, options)
