"""Measure what the levels of strength play like, and print the table for players/levels.py.

    python benchmarks/calibrate_levels.py --player rookery --levels 1,4,7,10,13,16,20 --games 200

Each level climbs the same ladder as `rookery rate` does. Levels that were not measured are
interpolated between their measured neighbours. Ratings go to standard error as they come and as
one JSON object to --out; the new table goes to standard output.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rookery.arena.ladder import Climb, LadderSettings
from rookery.arena.limits import MatchLimits
from rookery.commands.rate import report, usable_rungs
from rookery.players.levels import LEVELS
from rookery.players.registry import make_player


def measure(player: str, level: int, games: int, seed: int) -> dict[str, object]:
    """Rate one level; the object of `rookery rate --json`."""
    name = f"{player},level={level}"
    climb = Climb(
        name,
        lambda: make_player(name),
        usable_rungs(),
        lambda opponent: lambda: make_player(opponent),
        LadderSettings(games=games, width=90.0, seed=seed, limits=MatchLimits()),
        lambda rating: None,
    )
    return climb.run().to_json()


def table(measured: Mapping[int, float]) -> str:
    """Source text of LEVELS with the measured Elo, made to grow from level to level."""
    known = sorted(measured)
    numbers = np.arange(1, len(LEVELS) + 1)
    elos = np.interp(numbers, known, [measured[level] for level in known])
    elos = np.maximum.accumulate(elos + 0.001 * numbers)
    rows = []
    last = -1
    for level, elo in zip(LEVELS, elos, strict=True):
        last = max(last + 1, round(float(elo) / 10) * 10)
        rows.append(f"    Level({last}, {level.nodes}, {level.noise}, {level.lines}),")
    return "\n".join(["LEVELS: tuple[Level, ...] = (", *rows, ")"])


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--player", default="rookery", help="whose levels (rookery)")
    parser.add_argument("--levels", default="1,4,7,10,13,16,20", help="which levels")
    parser.add_argument("--games", type=int, default=200, help="at most, for each level (200)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="JSON file of all ratings")
    args = parser.parse_args()
    ratings = {}
    for level in (int(word) for word in args.levels.split(",")):
        ratings[level] = measure(args.player, level, args.games, args.seed)
        print(report(ratings[level]), file=sys.stderr, flush=True)
        if args.out:
            args.out.write_text(json.dumps(ratings, indent=1) + "\n")
    print(table({level: float(str(rating["elo"])) for level, rating in ratings.items()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
