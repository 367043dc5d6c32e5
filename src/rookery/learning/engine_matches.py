"""Native matches of a network at fixed nodes, as evaluations of a run."""

from __future__ import annotations

from typing import Any

import chess
import chess.pgn
import numpy as np

from rookery._core import NetworkMatch
from rookery.training.trainer import Evaluation

SAMPLE_PAIRS = 2  # kept as PGN
BOT_OPENING_PLIES = 4  # random ones before a game against a bot


def bot_evaluation(
    network: Any, bot: str, games: int, nodes: int, rng: np.random.Generator, threads: int
) -> Evaluation:
    """Games against random, greedy or greedy-safe, in pairs from random openings.

    Args:
        network: Tensors in the order of `rookery.nets.nnue.TENSORS`.
        bot: Its name.
        games: An even number.
        nodes: Of a move of the network.
        rng: Source of the openings.
        threads: To play on.
    """
    seed = int(rng.integers(1 << 62))
    match = NetworkMatch(
        network, bot, seed, nodes, BOT_OPENING_PLIES, adjudicate=False, threads=threads
    )
    return _played(match, bot, games)


def network_evaluation(
    network: Any,
    opponent: Any,
    name: str,
    games: int,
    nodes: int,
    rng: np.random.Generator,
    threads: int,
) -> Evaluation:
    """Games against another network, called `name`."""
    match = NetworkMatch(network, opponent, int(rng.integers(1 << 62)), nodes, threads=threads)
    return _played(match, name, games)


def _played(match: NetworkMatch, opponent: str, games: int) -> Evaluation:
    pairs = match.run(0, games // 2)
    sides = []
    for colour in (0, 1):
        results = [pair[colour][0] for pair in pairs]
        sides.append((results.count(1), results.count(0), results.count(-1)))
    texts = [
        _pgn(opponent, white, *pair[0 if white else 1])
        for pair in pairs[:SAMPLE_PAIRS]
        for white in (True, False)
    ]
    return Evaluation(opponent, sides[0], sides[1], games=texts)


def _pgn(opponent: str, white: bool, result: int, moves: list[str]) -> str:
    board = chess.Board()
    for move in moves:
        board.push_uci(move)
    record = chess.pgn.Game.from_board(board)
    record.headers["Event"] = f"engine against {opponent}"
    record.headers["White"] = "engine" if white else opponent
    record.headers["Black"] = opponent if white else "engine"
    points = result if white else -result
    record.headers["Result"] = {1: "1-0", 0: "1/2-1/2", -1: "0-1"}[points]
    return str(record)
