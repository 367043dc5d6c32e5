"""Blind chess over the websocket: a page learns what its side knows, and nothing else."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra web")
pytest.importorskip("uvicorn", reason="needs the extra web")

from rookery.web import blind
from rookery.web.serve import Running
from support.web_parts import Client, server


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(blind.OPPONENTS, "random", ("passing: a test", "passing"))
        with server(tmp_path_factory.mktemp("runs")) as found:
            yield found


class BlindClient:
    """One websocket of the blind page."""

    def __init__(self, client: Client) -> None:
        from websockets.sync.client import connect
        from websockets.typing import Origin

        self._stack = contextlib.ExitStack()
        self.socket = self._stack.enter_context(
            connect(
                f"ws://{client.address}/api/blind/socket",
                origin=Origin(f"http://{client.address}"),
                additional_headers={"Cookie": client.cookie_header()},
            )
        )
        self.send(type="hello", token=client.token)
        assert self.wait("welcome")["opponents"]["random"] == "passing: a test"

    def send(self, **message: object) -> None:
        self.socket.send(json.dumps(message))

    def wait(self, kind: str, phase: str = "") -> dict[str, Any]:
        while True:
            message: dict[str, Any] = json.loads(self.socket.recv(timeout=30))
            if message["type"] == kind and phase in ("", message.get("phase")):
                return message

    def close(self) -> None:
        self._stack.close()


@pytest.fixture
def visitor(running: Running) -> Client:
    client = Client(running)
    client.hello()
    return client


@pytest.fixture
def seat(visitor: Client) -> Iterator[BlindClient]:
    found = BlindClient(visitor)
    yield found
    found.close()


def test_a_state_has_only_what_was_told(seat: BlindClient) -> None:
    seat.send(type="new", player="random", color="white")
    state = seat.wait("state", "sense")
    assert state["requests"] == [] and len(state["view"]["own"]) == 16
    seat.send(type="sense", square="e7")
    state = seat.wait("state", "move")
    assert "e2e4" in state["requests"] and len(state["view"]["window"]) == 9
    seat.send(type="move", move="e2e4")
    assert seat.wait("state", "wait")["view"]["window"] == []
    state = seat.wait("state", "sense")
    shares = {share for _, share in state["view"]["others"].values()}
    assert min(shares) < 1.0 and "fen" not in json.dumps(state)
    seat.send(type="sense", square=None)
    assert seat.wait("state", "move")["view"]["boards"] == 21  # 20 moves or a pass
    seat.send(type="resign")
    assert seat.wait("state", "over")["result"] == "0-1"
    game = seat.wait("game")
    assert game["black"] == "passing" and len(game["steps"]) == len(game["record"]["turns"]) + 1


def test_what_does_not_fit_is_refused_in_words(seat: BlindClient) -> None:
    for message, words in (
        ({"type": "sense", "square": "e4"}, "no game has begun"),
        ({"type": "new", "player": "nobody", "color": "white"}, "no opponent 'nobody'"),
        ({"type": "new", "player": [], "color": "white"}, "no opponent '[]'"),
        ({"type": "new", "player": {}, "color": []}, "no opponent '{}'"),
        ({"type": "new", "player": "random", "color": "green"}, "white, black or random"),
        ({"type": "new", "player": "random", "color": ["white"]}, "white, black or random"),
    ):
        seat.send(**message)
        assert words in seat.wait("error")["text"]
    seat.send(type="new", player="random", color="white")
    seat.wait("state", "sense")
    for message, words in (
        ({"type": "move", "move": "e2e4"}, "not the time to move"),
        ({"type": "sense", "square": "z9"}, "a square must be"),
        ({"type": "fly"}, "unknown message 'fly'"),
    ):
        seat.send(**message)
        assert words in seat.wait("error")["text"]
    seat.send(type="sense", square=None)
    seat.wait("state", "move")
    seat.send(type="move", move="e2e5")
    assert "'e2e5' cannot be asked for" in seat.wait("error")["text"]


def test_a_game_outlives_its_connection_but_not_for_others(
    running: Running, visitor: Client, seat: BlindClient
) -> None:
    seat.send(type="new", player="random", color="black")
    known = seat.wait("state", "sense")
    seat.close()
    again = BlindClient(visitor)
    again.send(type="resume", id=known["id"])
    assert again.wait("state")["told"] == known["told"]
    again.close()
    stranger = Client(running)
    stranger.hello()
    other = BlindClient(stranger)
    other.send(type="resume", id=known["id"])
    assert "no longer on the server" in other.wait("error")["text"]
    other.close()


def test_every_offered_opponent_plays(seat: BlindClient) -> None:
    for name in set(blind.offered()) - {"blind"}:  # as `quick`, with more nodes
        seat.send(type="new", player=name, color="black")
        assert seat.wait("state", "sense")["told"], name
        seat.send(type="sense", square="e3")
        seat.wait("state", "move")


def test_an_opponent_that_fails_loses(
    seat: BlindClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bot = tmp_path / "bot.py"
    monkeypatch.setitem(blind.OPPONENTS, "random", ("broken: a test", str(bot)))
    seat.send(type="new", player="random", color="black")
    state = seat.wait("state", "over")
    assert state["result"] == "0-1" and "the opponent failed" in state["reason"]
