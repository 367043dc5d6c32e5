"""Random games in PettingZoo's chess_v6, with observation and mask at every ply."""

from __future__ import annotations

from collections.abc import Callable

LABEL = "PettingZoo chess_v6"
CONDITIONS = "8x8x111 observation and action mask from env.last() every ply, default wrappers"


def prepare() -> Callable[[], int]:
    """Return a function that plays one game and returns its plies."""
    import numpy as np
    from pettingzoo.classic import chess_v6

    env = chess_v6.env()
    rng = np.random.default_rng(1)

    def play() -> int:
        env.reset(seed=int(rng.integers(1 << 30)))
        plies = 0
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
            plies += 1
        return plies

    return play
