"""Offers of draws between a person and a player.

A player judges an offer by the value of its own last move: it accepts if it does not think itself
better. One that has no values declines. It offers a draw itself in a long game that it has thought
level for many moves in a row. Offers lapse with the next move.
"""

from __future__ import annotations

from collections.abc import Sequence

from rookery.web.games.records import Entry

LEVEL = 0.02  # values within this count as level, [-1, 1] for the mover
EARLIEST_ACCEPTED = 20  # plies; before that nobody knows
EARLIEST_OFFER = 80  # plies
LEVEL_MOVES = 6  # in a row, before a player offers a draw
OFFER_EVERY = 10  # of its own moves


def values_of(entries: Sequence[Entry], first_white: bool, white: bool) -> list[float | None]:
    """Return the values that a side gave its own moves, in order."""
    return [entry.value for entry in entries[0 if first_white == white else 1 :: 2]]


def accepts(entries: Sequence[Entry], first_white: bool, white: bool) -> bool:
    """Whether the player of this side accepts a draw."""
    values = values_of(entries, first_white, white)
    if len(entries) < EARLIEST_ACCEPTED or not values or values[-1] is None:
        return False
    return values[-1] <= LEVEL


def offers(entries: Sequence[Entry], first_white: bool, white: bool) -> bool:
    """Whether the player of this side offers a draw with its last move."""
    values = values_of(entries, first_white, white)
    if len(entries) < EARLIEST_OFFER or len(values) % OFFER_EVERY:
        return False
    recent = values[-LEVEL_MOVES:]
    return all(value is not None and abs(value) <= LEVEL for value in recent)
