"""Losses on time on a busy machine: our engine against Stockfish, both on one contended core.

    python benchmarks/busy_clock.py --tc 0.1+0.01 --games 40
    python benchmarks/busy_clock.py --tc 1+0.01 --games 10 --load 0

Both engines run as UCI programs on one core, together with as many busy loops as `--load` says; the
clock runs on another core, without any margin. A game ends at the first flag. Prints the flags of
each side, and how much time its moves took beyond what it was told to use on average.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from rookery._core import Game, play_random_plies
from rookery.arena.limits import parse_time_control
from rookery.engines.find import find_stockfish
from rookery.players.base import Limits
from rookery.players.programs.uci_engine import UciPlayer, UciSettings

OPENING_PLIES = 8
MOST_PLIES = 400
START_SECONDS = 120.0  # for a Python program on a contended core


@dataclass
class Side:
    """What one engine did."""

    flags: int = 0
    moves: int = 0
    points: float = 0.0
    least_clock: float = 1e9  # seconds left after a move
    longest: list[float] = field(default_factory=list)  # seconds of the longest move of each game


def busy_loops(count: int, core: int) -> list[subprocess.Popen[bytes]]:
    """Processes that use all they can get of a core."""
    code = f"import os\nos.sched_setaffinity(0, {{{core}}})\nwhile True: pass"
    return [subprocess.Popen([sys.executable, "-c", code]) for _ in range(count)]


def pinned(command: Sequence[str], core: int) -> list[str]:
    """The command on one core."""
    return ["taskset", "-c", str(core), *command]


def play(players: tuple[UciPlayer, UciPlayer], first_white: bool, seed: int, tc: str) -> list[Side]:
    """One game; the sides in the order of the players."""
    control = parse_time_control(tc)
    game = Game()
    play_random_plies(game, OPENING_PLIES, seed)
    clocks = {True: control.seconds, False: control.seconds}
    sides = [Side(longest=[0.0]), Side(longest=[0.0])]
    rng = np.random.default_rng(seed)
    for player in players:
        player.new_game()
    while game.outcome() is None and len(game.moves()) < MOST_PLIES:
        white = game.turn
        number = 0 if white == first_white else 1
        limits = Limits(
            white_time=clocks[True],
            black_time=clocks[False],
            white_increment=control.increment,
            black_increment=control.increment,
        )
        decision = players[number].choose(game, rng, limits)
        used = float(str(decision.details["seconds"]))
        side = sides[number]
        side.moves += 1
        side.longest[0] = max(side.longest[0], used)
        clocks[white] -= used
        side.least_clock = min(side.least_clock, clocks[white])
        if clocks[white] < 0:
            side.flags += 1
            sides[1 - number].points += 1
            return sides
        clocks[white] += control.increment
        game.push(decision.move)
    outcome = game.outcome()
    winner = None if outcome is None else outcome[1]
    for number, side in enumerate(sides):
        own = first_white == (number == 0)
        side.points += 0.5 if winner is None else float(winner == own)
    return sides


def main() -> int:
    """Play the games and print the result as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tc", default="0.1+0.01", help="clock of each side (0.1+0.01)")
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--load", type=int, default=2, help="busy loops on the core (2)")
    parser.add_argument("--player", default="rookery", help="our engine (rookery)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    program = find_stockfish()
    if program is None or len(cores) < 2:
        parser.error("needs Stockfish and two cores")
    core = cores[-1]
    os.sched_setaffinity(0, set(cores[:-1]))
    ours = pinned([sys.executable, "-m", "rookery.cli", "uci", args.player], core)
    commands = {"ours": ours, "stockfish": pinned([program], core)}
    players = [
        UciPlayer(name, UciSettings(command, start_seconds=START_SECONDS, grace_seconds=10.0))
        for name, command in commands.items()
    ]
    for player in players:
        player.new_game()
    loops = busy_loops(args.load, core)
    total = [Side(), Side()]
    began = time.monotonic()
    try:
        for number in range(args.games):
            sides = play(
                (players[0], players[1]), number % 2 == 0, args.seed + number // 2, args.tc
            )
            for whole, one in zip(total, sides, strict=True):
                whole.flags += one.flags
                whole.moves += one.moves
                whole.points += one.points
                whole.least_clock = min(whole.least_clock, one.least_clock)
                whole.longest += one.longest
            print(f"game {number + 1}: {[side.flags for side in total]}", file=sys.stderr)
    finally:
        for loop in loops:
            loop.kill()
        for player in players:
            player.close()
    result = {"tc": args.tc, "games": args.games, "load": args.load}
    result["seconds"] = round(time.monotonic() - began)
    for name, side in zip(commands, total, strict=True):
        result[name] = asdict(side) | {"longest": round(max(side.longest), 4)}
    print(json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
