"""The rungs of standard chess: opponents of known strength, from random up to Stockfish.

The scale is anchored to one published table: Stockfish 15.1 by Skill Level, measured at 120+1
against CCRL Blitz (Stockfish pull request 4341, January 2023, about +-100). Skill Level depends
on time, not on depth: at `go depth level+1` the same levels are 100 to 200 Elo weaker. These rungs
therefore play at a fixed short time per move and are marked as weaker on a busy machine.

All other rungs (fixed depth, fixed nodes, random moves mixed in) do not depend on load and are
preferred. Their ratings are fitted at each start to games between neighbours, stored as counts in
`ladder_games.json`; `rookery rate --calibrate` plays these games.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from rookery._core import STANDARD_BOARD
from rookery.base.storage import atomic_write
from rookery.rating.rating import Encounter, rate

SKILL_SECONDS = 0.05  # per move of the Skill Level rungs
PUBLISHED_SKILL: Mapping[int, float] = {
    0: 1320, 1: 1468, 2: 1608, 3: 1742, 4: 1923, 5: 2204, 6: 2363,
    7: 2500, 8: 2596, 9: 2703, 10: 2788, 12: 2923, 15: 3070, 19: 3191,
}  # fmt: skip
SOURCE = "Stockfish pull request 4341: Skill Level at 120+1 against CCRL Blitz, about +-100"

SHARES = ("0.9", "0.75", "0.5", "0.25", "0.1")  # of random moves in Stockfish at depth 1
MIXED = tuple(f"stockfish,depth=1,random={share}" for share in SHARES)
# Not "greedy": it captures whatever it can and never mates, so it draws nearly every game and its
# results are not transitive: it scores 62 % against random, random 11 % against a share of 0.75,
# and that 41 % against greedy.
CHEAP = ("random", *MIXED[:4], "greedy-safe", MIXED[4], "stockfish,depth=1")
NODES = tuple(f"stockfish,nodes={n}" for n in (100, 300, 1000, 3000, 10000, 30000, 100000))
GAMES_FILE = Path(__file__).with_name("ladder_games.json")


def skill_rung(level: int) -> str:
    """The player of a Skill Level rung."""
    return f"stockfish,skill={level},movetime={SKILL_SECONDS:g}"


ANCHORS: Mapping[str, float] = {skill_rung(k): elo for k, elo in PUBLISHED_SKILL.items()}


@dataclass(frozen=True)
class Rung:
    """An opponent of known strength."""

    player: str
    elo: float
    error: float  # half its 95 % interval against the anchors; 0 for an anchor
    published: bool  # an anchor of the scale
    load_dependent: bool  # weaker on a busy machine


def calibration_pairs() -> list[tuple[str, str]]:
    """Which rungs to play against each other, (stronger, weaker): near neighbours."""
    fixed = [*CHEAP, *NODES]
    pairs = [*pairwise(fixed), *zip(CHEAP, CHEAP[2:], strict=False)]
    # Several anchors, so that one inaccurate rating does not distort the scale.
    for level, rungs in {0: CHEAP[4:7], 1: CHEAP[5:7], 2: CHEAP[6:], 3: CHEAP[6:]}.items():
        pairs += [(rung, skill_rung(level)) for rung in rungs]
    pairs += zip(map(skill_rung, (3, 4, 5, 7, 10, 12, 15)), NODES, strict=True)
    return [(stronger, weaker) for weaker, stronger in dict.fromkeys(pairs)]


def load_encounters(path: Path = GAMES_FILE, board: str = STANDARD_BOARD) -> list[Encounter]:
    """The calibration games of a board as counts; none if there is no such file."""
    if not path.is_file():
        return []
    try:
        content = json.loads(path.read_text())
        found = [Encounter(*row[:5]) for row in content["encounters"]]
        its_board = content.get("board", STANDARD_BOARD)
    except (ValueError, LookupError, TypeError, AttributeError):
        raise ValueError(f"{str(path)!r} holds no calibration games; name another file") from None
    if its_board != board:
        raise ValueError(f"{str(path)!r} holds games of the board {its_board}, not of {board}")
    return found


def load_conditions(path: Path = GAMES_FILE) -> str:
    """How the calibration games were played; "" if there are none."""
    return str(json.loads(path.read_text()).get("conditions", "")) if path.is_file() else ""


def save_encounters(
    encounters: Iterable[Encounter], conditions: str, path: Path, board: str = STANDARD_BOARD
) -> None:
    """Write calibration games; the file is replaced as a whole."""
    rows = [[e.first, e.second, e.wins, e.draws, e.losses] for e in encounters]
    lines = ",\n    ".join(json.dumps(row) for row in rows)
    head = f'{{\n  "board": {json.dumps(board)},\n  "conditions": {json.dumps(conditions)},\n'
    head += '  "encounters": [\n    '
    atomic_write(path, f"{head}{lines}\n  ]\n}}\n")


def rungs_from(
    encounters: Iterable[Encounter], anchors: Mapping[str, float] = ANCHORS
) -> list[Rung]:
    """The ladder, weakest first: the anchors and every player linked to them by games."""
    rungs = [
        Rung(
            player=rating.name,
            elo=rating.elo,
            error=(rating.high - rating.low) / 2,
            published=rating.anchor,
            load_dependent="movetime=" in rating.name,
        )
        for rating in rate(encounters, anchors).values()
    ]
    return sorted(rungs, key=lambda rung: rung.elo)
