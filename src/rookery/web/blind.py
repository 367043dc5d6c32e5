"""Blind chess: games of a person against a blind player, one websocket each.

The page is told what its side knows and nothing else until the game is over; then it gets the
whole game with what both sides knew. A game outlives its connection for a while: `resume` names it.

    new     player, color       -> state
    resume  id                  -> state, and the game if it is over
    sense   square, or null     -> state
    move    UCI, or null        -> state, and another one after the opponent's turn
    resign                      -> state, game
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

import chess
import numpy as np
from starlette.websockets import WebSocket

from rookery._core import BlindBelief, BlindGame, MoveError
from rookery.blind.arena import BlindFault, play_turn, turn_record
from rookery.blind.players import BlindPlayer
from rookery.blind.registry import SHIPPED, make_blind_player
from rookery.blind.viewer import CAPACITY, content_of, view_of
from rookery.engines.find import find_stockfish
from rookery.web.transport.arrived import read_json
from rookery.web.transport.conversation import converse
from rookery.web.transport.outbox import Outbox
from rookery.web.transport.quota import QuotaError, Rate

DRAWN = 1000  # boards for the heat map before the sense
MOST_GAMES = 50  # of the server
MOST_OF_SESSION = 3
KEPT_SECONDS = 3600.0  # an unwatched game
NO_CLOCK = 3600.0  # seconds that an opponent is told it has; nobody's clock runs
# Names on the page and the specifications of `rookery blind`.
OPPONENTS = {
    "random": ("random: senses and moves at random", "random"),
    "attacker": ("attacker: one of four fixed attacks", "attacker"),
    "blind-paper": ("blind-paper: a network without search", "blind-paper"),
    "trout": ("trout: one board and Stockfish", "trout"),
    "quick": (
        "blind, quick: all boards, short search",
        "blind,nodes=6000,capacity=3000,boards=8,sense_boards=8",
    ),
    "blind": ("blind: all boards that are possible", "blind"),
}


def offered() -> dict[str, str]:
    """Return the titles of the opponents that this installation has, weakest first."""
    have = {
        "attacker": importlib.util.find_spec("reconchess") is not None,
        "blind-paper": SHIPPED.is_file(),
        "trout": importlib.util.find_spec("reconchess") is not None and bool(find_stockfish()),
    }
    return {name: title for name, (title, _) in OPPONENTS.items() if have.get(name, True)}


class BlindTable:
    """One game. Its methods are called one after another, some of them on another thread."""

    def __init__(self, session: str, opponent: str, white: bool) -> None:
        """Begin a game; `white` is the person's colour."""
        self.id = secrets.token_urlsafe(12)
        self.session, self.white = session, white
        self.used = time.monotonic()
        self.outbox: Outbox | None = None
        self.busy = False
        self._title, self._spec = OPPONENTS[opponent]
        self._game = BlindGame()
        self._rng = np.random.default_rng()
        self._player: BlindPlayer | None = None
        self._belief = BlindBelief(self._game.knowledge(white), CAPACITY, 1)
        self._sense: int | None = None  # of the person's turn under way
        self.turns: list[dict[str, Any]] = []
        self.result, self.reason = "*", ""

    @property
    def over(self) -> bool:
        """Whether the game has a result."""
        return self.result != "*"

    @property
    def my_turn(self) -> bool:
        """Whether the person is to act."""
        return not self.over and self._game.white_to_move == self.white

    # --- Slow: called on a thread of the pool ---

    def opponent_turn(self) -> None:
        """Let the opponent sense and move; a fault of its own loses the game for it."""
        try:
            if self._player is None:
                self._player = make_blind_player(self._spec)
                self._player.new_game(self._game.knowledge(not self.white), self._rng)
            self.turns.append(play_turn(self._game, self._player, self._rng, NO_CLOCK))
        except (BlindFault, ValueError, OSError, ImportError) as error:
            self.end(self.white, f"the opponent failed: {' '.join(str(error).split())[:200]}")
        self._notice_end()

    def state(self) -> dict[str, Any]:
        """Return what the person's side knows."""
        knowledge = self._game.knowledge(self.white)
        self._belief.update(knowledge)
        turn = knowledge.turn(knowledge.turn_count - 1) if knowledge.turn_count else None
        window = [square for square, _ in turn["sight"]] if turn and self.my_turn else []
        phase = "over" if self.over else self._game.phase if self.my_turn else "wait"
        return {
            "type": "state",
            "id": self.id,
            "white": self.white,
            "opponent": self._title,
            "phase": phase,
            "turn": knowledge.turn_count,
            "view": asdict(
                view_of(self._game, self._belief, self.white, window, DRAWN * (phase == "sense"))
            ),
            "captured": turn["opponent_capture"] if turn and self.my_turn else None,
            "requests": knowledge.requests() if phase == "move" else [],
            "told": [_told(knowledge.turn(i)) for i in range(knowledge.turn_count)],
            "result": self.result,
            "reason": self.reason,
        }

    def whole_game(self) -> dict[str, Any]:
        """Return a game that is over, with what both sides knew."""
        sides = ["You", self._title.partition(":")[0]]
        record = {
            "white": sides[0 if self.white else 1],
            "black": sides[1 if self.white else 0],
            "result": self.result,
            "reason": self.reason,
            "fault": "",
            "turns": self.turns,
        }
        return {"type": "game", "record": record, **content_of(record)}

    # --- What a person does ---

    def sense(self, square: object) -> None:
        """Sense around a square by name, or nothing."""
        self._require("sense")
        centre = None if square is None else _square(square)
        self._game.sense(centre)
        self._sense = centre

    def move(self, move: object) -> None:
        """Ask for a move, or pass."""
        self._require("move")
        if move is not None and not isinstance(move, str):
            raise ValueError("a move must be a string such as e2e4, or null to pass")
        try:
            taken, capture = self._game.move(move)
        except MoveError:
            raise ValueError(f"{str(move)[:10]!r} cannot be asked for") from None
        self.turns.append(turn_record(self._sense, move, taken, capture))
        self._notice_end()

    def resign(self) -> None:
        """Give up."""
        if not self.over:
            self.end(not self.white, "resignation")

    def end(self, white_won: bool, reason: str) -> None:
        """Set the result."""
        self.result, self.reason = ("1-0" if white_won else "0-1"), reason

    def close(self) -> None:
        """End the opponent's processes."""
        if self._player is not None:
            self._player.close()

    def _require(self, phase: str) -> None:
        if not self.my_turn or self._game.phase != phase:
            raise ValueError(f"it is not the time to {phase}")

    def _notice_end(self) -> None:
        outcome = self._game.outcome()
        if outcome is not None and not self.over:
            reason, winner = outcome
            words = {"king_capture": "the king was captured", "move_limit": "50 moves by each side"}
            self.reason = words.get(reason, reason.replace("_", " "))
            self.result = {True: "1-0", False: "0-1", None: "1/2-1/2"}[winner]


class BlindRooms:
    """All blind games of the server; players think on one thread, one after another."""

    def __init__(self) -> None:
        """Start without games."""
        self._tables: dict[str, BlindTable] = {}
        self._pool = ThreadPoolExecutor(1, "blind")

    def open(self, session: str, message: dict[str, Any]) -> BlindTable:
        """Start the game that a page asks for, or find it again."""
        if message.get("type") == "resume":
            table = self._tables.get(str(message.get("id")))
            if table is None or table.session != session:
                raise ValueError("this game is no longer on the server; start a new one")
            return table
        opponent, color = message.get("player"), message.get("color")
        if not isinstance(opponent, str) or opponent not in offered():
            raise ValueError(f"there is no opponent {str(opponent)[:40]!r}")
        if color not in ("white", "black", "random"):
            raise ValueError("color must be white, black or random")
        self._make_room(session)
        white = color == "white" or (color == "random" and secrets.randbelow(2) == 0)
        table = BlindTable(session, opponent, white)
        self._tables[table.id] = table
        return table

    def _make_room(self, session: str) -> None:
        """Drop the session's oldest game, or one that nobody has watched for long."""
        mine = [table for table in self._tables.values() if table.session == session]
        stale = [
            table
            for table in self._tables.values()
            if table.outbox is None and time.monotonic() - table.used > KEPT_SECONDS
        ]
        for table in stale + (mine[:1] if len(mine) >= MOST_OF_SESSION else []):
            self._tables.pop(table.id, None)
            self._pool.submit(table.close)  # after anything that the game still waits for
        if len(self._tables) >= MOST_GAMES:
            raise QuotaError("blind games on this server", 60.0)

    async def run(self, work: Callable[[], Any]) -> Any:
        """Run something slow."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """End all games."""
        for table in self._tables.values():
            self._pool.submit(table.close)
        self._tables.clear()
        self._pool.shutdown(wait=True)


class BlindSeat:
    """A page's connection, to one game at a time."""

    def __init__(self, session: str, rooms: BlindRooms, outbox: Outbox) -> None:
        """Wait for `new` or `resume`."""
        self._session, self._rooms, self._outbox = session, rooms, outbox
        self._table: BlindTable | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def act(self, message: object) -> None:
        """Execute a message of the page."""
        if not isinstance(message, dict):
            raise ValueError("a message must be a JSON object")
        kind = message.get("type")
        if kind == "ping":
            self._outbox.put({"type": "pong"})
            return
        if kind in ("new", "resume"):
            self.leave()
            self._table = self._rooms.open(self._session, message)
            self._table.outbox = self._outbox
        table = self._table
        if table is None:
            raise ValueError("no game has begun; send new")
        if table.busy:
            if kind == "resume":
                return  # the turn under way will tell
            raise ValueError("the opponent is thinking")
        match kind:
            case "new" | "resume":
                pass
            case "sense":
                table.sense(message.get("square"))
            case "move":
                table.move(message.get("move"))
            case "resign":
                table.resign()
            case other:
                raise ValueError(f"unknown message {str(other)[:40]!r}")
        table.used = time.monotonic()
        table.busy = True
        task = asyncio.get_running_loop().create_task(self._go_on(table))
        self._tasks.add(task)  # the loop itself keeps only a weak reference
        task.add_done_callback(self._tasks.discard)

    def leave(self) -> None:
        """Stop watching; the game goes on when it is resumed."""
        if self._table is not None and self._table.outbox is self._outbox:
            self._table.outbox = None
        self._table = None

    async def _go_on(self, table: BlindTable) -> None:
        """Tell the page how things stand, after the opponent's turn if it is that."""
        try:
            if not table.over and not table.my_turn:
                self._tell(table, await self._rooms.run(table.state))
                await self._rooms.run(table.opponent_turn)
            state = await self._rooms.run(table.state)
            table.busy = False
            self._tell(table, state)
            if table.over:
                self._tell(table, await self._rooms.run(table.whole_game))
        finally:
            table.busy = False

    def _tell(self, table: BlindTable, message: dict[str, Any]) -> None:
        if table.outbox is not None:
            with contextlib.suppress(ValueError):
                table.outbox.put(message)


async def serve_blind(socket: WebSocket, session: str, rooms: BlindRooms, rate: Rate) -> None:
    """Connect a client that has said hello, until it leaves."""
    outbox = Outbox()
    seat = BlindSeat(session, rooms, outbox)
    outbox.put({"type": "welcome", "opponents": offered()})
    try:
        await converse(socket, outbox, lambda text: seat.act(read_json(text)), rate)
    finally:
        seat.leave()


def _square(name: object) -> int:
    if not isinstance(name, str) or name not in chess.SQUARE_NAMES:
        raise ValueError("a square must be a string such as e4, or null")
    return chess.parse_square(name)


def _told(turn: dict[str, Any]) -> dict[str, Any]:
    """Return one turn of the person for the page, with squares by name."""
    names = {
        key: None if turn[key] is None else chess.square_name(turn[key])
        for key in ("opponent_capture", "sense", "capture")
    }
    done = {key: turn[key] for key in ("sensed", "moved", "requested", "taken")}
    return names | done
