"""Samples labelled by an engine: its best moves and what it thinks of the position.

The policy target spreads over the engine's first few moves by how many pawns each is worse than
the best; the value is its score as an expected result.
"""

from __future__ import annotations

import math
from pathlib import Path

import chess
import chess.engine
import numpy as np

from rookery._core import Game, play_random_plies
from rookery.data.pgn_samples import RESULTS, positions_of, read_games
from rookery.data.sample_writer import SampleWriter

MATE = 1000  # centipawns that a mate counts as in the policy target
VALUE_SCALE = 400.0  # centipawns: value = 2 / (1 + exp(-score / 400)) - 1


def value_of(centipawns: float) -> float:
    """A score as an expected result, [-1, 1]."""
    return 2.0 / (1.0 + math.exp(-centipawns / VALUE_SCALE)) - 1.0


def policy_of(scores: dict[str, float], temperature: float) -> dict[str, float]:
    """Weights of moves by their scores in centipawns; `temperature` in pawns."""
    best = max(scores.values())
    return {
        move: math.exp((score - best) / (100.0 * temperature)) for move, score in scores.items()
    }


def label(
    engine: chess.engine.SimpleEngine,
    position: Game,
    limit: chess.engine.Limit,
    lines: int,
    temperature: float,
) -> tuple[dict[str, float], float]:
    """Policy target and value of a position, from the engine."""
    board = chess.Board(position.fen())
    found = engine.analyse(board, limit, multipv=min(lines, position.legal_count()))
    scores: dict[str, float] = {}
    for info in found:
        if info.get("pv") and "score" in info:
            score = float(info["score"].relative.score(mate_score=MATE) or 0)
            scores.setdefault(info["pv"][0].uci(), max(-MATE, min(MATE, score)))
    if not scores:
        raise ValueError(f"the engine gave no move for {position.fen()!r}")
    return policy_of(scores, temperature), value_of(max(scores.values()))


def write_labels(
    command: list[str],
    writer: SampleWriter,
    *,
    count: int,
    nodes: int,
    pgn: list[Path] | None = None,
    lines: int = 4,
    temperature: float = 0.3,
    seed: int = 0,
) -> dict[str, int]:
    """Label positions from games, or from random play and the engine's own moves.

    Args:
        command: The UCI engine.
        writer: Takes the samples; the caller closes it.
        count: Positions to label.
        nodes: Of the engine, for each.
        pgn: Games whose positions are labelled, every one of them; None: games of the engine
            against itself after some random plies, with moves drawn from its policy.
        lines: Moves that the engine ranks (MultiPV).
        temperature: Of the policy target, in pawns.
        seed: Of all that is random.
    """
    rng = np.random.default_rng(seed)
    limit = chess.engine.Limit(nodes=nodes)
    counts = {"games": 0, "samples": 0}
    engine = chess.engine.SimpleEngine.popen_uci(command)
    try:
        for path in pgn or []:
            for game in read_games(path):
                counts["games"] += 1
                result = RESULTS.get(game.headers.get("Result", "*"))
                total = sum(1 for _ in game.mainline_moves())
                for position, _ in positions_of(game):
                    if counts["samples"] >= count:
                        return counts
                    policy, value = label(engine, position, limit, lines, temperature)
                    mover = value if result is None else result * (1 if position.turn else -1)
                    left = total - position.ply
                    writer.add(position, policy, mover, value, left, counts["games"])
                    counts["samples"] += 1
        while not pgn and counts["samples"] < count:
            _play_and_label(engine, writer, limit, lines, temperature, rng, counts, count)
    finally:
        engine.close()
    return counts


def _play_and_label(
    engine: chess.engine.SimpleEngine,
    writer: SampleWriter,
    limit: chess.engine.Limit,
    lines: int,
    temperature: float,
    rng: np.random.Generator,
    counts: dict[str, int],
    count: int,
) -> None:
    """One game of the engine against itself; its moves are drawn from its own policy target."""
    position = Game()
    play_random_plies(position, int(rng.integers(2, 13)), int(rng.integers(1 << 62)))
    kept: list[tuple[Game, dict[str, float], float]] = []
    while position.outcome(claim_draw=True) is None and position.ply < 300:
        policy, value = label(engine, position, limit, lines, temperature)
        kept.append((position.copy(), policy, value))
        weights = np.array(list(policy.values()))
        place = int(rng.choice(len(weights), p=weights / weights.sum()))
        position.push(list(policy)[place])
        if counts["samples"] + len(kept) >= count:
            break
    outcome = position.outcome(claim_draw=True)
    counts["games"] += 1
    for before, policy, value in kept:
        result = value  # a game that was cut off has no result
        if outcome is not None:
            result = 0.0 if outcome[1] is None else (1.0 if outcome[1] == before.turn else -1.0)
        writer.add(before, policy, result, value, position.ply - before.ply, counts["games"])
        counts["samples"] += 1
