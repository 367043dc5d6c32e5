"""Alpha-beta: nodes per second of one thread, on the positions of the bench signature.

Peer: Stockfish on the same positions, each with the same time and an empty hash table of the same
size. Ours searches with the shipped network, or with pseudo-random weights of the same size where
none is shipped.
"""

from __future__ import annotations

import time
from typing import Any

from rookery._core import Engine, Game, NnueNetwork, bench, bench_positions
from rookery.bench.measure import Comparison, Participant, Result, interleave
from rookery.bench.perft import StockfishPerft

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


class StockfishSearch(StockfishPerft):
    """A Stockfish process that answers `go movetime`."""

    def start(self) -> None:
        """Set the same hash table."""
        self._send(f"setoption name Hash value {HASH}")

    def measure(self, seconds: float) -> float:
        """One round over all positions within about so many seconds."""
        fens = bench_positions()
        nodes, spent = 0, 0.0
        for fen in fens:
            self._send("ucinewgame")
            self._send("isready")
            self._read_until("readyok")
            self._send(f"position fen {fen}")
            begin = time.perf_counter()
            self._send(f"go movetime {max(1, round(1000 * seconds / len(fens)))}")
            nodes += self._read_until("bestmove")
            spent += time.perf_counter() - begin
        return nodes / spent

    def _read_until(self, word: str) -> int:
        """Nodes of the last `info` line before the line that starts with `word`."""
        nodes = 0
        for line in self._lines():
            words = line.split()
            if "nodes" in words:
                nodes = int(words[words.index("nodes") + 1])
            if words[:1] == [word]:
                return nodes
        raise OSError(f"{self.name} ended during a search")


def run() -> Result:
    """Measure both in turn."""
    from rookery.engines.find import find_stockfish

    network, what = network_to_measure()
    participants: dict[str, Participant] = {"rookery": OwnSearch(network).measure}
    program = find_stockfish()
    stockfish = None
    missing = {}
    if program is None:
        missing["Stockfish"] = "not found; apt install stockfish, or set ROOKERY_STOCKFISH"
    else:
        stockfish = StockfishSearch(program)
        stockfish.start()
        participants[stockfish.name] = stockfish.measure
    try:
        values = interleave(participants)
    finally:
        if stockfish is not None:
            stockfish.close()
    ours = values["rookery"]
    comparisons = []
    if stockfish is not None:
        same = "the same positions, time and hash table, one thread"
        comparisons.append(Comparison(stockfish.name, values[stockfish.name], ours, same))
    conditions = f"{len(bench_positions())} positions, one thread, {what}"
    signature, _ = bench()
    details: dict[str, Any] = {"bench signature (nodes)": signature}
    return Result(ours, "nodes/s", conditions, comparisons, missing, details)
