"""Rookery raises chess engines: it trains, measures and explains them, and lets people play them.

The names here are the foundation: games, their errors, and many games at once. The rest is in
modules that load what they need: `rookery.envs`, `rookery.players`, `rookery.arena`, ...
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version

import chess.polyglot

from rookery.base.levels import load_level

LEVEL = load_level()  # "" in a build for one machine; must come before the first use of the core

from rookery import _core  # noqa: E402

# The core brings no table of its own: with Polyglot's, keys work for opening books as well. It
# has to be there before the first position is made.
_core.set_zobrist_keys(list(chess.polyglot.POLYGLOT_RANDOM_ARRAY))

from rookery._core import STARTING_FEN, FenError, Game, MoveError, VectorGames  # noqa: E402

try:
    __version__ = version("rookery")
except PackageNotFoundError:  # used from a source tree that is not installed
    __version__ = "0+unknown"

__all__ = ["STARTING_FEN", "FenError", "Game", "MoveError", "VectorGames", "__version__"]

if "gymnasium" in sys.modules:
    # Where Gymnasium is already imported, gymnasium.make("rookery/Chess-v0") works right away.
    # Others do not pay for importing it; `import rookery.envs` registers in any case.
    import rookery.envs  # noqa: F401 (importing it registers)
