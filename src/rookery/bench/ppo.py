"""Training by PPO: samples per second, playing and learning together, one thread.

Ours and sb3-contrib's MaskablePPO, on the same environment (chess against a random mover, inputs
`vector66`, actions `az4672`), with the network of paper 000 (1,366,849 parameters), the same number
of games at a time and the same batch. A sample is a move of the learner.

Ours are whole iterations. Thirty passes of the peer would take a minute; since all its passes are
alike, one rollout and one pass are measured, from which follows the time of an iteration.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rookery.bench.measure import Comparison, Participant, Result, interleave, rate
from rookery.bench.peer_process import PeerMissingError, PeerProcess

GAMES = 32
STEPS = 4000  # samples of an iteration
# Minibatch, passes: RLlib's defaults, as paper 000 has them, and a lighter pair of usual size.
BATCHES = ((128, 30), (512, 4))
PEER = "maskable_ppo"


def training(minibatch: int, passes: int) -> Participant:
    """Our PPO, in whole iterations."""
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
        "ppo.plies": 2 * STEPS // GAMES,  # every other ply is the random mover's
        "ppo.minibatch": minibatch,
        "ppo.passes": passes,
        "ppo.learning_rate": 3e-4,
        "ppo.kl_coefficient": 0.0,
        # As the peer has it: no limit of the value error, gradients scaled down.
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
    trainer.iterate()  # warm up, as the peer does

    return lambda seconds: rate(lambda: trainer.iterate().samples, seconds)


def run() -> Result:
    """Measure all in turn."""
    participants: dict[str, Participant] = {}
    missing: dict[str, str] = {}
    with ExitStack() as stack:
        peers: dict[tuple[int, int], PeerProcess] = {}
        for minibatch, passes in BATCHES:
            participants[f"ours {minibatch}"] = training(minibatch, passes)
            words = [str(number) for number in (GAMES, STEPS, minibatch, passes)]
            try:
                peer = stack.enter_context(PeerProcess(PEER, *words))
            except PeerMissingError as error:
                missing[PEER] = str(error)
            else:
                peers[minibatch, passes] = peer
                participants[f"peer {minibatch}"] = peer.measure
        values = interleave(participants)
    comparisons = [
        Comparison(
            peer.label,
            values[f"peer {minibatch}"],
            values[f"ours {minibatch}"],
            f"{_batch(minibatch, passes)}; peer: {peer.conditions}",
        )
        for (minibatch, passes), peer in peers.items()
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
