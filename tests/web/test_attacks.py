"""The matrix of benchmarks/web_attacks.py against a server in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from support.web_parts import Address, server
from web_attacks import attack


def test_the_whole_matrix_is_refused(tmp_path: Path) -> None:
    with server(tmp_path) as running:
        counts, succeeded = attack(Address(running.url))
    assert succeeded == []
    assert counts.total() > 600
    assert counts["websocket"] == 30
