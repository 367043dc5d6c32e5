"""Alpha-beta: nodes per second of one thread on the positions of the bench signature.

Peer: Stockfish with the same time per position and an empty hash table of the same size. Rookery
uses the shipped network, or pseudo-random weights if it is not installed.
"""

from __future__ import annotations

import time

from rookery._core import Engine, Game, NnueNetwork, bench, bench_positions
from rookery.bench.measure import Comparison, Participant, Result
from rookery.bench.stockfish import Stockfish, interleave_with

HIDDEN = 128  # of the pseudo-random network
BUCKETS = 8
HASH = 16  # MiB


def network_to_measure() -> tuple[NnueNetwork, str]:
    """Return the shipped network or a pseudo-random one, and a description."""
    from rookery.nets.model_file import ModelFileError
    from rookery.players.alphabeta import SHIPPED, read_network

    try:
        network = read_network(SHIPPED)
        return network, f"shipped network, {network.hidden} wide"
    except ModelFileError:
        return NnueNetwork.random(HIDDEN, BUCKETS, 1), f"pseudo-random network, {HIDDEN} wide"


def own_search(network: NnueNetwork) -> Participant:
    """Search all positions with our engine."""
    engine = Engine(network, 1, HASH)

    def measure(seconds: float) -> float:
        fens = bench_positions()
        nodes, spent = 0, 0.0
        for fen in fens:
            engine.new_game()
            engine.prepare()
            result = engine.search(Game(fen), movetime=seconds / len(fens))
            nodes += result.nodes
            spent += result.seconds
        return nodes / spent

    return measure


class StockfishSearch(Stockfish):
    """Stockfish with the same hash table."""

    def __init__(self, program: str) -> None:
        """Start it."""
        super().__init__(program)
        self.send(f"setoption name Hash value {HASH}")

    def measure(self, seconds: float) -> float:
        """Search all positions within about `seconds`."""
        fens = bench_positions()
        nodes, spent = 0, 0.0
        for fen in fens:
            self.send("ucinewgame")
            self.send("isready")
            self.read_until("readyok")
            self.send(f"position fen {fen}")
            begin = time.perf_counter()
            self.send(f"go movetime {max(1, round(1000 * seconds / len(fens)))}")
            told = [line.split() for line in self.read_until("bestmove") if " nodes " in line]
            nodes += int(told[-1][told[-1].index("nodes") + 1]) if told else 0
            spent += time.perf_counter() - begin
        return nodes / spent


def run() -> Result:
    """Run the benchmark."""
    network, what = network_to_measure()
    values, missing = interleave_with(StockfishSearch, {"rookery": own_search(network)})
    ours = values.pop("rookery")
    same = "the same positions, time and hash table, one thread"
    comparisons = [Comparison(name, value, ours, same) for name, value in values.items()]
    conditions = f"{len(bench_positions())} positions, one thread, {what}"
    signature, _ = bench()
    details = {"bench signature (nodes)": signature}
    return Result(ours, "nodes/s", conditions, comparisons, missing, details)
