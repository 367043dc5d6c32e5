"""Environments for reinforcement learning, and the games and evaluations around them.

Importing this module registers `rookery/Chess-v0` and `rookery/KPK-v0` with Gymnasium:

    import gymnasium, rookery.envs
    env = gymnasium.make("rookery/Chess-v0", color="random")
    envs = gymnasium.make_vec("rookery/Chess-v0", 64, vectorization_mode="vector_entry_point")

`gymnasium.make("rookery.envs:rookery/Chess-v0")` imports it by itself. The PettingZoo environment
is in `rookery.envs.aec`, the RLlib one in `rookery.envs.rllib`: modules of their own, because
their libraries are optional.
"""

from __future__ import annotations

try:
    import gymnasium
except ImportError as error:  # the message names the way out
    raise ImportError(
        "the environments need gymnasium; install it with: pip install 'rookery[envs]'"
    ) from error

from rookery.envs.chess_env import ChessEnv
from rookery.envs.evaluate import Evaluation, GameRecord, evaluate, run
from rookery.envs.kpk_env import KPKEnv
from rookery.envs.rewards import Rewards
from rookery.envs.starts import start_positions
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
    gymnasium.register(
        "rookery/Chess-v0",
        entry_point="rookery.envs.chess_env:ChessEnv",
        vector_entry_point="rookery.envs.vector:ChessVectorEnv",
    )
    gymnasium.register("rookery/KPK-v0", entry_point="rookery.envs.kpk_env:KPKEnv")


register()
