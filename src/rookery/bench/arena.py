"""Random games through the match runner, including openings and records.

Peer: a plain python-chess loop of random legal moves until the game is over or the position has
occurred three times or the fifty-move rule applies.
"""

from __future__ import annotations

import random
import time

import chess

from rookery.arena.match import MatchSettings, run_match
from rookery.bench.measure import Comparison, Result, interleave
from rookery.players.registry import make_player


def measure_rookery(seconds: float) -> float:
    """Plies per second of matches between random players."""
    plies = seed = 0
    begin = now = time.perf_counter()
    while now - begin < seconds:
        result = run_match(
            lambda: make_player("random"),
            lambda: make_player("random"),
            MatchSettings(games=256, openings="random:8", seed=seed),
            names=("random", "random"),
        )
        plies += result.tally.plies
        seed += 1
        now = time.perf_counter()
    return plies / (now - begin)


def measure_python_chess(seconds: float) -> float:
    """Plies per second of random games on python-chess boards."""
    rng = random.Random(1)
    plies = 0
    begin = now = time.perf_counter()
    while now - begin < seconds:
        board = chess.Board()
        while not (board.is_game_over() or board.is_fifty_moves() or board.is_repetition(3)):
            board.push(rng.choice(list(board.legal_moves)))
            plies += 1
        now = time.perf_counter()
    return plies / (now - begin)


def run() -> Result:
    """Run the benchmark."""
    peer = "python-chess loop"
    found = interleave({"rookery": measure_rookery, peer: measure_python_chess})
    return Result(
        value=found["rookery"],
        unit="plies/s",
        conditions="random against random, whole matches, one thread",
        comparisons=[
            Comparison(peer, found[peer], found["rookery"], "the same games, no records kept")
        ],
    )
