"""Evaluations that grade positions one by one, as rows of ratings.json.

Such a row has `is_match` false. Under `as_white` it counts positions that can be won, under
`as_black` drawn ones that must be held: they are neither games nor halves of a point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rookery.runs.reader import number


@dataclass(frozen=True)
class Graded:
    """Positions graded one by one against one opponent."""

    won: int
    to_win: int  # positions that can be won
    held: int
    to_hold: int  # drawn positions

    @property
    def share(self) -> float | None:
        """The share of all positions that were won or held, [0, 1]; None without any."""
        count = self.to_win + self.to_hold
        return (self.won + self.held) / count if count else None

    def __str__(self) -> str:
        """As in "won 5 of 6 positions and held 7 of 8 positions"."""
        parts = [f"held {self.held:,} of {self.to_hold:,} positions"] if self.to_hold else []
        if self.to_win or not parts:
            parts.insert(0, f"won {self.won:,} of {self.to_win:,} positions")
        return " and ".join(parts)


def is_match(row: Mapping[str, Any]) -> bool:
    """Whether a row counts games rather than positions.

    Rows of older runs do not say so. There positions have a null instead of an Elo difference;
    before that they had one, but perfect play has only ever been met in endings.
    """
    known = row.get("is_match")
    if isinstance(known, bool):
        return known
    return row.get("opponent") != "perfect" and not ("elo" in row and row["elo"] is None)


def graded(row: Mapping[str, Any]) -> Graded | None:
    """The positions of a row, None for a match.

    Older rows count failures to win as draws, so that only wins of White and draws of Black tell.
    """
    if is_match(row):
        return None
    white, black = row.get("as_white"), row.get("as_black")
    if not isinstance(white, Mapping) or not isinstance(black, Mapping):
        return Graded(_count(row, "wins"), _count(row, "games"), 0, 0)
    return Graded(_count(white, "wins"), _total(white), _count(black, "draws"), _total(black))


def _count(counts: Mapping[str, Any], key: str) -> int:
    return max(0, int(number(counts.get(key)) or 0))


def _total(counts: Mapping[str, Any]) -> int:
    return sum(_count(counts, key) for key in ("wins", "draws", "losses"))
