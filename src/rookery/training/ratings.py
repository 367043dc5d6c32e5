"""Evaluations as rows of ratings.json and as text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rookery.arena.elo import estimate_from_games
from rookery.base.json_output import finite
from rookery.runs.checkpoint import Counters
from rookery.runs.graded import graded, is_match
from rookery.training.trainer import MatchScore

KEYS = ("wins", "draws", "losses")


def rating_row(score: MatchScore, counters: Counters) -> dict[str, Any]:
    """One evaluation with its score and counters; without Elo if it graded positions."""
    white = dict(zip(KEYS, score.as_white, strict=True))
    black = dict(zip(KEYS, score.as_black, strict=True))
    total = {key: white[key] + black[key] for key in KEYS}
    games = sum(total.values())
    estimate = estimate_from_games(*(total[key] for key in KEYS)) if score.is_match else None
    row = {
        "iteration": counters.iterations,
        "samples": counters.samples,
        "seconds": round(counters.seconds, 3),
        "round": counters.rounds,
        "opponent": score.opponent,
        "is_match": score.is_match,
        "games": games,  # or positions
        **total,
        "as_white": white,
        "as_black": black,
        "score": (total["wins"] + total["draws"] / 2) / games if games else math.nan,
        "elo": estimate.elo if estimate else None,
        "elo_low": estimate.elo_low if estimate else None,
        "elo_high": estimate.elo_high if estimate else None,
        "values": dict(score.values),
    }
    positions = graded(row)
    if positions is not None:
        row["score"] = positions.share
    cleaned: dict[str, Any] = finite(row)
    return cleaned


def has_elo(row: Mapping[str, Any]) -> bool:
    """Whether a row has an Elo difference that means something: only that of a match."""
    return row.get("elo") is not None and is_match(row)


def rating_text(ratings: Sequence[Mapping[str, Any]]) -> str:
    """The newest evaluation as text, "" if there is none."""
    if not ratings:
        return ""
    row = ratings[-1]
    positions = graded(row)
    if positions is not None:
        return f"{positions} against {row['opponent']}"
    text = f"+{row['wins']} ={row['draws']} -{row['losses']} against {row['opponent']}"
    if has_elo(row):
        text += f", Elo difference {row['elo']:+.0f}"
        low, high = row.get("elo_low"), row.get("elo_high")
        if low is not None and high is not None:
            text += f" [{low:+.0f}, {high:+.0f}]"
    return text
