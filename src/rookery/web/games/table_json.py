"""One game as JSON for the page, as PGN, and as a record to keep."""

from __future__ import annotations

import datetime
import time
from typing import TYPE_CHECKING, Any

from rookery._core import find_board
from rookery.data.pgn import pgn_game
from rookery.web.games.records import color_name, destinations

if TYPE_CHECKING:
    from rookery.web.games.table import Table


def state_of(table: Table, base: int = 0) -> dict[str, Any]:
    """Return the state, with moves from number `base` on; the page keeps earlier ones."""
    game = table.game
    persons_turn = table.result == "*" and game.turn in table.people
    return {
        "type": "state",
        "id": table.id,
        "board": game.board,
        "promotions": find_board(game.board).promotions,
        "start": game.start_fen,
        "date": pgn_date(table.date),
        "base": base,
        "entries": [entry.to_json() for entry in table.entries[base:]],
        "fen": game.fen(),
        "turn": color_name(game.turn),
        "check": game.in_check,
        "dests": destinations(game) if persons_turn else {},
        "people": [color_name(side) for side in table.people],
        "white": table.seats[True].name,
        "black": table.seats[False].name,
        "wishes": table.wishes,
        "result": table.result,
        "reason": table.reason,
        "thinking": table.thinking,
        "paused": table.paused,
        "pace": table.pace,
        "trouble": table.trouble,
        "canClaim": persons_turn and game.can_claim_draw(),
        "offered": table.offered,
        "canTakeBack": bool(table.plies_back()),
        "clock": table.clock.to_json() if table.clock else None,
    }


def record_of(table: Table) -> dict[str, Any]:
    """Return what `Library` keeps of a game."""
    return {
        "id": table.id,
        "changed": time.time(),
        "date": pgn_date(table.date),
        "white": table.seats[True].name,
        "black": table.seats[False].name,
        "color": str(table.wishes.get("color", "")),
        "wishes": dict(table.wishes),
        "start": table.game.start_fen,
        "fen": table.game.fen(),
        "moves": [entry.uci for entry in table.entries],
        "result": table.result,
        "reason": table.reason,
        "clock": table.clock.to_json() if table.clock else None,
    }


def pgn_date(date: datetime.date) -> str:
    """Return a date as PGN has it."""
    return date.strftime("%Y.%m.%d")


def date_of_record(record: dict[str, Any]) -> datetime.date:
    """Return the day on which a kept game began; older files only know when it last changed."""
    try:
        return datetime.datetime.strptime(record["date"], "%Y.%m.%d").date()
    except (KeyError, TypeError, ValueError):
        return datetime.date.fromtimestamp(record["changed"])


def pgn_of_record(record: dict[str, Any]) -> str:
    """Return a kept game as PGN."""
    clock = record.get("clock")
    control = f"{clock['seconds']:g}+{clock['increment']:g}" if clock else ""
    game = pgn_game(
        record["moves"],
        record["white"],
        record["black"],
        record["result"],
        start=record["start"],
        headers={
            "Event": "Rookery game",
            "Date": pgn_date(date_of_record(record)),
            "Round": "-",
            "TimeControl": control,
            "Termination": record["reason"],
        },
    )
    return f"{game}\n"
