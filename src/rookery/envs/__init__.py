"""Environments for reinforcement learning, and the games and evaluations around them.

Importing this module registers `rookery/Chess-v0`, `rookery/KPK-v0` and `rookery/SelfPlay-v0`
with Gymnasium:

    import gymnasium, rookery.envs
    env = gymnasium.make("rookery/Chess-v0", color="random")
    envs = gymnasium.make_vec("rookery/Chess-v0", 4, opponent="greedy")   # single ones in turn
    envs = gymnasium.make_vec("rookery/SelfPlay-v0", 64)   # no opponent: both sides are yours

`gymnasium.make("rookery.envs:rookery/Chess-v0")` imports it by itself. The PettingZoo environment
is in `rookery.envs.aec`, the RLlib one in `rookery.envs.rllib`: modules of their own, because
their libraries are optional.
"""

from __future__ import annotations

from rookery.base.extras import how_to_install

try:
    import gymnasium
except ImportError as error:  # the message names the way out
    raise ImportError(
        f"the environments need gymnasium; install it with: {how_to_install('envs')}"
    ) from error

from rookery.data.starts import start_positions
from rookery.envs.chess_env import ChessEnv
from rookery.envs.evaluate import Evaluation, GameRecord, evaluate, run
from rookery.envs.kpk_env import KPKEnv
from rookery.envs.rewards import Rewards
from rookery.envs.vector import ChessVectorEnv

__all__ = [
    "ChessEnv",
    "ChessVectorEnv",
    "Evaluation",
    "GameRecord",
    "KPKEnv",
    "Rewards",
    "evaluate",
    "register",
    "run",
    "start_positions",
]


def register() -> None:
    """Register the environments with Gymnasium, unless that has been done."""
    if "rookery/Chess-v0" in gymnasium.registry:
        return
    gymnasium.register("rookery/Chess-v0", entry_point="rookery.envs.chess_env:ChessEnv")
    gymnasium.register("rookery/KPK-v0", entry_point="rookery.envs.kpk_env:KPKEnv")
    # An id of its own: as the vector form of Chess-v0 it would silently replace the opponent.
    gymnasium.register(
        "rookery/SelfPlay-v0", vector_entry_point="rookery.envs.vector:ChessVectorEnv"
    )


register()
