"""Connections that never send their request, or leave in the middle; guesses of the token."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from rookery.cli import main
from rookery.web.serve import Running, require_assets
from rookery.web.transport import connections
from rookery.web.transport.connections import OnceAMinute, most_connections
from rookery.web.transport.guard import Access, host_name
from support.web_parts import Address, Client, server

HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
BODY_HEADERS = b"Content-Type: application/json\r\nContent-Length: 50\r\n"


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with server(tmp_path) as found:
        yield found


def opened(running: Running | Address, data: bytes = HALF) -> socket.socket:
    host, port = running.url.removeprefix("http://").rstrip("/").split(":")
    connection = socket.create_connection((host, int(port)), timeout=20)
    connection.sendall(data)
    return connection


def is_closed(connection: socket.socket, seconds: float) -> bool:
    """Whether the server closes the connection within some time."""
    connection.settimeout(seconds)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


# --- Host headers ---


@pytest.mark.parametrize(
    "header",
    [
        "[::1].evil.com", "127.0.0.1:abc", "127.0.0.1:", "127.0.0.1:99999", "[::1", "::1", "[]",
        "127.0.0.1 ", "127.0.0.1\t", "127.0.0.1,evil.com", "127.0.0.1/evil", "127.0.0.1#x",
        "127.0.0.1?x", "a@127.0.0.1", "127.0.0.1\\evil.com", "[::1]evil.com:80", "[::1]:80:80",
        "127.0.0.1:8000:9000", "localhost:\uff11\uff12", "",
    ],
)  # fmt: skip
def test_malformed_hosts_are_no_names(header: str) -> None:
    assert not Access().host_allowed(header)
    assert not Access(any_address=True).host_allowed(header)


def test_well_formed_hosts_are_names() -> None:
    assert [host_name(text) for text in ("LocalHost:80", "[::1]:8000", "10.0.0.1")] == [
        "localhost", "::1", "10.0.0.1",
    ]  # fmt: skip


@pytest.mark.parametrize("host", ["[::1].evil.com", "127.0.0.1:abc"])
def test_malformed_hosts_are_refused(running: Running, host: str) -> None:
    assert Client(running).ask("GET", "/", headers={"Host": host})[0] == 403


# --- Slow and half-open requests ---


@pytest.mark.parametrize("slow", ["nothing", "headers", "body", "second request"])
def test_requests_have_a_deadline(
    running: Running, monkeypatch: pytest.MonkeyPatch, slow: str
) -> None:
    visitor = Client(running)
    visitor.hello()
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 2.0 if slow == "second request" else 0.3)
    whole = f"GET / HTTP/1.1\r\nHost: {visitor.address}\r\n\r\n".encode()
    data = {"nothing": b"", "headers": HALF, "second request": whole}.get(slow)
    if data is None:
        words = f"Host: {visitor.address}\r\nCookie: {visitor.cookie_header()}\r\n"
        words += f"X-Rookery-Token: {visitor.token}\r\nOrigin: http://{visitor.address}\r\n"
        data = b"POST /api/games HTTP/1.1\r\n" + words.encode() + BODY_HEADERS + b"\r\n{"
    connection = opened(running, data)
    if slow == "second request":
        assert connection.recv(12) == b"HTTP/1.1 200"
        while select.select([connection], [], [], 0.2)[0]:
            assert connection.recv(1 << 20)
        connection.sendall(HALF)
    assert is_closed(connection, 20)


def test_half_open_connections_are_bounded(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_WAITING", 5)
    held = [opened(running) for _ in range(20)]
    assert Client(running).ask("GET", "/")[0] == 200
    assert sum(is_closed(connection, 0.3) for connection in held) >= 14
    for connection in held:
        connection.close()


@contextlib.contextmanager
def process_server(folder: Path, descriptors: int = 1000) -> Iterator[tuple[Address, Path]]:
    """A server in a process of its own: its address, and the file of what it prints as errors."""
    try:
        require_assets()
    except ValueError as error:
        pytest.skip(str(error))
    log = folder / "errors.txt"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "rookery.cli", "play", "random", "--no-browser", "--port", "0"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_NOFILE, (descriptors, descriptors)
            ),
        ) as process,
    ):
        try:
            assert process.stdout is not None
            found = re.search(r"http://[\d.]+:\d+/", process.stdout.readline())
            assert found is not None
            yield Address(found[0]), log
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def test_the_page_is_reachable_with_few_file_descriptors(tmp_path: Path) -> None:
    """Two hundred half-open sockets against a process that may open eighty files."""
    with process_server(tmp_path, 80) as (running, log):
        held = []
        for _ in range(200):
            with contextlib.suppress(ConnectionError):
                held.append(opened(running))
        assert Client(running).ask("GET", "/")[0] == 200
    assert log.stat().st_size < 500, log.read_text()[:2000]
    for connection in held:
        connection.close()


def upgrade(address: Address, path: str = "/api/analysis/socket") -> bytes:
    """A request for a websocket."""
    host = address.url.removeprefix("http://").rstrip("/")
    return (
        f"GET {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    ).encode()


def test_websockets_without_a_hello_keep_nobody_out(tmp_path: Path) -> None:
    """Two hundred of them against a process that may open eighty files."""
    with process_server(tmp_path, 80) as (running, log):
        held = []
        for _ in range(200):
            with contextlib.suppress(ConnectionError):
                held.append(opened(running, upgrade(running)))
        began = time.monotonic()
        visitor = Client(running)
        assert visitor.ask("GET", "/")[0] == 200
        visitor.hello()
        visitor.play(player="random", color="white").state()
        assert time.monotonic() - began < 8  # not when the server has waited for their hellos
    assert log.stat().st_size < 500, log.read_text()[:2000]
    for connection in held:
        connection.close()


def test_refused_websockets_are_closed_soon(running: Running) -> None:
    hello = b"\x81\x82\x00\x00\x00\x00{}"  # a masked text frame
    with opened(running, upgrade(Address(running.url))) as connection:
        assert connection.recv(12) == b"HTTP/1.1 101"
        connection.sendall(hello + hello)
        connection.settimeout(5)  # uvicorn alone would wait ten seconds for the visitor's close
        answer = b""
        with contextlib.suppress(ConnectionError):
            while more := connection.recv(1 << 16):
                answer += more
        assert b"\x03\xf0no " in answer  # code 1008 and the reason


def test_a_pipelined_flood_prints_little(tmp_path: Path) -> None:
    with process_server(tmp_path, 80) as (running, log):
        host = running.url.removeprefix("http://").rstrip("/")
        request = f"GET /static/main.js HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
        held = []
        for _ in range(200):
            with contextlib.suppress(ConnectionError):
                held.append(opened(running, request * 60))
        for _ in range(50):
            with (
                contextlib.suppress(ConnectionError),
                opened(running, b"nonsense\r\n\r\n") as wrong,
            ):
                wrong.recv(100)
        assert Client(running).ask("GET", "/")[0] == 200
    printed = log.read_text()
    assert "Traceback" not in printed
    assert printed.count("Invalid HTTP request") == 1
    assert len(printed.splitlines()) <= 3, printed[:2000]
    for connection in held:
        connection.close()


def test_text_that_is_not_utf8_prints_no_traceback(tmp_path: Path) -> None:
    frame = b"\x81\x81\x00\x00\x00\x00\xff"
    with process_server(tmp_path) as (running, log):
        for _ in range(20):
            with opened(running, upgrade(running)) as connection:
                assert connection.recv(12) == b"HTTP/1.1 101"
                connection.sendall(frame)
                while connection.recv(1 << 16):
                    pass
    assert "Traceback" not in log.read_text()
    assert len(log.read_text().splitlines()) <= 1


def test_a_complaint_comes_again_after_a_minute() -> None:
    now = [0.0]
    quiet = OnceAMinute(lambda: now[0])

    def passes(text: str, error: Exception | None = None) -> bool:
        info = None if error is None else (type(error), error, None)
        return quiet.filter(logging.LogRecord("x", logging.ERROR, "", 0, text, None, info))

    full = OSError(errno.EMFILE, "Too many open files")
    assert [passes("invalid"), passes("invalid"), passes("crash", KeyError())] == [1, 0, 1]
    assert [passes("crash", full), passes("other crash", full), passes("crash", OSError())] == [
        1, 0, 1,
    ]  # fmt: skip
    now[0] = 61.0
    assert passes("invalid")


def test_connections_leave_descriptors_for_the_rest() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(os.listdir("/proc/self/fd"))
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + 100, hard))
        left = 100 - connections.RESERVED_DESCRIPTORS
        assert 4 <= most_connections() <= left // 2 + 1  # a file for each connection
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


# --- Leaving in the middle ---


def leave(connection: socket.socket) -> None:
    """Reset the connection, as when a machine loses its network."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def test_visitors_who_leave_print_nothing(tmp_path: Path) -> None:
    with process_server(tmp_path) as (running, log):
        leave_everywhere(running)
        assert Client(running).ask("GET", "/")[0] == 200
        time.sleep(0.3)
    assert log.read_text() == ""


def leave_everywhere(running: Address) -> None:
    """Leave at every stage of a visit."""
    visitor = Client(running)
    visitor.hello()
    words = f"Host: {visitor.address}\r\nCookie: {visitor.cookie_header()}\r\n"
    token = f"X-Rookery-Token: {visitor.token}\r\nOrigin: http://{visitor.address}\r\n"
    body = words.encode() + token.encode() + BODY_HEADERS
    for data in (
        b"", HALF, b"POST /api/games HTTP/1.1\r\n" + body + b"\r\n{",
        f"GET /api/session HTTP/1.1\r\n{words}\r\n".encode(),
        f"GET /static/main.js HTTP/1.1\r\n{words}\r\n".encode() * 20,
    ):  # fmt: skip
        for pause in (0.0, 0.05):
            connection = opened(running, data)
            time.sleep(pause)
            leave(connection)
    for color in ("white", "black"):
        seat = visitor.play(player="greedy-safe", color=color)
        seat.state()
        leave(seat.socket.socket)


# --- The access token ---


def test_guesses_of_the_token_are_limited(tmp_path: Path) -> None:
    with server(tmp_path, token="the right word") as running:
        known = Client(running)
        assert known.ask("GET", "/?token=the+right+word")[0] == 303
        guesser = Client(running)
        answers = [guesser.ask("GET", f"/?token=wrong{number}") for number in range(40)]
        assert [status for status, _, _ in answers[:5]] == [401] * 5
        assert [status for status, _, _ in answers[-5:]] == [429] * 5
        assert int(answers[-1][1]["retry-after"]) >= 1
        assert guesser.ask("GET", "/?token=the+right+word")[0] == 429
        guesser.cookies["rookery_access"] = "guess"
        assert guesser.ask("GET", "/api/session")[0] == 429
        assert known.ask("GET", "/")[0] == 200  # who has been admitted stays so


def test_tickets_admit_once(tmp_path: Path) -> None:
    with server(tmp_path, token="the right word") as running:
        ticket = running.access.new_ticket()
        statuses = [Client(running).ask("GET", f"/?token={ticket}")[0] for _ in range(2)]
        assert statuses == [303, 401]


@pytest.mark.parametrize("source", ["file", "environment"])
def test_the_token_need_not_be_an_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    from rookery.web import serve

    seen: list[str] = []

    def start(host: str, port: int, token: str, **options: object) -> None:
        seen.append(token)

    monkeypatch.setattr(serve, "start", start)
    monkeypatch.setattr(serve, "run_until_interrupted", lambda *args, **options: 0)
    words = ["play", "random", "--host", "0.0.0.0"]
    if source == "file":
        (tmp_path / "token").write_text("a-secret-word\n")
        words += ["--token-file", str(tmp_path / "token")]
    else:
        monkeypatch.setenv("ROOKERY_TOKEN", "a-secret-word")
    assert main(words) == 0
    assert seen == ["a-secret-word"]


@pytest.mark.parametrize("content", [None, "", "two words"])
def test_unusable_token_files_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None
) -> None:
    if content is not None:
        (tmp_path / "token").write_text(content)
    assert main(["play", "random", "--token-file", str(tmp_path / "token")]) == 1
    assert "--token-file" in capsys.readouterr().err
