"""A web server with players for tests, and clients of it without a browser."""

from __future__ import annotations

import contextlib
import http.client
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from rookery.players.base import Player
from rookery.players.offered_levels import PLAIN, Level, Levels
from rookery.players.registry import make_player
from rookery.web.choices import Choice
from rookery.web.serve import Running, require_assets, start
from support.scripted import Failing, Replies
from support.thinkers import CountingThinker

ABSURD = Level("absurd", "absurd", {"simulations": 1e9, "movetime": 1e12})
LEVELS = Levels((*PLAIN.levels, ABSURD), PLAIN.default)


# Makers by spec; a test file may add its own.
PLAYERS: dict[str, Callable[[], Player]] = {
    "test:slow": CountingThinker,
    "test:broken": Failing,
    "test:illegal": lambda: Replies(["e2e5"]),
    "test:knights": lambda: Replies(["g8f6", "f6g8", "g8f6", "f6g8", "g8f6", "f6g8"], 0.1),
}


def make(spec: str) -> Player:
    """Make a player of the tests, or any other that the spec names."""
    maker = PLAYERS.get(spec)
    return maker() if maker is not None else make_player(spec)


def choices_for_tests() -> list[Choice]:
    """Offer all of them on the page; one title would be a script if it were not escaped."""
    names = [name.removeprefix("test:") for name in PLAYERS]
    titles = {"knights": "knights <script>alert(1)</script>"}
    return [Choice(name, titles.get(name, name), "Tests", f"test:{name}", LEVELS) for name in names]


@contextlib.contextmanager
def server(runs: Path, **options: Any) -> Iterator[Running]:
    """Run a real server on a free local port; skips the test without the files from npm."""
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


class Served(Protocol):
    """A server with an address."""

    @property
    def url(self) -> str:
        """Of the page."""


@dataclass(frozen=True)
class Address:
    """A server in another process."""

    url: str


class Client:
    """A visitor with its cookies, but without a browser's restrictions."""

    def __init__(self, running: Served) -> None:
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
        """Send a request; returns status, headers and content.

        Args:
            method: GET, POST and so on.
            path: With the query, if any.
            body: Bytes as they are, anything else as JSON.
            headers: Replace the usual ones; None leaves one out.
        """
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
        """Return the cookies as the header that sends them."""
        return "; ".join(f"{key}={value}" for key, value in self.cookies.items())

    def hello(self) -> dict[str, Any]:
        """Begin a session and keep its token."""
        status, _, content = self.ask("GET", "/api/session")
        assert status == 200, content
        session: dict[str, Any] = json.loads(content)
        self.token = session["token"]
        return session

    def new_game(self, **wishes: object) -> str:
        """Start a game; returns its id."""
        status, _, content = self.ask("POST", "/api/games", wishes)
        assert status == 201, content
        return str(json.loads(content)["id"])

    def play(self, **wishes: object) -> Seat:
        """Start a game and connect to its websocket."""
        return Seat(self, self.new_game(**wishes))


class Seat:
    """One websocket of one game."""

    def __init__(self, client: Client, game: str, token: str | None = None) -> None:
        from websockets.sync.client import connect
        from websockets.typing import Origin

        self.game = game
        self._stack = contextlib.ExitStack()
        self.socket = self._stack.enter_context(
            connect(
                f"ws://{client.address}/api/games/{game}/socket",
                origin=Origin(f"http://{client.address}"),
                additional_headers={"Cookie": client.cookie_header()},
            )
        )
        self.send({"type": "hello", "token": client.token if token is None else token})
        self.messages: list[dict[str, Any]] = []
        self.entries: list[dict[str, Any]] = []

    def send(self, message: object) -> None:
        """Send a message as JSON."""
        self.socket.send(json.dumps(message))

    def receive(self) -> dict[str, Any]:
        """Wait for the next message; keeps the list of moves up to date."""
        message: dict[str, Any] = json.loads(self.socket.recv(timeout=20))
        self.messages.append(message)
        if message["type"] == "state":
            self.entries = self.entries[: message["base"]] + message["entries"]
        return message

    def wait(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Receive messages until one fulfils the condition; returns that one."""
        while True:
            message = self.receive()
            if condition(message):
                return message

    def state(self, condition: Callable[[dict[str, Any]], bool] = lambda s: True) -> dict[str, Any]:
        """Wait for a state of the game that fulfils the condition."""
        return self.wait(lambda m: m["type"] == "state" and condition(m))

    def error(self) -> str:
        """Wait for an error; returns its text."""
        return str(self.wait(lambda m: m["type"] == "error")["text"])

    def move(self, move: str) -> None:
        """Ask to play a move in the present position."""
        self.send({"type": "move", "move": move, "ply": len(self.entries)})

    def until(self, plies: int) -> dict[str, Any]:
        """Wait until so many plies have been played and no search is running."""
        return self.state(lambda s: len(self.entries) >= plies and not s["thinking"])

    def close(self) -> None:
        """Disconnect."""
        self._stack.close()


def eventually(condition: Callable[[], bool], what: str, seconds: float = 20.0) -> None:
    """Wait for a condition that must become true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"never came true: {what}"
        time.sleep(0.01)
