"""Which ladder is climbed on which board.

Standard chess has the ladder of `rookery.rating.rungs`, anchored to published ratings. For other
boards nobody has published any, so a rating there is relative to `greedy-safe` on the same board,
which has 0 Elo by definition. Rungs are that bot with random moves mixed in, and above it
Fairy-Stockfish by depth or, where it does not know the board, the solver at fixed nodes. Their
ratings are fitted to games between neighbours, which ship for the boards with a name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from rookery._core import STANDARD_BOARD, find_board, known_boards
from rookery.rating.rungs import (
    ANCHORS,
    GAMES_FILE,
    SOURCE,
    Rung,
    calibration_pairs,
    load_encounters,
    rungs_from,
)

REFERENCE = "greedy-safe"  # 0 Elo on every board but the standard one
BELOW = ("random", *(f"{REFERENCE},random={share}" for share in ("0.75", "0.5", "0.25", "0.1")))
DEPTHS = (1, 2, 4, 6, 8)
FAIRY = (
    "fairy-stockfish,depth=1,random=0.25",
    *(f"fairy-stockfish,depth={depth}" for depth in DEPTHS),
)
ABOVE: Mapping[str, Sequence[str]] = {"gardner": FAIRY, "losalamos": FAIRY}  # its own names
SOLVERS = ("solver,nodes=30000",)


@dataclass(frozen=True)
class Ladder:
    """The opponents of one board, and what their ratings mean."""

    board: str
    scale: str  # what the ratings are relative to
    anchors: Mapping[str, float]  # ratings that are held fixed
    pairs: Sequence[tuple[str, str]]  # which rungs play each other, (stronger, weaker)
    openings: str  # of rated and of calibration games
    games: Path | None  # counts of calibration games; None: there are none

    @property
    def anchored(self) -> str:
        """What the rating of an anchor is: somebody's measurement, or a convention."""
        return "published" if self.board == STANDARD_BOARD else "fixed"

    def rungs(self) -> list[Rung]:
        """The rungs, weakest first; a `ValueError` if no games between them are known."""
        encounters = [] if self.games is None else load_encounters(self.games, self.board)
        if not encounters:
            raise ValueError(
                f"there are no games between the rungs of the board {self.board}; play them with "
                f"'rookery rate --board \"{self.board}\" --calibrate FILE', then rate with "
                "--rungs FILE"
            )
        return rungs_from(encounters, self.anchors)


def find_ladder(board: str, games: Path | None = None) -> Ladder:
    """The ladder of a board; `games` are other calibration games than the shipped ones."""
    name = find_board(board).name
    if name == STANDARD_BOARD:
        return Ladder(name, SOURCE, ANCHORS, calibration_pairs(), "random:6", games or GAMES_FILE)
    if games is None and name in {each.name for each in known_boards()}:
        games = GAMES_FILE.with_name(f"ladder_games_{name}.json")
    rungs = [*BELOW, REFERENCE, *ABOVE.get(name, SOLVERS)]
    pairs = dict.fromkeys([*pairwise(rungs), *zip(rungs, rungs[2:], strict=False)])
    return Ladder(
        board=name,
        scale=f"Elo relative to {REFERENCE} (0) on the board {name}, not comparable with others",
        anchors={REFERENCE: 0.0},
        pairs=[(stronger, weaker) for weaker, stronger in pairs],
        openings="random:4",
        games=games,
    )
