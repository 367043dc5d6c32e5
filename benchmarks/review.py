"""The review of games: its time, and whether Stockfish agrees with it.

    python benchmarks/review.py time
    python benchmarks/review.py agree GAMES.pgn.gz --seconds 480 --out agree.json

`time` reviews one game of 60 moves. `agree` reviews random games as the page does, and lets
Stockfish evaluate the same positions with 200,000 nodes each; both are judged by the same rules.
It counts

- blunders by Stockfish that cost more than 200 centipawns: how many our review also calls a
  blunder (or missed win), and how many at least a mistake;
- blunders by our review that cost more than 200 centipawns: how many cost more than 100
  centipawns by Stockfish.

One core; games that begin from the standard position and have at least 20 plies.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from rookery._core import STARTING_FEN, Game
from rookery.base.scales import value_of_score
from rookery.data.pgn import read_pgn_files
from rookery.players.alphabeta import AlphaBetaPlayer
from rookery.players.base import Limits
from rookery.players.registry import make_player
from rookery.players.thinking import Thought
from rookery.report.review import NODES, Judgement, Verdict, review, verdict_of_line

STOCKFISH_NODES = 200_000
BEYOND = 200  # centipawns
SERIOUS = ("blunder", "missed win")


class OurReview:
    """Evaluates positions as the page does."""

    def __init__(self) -> None:
        """Make the shipped engine."""
        player = make_player("rookery")
        assert isinstance(player, AlphaBetaPlayer)
        self.player = player

    def __call__(self, game: Game, nodes: int) -> Verdict:
        """Evaluate one position."""
        latest: list[Thought] = []
        self.player.think(game, Limits(nodes=nodes), latest.append)
        return verdict_of_line(latest[-1].lines[0])


class StockfishReview:
    """Evaluates positions by Stockfish; its centipawns on our scale of values."""

    def __init__(self) -> None:
        """Start Stockfish."""
        self.player = make_player(f"stockfish,nodes={STOCKFISH_NODES}")
        self.rng = np.random.default_rng(0)

    def __call__(self, game: Game, nodes: int) -> Verdict:
        """Evaluate one position, with nodes of its own."""
        decision = self.player.choose(game, self.rng)
        score, mate = decision.details.get("centipawns"), decision.details.get("mate")
        line = decision.line or (decision.move,)
        if isinstance(mate, int):
            return Verdict(math.copysign(1.0, mate), None, mate, line)
        assert isinstance(score, int), decision
        return Verdict(value_of_score(score), score, None, line)


def measure_time() -> dict[str, Any]:
    """Review a game of 60 moves of the engine against itself."""
    game, player = Game(), make_player("rookery,nodes=3000")
    rng = np.random.default_rng(1)
    while game.ply < 120 and game.outcome() is None:
        game.push(player.choose(game, rng).move)
    ours = OurReview()
    began = time.perf_counter()
    review(STARTING_FEN, game.moves(), ours)
    seconds = time.perf_counter() - began
    return {"plies": game.ply, "nodes": NODES, "seconds": round(seconds, 2)}


def compare(ours: list[Judgement], theirs: list[Judgement], counts: dict[str, int]) -> None:
    """Add one game to the counts."""
    for mine, other in zip(ours, theirs, strict=True):
        counts["plies"] += 1
        if other.kind in SERIOUS and other.centipawns > BEYOND:
            counts["stockfish_blunders"] += 1
            counts["found_as_blunder"] += mine.kind in SERIOUS
            counts["found_as_mistake"] += mine.kind in (*SERIOUS, "mistake")
        if mine.kind in SERIOUS and mine.centipawns > BEYOND:
            counts["our_blunders"] += 1
            counts["confirmed"] += other.centipawns > BEYOND / 2


def agree(path: Path, seconds: float, seed: int) -> dict[str, Any]:
    """Review random games for a time."""
    games = [
        game.moves
        for game in read_pgn_files([path])
        if not game.error and len(game.moves) >= 20 and "FEN" not in game.headers
    ]
    order = np.random.default_rng(seed).permutation(len(games))
    names = ("plies", "stockfish_blunders", "found_as_blunder", "found_as_mistake")
    counts = dict.fromkeys((*names, "our_blunders", "confirmed"), 0)
    ours, theirs = OurReview(), StockfishReview()
    began, played = time.perf_counter(), 0
    for number in order:
        if time.perf_counter() - began > seconds:
            break
        moves = games[number]
        ours.player.new_game()
        theirs.player.new_game()
        compare(
            review(STARTING_FEN, moves, ours)[1],
            review(STARTING_FEN, moves, theirs, second=False)[1],
            counts,
        )
        played += 1
        print(played, counts, file=sys.stderr, flush=True)
    theirs.player.close()
    return {"games": played, **counts, "seed": seed, "file": path.name}


def main() -> int:
    """Run one of the two measurements and print a JSON object."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("time", "agree"))
    parser.add_argument("games", nargs="?", type=Path, help="PGN file")
    parser.add_argument("--seconds", type=float, default=480.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    result = measure_time() if args.what == "time" else agree(args.games, args.seconds, args.seed)
    print(json.dumps(result))
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
