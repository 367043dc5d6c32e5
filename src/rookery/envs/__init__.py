"""Environments for reinforcement learning, with games and evaluations between players.

Importing this module registers `rookery/Chess-v0`, `rookery/KPK-v0`, `rookery/BlindChess-v0` and
`rookery/SelfPlay-v0` with Gymnasium:

    import gymnasium, rookery.envs
    env = gymnasium.make("rookery/Chess-v0", color="random")
    envs = gymnasium.make_vec("rookery/Chess-v0", 4, opponent="greedy")   # single ones in turn
    envs = gymnasium.make_vec("rookery/SelfPlay-v0", 64)   # no opponent: both sides are yours

`gymnasium.make("rookery.envs:rookery/Chess-v0")` imports it automatically. The PettingZoo
environment is in `rookery.envs.aec`, the RLlib one in `rookery.envs.rllib`, since their libraries
are optional.
"""

from __future__ import annotations

from rookery.base.extras import how_to_install

try:
    import gymnasium
except ImportError as error:
    raise ImportError(
        f"the environments need gymnasium; install it with: {how_to_install('envs')}"
    ) from error

from rookery.data.starts import start_positions
from rookery.envs.chess_env import ChessEnv
from rookery.envs.evaluate import Evaluation, GameRecord, evaluate, run
from rookery.envs.kpk_env import KPKEnv
from rookery.envs.rewards import Ply, Rewards
from rookery.envs.vector import ChessVectorEnv

__all__ = [
    "ChessEnv", "ChessVectorEnv", "Evaluation", "GameRecord", "KPKEnv", "Ply", "Rewards",
    "evaluate", "register", "run", "start_positions",
]  # fmt: skip


def register() -> None:
    """Register the environments with Gymnasium, once."""
    if "rookery/Chess-v0" in gymnasium.registry:
        return
    gymnasium.register("rookery/Chess-v0", entry_point="rookery.envs.chess_env:ChessEnv")
    gymnasium.register("rookery/KPK-v0", entry_point="rookery.envs.kpk_env:KPKEnv")
    gymnasium.register("rookery/BlindChess-v0", entry_point="rookery.blind.env:BlindChessEnv")
    # A separate id: as the vector form of Chess-v0 it would silently drop the opponent.
    gymnasium.register(
        "rookery/SelfPlay-v0", vector_entry_point="rookery.envs.vector:ChessVectorEnv"
    )


register()
