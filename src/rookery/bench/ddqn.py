"""Double DQN: new training positions per second, ours and in the paper's way.

A position counts once, when it has been searched and stored; learning from the memory is part of
the time. `ddqn` learns each position 16 times, at depth 4; `ddqn-paper` is the paper's own
algorithm and network, at depth 1.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from rookery.bench.measure import Comparison, Participant, Result, rate
from rookery.bench.peer_process import interleave_with_peers

PEER = "python_chess_ddqn"


def _participant(trainer: Any, context: Any) -> Participant:
    def work() -> int:
        samples = int(trainer.iterate().samples)
        context.iteration += 1
        return samples

    work()
    return lambda seconds: rate(work, seconds)


def ours(folder: Path) -> Participant:
    """The recipe `ddqn` on one thread, with smaller iterations."""
    from rookery.algorithms.ddqn import DdqnTrainer
    from rookery.algorithms.ddqn_recipe import DdqnRecipe, PlaySettings
    from rookery.training.trainer import Context

    play = PlaySettings(games=20)
    recipe = DdqnRecipe(name="bench", algorithm="ddqn", summary="", play=play)
    context = Context(recipe, folder)
    (folder / "replay").mkdir()
    return _participant(DdqnTrainer(context), context)


def paper(folder: Path) -> Participant:
    """The recipe `ddqn-paper` on one thread."""
    import torch

    from rookery.papers.inman2022.agent import DdqnPaperTrainer
    from rookery.papers.inman2022.recipe import AgentSettings, DdqnPaperRecipe
    from rookery.training.trainer import Context

    torch.set_num_threads(1)
    agent = AgentSettings(epsilon=0.2)
    recipe = DdqnPaperRecipe(name="bench", algorithm="ddqn-paper", summary="", agent=agent)
    context = Context(recipe, folder)
    return _participant(DdqnPaperTrainer(context), context)


def run() -> Result:
    """Run the benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        participants = {"ddqn": ours(Path(folder)), "ddqn-paper": paper(Path(folder))}
        values, peers, missing = interleave_with_peers(participants, {PEER: [PEER]})
    comparisons = [
        Comparison(peer.label, values[PEER], values[name], f"{name}; peer: {peer.conditions}")
        for peer in peers.values()
        for name in participants
    ]
    conditions = "new positions, each searched to depth 4 and learnt 16 times, one thread"
    details = {"ddqn-paper": values["ddqn-paper"]}
    return Result(values["ddqn"], "positions/s", conditions, comparisons, missing, details)
