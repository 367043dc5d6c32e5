"""The analysis board over its websocket: rules, thinking, review, PGN with variations."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from rookery._core import Game
from rookery.web.analyse.facts import Facts, read_openings
from rookery.web.analyse.pgn_tree import MOST_NODES, tree_of_pgn
from rookery.web.choices import shipped_engine
from support.web_parts import Client, server

SCHOLAR = ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    if shipped_engine() is None:
        pytest.skip("needs the shipped engine: src/rookery/networks/rookery.safetensors")
    with server(tmp_path_factory.mktemp("runs")) as running:
        client = Client(running)
        client.hello()
        yield client


class Board:
    """One analysis board."""

    def __init__(self, client: Client, token: str | None = None) -> None:
        from websockets.sync.client import connect
        from websockets.typing import Origin

        self._stack = contextlib.ExitStack()
        self.socket = self._stack.enter_context(
            connect(
                f"ws://{client.address}/api/analysis/socket",
                origin=Origin(f"http://{client.address}"),
                additional_headers={"Cookie": client.cookie_header()},
            )
        )
        self.send({"type": "hello", "token": client.token if token is None else token})

    def send(self, message: object) -> None:
        self.socket.send(json.dumps(message))

    def until(self, wanted: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Read on to a message that fits."""
        while True:
            message: dict[str, Any] = json.loads(self.socket.recv(timeout=30))
            if wanted(message):
                return message

    def of(self, kind: str) -> dict[str, Any]:
        return self.until(lambda message: message["type"] == kind)

    def position(self, *moves: str, start: str = "") -> dict[str, Any]:
        self.send({"type": "position", "start": start, "moves": list(moves), "key": 7})
        return self.of("position")

    def close(self) -> None:
        self._stack.close()


@pytest.fixture
def board(client: Client) -> Iterator[Board]:
    found = Board(client)
    yield found
    found.close()


def test_the_server_knows_the_rules(board: Board) -> None:
    found = board.position("e2e4", "e7e5")
    assert found["san"] == "e5" and found["turn"] == "white" and found["key"] == 7
    assert sorted(found["dests"]["g1"]) == ["e2", "f3", "h3"]
    board.send({"type": "position", "moves": ["e2e4"], "typed": "nf6", "key": 1})
    assert board.of("position")["uci"] == "g8f6"
    over = board.position(*SCHOLAR)
    assert over["dests"] == {} and over["outcome"] == {"ending": "checkmate", "winner": True}
    for message in (
        {"type": "position", "moves": ["e2e5"]},
        {"type": "position", "start": "nonsense"},
        {"type": "position", "moves": "e2e4"},
        {"type": "position", "typed": "Ke4"},
        {"type": "review", "moves": ["g1f3", "g8f6", "f3g1", "f6g8"] * 200},
        {"type": "dance"},
        [1],
    ):
        board.send(message)
        assert board.of("error")["text"]
    assert board.position()["fen"] == Game().fen()  # still alive


def test_the_engine_thinks_on_with_as_many_lines_as_wanted(board: Board) -> None:
    fen = board.position("e2e4")["fen"]
    board.send({"type": "think", "lines": 3})
    thought = board.until(lambda m: m["type"] == "thought" and len(m["lines"]) == 3)
    assert thought["fen"] == fen
    line = board.until(lambda m: m["type"] == "thought" and m["depth"] >= 4)["lines"][0]
    assert len(line["fens"]) == len(line["sans"]) <= len(line["moves"])
    game = Game()
    game.push("e2e4")
    game.push(line["moves"][0])
    assert line["fens"][0].split()[0] == game.fen().split()[0]
    deeper = board.until(lambda m: m["type"] == "thought" and m["depth"] > thought["depth"])
    assert deeper["kind"] == "analysis"
    board.send({"type": "think", "lines": 0})
    board.send({"type": "think", "lines": "many"})  # means none
    assert board.position()["type"] == "position"


def test_a_game_is_reviewed(board: Board) -> None:
    board.send({"type": "review", "start": "", "moves": SCHOLAR})
    seen = []
    while len(seen) < len(SCHOLAR) + 1:
        verdict = board.of("verdict")
        seen.append(verdict["ply"])
        assert 0 <= verdict["chance"] <= 100 and verdict["of"] == 8
    assert seen == [7, 6, 5, 4, 3, 2, 1, 0]
    end = board.of("reviewed")
    kinds = [move["kind"] for move in end["moves"]]
    assert kinds[5] == "blunder" and kinds[6] == ""  # 3... Nf6?? 4. Qxf7#
    assert end["accuracy"]["white"] > end["accuracy"]["black"]


def test_the_engine_rests_during_a_review(tmp_path: Path) -> None:
    """With one thread both would take turns, and the review would take minutes."""
    if shipped_engine() is None:
        pytest.skip("needs the shipped engine: src/rookery/networks/rookery.safetensors")
    with server(tmp_path, workers=1) as running:
        client = Client(running)
        client.hello()
        board = Board(client)
        board.send({"type": "think", "lines": 1})
        board.position("e2e4")
        board.of("thought")
        board.send({"type": "review", "moves": SCHOLAR[:4]})
        board.of("verdict")  # its thread is free of the last thought
        kinds: list[str] = []
        while "reviewed" not in kinds:
            kinds.append(board.until(lambda _: True)["type"])
        assert set(kinds) == {"verdict", "reviewed"}
        board.of("thought")  # and thinks again
        board.close()


def test_strangers_and_crowds_are_refused(client: Client) -> None:
    from websockets.exceptions import ConnectionClosed

    boards = [Board(client) for _ in range(3)]
    for board in boards:
        board.position()
    fourth = Board(client)
    with pytest.raises(ConnectionClosed):
        fourth.position()
    for board in [*boards, fourth]:
        board.close()
    stranger = Board(client, token="wrong")
    with pytest.raises(ConnectionClosed):
        stranger.position()
    stranger.close()


def test_everything_stops_when_the_board_is_closed(tmp_path: Path) -> None:
    if shipped_engine() is None:
        pytest.skip("needs the shipped engine: src/rookery/networks/rookery.safetensors")

    with server(tmp_path, workers=1) as running:
        client = Client(running)
        client.hello()
        board = Board(client)
        board.send({"type": "think", "lines": 1})
        board.position("e2e4")
        board.of("thought")
        board.send({"type": "review", "moves": SCHOLAR})
        board.close()
        # The only search thread is free again: a game's player moves.
        seat = client.play(player="rookery", level="1", color="black")
        seat.until(1)
        seat.close()


# --- PGN ---

COMMENTED = """[White "A"]
[Black "B"]
[Result "0-1"]

{before it all} 1. e4 {best by test} e5! 2. Nf3 (2. f4 exf4 (2... d5 {Falkbeer}) 3. Nf3) (2. Nf3 d6)
2... Nc6 0-1
"""


def test_comments_and_variations_are_read() -> None:
    tree = tree_of_pgn(COMMENTED)
    sans = [(node.parent, node.san) for node in tree.nodes]
    assert sans[:5] == [(-1, ""), (0, "e4"), (1, "e5"), (2, "Nf3"), (2, "f4")]
    assert tree.moves == ["e2e4", "e7e5", "g1f3", "b8c6"]
    by_san = {node.san: node for node in tree.nodes}
    assert tree.nodes[0].comment == "before it all" and by_san["e4"].comment == "best by test"
    assert by_san["e5"].nags == ["!"] and by_san["d5"].comment == "Falkbeer"
    assert tree.nodes[by_san["d5"].parent].san == "f4"
    assert tree.nodes[by_san["d6"].parent].san == "Nf3"  # joined with the main move
    for node in tree.nodes[1:]:
        game = Game(tree.nodes[node.parent].fen)
        game.push(node.uci)
        assert game.fen().split()[0] == node.fen.split()[0]


def test_deep_variations_and_nonsense_do_no_harm(client: Client) -> None:
    deep = "1. e4 " + "(1. d4 " * 3000 + ")" * 3000 + " e5 *"
    assert len(tree_of_pgn(deep).nodes) < 10
    long = "1. e4 e5 " + "2. Nf3 Nf6 3. Ng1 Ng8 " * (MOST_NODES // 2) + "*"
    with pytest.raises(ValueError, match="more than"):
        tree_of_pgn(long)
    for text in ("", "hello", "1. e4 e5 2. Ke5 *", 7, None):
        status, _, content = client.ask("POST", "/api/pgn", {"pgn": text})
        assert status == 400 and json.loads(content)["error"]
    status, _, content = client.ask("POST", "/api/pgn", {"fen": "8/8/8/8/8/8/8/8 w - - 0 1"})
    assert status == 400
    status, _, content = client.ask("POST", "/api/pgn", {"pgn": COMMENTED})
    found = json.loads(content)
    assert status == 200 and found["headers"]["White"] == "A" and len(found["nodes"]) == 10


# --- Facts ---


def test_openings_are_named_from_a_table(tmp_path: Path) -> None:
    table = tmp_path / "eco.tsv"
    table.write_text("eco\tname\tpgn\nC20\tKing's Pawn\t1. e4 e5\nC40\tKnight\t1. e4 e5 2. Nf3\n")
    facts = Facts()
    facts._names = read_openings(table)
    game = Game()
    assert facts.opening(game) == ""
    for move, name in (("e2e4", ""), ("e7e5", "C20 King's Pawn"), ("b1c3", "C20 King's Pawn")):
        game.push(move)
        assert facts.opening(game) == name
    assert facts.tablebase(game) is None and facts.book_moves(game) == []


def test_the_best_known_openings_are_named_everywhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ROOKERY_DATA", str(tmp_path))  # without any table of openings
    facts = Facts()
    facts.load()
    game = Game()
    for move, name in (
        ("d2d4", "Queen's pawn opening"),
        ("e7e6", "Queen's pawn opening"),
        ("e2e4", "French defence"),  # by another order of moves
        ("d7d5", "French defence"),
        ("e4e5", "French defence: advance variation"),
    ):
        game.push(move)
        assert facts.opening(game) == name


def test_tablebases_and_books_are_asked_where_they_are_installed(data_dir: Path) -> None:
    facts = Facts()
    facts.load()
    won = facts.tablebase(Game("8/8/8/8/8/4k3/8/K2Q4 b - - 0 1"))
    if won is None:
        pytest.skip("needs tablebases")
    assert won["result"] == 1 and won["text"].startswith("White wins, mate in ")
    drawn = facts.tablebase(Game("8/8/8/8/8/4k3/4p3/4K3 w - - 0 1"))
    assert drawn == {"result": 0, "text": "a draw with best play"}
    ruy = Game()
    for move in ("e2e4", "e7e5", "g1f3", "b8c6", "f1b5"):
        ruy.push(move)
    assert "Ruy Lopez" in facts.opening(ruy)
    assert sum(move["share"] for move in facts.book_moves(Game())) >= 95
