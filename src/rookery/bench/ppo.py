"""PPO training: samples per second of rollouts and updates together, on one thread.

Peer: MaskablePPO from sb3-contrib, on the same environment (chess against random moves, observation
`vector66`, actions `az4672`), with the network of Salisch 2023 (1,366,849 parameters) and the same
number of games and batch sizes. A sample is one move of the learner.

Ours are whole iterations. Thirty epochs of the peer would take a minute; since they are all alike,
the time of an iteration is extrapolated from one rollout and one epoch.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from rookery.bench.measure import Comparison, Participant, Result, rate
from rookery.bench.peer_process import interleave_with_peers

GAMES = 32
STEPS = 4000  # samples per iteration
# Minibatch size and epochs: RLlib's defaults, as in Salisch 2023, and a more common pair.
BATCHES = ((128, 30), (512, 4))
PEER = "maskable_ppo"


def training(minibatch: int, passes: int) -> Participant:
    """Run whole iterations of our PPO."""
    from rookery.training import require_extra

    require_extra()
    import torch

    from rookery.algorithms.ppo import PPOTrainer
    from rookery.algorithms.ppo_recipe import PPORecipe
    from rookery.training.memory import keep_freed_memory
    from rookery.training.recipe import load_recipe
    from rookery.training.trainer import Context

    changes: dict[str, Any] = {
        "ppo.games": GAMES,
        "ppo.plies": 2 * STEPS // GAMES,  # every other ply is the opponent's
        "ppo.minibatch": minibatch,
        "ppo.passes": passes,
        "ppo.learning_rate": 3e-4,
        "ppo.kl_coefficient": 0.0,
        # As in the peer: no value clipping, gradients clipped by norm.
        "ppo.value_clip": 0.0,
        "ppo.gradient_norm": 0.5,
        "game.win": 1.0,
        "game.loss": -1.0,
    }
    recipe = load_recipe("ppo-v2", changes)
    assert isinstance(recipe, PPORecipe)
    torch.set_num_threads(1)
    keep_freed_memory()
    trainer = PPOTrainer(Context(recipe=recipe, folder=Path(tempfile.gettempdir())))
    trainer.iterate()  # warm-up, as in the peer

    return lambda seconds: rate(lambda: trainer.iterate().samples, seconds)


def run() -> Result:
    """Run the benchmark."""
    participants = {f"ours {minibatch}": training(minibatch, n) for minibatch, n in BATCHES}
    commands = {
        f"peer {minibatch}": [PEER, *(str(number) for number in (GAMES, STEPS, minibatch, passes))]
        for minibatch, passes in BATCHES
    }
    values, peers, missing = interleave_with_peers(participants, commands)
    comparisons = [
        Comparison(
            peers[f"peer {minibatch}"].label,
            values[f"peer {minibatch}"],
            values[f"ours {minibatch}"],
            f"{_batch(minibatch, passes)}; peer: {peers[f'peer {minibatch}'].conditions}",
        )
        for minibatch, passes in BATCHES
        if f"peer {minibatch}" in peers
    ]
    conditions = (
        f"{GAMES} games against random, vector66, 1,366,849 parameters, "
        f"{_batch(*BATCHES[0])}, one thread"
    )
    details = {
        f"{_batch(minibatch, passes)}, samples/s": values[f"ours {minibatch}"]
        for minibatch, passes in BATCHES
    }
    main = values[f"ours {BATCHES[0][0]}"]
    return Result(main, "samples/s", conditions, comparisons, missing, details)


def _batch(minibatch: int, passes: int) -> str:
    return f"{passes} passes over {STEPS} samples in minibatches of {minibatch}"
