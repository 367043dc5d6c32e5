"""Alpha-beta: nodes per second of one thread, on the positions of the bench signature.

Peer: Stockfish on the same positions, each with the same time and an empty hash table of the same
size. Ours searches with the shipped network, or with pseudo-random weights of the same size where
none is shipped.
"""

from __future__ import annotations

import time
from typing import Any

from rookery._core import Engine, Game, NnueNetwork, bench, bench_positions
from rookery.bench.measure import Comparison, Result
from rookery.bench.stockfish import Stockfish, interleave_with

HIDDEN = 128  # of the network used where none is shipped
BUCKETS = 8
HASH = 16  # MiB


def network_to_measure() -> tuple[NnueNetwork, str]:
    """The shipped network if there is one, and what it is."""
    from rookery.nets.model_file import ModelFileError
    from rookery.players.alphabeta import SHIPPED, read_network

    try:
        network = read_network(SHIPPED)
        return network, f"shipped network, {network.hidden} wide"
    except ModelFileError:
        return NnueNetwork.random(HIDDEN, BUCKETS, 1), f"pseudo-random network, {HIDDEN} wide"


class OwnSearch:
    """Our engine."""

    def __init__(self, network: NnueNetwork) -> None:
        """Take the network."""
        self._engine = Engine(network, 1, HASH)

    def measure(self, seconds: float) -> float:
        """One round over all positions within about so many seconds."""
        fens = bench_positions()
        nodes, spent = 0, 0.0
        for fen in fens:
            self._engine.new_game()
            self._engine.prepare()
            result = self._engine.search(Game(fen), movetime=seconds / len(fens))
            nodes += result.nodes
            spent += result.seconds
        return nodes / spent


class StockfishSearch(Stockfish):
    """Answers `go movetime` with the same hash table."""

    def __init__(self, program: str) -> None:
        """Start it."""
        super().__init__(program)
        self.send(f"setoption name Hash value {HASH}")

    def measure(self, seconds: float) -> float:
        """One round over all positions within about so many seconds."""
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
    """Measure both in turn."""
    network, what = network_to_measure()
    values, missing = interleave_with(StockfishSearch, {"rookery": OwnSearch(network).measure})
    ours = values.pop("rookery")
    same = "the same positions, time and hash table, one thread"
    comparisons = [Comparison(name, value, ours, same) for name, value in values.items()]
    conditions = f"{len(bench_positions())} positions, one thread, {what}"
    signature, _ = bench()
    details: dict[str, Any] = {"bench signature (nodes)": signature}
    return Result(ours, "nodes/s", conditions, comparisons, missing, details)
