"""The review of games: its time, and whether Stockfish agrees with it.

    python benchmarks/review.py time
    python benchmarks/review.py agree GAMES.pgn.gz --games 50 --cache runs/stockfish.jsonl
    python benchmarks/review.py ceiling GAMES.pgn.gz --games 50 --cache runs/stockfish.jsonl

`time` reviews one game of 60 moves. `agree` reviews random games as the page does, and lets
Stockfish evaluate the same positions with 200,000 nodes each; both are judged by the same rules.
It counts

- blunders by Stockfish, as lichess.org defines them (15 points of winning chance), that cost more
  than 200 centipawns: how many our review calls a blunder (or missed win), how many at least a
  mistake; and the same for moves that cost more than 200 centipawns and are blunders by our limit;
- blunders by our review: how many cost more than 100 centipawns by Stockfish.

`ceiling` does the same with Stockfish in our place, with another number of nodes: no review can
agree much better with Stockfish than it does with itself. What Stockfish said is kept in the
cache, a line of JSON for each game. One core; games that begin from the standard position and have
at least 20 plies.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rookery._core import STARTING_FEN, Game
from rookery.base.scales import value_of_centipawns
from rookery.data.pgn import read_pgn_files
from rookery.players.alphabeta import AlphaBetaPlayer
from rookery.players.base import Limits
from rookery.players.registry import make_player
from rookery.players.thinking import Thought
from rookery.report.review import NODES, Judgement, Verdict, judge, review, verdict_of_line

STOCKFISH_NODES = 200_000
BEYOND = 200  # centipawns
LICHESS_BLUNDER = 15.0  # points of winning chance
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

    def review(self, moves: Sequence[str]) -> tuple[list[Verdict], list[Judgement]]:
        """Review a game."""
        self.player.new_game()
        return review(STARTING_FEN, moves, self)


class StockfishReview:
    """Evaluates positions by Stockfish; its centipawns on our scale of values."""

    def __init__(self, nodes: int, cache: Path | None) -> None:
        """Start Stockfish; `cache` keeps what it says."""
        self.nodes, self.cache = nodes, cache
        self.player = make_player(f"stockfish,nodes={nodes}")
        self.rng = np.random.default_rng(0)
        self.known: dict[str, list[Verdict]] = {}
        if cache is not None and cache.exists():
            entries = [json.loads(line) for line in cache.read_text().splitlines()]
            self.known = {
                entry["moves"]: [stockfish_verdict(*found) for found in entry["verdicts"]]
                for entry in entries
                if entry["nodes"] == nodes
            }

    def review(self, moves: Sequence[str]) -> tuple[list[Verdict], list[Judgement]]:
        """Evaluate all positions of a game once and judge its moves."""
        key = " ".join(moves)
        if key not in self.known:
            self.player.new_game()
            self.known[key] = review(STARTING_FEN, moves, self, second=False)[0]
            self._keep(key)
        verdicts = self.known[key]
        return verdicts, [judge(verdicts[p], verdicts[p + 1], move) for p, move in enumerate(moves)]

    def __call__(self, game: Game, nodes: int) -> Verdict:
        """Evaluate one position, with nodes of its own."""
        decision = self.player.choose(game, self.rng)
        score, mate = decision.details.get("centipawns"), decision.details.get("mate")
        assert score is None or isinstance(score, int)
        assert mate is None or isinstance(mate, int)
        return stockfish_verdict(score, mate, list(decision.line or (decision.move,)))

    def _keep(self, key: str) -> None:
        if self.cache is not None:
            found = [(v.centipawns, v.mate if v.line else v.value, v.line) for v in self.known[key]]
            self.cache.parent.mkdir(parents=True, exist_ok=True)
            with self.cache.open("a") as file:
                entry = {"nodes": self.nodes, "moves": key, "verdicts": found}
                file.write(json.dumps(entry) + "\n")


def stockfish_verdict(score: int | None, mate: float | None, line: Sequence[str]) -> Verdict:
    """The verdict of a score or a mate; without a line `mate` is the value of a finished game."""
    if not line:
        return Verdict(float(mate or 0.0))
    if score is None:
        assert mate
        return Verdict(math.copysign(1.0, mate), None, int(mate), tuple(line))
    return Verdict(value_of_centipawns(score), score, None, tuple(line))


def measure_time() -> dict[str, Any]:
    """Review a game of 60 moves of the engine against itself."""
    game, player = Game(), make_player("rookery,nodes=3000")
    rng = np.random.default_rng(1)
    while game.ply < 120 and game.outcome() is None:
        game.push(player.choose(game, rng).move)
    ours = OurReview()
    began, before = time.perf_counter(), time.process_time()
    review(STARTING_FEN, game.moves(), ours)
    return {
        "plies": game.ply,
        "nodes": NODES,
        "seconds": round(time.perf_counter() - began, 2),
        "processor_seconds": round(time.process_time() - before, 2),
    }


def compare(
    ours: list[Judgement], theirs: list[Judgement], counts: Counter[str]
) -> list[tuple[int, float, int, float, int]]:
    """Add one game to the counts.

    Returns:
        Disagreements about blunders: ply, loss in points and centipawns by ours, and by theirs.
    """
    found = []
    for ply, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        counts["plies"] += 1
        ours_too, confirmed = mine.kind in SERIOUS, other.centipawns > BEYOND / 2
        wanted = other.loss >= LICHESS_BLUNDER and other.centipawns > BEYOND
        if wanted:
            counts["stockfish_blunders"] += 1
            counts["found_as_blunder"] += ours_too
            counts["found_as_mistake"] += ours_too or mine.kind == "mistake"
        if other.kind in SERIOUS and other.centipawns > BEYOND:
            counts["blunders_by_our_limit"] += 1
            counts["found_by_our_limit"] += ours_too
        counts["our_blunders"] += ours_too
        counts["confirmed"] += ours_too and confirmed
        if (wanted and not ours_too) or (ours_too and not confirmed):
            found.append((ply, mine.loss, mine.centipawns, other.loss, other.centipawns))
    return found


def chosen_games(path: Path, number: int, seed: int, skip: int) -> list[tuple[str, ...]]:
    """The moves of some random games of a file, after the first `skip` that the seed chooses."""
    games = [
        tuple(game.moves)
        for game in read_pgn_files([path])
        if not game.error and len(game.moves) >= 20 and "FEN" not in game.headers
    ]
    order = np.random.default_rng(seed).permutation(len(games))[skip : skip + number]
    return [games[index] for index in order]


def agree(args: argparse.Namespace) -> dict[str, Any]:
    """Compare our review, or that of Stockfish with other nodes, with Stockfish."""
    counts: Counter[str] = Counter()
    theirs = StockfishReview(STOCKFISH_NODES, args.cache)
    ours: OurReview | StockfishReview = (
        OurReview() if args.what == "agree" else StockfishReview(args.nodes, args.cache)
    )
    slowest = 0.0  # processor seconds of a game of 120 plies at the speed of this one
    for number, moves in enumerate(chosen_games(args.pgn, args.games, args.seed, args.skip), 1):
        began = time.process_time()
        judged = ours.review(moves)[1]
        slowest = max(slowest, 120 / max(120, len(moves)) * (time.process_time() - began))
        differing = compare(judged, theirs.review(moves)[1], counts)
        print(number, len(moves), round(slowest, 1), dict(counts), file=sys.stderr, flush=True)
        for ply, *losses in differing:
            print("  ", ply, moves[ply], *(f"{loss:.0f}" for loss in losses), file=sys.stderr)
    theirs.player.close()
    if isinstance(ours, StockfishReview):
        ours.player.close()
    settings = {"games": args.games, "skip": args.skip, "seed": args.seed, "file": args.pgn.name}
    return {**settings, **counts, "slowest": round(slowest, 1)}


def main() -> int:
    """Run one of the measurements and print a JSON object."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("time", "agree", "ceiling"))
    parser.add_argument("pgn", nargs="?", type=Path, help="PGN file")
    parser.add_argument("--games", type=int, default=50)
    parser.add_argument("--skip", type=int, default=0, help="games to leave out, as tuned on")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=400_000, help="of Stockfish, for ceiling")
    parser.add_argument("--cache", type=Path, help="file of Stockfish's verdicts")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if args.what != "time" and args.pgn is None:
        parser.error(f"{args.what} needs a PGN file")
    result = measure_time() if args.what == "time" else agree(args)
    print(json.dumps(result))
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
