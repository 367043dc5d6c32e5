"""The DQN of Kanis 2016: moves played and trained on per second, ours and with python-chess.

Both play against a random king and train on 32 replayed moves per move played, with the same
network, rewards and rules. Ours plays many games at once and trains in larger batches.
"""

from __future__ import annotations

from pathlib import Path

from rookery.bench.measure import Comparison, Participant, Result, rate
from rookery.bench.peer_process import interleave_with_peers

PEER = "python_chess_dqn"
GAMES = 128


def training(games: int = GAMES) -> Participant:
    """Train the recipe `kpk-random-king` on one thread."""
    import torch

    from rookery.papers.kanis2016.dqn import DQNTrainer
    from rookery.papers.kanis2016.recipe import DQNRecipe, DQNSettings
    from rookery.training.trainer import Context

    torch.set_num_threads(1)
    settings = DQNSettings(games=games, rounds=20, epsilon_start=0.1)
    recipe = DQNRecipe(name="bench", algorithm="dqn", summary="", dqn=settings)
    trainer = DQNTrainer(Context(recipe, Path()))

    trainer.iterate()  # fills the replay memory enough to train
    return lambda seconds: rate(lambda: trainer.iterate().samples, seconds)


def run() -> Result:
    """Run the benchmark."""
    values, peers, missing = interleave_with_peers({"ours": training()}, {PEER: [PEER]})
    comparisons = [
        Comparison(peer.label, values[PEER], values["ours"], f"peer: {peer.conditions}")
        for peer in peers.values()
    ]
    conditions = f"{GAMES} games at once, 32 replayed moves per move, one thread"
    return Result(values["ours"], "moves/s", conditions, comparisons, missing)
