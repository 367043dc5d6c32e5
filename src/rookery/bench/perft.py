"""Move generation: leaf nodes per second, bulk-counted, one thread.

Peers: Stockfish's own `go perft` and a straightforward perft in python-chess, also bulk-counted.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from typing import IO

import chess

from rookery import _core
from rookery.bench.measure import Comparison, Participant, Result, interleave

# FEN, depth for us and Stockfish, depth for python-chess. Quiet and tactical positions.
POSITIONS = (
    (chess.STARTING_FEN, 6, 3),
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 5, 3),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 6, 4),
    ("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", 5, 3),
)
QUIT_SECONDS = 5.0


def count_nodes(board: chess.Board, depth: int) -> int:
    """Perft on a python-chess board."""
    if depth <= 1:
        return board.legal_moves.count() if depth == 1 else 1
    nodes = 0
    for move in board.legal_moves:
        board.push(move)
        nodes += count_nodes(board, depth - 1)
        board.pop()
    return nodes


def measure_rookery(_seconds: float) -> float:
    """One round over all positions, which takes about as long as the others'."""
    begin = time.perf_counter()
    nodes = sum(_core.perft(fen, depth) for fen, depth, _ in POSITIONS)
    return nodes / (time.perf_counter() - begin)


def measure_python_chess(_seconds: float) -> float:
    """The same positions, less deep."""
    begin = time.perf_counter()
    nodes = sum(count_nodes(chess.Board(fen), depth) for fen, _, depth in POSITIONS)
    return nodes / (time.perf_counter() - begin)


class StockfishPerft:
    """A Stockfish process that answers `go perft`."""

    def __init__(self, program: str) -> None:
        """Start it and read its name."""
        self._process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.name = "Stockfish"
        self._send("uci")
        for line in self._lines():
            if line.startswith("id name "):
                self.name = line.removeprefix("id name ").strip()
            if line.startswith("uciok"):
                break
        self._send("setoption name Threads value 1")

    def count(self, fen: str, depth: int) -> int:
        """Leaf nodes as Stockfish counts them."""
        self._send(f"position fen {fen}")
        self._send(f"go perft {depth}")
        for line in self._lines():
            if line.startswith("Nodes searched"):
                return int(line.split(":")[1])
        raise OSError(f"{self.name} ended during perft")

    def measure(self, _seconds: float) -> float:
        """One round over all positions."""
        begin = time.perf_counter()
        nodes = sum(self.count(fen, depth) for fen, depth, _ in POSITIONS)
        return nodes / (time.perf_counter() - begin)

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(BrokenPipeError):
            self._send("quit")
        try:
            self._process.wait(QUIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self, command: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()

    def _lines(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout


def run() -> Result:
    """Measure all in turn."""
    from rookery.engines.find import find_stockfish

    participants: dict[str, Participant] = {
        "rookery": measure_rookery,
        "python-chess": measure_python_chess,
    }
    program = find_stockfish()
    missing = {}
    stockfish = None
    if program is None:
        missing["Stockfish"] = "not found; apt install stockfish, or set ROOKERY_STOCKFISH"
    else:
        stockfish = StockfishPerft(program)
        participants[stockfish.name] = stockfish.measure
    try:
        values = interleave(participants)
    finally:
        if stockfish is not None:
            stockfish.close()
    ours = values["rookery"]
    same = "the same positions and depths, one thread"
    comparisons = []
    if stockfish is not None:
        comparisons.append(Comparison(stockfish.name, values[stockfish.name], ours, same))
    comparisons.append(
        Comparison("python-chess", values["python-chess"], ours, "the same positions, less deep")
    )
    conditions = f"{len(POSITIONS)} positions, bulk counting, one thread"
    return Result(ours, "nodes/s", conditions, comparisons, missing)
