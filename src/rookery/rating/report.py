"""Ratings as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rookery.rating.ladder import PlayerRating


def short_rating(rating: PlayerRating) -> str:
    """Format a rating in a few words; an interval without bound on one side has one end."""
    if rating.unbounded == "above":
        return f"above {rating.low:.0f} Elo"
    if rating.unbounded == "below":
        return f"below {rating.high:.0f} Elo"
    return f"{rating.elo:.0f} Elo [{rating.low:.0f}, {rating.high:.0f}]"


def report(rating: dict[str, Any]) -> str:
    """Format the rating as text: the ladder's, then the outside one."""
    limit = "; the time limit ended it (--minutes)" if rating["out_of_time"] else ""
    lines = [
        f"{rating['player']}: {_found(rating)}, {rating['games']} games in "
        f"{rating['seconds']:.0f} s{limit}",
        *_opponents(rating),
        f"    conditions: {rating['conditions']}",
        f"    scale: {rating['scale']} (P)",
    ]
    outside = rating.get("outside")
    if outside:
        lines += [
            f"  outside: {_found(outside)}, {outside['games']} games at {outside['movetime']:g} s "
            f"a move in {outside['seconds']:.0f} s",
            *_opponents(outside),
            *(
                f"    seconds a move of {name}: mean {row['mean']:.3f}, 95 % below "
                f"{row['percentile_95']:.3f}, longest {row['longest']:.3f}"
                for name, row in outside["times"].items()
            ),
            f"    scale: {outside['scale']} (P)",
        ]
    elif rating.get("outside_skipped"):
        lines.append(f"  outside: no rating; {rating['outside_skipped']}")
    lines.append(
        "    the intervals cover these games only; +- is the rung's own error; t: timed, so it is "
        "weaker on a busy machine"
    )
    return "\n".join(lines)


def _found(rating: dict[str, Any]) -> str:
    """Format a rating and its interval."""
    low, high = f"{rating['elo_low']:.0f}", f"{rating['elo_high']:.0f}"
    found = f"{rating['elo']:.0f} Elo, 95 % interval {low} to {high}"
    if rating["unbounded"] == "above":
        found = f"above {low} Elo: it beat every rung it played"
    elif rating["unbounded"] == "below":
        found = f"below {high} Elo: it lost to every rung it played"
    note = "; NOT bracketed: outside the rungs, or too few games"
    return found + ("" if rating["bracketed"] else note)


def _opponents(rating: dict[str, Any]) -> list[str]:
    """Format the table of opponents."""
    lines = [f"{'':4}{'opponent':36}{'Elo':>6}{'+-':>5}{'games':>7}{'score':>8}"]
    for row in rating["opponents"]:
        marks = ("P" if row["published"] else " ") + ("t" if row["load_dependent"] else " ")
        lines.append(
            f" {marks} {row['name']:36}{row['elo']:6.0f}{row['elo_error']:5.0f}"
            f"{row['games']:7}{100 * row['score']:7.1f}%"
        )
    return lines
