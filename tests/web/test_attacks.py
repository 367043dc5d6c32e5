"""The matrix of benchmarks/web_attacks.py against a server in this process."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from support.web_parts import Address, Client, server
from web_attacks import attack, routes


def test_the_whole_matrix_is_refused(tmp_path: Path) -> None:
    changing, sockets = routes()
    assert ("POST", "/api/demo/train") in changing and (
        "DELETE",
        "/api/library/{id:str}",
    ) in changing
    with server(tmp_path) as running:
        counts, succeeded = attack(Address(running.url))
    assert succeeded == []
    assert counts.total() > 600
    assert counts["websocket"] == 30 * len(sockets)


def test_a_demo_trains_on_for_its_own_page_only(tmp_path: Path) -> None:
    more = threading.Event()
    path = "/api/demo/train"
    with server(tmp_path, first={"stage": "done"}, more=more) as running:
        visitor = Client(running)
        visitor.hello()
        assert visitor.ask("POST", path, {}, {"X-Rookery-Token": ""})[0] == 403
        assert visitor.ask("POST", path, {}, {"Origin": "http://evil.example"})[0] == 403
        assert visitor.ask("POST", path, b"{")[0] == 400
        assert not more.is_set()
        assert visitor.ask("POST", path, {})[0] == 200 and more.is_set()
        assert visitor.ask("POST", path, {})[0] == 400, "it trains already"
