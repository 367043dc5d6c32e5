"""Measure the playing strength of the levels and of `beginner`, and write their tables.

    python benchmarks/calibrate_levels.py --journal levels.jsonl --out levels.json
    python benchmarks/calibrate_levels.py --journal levels.jsonl --write
    python benchmarks/calibrate_levels.py --levels "" --skills 0,0.25,0.5,0.75,1 --write

The tables are LEVELS of players/levels.py, which belongs to one network, and ELO_OF_SKILL of
players/beginners, which needs none and is measured only if --skills names some.

Each level climbs the ladder of `rookery rate`, but only the rungs with fixed nodes, depths and
shares of random moves: neither they nor the levels depend on the load of the machine, so the games
are reproducible. A level starts at the rung closest to its current Elo in the table. Levels with
more than 10,000 nodes per move get half of --games. Levels that are not measured are interpolated.

The same command resumes from the journal. Ratings go to standard error and as one JSON object to
--out; the new table goes to standard output and, with --write, into the source.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from rookery.arena.limits import MatchLimits
from rookery.commands.rate import usable_rungs
from rookery.nets.evaluator import read_model
from rookery.players import levels
from rookery.players.beginners import player as beginner
from rookery.players.beginners.player import elo_of_skill
from rookery.players.levels import LEVELS
from rookery.players.registry import make_player
from rookery.rating.batches import BatchFile
from rookery.rating.ladder import Climb, LadderSettings
from rookery.rating.ladders import find_ladder
from rookery.rating.report import report
from rookery.rating.rungs import Rung

Key = TypeVar("Key")
LONG_NODES = 10_000  # per move; levels above get half the games


def measure(
    name: str, expected: float, games: int, seed: int, rungs: Sequence[Rung], journal: Path | None
) -> dict[str, object]:
    """Rate a player of about `expected` Elo; returns the object of `rookery rate --json`."""
    start = min(rungs, key=lambda rung: abs(rung.elo - expected))
    climb = Climb(
        name,
        lambda: make_player(name),
        rungs,
        lambda opponent: lambda: make_player(opponent),
        LadderSettings(
            games=games,
            width=90.0,
            seed=seed,
            concurrency=1,
            limits=MatchLimits(),
            start=start.player,
        ),
        lambda rating: None,
        BatchFile(journal) if journal is not None else None,
    )
    return climb.run().to_json()


def growing(elos: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return the closest non-decreasing sequence (isotonic regression)."""
    groups: list[tuple[float, float, int]] = []  # mean, weight, members
    for elo, weight in zip(elos, weights, strict=True):
        groups.append((elo, weight, 1))
        while len(groups) > 1 and groups[-2][0] > groups[-1][0]:
            (a, wa, na), (b, wb, nb) = groups[-2:]
            groups[-2:] = [((a * wa + b * wb) / (wa + wb), wa + wb, na + nb)]
    return [mean for mean, _, count in groups for _ in range(count)]


def table(measured: Mapping[int, float], widths: Mapping[int, float]) -> str:
    """Return the source of LEVELS with the measured Elo, increasing from level to level."""
    known = sorted(measured)
    # Half the width of an interval is about two standard errors.
    weights = [1.0 / max(1.0, widths[level]) ** 2 for level in known]
    smooth = growing([measured[level] for level in known], weights)
    elos = np.interp(np.arange(1, len(LEVELS) + 1), known, smooth)
    rows = []
    last = -(10**6)
    for level, elo in zip(LEVELS, elos, strict=True):
        last = max(last + 10, round(float(elo) / 10) * 10)
        rows.append(f"    Level({last}, {_written(level.nodes)}, {level.noise}, {level.lines}),")
    return "\n".join(["LEVELS: tuple[Level, ...] = (", *rows, ")"])


def skill_table(measured: Mapping[float, float]) -> str:
    """Return the source of ELO_OF_SKILL, increasing from skill to skill."""
    skills = sorted(measured)
    elos = growing([measured[skill] for skill in skills], [1.0] * len(skills))
    rows = [
        f"    ({skill:g}, {round(elo / 10) * 10})," for skill, elo in zip(skills, elos, strict=True)
    ]
    return "\n".join(["ELO_OF_SKILL: tuple[tuple[float, int], ...] = (", *rows, ")"])


def _written(nodes: int) -> str:
    return f"{nodes:_}" if nodes >= 10_000 else str(nodes)


def replace_table(source: str, rows: str, network: str) -> str:
    """Return the source of players/levels.py with the new table, and whose it is."""
    text = put_table(source, rows)
    mark = f'CALIBRATED_FOR = "{network}"'
    text, marks = re.subn(r'^CALIBRATED_FOR = "\w+"$', mark, text, flags=re.MULTILINE)
    if marks != 1:
        raise ValueError("players/levels.py does not say whose its levels are")
    return text


def put_table(source: str, rows: str) -> str:
    """Return the source with the tuple of the same name and type replaced by `rows`."""
    head = re.escape(rows.partition("\n")[0])
    text, tables = re.subn(
        rf"^{head}\n.*?^\)$", lambda _: rows, source, flags=re.MULTILINE | re.DOTALL
    )
    if tables != 1:
        raise ValueError(f"the source has no table {rows.partition(':')[0]}, or more than one")
    return text


def main() -> int:
    """Run the calibration."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--player", default="rookery", help="player with levels")
    parser.add_argument("--levels", default="1,3,5,7,9,11,13,15,17,20", help="levels to measure")
    parser.add_argument("--skills", default="", help="skills of beginner to measure")
    parser.add_argument("--games", type=int, default=120, help="maximum games per level")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--journal", type=Path, help="results file to resume from")
    parser.add_argument("--out", type=Path, help="JSON file for all ratings")
    parser.add_argument("--write", action="store_true", help="change the tables in the source")
    args = parser.parse_args()
    known = usable_rungs(find_ladder("standard").rungs())
    rungs = [rung for rung in known if not rung.load_dependent]
    ratings: dict[str, dict[str, object]] = {}

    def rated(name: str, expected: float, games: int) -> dict[str, object]:
        ratings[name] = measure(name, expected, games, args.seed, rungs, args.journal)
        print(report(ratings[name]), file=sys.stderr, flush=True)
        if args.out:
            args.out.write_text(json.dumps(ratings, indent=1) + "\n")
        return ratings[name]

    skills = {
        skill: rated(f"beginner,skill={skill:g}", elo_of_skill(skill), args.games)
        for skill in map(float, filter(None, args.skills.split(",")))
    }
    if skills:
        write(beginner.__file__, skill_table(_numbers(skills, "elo")), args.write)
    found = {}
    for level in map(int, filter(None, args.levels.split(","))):
        wanted = LEVELS[level - 1]
        games = args.games // 2 if wanted.nodes > LONG_NODES else args.games
        found[level] = rated(f"{args.player},level={level}", wanted.elo, games)
    if found:
        lows, highs = _numbers(found, "elo_low"), _numbers(found, "elo_high")
        rows = table(_numbers(found, "elo"), {level: highs[level] - lows[level] for level in found})
        network = hashlib.sha256(read_model(args.player)[1]).hexdigest()
        write(levels.__file__, rows, args.write, network)
    return 0


def _numbers(ratings: Mapping[Key, Mapping[str, object]], key: str) -> dict[Key, float]:
    return {level: float(str(rating[key])) for level, rating in ratings.items()}


def write(file: str, rows: str, change: bool, network: str = "") -> None:
    """Print a table and, if `change`, put it into its source; `network` marks whose it is."""
    print(rows)
    if change:
        path = Path(file)
        text = path.read_text()
        path.write_text(replace_table(text, rows, network) if network else put_table(text, rows))
        print(f"written: {path}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
