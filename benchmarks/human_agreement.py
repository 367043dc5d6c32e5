"""How often players make the move that a person made in the same position.

    python benchmarks/human_agreement.py games.pgn.gz more.pgn.gz --below 1100 \
        --players beginner,skill=0.5 rookery,level=1,random=0.25

Positions are drawn at random from the moves of people rated below --below (lichess or others), past
the first --skip plies, one game after the other with its moves so far. Every player is asked once
for each position and compared with the player before it on the same positions: the difference of
the shares with its 95 % interval. Also counted is how often a move leaves a piece to
be taken for nothing or by a lesser one, by the people and by the players.

One JSON object goes to standard output.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import chess
import chess.pgn
import numpy as np

from rookery import Game
from rookery.arena.elo import wilson_interval
from rookery.players.beginners.view import WORTH
from rookery.players.registry import make_player

Position = tuple[list[str], str]  # the moves before, the person's move


def games_of(path: Path, below: int, skip: int) -> Iterator[list[Position]]:
    """Of each game of a PGN file the positions in which a weak enough person moved."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        while (game := chess.pgn.read_game(file)) is not None:
            if game.headers.get("Variant", "Standard") != "Standard" or "FEN" in game.headers:
                continue
            elos = [game.headers.get(f"{side}Elo", "") for side in ("White", "Black")]
            weak = [elo.isdigit() and int(elo) < below for elo in elos]
            moves = [move.uci() for move in game.mainline_moves()]
            found = [(moves[:ply], moves[ply]) for ply in range(skip, len(moves)) if weak[ply % 2]]
            if found:
                yield found


def hangs(game: Game, move: str) -> bool:
    """Whether a move leaves a piece (not a pawn) to be won by one capture."""
    board = chess.Board(game.fen())
    side = board.turn
    board.push_uci(move)
    for taking in board.generate_legal_captures():
        victim = WORTH[board.piece_type_at(taking.to_square) or chess.PAWN]
        taker = WORTH[board.piece_type_at(taking.from_square) or chess.PAWN]
        defended = board.is_attacked_by(side, taking.to_square)
        if victim >= 3 and (victim > taker if defended else True):
            return True
    return False


def ask(spec: str, sample: Sequence[Position], seed: int) -> tuple[list[bool], list[bool]]:
    """For each position: whether the player makes the person's move, and whether it hangs."""
    same, careless = [], []
    player = make_player(spec)
    try:
        for number, (before, wanted) in enumerate(sample):
            game = Game()
            for move in before:
                game.push(move)
            player.new_game()
            move = player.choose(game, np.random.default_rng([seed, number])).move
            same.append(move == wanted)
            careless.append(hangs(game, move))
    finally:
        player.close()
    return same, careless


def share(hits: Sequence[bool]) -> dict[str, float]:
    """A share with Wilson's interval."""
    low, high = wilson_interval(sum(hits) / len(hits), len(hits), 1.96)
    return {
        "share": round(sum(hits) / len(hits), 4),
        "low": round(low, 4),
        "high": round(high, 4),
    }


def difference(first: Sequence[bool], second: Sequence[bool]) -> dict[str, float]:
    """The difference of two shares on the same positions, with its 95 % interval."""
    gaps = np.array(first, np.float64) - np.array(second, np.float64)
    half = 1.96 * float(gaps.std(ddof=1)) / math.sqrt(len(gaps))
    mean = float(gaps.mean())
    return {
        "difference": round(mean, 4),
        "low": round(mean - half, 4),
        "high": round(mean + half, 4),
    }


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="PGN")
    parser.add_argument("--players", nargs="+", required=True, metavar="PLAYER")
    parser.add_argument("--below", type=int, default=1100, help="rating of the people (1100)")
    parser.add_argument("--skip", type=int, default=8, help="plies of each game left out (8)")
    parser.add_argument("--positions", type=int, default=2000, help="sample size (2000)")
    parser.add_argument(
        "--held-out",
        action="store_true",
        help="only the games that benchmarks/fit_beginner.py does not learn from",
    )
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    games = [game for path in args.files for game in games_of(path, args.below, args.skip)]
    found = [position for game in (games[1::2] if args.held_out else games) for position in game]
    rng = np.random.default_rng(args.seed)
    chosen = rng.choice(len(found), min(args.positions, len(found)), replace=False)
    sample = [found[index] for index in sorted(chosen)]
    people = []
    for before, wanted in sample:
        game = Game()
        for move in before:
            game.push(move)
        people.append(hangs(game, wanted))
    rows: dict[str, dict[str, object]] = {"people": {"hangs": share(people)}}
    previous: list[bool] = []
    for spec in args.players:
        same, careless = ask(spec, sample, args.seed)
        rows[spec] = {
            "agrees": share(same),
            "hangs": share(careless),
            "minus_previous": difference(same, previous) if previous else None,
        }
        previous = same
        print(spec, rows[spec], file=sys.stderr, flush=True)
    result = {"available": len(found), "positions": len(sample), "below": args.below, "by": rows}
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
