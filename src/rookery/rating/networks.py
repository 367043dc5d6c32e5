"""Measured ratings of a run's networks, on the scale of the ladder.

A rating belongs to the network that was measured. It comes from `rookery rate` (of the network's
own file, recognised by its checksum, or of a checkpoint, which never changes), or from an
evaluation of the run in the same iteration against a rung of the ladder: the rung's rating plus
the difference. Everything else is not rated.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rookery._core import STANDARD_BOARD
from rookery.nets.evaluator import read_model
from rookery.rating.ladders import REFERENCE, find_ladder
from rookery.rating.rungs import Rung
from rookery.runs.reader import RunReader, number, read_ratings

UNBOUNDED = 4000.0  # Elo difference at which `rookery.arena.elo` cuts an interval without end
NOT_RATED = "not rated"
WIDE = 400.0  # Elo between the ends of an interval beyond which its middle says nothing


@dataclass(frozen=True)
class NetworkRating:
    """Elo with its 95 % interval; None: without bound on that side."""

    elo: float | None  # None: only the two bounds are known
    low: float | None
    high: float | None
    conditions: str  # what was played
    board: str = STANDARD_BOARD  # whose ladder it is on

    @property
    def unit(self) -> str:
        """What the numbers are: Elo, and on other boards relative to what."""
        return "Elo" if self.board == STANDARD_BOARD else f"Elo ({REFERENCE}: 0)"

    def __str__(self) -> str:
        """Short, for lists: "about 640 Elo", "above 900 Elo", and "70 to 560 Elo" if uncertain."""
        if self.high is None:
            return NOT_RATED if self.low is None else f"above {self.low:.0f} {self.unit}"
        if self.low is None:
            return f"below {self.high:.0f} {self.unit}"
        if self.elo is None or self.high - self.low > WIDE:
            return f"{self.low:.0f} to {self.high:.0f} {self.unit}"
        return f"about {self.elo:.0f} {self.unit}"

    def to_json(self) -> dict[str, Any]:
        """For the page."""
        return {**vars(self), "text": str(self)}


def network_checksum(source: str) -> str:
    """The checksum of a run's or a checkpoint's model file; "" if it cannot be read."""
    try:
        return hashlib.sha256(read_model(source)[1]).hexdigest()
    except (OSError, ValueError):
        return ""


def run_ratings(run: Path) -> dict[int, NetworkRating]:
    """The ratings of a run's networks by iteration."""
    try:
        content = read_ratings(run)
    except (OSError, ValueError):
        return {}
    found: dict[int, NetworkRating] = {}
    rows = [row for row in _rows(content.get("evaluations")) if number(row.get("iteration"))]
    board = board_of(run)
    for iteration in {int(row["iteration"]) for row in rows}:
        same = [row for row in rows if int(row["iteration"]) == iteration]
        rating = evaluation_rating(same, board)
        if rating is not None:
            found[iteration] = rating
    for row in _rows(content.get("ladder")):
        place = Path(str(row.get("player", "")).partition(",")[0])
        if place.parent.name == "checkpoints" and place.name.isdigit():
            rating = ladder_rating(row)
            found |= {} if rating is None else {int(place.name): rating}
    return found


def board_of(run: Path) -> str:
    """The board of a run, by its recipe; the standard one if that cannot be read."""
    try:
        return str(RunReader(run).recipe().get("board", STANDARD_BOARD))
    except (OSError, ValueError):
        return STANDARD_BOARD


def newest_rating(run: Path) -> NetworkRating | None:
    """The rating of a run's newest network by `rookery rate RUN`, if it is still that network."""
    try:
        rows = [row for row in _rows(read_ratings(run).get("ladder")) if row.get("network")]
    except (OSError, ValueError):
        return None
    checksum = network_checksum(str(run)) if rows else ""
    return next((ladder_rating(row) for row in rows if row["network"] == checksum), None)


def ladder_rating(row: Mapping[str, Any]) -> NetworkRating | None:
    """An object of `rookery rate --json`."""
    elo, low, high = (number(row.get(key)) for key in ("elo", "elo_low", "elo_high"))
    if elo is None:
        return None
    unbounded = row.get("unbounded")
    return NetworkRating(
        elo,
        None if unbounded == "below" else low,
        None if unbounded == "above" else high,
        f"rookery rate, {row.get('conditions', '')}",
        str(row.get("board", STANDARD_BOARD)),
    )


def evaluation_rating(
    rows: Iterable[Mapping[str, Any]], board: str = STANDARD_BOARD
) -> NetworkRating | None:
    """The narrowest rating that matches against rungs of the ladder give, None without any."""
    rungs = known_rungs(board)
    found = []
    for row in rows:
        rung = rungs.get(str(row.get("opponent", row.get("against"))))
        elo, low, high = (number(row.get(key)) for key in ("elo", "elo_low", "elo_high"))
        if rung is None or elo is None or low is None or high is None:
            continue
        games = int(number(row.get("games")) or 0)
        found.append(
            NetworkRating(
                rung.elo + elo,
                _end(rung, elo, low, -1),
                _end(rung, elo, high, 1),
                f"{games} games against {rung.player} ({rung.elo:.0f} Elo)",
                board,
            )
        )
    bounded = [rating for rating in found if rating.low is not None and rating.high is not None]
    if bounded:
        return min(bounded, key=lambda rating: (rating.high or 0) - (rating.low or 0))
    # It won or lost all games of each match: what that tells together.
    above = max((r for r in found if r.low is not None), key=lambda r: r.low or 0, default=None)
    below = min((r for r in found if r.high is not None), key=lambda r: r.high or 0, default=None)
    if above is None or below is None:
        return above or below
    conditions = f"{above.conditions}, {below.conditions}"
    return NetworkRating(None, above.low, below.high, conditions, board)


def _end(rung: Rung, elo: float, end: float, side: int) -> float | None:
    """One end of the interval, with the rung's own error; None without bound."""
    if abs(end) >= UNBOUNDED:
        return None
    return rung.elo + elo + side * math.hypot(end - elo, rung.error)


@functools.cache
def known_rungs(board: str = STANDARD_BOARD) -> dict[str, Rung]:
    """The ladder of a board by player; empty if none is shipped."""
    try:
        return {rung.player: rung for rung in find_ladder(board).rungs()}
    except ValueError:  # a board of somebody's own
        return {}


def _rows(value: object) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
