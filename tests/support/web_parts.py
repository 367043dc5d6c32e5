"""Helpers for the tests of the web page: players that do as told, and clients without a browser."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rookery._core import Game
from rookery.players.base import Decision, Limits, Player
from rookery.players.offered_levels import PLAIN, Level, Levels
from rookery.players.registry import make_player
from rookery.players.thinking import Line, MoveNote, Setting, Thought
from rookery.web.choices import Choice
from rookery.web.serve import Running, require_assets, start

ABSURD = Level("absurd", "absurd", {"simulations": 1e9, "movetime": 1e12})
LEVELS = Levels((*PLAIN.levels, ABSURD), PLAIN.default)


class Replies:
    """Answers with the moves of a list, whatever happens; then with the first legal move."""

    def __init__(self, moves: Sequence[str], value: float | None = None) -> None:
        self.name = "replies"
        self.moves = moves
        self.value = value

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        place = game.ply // 2
        move = self.moves[place] if place < len(self.moves) else sorted(game.legal_moves())[0]
        return Decision(move, self.value, (move,) if self.value is not None else ())

    def new_game(self) -> None:
        pass

    def close(self) -> None:
        pass


class SlowThinker:
    """Thinks until it is stopped or its time is over, and says what it sees."""

    settings: tuple[Setting, ...] = ()
    begun = 0
    ended = 0
    limits: Limits | None = None

    def __init__(self) -> None:
        self.name = "slow"
        self._stopping = threading.Event()

    def configure(self, name: str, value: str) -> None:
        raise ValueError(f"no setting {name!r}")

    def think(
        self,
        game: Game,
        limits: Limits,
        report: Callable[[Thought], None] | None = None,
        *,
        lines: int = 1,
        search_moves: Sequence[str] | None = None,
        pondering: bool = False,
    ) -> Decision:
        self._stopping.clear()
        SlowThinker.begun += 1
        SlowThinker.limits = limits
        moves = sorted(game.legal_moves())
        began = time.monotonic()
        depth = 0
        try:
            while not self._stopping.is_set() and time.monotonic() - began < (
                limits.movetime or 60
            ):
                depth += 1
                if report is not None:
                    report(thought(moves, depth, time.monotonic() - began))
                self._stopping.wait(0.02)
        finally:
            SlowThinker.ended += 1
        return Decision(moves[0], 0.25, (moves[0],))

    def stop(self) -> None:
        self._stopping.set()

    def ponderhit(self) -> None:
        pass

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        return self.think(game, limits or Limits(movetime=0.1))

    def new_game(self) -> None:
        pass

    def close(self) -> None:
        pass


def thought(moves: Sequence[str], depth: int, seconds: float) -> Thought:
    """A thought about the first few moves."""
    notes = tuple(
        MoveNote(move, prior=0.5 / (place + 1), visits=100 // (place + 1), value=0.2 - 0.1 * place)
        for place, move in enumerate(moves[:5])
    )
    line = Line((moves[0],), 0.25, centipawns=80, win_draw_loss=(500, 250, 250))
    return Thought((line,), depth=depth, nodes=1000 * depth, seconds=seconds, notes=notes)


class Broken(Replies):
    """Fails when asked for a move."""

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        if self.moves:
            return Decision(self.moves[0])
        raise RuntimeError("the engine <b>died</b>")


# By their specs; every test file may add its own.
PLAYERS: dict[str, Callable[[], Player]] = {
    "test:slow": SlowThinker,
    "test:broken": lambda: Broken([]),
    "test:illegal": lambda: Broken(["e2e5"]),
    "test:knights": lambda: Replies(["g8f6", "f6g8", "g8f6", "f6g8", "g8f6", "f6g8"], 0.1),
}


def make(spec: str) -> Player:
    """A player of the tests, or any other."""
    maker = PLAYERS.get(spec)
    return maker() if maker is not None else make_player(spec)


def choices_for_tests() -> list[Choice]:
    """All of them; one has a name that must never be taken for HTML."""
    names = [name.removeprefix("test:") for name in PLAYERS]
    titles = {"knights": "knights <script>alert(1)</script>"}
    return [Choice(name, titles.get(name, name), "Tests", f"test:{name}", LEVELS) for name in names]


@contextlib.contextmanager
def server(runs: Path, **options: Any) -> Iterator[Running]:
    """A real server on a free port of this machine; skips without the files from npm."""
    try:
        require_assets()
    except ValueError as error:
        pytest.skip(str(error))
    options.setdefault("first", {"player": "greedy-safe", "color": "white"})
    running = start(port=0, runs=runs, extra=choices_for_tests(), make=make, **options)
    try:
        yield running
    finally:
        running.stop()


class Client:
    """A visitor with its cookies, but without a browser's restrictions."""

    def __init__(self, running: Running) -> None:
        self.address = running.url.removeprefix("http://").rstrip("/")
        self.cookies: dict[str, str] = {}
        self.token = ""

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request; headers given replace or (None) remove the usual ones."""
        data = body if isinstance(body, bytes) else None
        if body is not None and data is None:
            data = json.dumps(body).encode()
        usual: dict[str, str | None] = {"Cookie": self.cookie_header()}
        if method not in ("GET", "HEAD"):
            usual |= {"Content-Type": "application/json", "X-Rookery-Token": self.token}
            usual["Origin"] = f"http://{self.address}"
        usual |= dict(headers or {})
        connection = http.client.HTTPConnection(self.address, timeout=20)
        connection.putrequest(method, path, skip_host="Host" in usual, skip_accept_encoding=True)
        for name, value in usual.items():
            if value is not None:
                connection.putheader(name, value)
        if data is not None and "Content-Length" not in usual and "Transfer-Encoding" not in usual:
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if data is not None:
                connection.send(data)
        answer = connection.getresponse()
        content = answer.read()
        found = {name.lower(): value for name, value in answer.getheaders()}
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        connection.close()
        return answer.status, found, content

    def cookie_header(self) -> str:
        return "; ".join(f"{key}={value}" for key, value in self.cookies.items())

    def hello(self) -> dict[str, Any]:
        """Begin a session."""
        status, _, content = self.ask("GET", "/api/session")
        assert status == 200, content
        session: dict[str, Any] = json.loads(content)
        self.token = session["token"]
        return session

    def new_game(self, **wishes: object) -> str:
        status, _, content = self.ask("POST", "/api/games", wishes)
        assert status == 201, content
        return str(json.loads(content)["id"])

    def play(self, **wishes: object) -> Seat:
        """A new game with its websocket."""
        return Seat(self, self.new_game(**wishes))


class Seat:
    """One websocket of one game."""

    def __init__(self, client: Client, game: str, token: str | None = None) -> None:
        from websockets.sync.client import connect

        self.game = game
        self._stack = contextlib.ExitStack()
        self.socket = self._stack.enter_context(
            connect(
                f"ws://{client.address}/api/games/{game}/socket",
                origin=f"http://{client.address}",  # type: ignore[arg-type]
                additional_headers={"Cookie": client.cookie_header()},
            )
        )
        self.send({"type": "hello", "token": client.token if token is None else token})
        self.messages: list[dict[str, Any]] = []
        self.entries: list[dict[str, Any]] = []

    def send(self, message: object) -> None:
        self.socket.send(json.dumps(message))

    def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.socket.recv(timeout=20))
        self.messages.append(message)
        if message["type"] == "state":
            self.entries = self.entries[: message["base"]] + message["entries"]
        return message

    def wait(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first message that fulfils a condition."""
        while True:
            message = self.receive()
            if condition(message):
                return message

    def state(self, condition: Callable[[dict[str, Any]], bool] = lambda s: True) -> dict[str, Any]:
        return self.wait(lambda m: m["type"] == "state" and condition(m))

    def error(self) -> str:
        return str(self.wait(lambda m: m["type"] == "error")["text"])

    def move(self, move: str) -> None:
        self.send({"type": "move", "move": move, "ply": len(self.entries)})

    def until(self, plies: int) -> dict[str, Any]:
        """The state after so many plies, nobody thinking."""
        return self.state(lambda s: len(self.entries) >= plies and not s["thinking"])

    def close(self) -> None:
        self._stack.close()


def eventually(condition: Callable[[], bool], what: str, seconds: float = 20.0) -> None:
    """Wait for something that must become true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"never came true: {what}"
        time.sleep(0.01)
