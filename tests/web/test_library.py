"""Kept games: they survive the server, belong to a visitor, and are private files."""

from __future__ import annotations

import datetime
import io
import json
from collections.abc import Iterator
from pathlib import Path

import chess.pgn
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from rookery.web.games.library import Library
from rookery.web.games.table_json import date_of_record
from support.web_parts import Client, Seat, eventually, server


@pytest.fixture
def games(tmp_path: Path) -> Path:
    return tmp_path / "games"


@pytest.fixture
def client(tmp_path: Path, games: Path) -> Iterator[Client]:
    with server(tmp_path, games=games) as running:
        client = Client(running)
        client.hello()
        yield client


def listed(client: Client) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(client.ask("GET", "/api/library")[2])["games"]
    return found


def test_a_game_goes_on_with_the_next_server(tmp_path: Path, games: Path) -> None:
    with server(tmp_path, games=games) as running:
        client = Client(running)
        client.hello()
        seat = client.play(player="greedy-safe", level="2", color="white", seconds=300)
        seat.state()
        seat.move("e4")
        seat.until(2)
        moves = [entry["uci"] for entry in seat.entries]
        seat.close()
    (path,) = games.glob("*/*.json")  # as if it had begun long ago
    path.write_text(json.dumps({**json.loads(path.read_text()), "date": "2026.01.02"}))
    with server(tmp_path, games=games) as running:
        again = Client(running)
        again.cookies = {"rookery_visitor": client.cookies["rookery_visitor"]}
        again.hello()
        (kept,) = listed(again)
        assert kept["id"] == seat.game and kept["plies"] == 2 and kept["result"] == "*"
        assert again.new_game(resume=seat.game) == seat.game
        resumed = Seat(again, seat.game)
        state = resumed.state()
        assert [entry["uci"] for entry in resumed.entries] == moves
        assert state["black"] == "greedy-safe, every fifth move at random"
        assert state["clock"]["white"] <= 300.0 and state["people"] == ["white"]
        assert state["date"] == "2026.01.02"
        resumed.move(
            str(next(iter(state["dests"])) + state["dests"][next(iter(state["dests"]))][0])
        )
        resumed.until(4)
        resumed.send({"type": "resign"})
        resumed.state(lambda state: state["result"] == "0-1")
        eventually(lambda: listed(again)[0]["result"] == "0-1", "the end is kept")
        text = again.ask("GET", f"/api/library/{seat.game}/pgn")[2].decode()
        game = chess.pgn.read_game(io.StringIO(text))
        assert game is not None and game.headers["Termination"] == "White resigned"
        assert game.headers["TimeControl"] == "300+0"
        assert game.headers["Date"] == "2026.01.02"
        all_games = again.ask("GET", "/api/library/pgn")[2].decode()
        assert all_games.count("[Event ") == 1
        assert again.ask("DELETE", f"/api/library/{seat.game}")[0] == 204
        assert listed(again) == []


def test_a_page_gives_its_game_to_a_server_that_does_not_know_it(client: Client) -> None:
    moves = ["e2e4", "e7e5", "g1f3"]
    game = client.new_game(color="both", fen="", moves=moves)
    seat = Seat(client, game)
    state = seat.state()
    assert [entry["san"] for entry in seat.entries] == ["e4", "e5", "Nf3"]
    assert state["turn"] == "black"
    over = client.new_game(color="both", moves=moves, result="0-1", reason="White resigned")
    assert Seat(client, over).state()["reason"] == "White resigned"
    for bad in ([*moves, "e1e8"], "e2e4", [1], ["e2e4"] * 3000):
        assert client.ask("POST", "/api/games", {"color": "both", "moves": bad})[0] == 400


def test_the_date_of_older_files_is_that_of_their_last_change() -> None:
    changed = datetime.datetime(2026, 5, 6, 12).timestamp()
    for record in ({}, {"date": "yesterday"}, {"date": 7}):
        assert date_of_record({**record, "changed": changed}) == datetime.date(2026, 5, 6)


def test_games_belong_to_their_visitor(client: Client, games: Path) -> None:
    seat = client.play(color="both")
    seat.state()
    seat.move("e4")
    seat.until(1)
    eventually(lambda: listed(client), "the game is kept")
    (path,) = games.glob("*/*.json")
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    assert client.cookies["rookery_visitor"] not in str(path)
    other = Client.__new__(Client)
    other.address, other.cookies, other.token = client.address, {}, ""
    other.hello()
    assert listed(other) == []
    for method, path_of in (("DELETE", ""), ("GET", "/pgn")):
        assert other.ask(method, f"/api/library/{seat.game}{path_of}")[0] == 404
    assert other.ask("POST", "/api/games", {"resume": seat.game})[0] == 404
    for wrong in ("../../etc/passwd", "..", "a" * 300, 7, None, ["x"], "%2e%2e%2fx"):
        assert client.ask("POST", "/api/games", {"resume": wrong})[0] == 404
    other.cookies["rookery_visitor"] = "../" * 8
    assert listed(other) == []


def test_damaged_files_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(tmp_path)
    visitor = "v" * 24
    record = {"id": "a" * 16, "white": "You", "black": "x", "result": "*", "reason": "", "fen": ""}
    record |= {"color": "both", "changed": 1.0, "wishes": {}, "start": "", "moves": ["e2e4"]}
    library.write(visitor, record)
    (path,) = tmp_path.glob("*/*.json")
    for content in (b"", b"[1]", b"{}", b'{"version": 2}', b"\xff", path.read_bytes()[:40]):
        (path.parent / ("b" * 16 + ".json")).write_bytes(content)
        assert [kept["id"] for kept in library.games(visitor)] == ["a" * 16]
    with pytest.raises(KeyError):
        library.read(visitor, "b" * 16)
    monkeypatch.setattr("rookery.web.games.library.MOST_GAMES", 5)
    for number in range(8):
        library.write(visitor, {**record, "id": f"game{number:012d}"})
    assert len(list(path.parent.glob("*.json"))) == 5
