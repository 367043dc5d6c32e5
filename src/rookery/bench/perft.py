"""Perft: leaf nodes per second on one thread, with bulk counting.

Peers: Stockfish's `go perft` and a simple perft with python-chess, also with bulk counting.
"""

from __future__ import annotations

import time

import chess

from rookery import _core
from rookery.bench.measure import Comparison, Result
from rookery.bench.stockfish import Stockfish, interleave_with

# FEN, depth for us and Stockfish, depth for python-chess. Quiet and tactical positions.
POSITIONS = (
    (chess.STARTING_FEN, 6, 3),
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 5, 3),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 6, 4),
    ("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", 5, 3),
)


def count_nodes(board: chess.Board, depth: int) -> int:
    """Compute perft on a python-chess board."""
    if depth <= 1:
        return board.legal_moves.count() if depth == 1 else 1
    nodes = 0
    for move in board.legal_moves:
        board.push(move)
        nodes += count_nodes(board, depth - 1)
        board.pop()
    return nodes


def measure_rookery(_seconds: float) -> float:
    """Count all positions once, which takes about as long as for the peers."""
    begin = time.perf_counter()
    nodes = sum(_core.perft(fen, depth) for fen, depth, _ in POSITIONS)
    return nodes / (time.perf_counter() - begin)


def measure_python_chess(_seconds: float) -> float:
    """Count the same positions at lower depth."""
    begin = time.perf_counter()
    nodes = sum(count_nodes(chess.Board(fen), depth) for fen, _, depth in POSITIONS)
    return nodes / (time.perf_counter() - begin)


class StockfishPerft(Stockfish):
    """Stockfish's `go perft`."""

    def count(self, fen: str, depth: int) -> int:
        """Return the number of leaf nodes."""
        self.send(f"position fen {fen}")
        self.send(f"go perft {depth}")
        return int(self.read_until("Nodes searched")[-1].split(":")[1])

    def measure(self, _seconds: float) -> float:
        """Count all positions once."""
        begin = time.perf_counter()
        nodes = sum(self.count(fen, depth) for fen, depth, _ in POSITIONS)
        return nodes / (time.perf_counter() - begin)


def run() -> Result:
    """Run the benchmark."""
    participants = {"rookery": measure_rookery, "python-chess": measure_python_chess}
    values, missing = interleave_with(StockfishPerft, participants)
    ours = values.pop("rookery")
    less = {"python-chess": "the same positions at lower depth"}
    same = "the same positions and depths, one thread"
    comparisons = [
        Comparison(name, value, ours, less.get(name, same)) for name, value in values.items()
    ]
    what = f"{len(POSITIONS)} positions, bulk counting, one thread"
    return Result(ours, "nodes/s", what, comparisons, missing)
