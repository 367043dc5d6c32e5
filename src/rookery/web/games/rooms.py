"""All games of the server."""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
import time
from collections.abc import Mapping
from typing import Any

from rookery.web.choices import Choices
from rookery.web.games.clock import Clock
from rookery.web.games.library import Keeper, Library
from rookery.web.games.records import game_of_moves, game_of_pgn, read_fen
from rookery.web.games.seats import Seat
from rookery.web.games.table import Table
from rookery.web.games.table_json import date_of_record, record_of
from rookery.web.games.thinking import Searches
from rookery.web.transport.quota import Clamps, QuotaError, Quotas

KEPT_SECONDS = 3600.0  # how long an unwatched game is kept
SWEEP_SECONDS = 60.0
# What says how a game was started; kept with it.
KEPT_WISHES = (
    "color",
    "player",
    "level",
    "white",
    "whiteLevel",
    "black",
    "blackLevel",
    "seconds",
    "increment",
    "calm",
)
LONGEST_CLOCK = 3 * 3600.0
LONGEST_INCREMENT = 180.0


class Rooms:
    """Tables by id."""

    def __init__(
        self,
        choices: Choices,
        searches: Searches,
        clamps: Clamps,
        quotas: Quotas,
        library: Library | None = None,
    ) -> None:
        """Start without games; those with a move are kept in `library`, if there is one."""
        self.library = library
        self._keeper = None if library is None else Keeper(library)
        self._choices, self._searches = choices, searches
        self._clamps, self._quotas = clamps, quotas
        self._tables: dict[str, Table] = {}

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self._tables)

    def open(self, session: str, wishes: Mapping[str, Any], visitor: str = "") -> Table:
        """Start a game with the settings from a page; invalid ones are a `ValueError`.

        With `moves` it goes on from there: a game that another server had. `resume` names a game
        of this visitor, which may be over.
        """
        if "resume" in wishes:
            return self._resume(session, visitor, wishes["resume"])
        if wishes.get("color") == "random":
            wishes = {**wishes, "color": random.choice(("white", "black"))}
        table = self._table(session, visitor, wishes, wishes)
        if "moves" in wishes:
            table.end_as(str(wishes.get("result"))[:10], str(wishes.get("reason", ""))[:100])
        return self._place(table)

    def _resume(self, session: str, visitor: str, wanted: object) -> Table:
        known = self._tables.get(wanted) if isinstance(wanted, str) else None
        if known is not None and visitor and known.visitor == visitor:
            known.session = session
            return known
        if self.library is None:
            raise KeyError(wanted)
        record = self.library.read(visitor, wanted)
        content = {"fen": record["start"], "moves": record["moves"], "clock": record.get("clock")}
        table = self._table(session, visitor, record["wishes"], content)
        table.id, table.date = record["id"], date_of_record(record)
        table.end_as(record["result"], record["reason"])
        return self._place(table)

    def _table(
        self, session: str, visitor: str, wishes: Mapping[str, Any], content: Mapping[str, Any]
    ) -> Table:
        """Make a game: `wishes` say who plays, `content` how it stands."""
        seats, clock = self._seats(wishes), _clock(wishes)
        if content.get("pgn"):
            game = game_of_pgn(content["pgn"])
        elif "moves" in content:
            game = game_of_moves(content.get("fen", ""), content["moves"])
        else:
            game = read_fen(content.get("fen") or _usual_start(seats))
        left = content.get("clock")
        if clock is not None and isinstance(left, Mapping):
            clock.set_left(*(_within(left.get(side), LONGEST_CLOCK) for side in ("white", "black")))
        kept = {key: wishes[key] for key in KEPT_WISHES if _is_plain(wishes.get(key))}
        return Table(
            session, game, seats, self._searches, self._clamps, clock, kept, visitor, self._changed
        )

    def _place(self, table: Table) -> Table:
        self._make_room(table.session)
        self._tables[table.id] = table
        return table

    def _changed(self, table: Table) -> None:
        if self._keeper is not None and table.entries:
            self._keeper.keep(table.visitor, record_of(table))

    def find(self, wanted: str, session: str) -> Table:
        """Return a game of this session; any other game is a `KeyError`."""
        table = self._tables[wanted]
        if table.session != session:
            raise KeyError(wanted)
        return table

    def put_away(self, table: Table) -> None:
        """Delete a game."""
        table.close()
        self._tables.pop(table.id, None)

    async def sweep(self) -> None:
        """Delete games that nobody watches; runs until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            for table in list(self._tables.values()):
                if not table.watched and time.monotonic() - table.used > KEPT_SECONDS:
                    self.put_away(table)

    def close(self) -> None:
        """Delete all games."""
        for table in list(self._tables.values()):
            with contextlib.suppress(RuntimeError):  # no event loop any more
                self.put_away(table)
        self.flush()

    def flush(self) -> None:
        """Write games that have changed."""
        if self._keeper is not None:
            self._keeper.flush()

    def _seats(self, wishes: Mapping[str, Any]) -> dict[bool, Seat]:
        color = wishes.get("color", "white")
        if color == "both":
            return {True: Seat(), False: Seat()}
        if color == "watch":
            return {
                True: self._seat(wishes.get("white"), wishes.get("whiteLevel")),
                False: self._seat(wishes.get("black"), wishes.get("blackLevel")),
            }
        if color not in ("white", "black"):
            raise ValueError(
                f"color is {str(color)[:20]!r}; it must be white, black, random, both or watch"
            )
        opponent = self._seat(wishes.get("player"), wishes.get("level"))
        return {color == "white": Seat(), color != "white": opponent}

    def _seat(self, player: object, level: object) -> Seat:
        choice = self._choices.get(player)
        wanted = level if isinstance(level, str) and level else choice.levels.default
        return Seat(choice, choice.level(wanted))

    def _make_room(self, session: str) -> None:
        mine = sorted(
            (table for table in self._tables.values() if table.session == session),
            key=lambda table: (table.watched, table.used),
        )
        if len(mine) >= self._quotas.games_of_session:
            self.put_away(mine[0])
        elif len(self._tables) >= self._quotas.games_in_all:
            unwatched = [table for table in self._tables.values() if not table.watched]
            if not unwatched:
                raise QuotaError("games on this server", SWEEP_SECONDS)
            self.put_away(min(unwatched, key=lambda table: table.used))


def _usual_start(seats: Mapping[bool, Seat]) -> str:
    """Return the start of a player's board or only ending, "" for the standard one."""
    return next((s.choice.start for s in seats.values() if s.choice and s.choice.start), "")


def _clock(wishes: Mapping[str, Any]) -> Clock | None:
    seconds = _within(wishes.get("seconds"), LONGEST_CLOCK)
    increment = _within(wishes.get("increment"), LONGEST_INCREMENT)
    return Clock(max(seconds, 1.0), increment) if seconds > 0 else None


def _is_plain(value: object) -> bool:
    # What is kept from before may hold numbers that are not finite, which are not JSON.
    finite = not isinstance(value, float) or math.isfinite(value)
    return isinstance(value, str | int | float) and finite and len(str(value)) <= 200


def _within(value: object, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return 0.0
    return float(min(max(value, 0), most))
