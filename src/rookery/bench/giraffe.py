"""Giraffe: positions per second in TD-leaf's self-play, ours and with python-chess.

Both read the 363 features of each position and evaluate them with the same widths of layers. Ours
also generates moves, searches and plays; the peer only evaluates the positions of random games.
"""

from __future__ import annotations

from rookery.bench.measure import Comparison, Participant, Result, rate
from rookery.bench.peer_process import interleave_with_peers

PEER = "python_chess_giraffe"
SEGMENTS = 16


def self_play() -> Participant:
    """Search the segments of the recipe `giraffe` on one thread; counts nodes."""
    import torch

    from rookery._core import LeafGames
    from rookery.nets import make_network
    from rookery.nets.value_evaluator import value_evaluator

    sizes = {"width": 32, "groups": (16, 64, 48)}
    generator = torch.Generator().manual_seed(1)
    network = make_network("giraffe", "giraffe363", "none", sizes, generator)
    games = LeafGames(value_evaluator(network), 1, depth=4)
    return lambda seconds: rate(lambda: games.run(0, SEGMENTS).nodes, seconds)


def evaluation() -> Participant:
    """Evaluate positions without a search."""
    import torch

    from rookery._core import Game, bench_positions
    from rookery.nets import make_network
    from rookery.nets.value_evaluator import value_evaluator

    sizes = {"width": 32, "groups": (16, 64, 48)}
    network = make_network("giraffe", "giraffe363", "none", sizes, torch.Generator().manual_seed(1))
    evaluator = value_evaluator(network)
    games = [Game(fen) for fen in bench_positions()] * 25
    return lambda seconds: rate(lambda: len(evaluator.values(games)), seconds)


def run() -> Result:
    """Run the benchmark."""
    participants = {"self-play": self_play(), "evaluation": evaluation()}
    values, peers, missing = interleave_with_peers(participants, {PEER: [PEER]})
    comparisons = [
        Comparison(peer.label, values[PEER], values["self-play"], f"peer: {peer.conditions}")
        for peer in peers.values()
    ]
    conditions = (
        "nodes of TD-leaf's searches at depth 4, each with features and network, one thread"
    )
    details = {"features and network alone": values["evaluation"]}
    return Result(values["self-play"], "positions/s", conditions, comparisons, missing, details)
