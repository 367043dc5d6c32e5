"""One game: rules, clock, turns and results.

The server's `Game` is authoritative: everything from a browser is checked against it, and every
client is sent the changes. A search runs while it is a player's turn and the game is watched.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import chess

from rookery._core import Game
from rookery.data.notation import read_move
from rookery.data.small_board import chess_board
from rookery.players.base import Decision
from rookery.players.offered_levels import FULL
from rookery.players.thinking import Thought
from rookery.web.games import draws
from rookery.web.games.clock import Clock
from rookery.web.games.records import Entry, color_name, in_words, thought_to_json
from rookery.web.games.seats import REASONS, Seat, calm_seconds, limits_of
from rookery.web.games.table_json import state_of
from rookery.web.games.thinking import Searches, Thinking, Wish
from rookery.web.transport.outbox import Outbox
from rookery.web.transport.quota import Clamps

HINT_LINES = 3
WATCH_PAUSE = 0.4  # minimum seconds between two moves when nobody plays
SLOWEST_PACE = 30.0


@dataclass
class Table:
    """A game with its players and clients."""

    session: str
    game: Game
    seats: dict[bool, Seat]  # True: White
    searches: Searches
    clamps: Clamps
    clock: Clock | None = None
    wishes: Mapping[str, Any] = field(default_factory=dict)  # what it was started with
    visitor: str = ""
    changed: Callable[[Table], None] = lambda table: None  # told after every change
    id: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    used: float = field(default_factory=time.monotonic)
    date: datetime.date = field(default_factory=datetime.date.today)  # on which it began

    def __post_init__(self) -> None:
        """Continue from the moves already played."""
        self.entries: list[Entry] = []
        self.result, self.reason = "*", ""
        self.paused = False
        self.pace = WATCH_PAUSE
        self.trouble = ""  # why a player could not move
        self.offered = False  # the player has offered a draw
        self._first_white = self.game.start_fen.split()[1] == "w"
        self._outboxes: set[Outbox] = set()
        self._thinking: Thinking | None = None
        self._task: asyncio.Task[None] | None = None
        self._hint: asyncio.Task[None] | None = None
        self._flag: asyncio.TimerHandle | None = None
        self._board = chess_board(self.game, self.game.start_fen)
        for uci in self.game.moves():
            self._record(uci, None)
        self._notice_end()

    def end_as(self, result: str, reason: str) -> None:
        """Restore the end of a kept game, unless the rules have ended it."""
        if self._open() and result in ("1-0", "0-1", "1/2-1/2"):
            self.result, self.reason = result, reason

    # --- State for the page ---

    @property
    def people(self) -> list[bool]:
        """Sides played by a person."""
        return [side for side, seat in self.seats.items() if seat.choice is None]

    @property
    def thinking(self) -> bool:
        """Whether a player searches for its move."""
        return self._task is not None

    def state(self, base: int = 0) -> dict[str, Any]:
        """Return the state for the page, with moves from number `base` on."""
        return state_of(self, base)

    # --- Clients ---

    @property
    def watched(self) -> bool:
        """Whether any client has the game open."""
        return bool(self._outboxes)

    def join(self, outbox: Outbox) -> None:
        """Add a client."""
        self._outboxes.add(outbox)
        self.used = time.monotonic()
        outbox.put(self.state())
        if self.clock and self.clock.running is None and self.entries and self._open():
            self.clock.resume(self.game.turn)
        self._go_on()

    def leave(self, outbox: Outbox) -> None:
        """Remove a client; after the last one, searches and clocks stop."""
        self._outboxes.discard(outbox)
        self.used = time.monotonic()
        if not self._outboxes:
            self._cancel()
            if self.clock:
                self.clock.pause()

    def close(self) -> None:
        """Close the game and its connections."""
        self._cancel()
        for outbox in list(self._outboxes):
            outbox.end("this game was closed; start a new one")
        self._outboxes.clear()

    # --- Actions of a person ---

    def move(self, text: object, ply: object) -> None:
        """Play a person's move in UCI or SAN; `ply` is the position it was meant for."""
        self._require_open()
        if ply != self.game.ply:
            raise ValueError("the position has changed")
        if self.game.turn not in self.people:
            raise ValueError("it is not your turn")
        if not isinstance(text, str):
            raise ValueError("a move must be a string such as e2e4")
        self._stop_hint()
        self._make(read_move(self._board, text), None)

    def take_back(self) -> None:
        """Take back to the last position with a person to move."""
        plies = self.plies_back()
        if not plies:
            raise ValueError("there is no move of yours to take back")
        self._cancel()
        for _ in range(plies):
            self.game.pop()
            self._board.pop()
            self.entries.pop()
        self.result, self.reason, self.trouble, self.offered = "*", "", "", False
        if self.clock:
            self.clock.set_turn(self.game.turn)
        self._tell_state(0)
        self._go_on()

    def resign(self) -> None:
        """Resign for a person."""
        self._require_open()
        if not self.people:
            raise ValueError("you are not playing in this game")
        loser = self.people[0] if len(self.people) == 1 else self.game.turn
        self._end("0-1" if loser else "1-0", f"{color_name(loser).capitalize()} resigned")

    def claim(self) -> None:
        """Claim a draw for a person."""
        self._require_open()
        if self.game.turn not in self.people or not self.game.can_claim_draw():
            raise ValueError("no draw to claim: neither threefold repetition nor 50 moves")
        self._claimed()

    def offer_draw(self) -> None:
        """Offer the opponent a draw, or accept the one it has offered."""
        self._require_open()
        if len(self.people) != 1:
            raise ValueError("there is nobody to offer a draw to")
        player = not self.people[0]
        if self.offered or draws.accepts(self.entries, self._first_white, player):
            self._end("1/2-1/2", "draw by agreement")
            return
        self._tell({"type": "declined", "text": f"{self.seats[player].title} declines the draw."})

    def move_now(self) -> None:
        """Make the searching player move now."""
        if self._thinking is not None:
            self._thinking.move_now()

    def pause(self, wanted: bool) -> None:
        """Pause or resume a game between two players."""
        if self.people:
            raise ValueError("only a game between two players can be paused")
        self.paused = wanted
        if wanted:
            self._cancel()
        self._tell_state(len(self.entries))
        self._go_on()

    def set_pace(self, seconds: object) -> None:
        """Set the time from move to move of a game between two players."""
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds != seconds:
            raise ValueError("the pace must be a number of seconds")
        self.pace = float(min(max(seconds, 0.0), SLOWEST_PACE))
        self._tell_state(len(self.entries))

    def hint(self) -> None:
        """Let the opponent, or who gives hints in its place, analyse a person's position."""
        self._require_open()
        seat = next((seat for seat in self.seats.values() if seat.choice is not None), None)
        if seat is None or self.game.turn not in self.people:
            raise ValueError("no player can give a hint now")
        self._stop_hint()
        self._hint = asyncio.get_running_loop().create_task(self._give_hint(seat))

    # --- Playing ---

    def _open(self) -> bool:
        return self.result == "*"

    def _require_open(self) -> None:
        if not self._open():
            raise ValueError("the game is over; start a new one")

    def _go_on(self) -> None:
        """Start a search if it is a player's turn and the game is watched."""
        self._watch_flag()
        seat = self.seats[self.game.turn]
        idle = self._task is None and not self.paused and not self.trouble
        if seat.choice is not None and self._open() and self._outboxes and idle:
            self._task = asyncio.get_running_loop().create_task(self._play(seat))
            self._tell_state(len(self.entries))

    def _wish(self, seat: Seat) -> Wish:
        choice, level = seat.choice, seat.level
        if choice is None or level is None:
            raise ValueError("a person cannot be asked to search")
        return Wish(
            spec=choice.spec,
            game_id=self.id,
            game=self.game.copy(),
            limits=limits_of(level, self.clamps, self.clock, self.game.turn),
            seed=secrets.randbits(63),
            random=level.random,
            settings=level.settings,
        )

    async def _play(self, seat: Seat) -> None:
        """Let a player make one move."""
        began = time.monotonic()
        board = self._board.copy(stack=False)

        def tell(thought: Thought) -> None:
            self._tell_thought(thought_to_json(board, thought, seat.name, "move"))

        try:
            self._thinking = self.searches.begin(self._wish(seat), tell)
            decision = await self._thinking.decision()
            await asyncio.sleep(max(0.0, self._least_seconds(seat) - (time.monotonic() - began)))
        except asyncio.CancelledError:
            raise
        except Exception as error:  # show any player error on the page
            self._task = self._thinking = None
            self.trouble = f"{seat.name} could not move: {' '.join(str(error).split())[:300]}"
            self._tell_state(len(self.entries))
            return
        self._task = self._thinking = None
        self._decided(decision)

    def _least_seconds(self, seat: Seat) -> float:
        """How long a move takes at least."""
        if not self.people:
            return self.pace
        if not self.wishes.get("calm") or seat.level is None:
            return 0.0
        return calm_seconds(seat.level, self.clock, self.game.turn)

    def _decided(self, decision: Decision) -> None:
        if not self._open():
            return
        if decision.claims_draw and self.game.can_claim_draw():
            self._claimed()
            return
        mover, first = self.game.turn, self._first_white
        self._make(decision.move, decision.value, str(decision.details.get("by", ""))[:200])
        if self._open() and self.people and draws.offers(self.entries, first, mover):
            self.offered = True
            self._tell_state(len(self.entries))

    async def _give_hint(self, seat: Seat) -> None:
        board = self._board.copy(stack=False)
        other = seat.choice.hints if seat.choice is not None else ""
        who = other or seat.title

        def tell(thought: Thought) -> None:
            self._tell_thought(thought_to_json(board, thought, who, "hint"))

        # Hints use full strength and a few lines.
        wish = replace(self._wish(seat), random=0.0, settings=FULL, lines=HINT_LINES)
        wish = replace(wish, spec=other or wish.spec)
        try:
            decision = await self.searches.begin(wish, tell).decision()
        except asyncio.CancelledError:
            raise
        except Exception as error:
            self._tell({"type": "error", "text": f"no hint: {str(error)[:300]}"})
            return
        san = board.san(chess.Move.from_uci(decision.move))
        self._tell({"type": "hint", "who": who, "san": san})

    def _make(self, uci: str, value: float | None, by: str = "") -> None:
        """Play a legal move of a person or a player."""
        mover = self.game.turn
        if self.clock and self.clock.left(mover) <= 0:
            self._flag_falls()
            return
        self.offered = False
        move = chess.Move.from_uci(uci)
        words = f"{color_name(mover).capitalize()}: {in_words(self._board, move)}"
        self.game.push(uci)
        self._record(uci, value, by)
        if self.clock:
            self.clock.press(mover)
        self._notice_end()
        if not self._open() and self.clock:
            self.clock.pause()
        self._tell_state(len(self.entries) - 1, said=words)
        self._go_on()

    def _record(self, uci: str, value: float | None, by: str = "") -> None:
        move = chess.Move.from_uci(uci)
        san = self._board.san(move)
        self._board.push(move)
        self.entries.append(Entry(uci, san, self._board.fen(), self._board.is_check(), value, by))

    def _notice_end(self) -> None:
        outcome = self.game.outcome()
        if outcome is not None:
            ending, winner = outcome
            self.result = {True: "1-0", False: "0-1", None: "1/2-1/2"}[winner]
            self.reason = REASONS.get(ending, ending)

    def _claimed(self) -> None:
        repeated = self.game.can_claim_threefold()
        self._end("1/2-1/2", REASONS["threefold_repetition" if repeated else "fifty_moves"])

    def _end(self, result: str, reason: str) -> None:
        self._cancel()
        self.result, self.reason = result, reason
        if self.clock:
            self.clock.pause()
        self._tell_state(len(self.entries))

    def plies_back(self) -> int:
        """Return the plies of a takeback; 0 if there is none."""
        turn, back = self.game.turn, 0
        for _ in range(len(self.entries)):
            turn, back = not turn, back + 1
            if turn in self.people:
                return back
        return 0

    # --- Clocks, cancellation, messages ---

    def _watch_flag(self) -> None:
        if self._flag is not None:
            self._flag.cancel()
            self._flag = None
        if self.clock and self._open() and self.clock.running is not None:
            left = max(0.0, self.clock.left(self.clock.running))
            self._flag = asyncio.get_running_loop().call_later(left + 0.01, self._flag_falls)

    def _flag_falls(self) -> None:
        if not self.clock or not self._open() or self.clock.running is None:
            return
        loser = self.clock.running
        if self.clock.left(loser) > 0:
            self._watch_flag()
            return
        side = color_name(loser).capitalize()
        if self._board.has_insufficient_material(not loser):
            self._end("1/2-1/2", f"{side}'s time is up, but the other side cannot mate")
        else:
            self._end("0-1" if loser else "1-0", f"{side}'s time is up")

    def _cancel(self) -> None:
        """Cancel searches and timers."""
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
        self._task = self._thinking = None
        self._stop_hint()
        if self._flag is not None:
            self._flag.cancel()
            self._flag = None

    def _stop_hint(self) -> None:
        if self._hint is not None:
            self._hint.cancel()
            self._hint = None

    def _tell(self, message: dict[str, Any]) -> None:
        for outbox in list(self._outboxes):
            with contextlib.suppress(ValueError):
                outbox.put(message)

    def _tell_thought(self, message: dict[str, Any]) -> None:
        for outbox in self._outboxes:
            outbox.replace(message)

    def _tell_state(self, base: int, said: str = "") -> None:
        self._tell({**self.state(base), "said": said})
        self.changed(self)
