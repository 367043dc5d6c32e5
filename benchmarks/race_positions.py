"""Make the positions that `rookery race` asks for: mates in one, tactics, pawn endings.

    python benchmarks/race_positions.py src/rookery/race/positions

Positions of the first two kinds come from games between our simple bots, so they look like what a
young network meets. A tactic has one move that the shipped engine prefers by two pawns or more at
three sizes of search. The endings are king and pawn against king with moves that keep the
tablebase's result and moves that lose it. All three name every right move (EPD, `bm`).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rookery import Game
from rookery._core import play_bot_games, play_random_plies, random_position
from rookery.data.tablebases import find_tablebases
from rookery.players.base import Limits
from rookery.players.registry import make_player
from rookery.players.tablebase import CachedTables, rank_moves
from rookery.players.thinking import Thinker, Thought

COUNT = 100  # of each kind
CLEAR = 200  # centipawns by which a tactic is better than the second move
DECIDED = 500  # centipawns beyond which a position is no longer of interest
BOTS = ("greedy-safe", "greedy")


def positions(seed: int) -> Iterator[Game]:
    """One position of each of many bot games, different in placement."""
    rng = np.random.default_rng(seed)
    seen: set[str] = set()
    while True:
        start = Game()
        play_random_plies(start, int(rng.integers(2, 9)), int(rng.integers(1 << 62)))
        white, black = (BOTS[int(rng.integers(2))] for _ in range(2))
        moves = play_bot_games([start], [white], [black], [int(rng.integers(1 << 62))])[0][2]
        if len(moves) < 12:
            continue
        game = Game(start.fen())
        for move in moves[: int(rng.integers(8, min(len(moves), 90)))]:
            game.push(move)
        placement = game.fen().split()[0]
        if game.outcome() is None and placement not in seen:
            seen.add(placement)
            yield game


def mating_moves(game: Game) -> list[str]:
    """The moves that mate at once."""
    found = []
    for move in game.legal_moves():
        game.push(move)
        over = game.outcome()
        game.pop()
        if over is not None and over[0] == "checkmate":
            found.append(move)
    return found


def mates(seed: int) -> Iterator[tuple[Game, list[str]]]:
    """Positions with a mate in one."""
    for game in positions(seed):
        found = mating_moves(game)
        if found:
            yield game, found


def tactics(seed: int) -> Iterator[tuple[Game, list[str]]]:
    """Positions with one move that wins clearly more than any other, and no mate in one."""
    engine = make_player("rookery")
    assert isinstance(engine, Thinker)
    for game in positions(seed):
        if game.legal_count() < 5 or mating_moves(game):
            continue
        best = []
        for nodes in (4_000, 20_000, 100_000):
            thoughts: list[Thought] = []
            engine.new_game()
            engine.think(game, Limits(nodes=nodes), thoughts.append, lines=2)
            first, second = thoughts[-1].lines[:2]
            if first.centipawns is None or second.centipawns is None:
                break
            better = first.centipawns - second.centipawns
            if better < CLEAR or abs(second.centipawns) > DECIDED:
                break
            best.append(first.moves[0])
        if len(best) == 3 and len(set(best)) == 1:
            yield game, best[:1]


def endings(seed: int) -> Iterator[tuple[Game, list[str]]]:
    """KPK: won with White to move or drawn with Black to move, and a move that spoils it."""
    rng, seen = np.random.default_rng(seed), set[str]()
    with find_tablebases() as tables:
        cached = CachedTables(tables)
        while True:
            side = "white" if len(seen) % 5 < 3 else "black"
            game = Game(random_position("KPvK", int(rng.integers(1 << 62)), side))
            ranked = rank_moves(game, cached)
            assert ranked is not None  # KPK is in the smallest set of tables
            best = max(rank[0] for rank in ranked.values())
            right = [move for move, rank in ranked.items() if rank[0] == best]
            kept = best == (1 if side == "white" else 0)
            if kept and len(right) <= len(ranked) / 2 and game.fen() not in seen:
                seen.add(game.fen())
                yield game, sorted(right)


def main() -> None:
    """Write the three files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for name, source in (("mates", mates(1)), ("tactics", tactics(2)), ("endings", endings(3))):
        lines = []
        for number, (game, right) in zip(range(1, COUNT + 1), source, strict=False):
            lines.append(f'{game.epd()} bm {" ".join(right)}; id "{name} {number}";\n')
        (folder / f"{name}.epd").write_text("".join(lines))
        print(f"{folder / name}.epd: {len(lines)} positions")


if __name__ == "__main__":
    main()
