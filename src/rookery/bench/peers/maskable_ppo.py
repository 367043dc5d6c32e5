"""MaskablePPO from sb3-contrib on `rookery/Chess-v0`, with the network of Salisch 2023.

The only peer that uses Rookery: the environment is the same for both, and everything else is
compared, from rollouts to the optimiser.
"""

from __future__ import annotations

import time
from collections.abc import Callable

LABEL = "sb3-contrib MaskablePPO"
CONDITIONS = "rookery/Chess-v0 against random, DummyVecEnv, dense masks, MlpPolicy 256x256 twice"


def prepare(games: str, steps: str, minibatch: str, passes: str) -> Callable[[], tuple[int, float]]:
    """Return a function that runs one rollout and one epoch.

    It returns `steps` and the extrapolated seconds of one rollout and `passes` epochs.
    """
    import gymnasium
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import DummyVecEnv

    import rookery.envs  # noqa: F401 (registers the environment)

    torch.set_num_threads(1)

    def make() -> gymnasium.Env[object, object]:
        return gymnasium.make("rookery/Chess-v0", observation="vector66", opponent="random")

    class Clock(BaseCallback):
        """Records when the rollout ended."""

        collected = 0.0

        def _on_step(self) -> bool:
            return True

        def _on_rollout_end(self) -> None:
            self.collected = time.perf_counter()

    count = int(games)
    model = MaskablePPO(
        "MlpPolicy",
        DummyVecEnv([make] * count),
        n_steps=int(steps) // count,
        batch_size=int(minibatch),
        n_epochs=1,
        learning_rate=3e-4,
        policy_kwargs={"net_arch": {"pi": [256, 256], "vf": [256, 256]}},
        seed=1,
        device="cpu",
    )

    def iterate() -> tuple[int, float]:
        clock = Clock()
        begin = time.perf_counter()
        model.learn(int(steps), callback=clock, reset_num_timesteps=False)
        learning = time.perf_counter() - clock.collected
        return int(steps), (clock.collected - begin) + int(passes) * learning

    return iterate
