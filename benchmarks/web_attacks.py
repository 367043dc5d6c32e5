"""Attack the web server: every forged or malformed request must be refused, every visitor served.

    python benchmarks/web_attacks.py --sockets 200 --seconds 20

First the matrix: every route that changes something, with foreign and malformed hosts, foreign
origins, missing and wrong tokens, bodies of wrong types and sizes; every websocket with foreign
hosts and origins; paths that leave the folder. The routes are the application's own. At last each
is asked as the page does, which must pass the guard. Then --sockets half-open
connections are kept busy (each is opened again when the server drops it) while a visitor asks for
the page and the session; the latencies are printed. Exits 1 if an attack succeeds, a visitor is
refused, or the server prints anything but one line a minute about each of `COMPLAINTS`.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import chess

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from starlette.routing import Route, WebSocketRoute

from rookery.web.app import Server
from rookery.web.choices import Choices
from rookery.web.transport.connections import OUT_OF_FILES
from rookery.web.transport.guard import make_access
from support.web_parts import Address, Client

EVIL_HOSTS = (
    "evil.com", "evil.com:80", "localhost.evil.com", "127.0.0.1.evil.com", "[::1].evil.com",
    "127.0.0.1:abc", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:80:80", "a@127.0.0.1",
    "127.0.0.1#x", "127.0.0.1?x", "127.0.0.1/x", "127.0.0.1,evil.com", "[::1", "[]", "::1",
    "0x7f.1", "2130706433", "evil.com#127.0.0.1", "",
)  # fmt: skip
EVIL_ORIGINS = (
    "http://evil.com", "https://evil.com", "null", "file://", "http://127.0.0.1:1",
    "http://localhost.evil.com", "http://[::1].evil.com", "http://", "javascript:0", "x",
)  # fmt: skip
PATHS = ("/", "/api/session", "/api/players", "/api/runs", "/static/main.js")
OUTSIDE = (
    "/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd",
    "/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/api/runs/..", "/api/runs/%2e%2e%2fetc",
    "/api/runs/a%00b", "/api/games/..%2f..%2fetc/pgn", "/static/\\..\\app.py",
)  # fmt: skip
REFUSED = (400, 401, 403, 404, 405, 413, 429)
BY_GUARD = (401, 403, 413)
JSON = "application/json"
# What the page sends, where an empty object would be refused.
USUAL = {"/api/games": {"player": "random"}, "/api/pgn": {"fen": chess.STARTING_FEN}}
MALFORMED = (b"", b"\xff", b"[]", b"{", b"[" * 60_000, b'"x"')
OVERSIZED = b"x" * (1 << 20)
FORGED = ("host", "origin", "rebound", "token", "type")  # refused before the application
COMPLAINTS = ("Invalid HTTP request", OUT_OF_FILES)
HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


@contextlib.contextmanager
def served(errors: Path) -> Iterator[Address]:
    """A server process."""
    command = [sys.executable, "-m", "rookery.cli", "play", "random", "--no-browser", "--port", "0"]
    with (
        errors.open("wb") as log,
        subprocess.Popen(
            command, cwd=errors.parent, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        found = re.search(r"http://\S+/", process.stdout.readline() if process.stdout else "")
        try:
            yield Address(found[0] if found else "")
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def routes() -> tuple[list[tuple[str, str]], list[str]]:
    """The application's routes that change something, by method and path, and its websockets."""
    nowhere = Path(os.devnull)
    found = Server(make_access("127.0.0.1", ""), Choices(nowhere), nowhere).routes()
    changing = [
        (method, route.path)
        for route in found
        if isinstance(route, Route)
        for method in sorted((route.methods or set()) - {"GET", "HEAD"})
    ]
    return changing, [route.path for route in found if isinstance(route, WebSocketRoute)]


Request = tuple[str, str, str, object, dict[str, str | None]]


def requests(changing: list[tuple[str, str]], stolen: str) -> Iterator[Request]:
    """Attacks by HTTP: kind, method, path, body, headers; `stolen` is another session's token."""
    reading = [("GET", path) for path in PATHS]
    for host, (method, path) in itertools.product(EVIL_HOSTS, reading + changing):
        yield "host", method, path, USUAL.get(path), {"Host": host}
    for origin, (method, path) in itertools.product(EVIL_ORIGINS, reading + changing):
        yield "origin", method, path, USUAL.get(path), {"Origin": origin}
        if "127.0.0.1:" not in origin:  # a tunnel may have another port
            host = origin.partition("//")[2]
            yield "rebound", method, path, USUAL.get(path), {"Origin": origin, "Host": host}
    for method, path in changing:
        for token in (None, "", "0" * 64, "x" * 10_000, stolen):
            yield "token", method, path, USUAL.get(path, {}), {"X-Rookery-Token": token}
        yield "body", method, path, OVERSIZED, {}
        if method == "DELETE":  # has no body, and no other site can send it unasked
            continue
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
            yield "type", method, path, USUAL.get(path, {}), {"Content-Type": kind}
        for body in MALFORMED:
            yield "body", method, path, body, {}
    for fen in ("8/8/8/8/8/8/8/8 w - - 0 1", "x" * 5000, "kK w", "\0"):
        yield "body", "POST", "/api/games", {"fen": fen}, {}
    yield "body", "POST", "/api/games", {"pgn": "a2)!"}, {}
    for path in OUTSIDE:
        yield "path", "GET", path, None, {}


def visit(server: Address) -> tuple[Client, str]:
    """A visitor with a game of its own."""
    visitor = Client(server)
    visitor.hello()
    return visitor, visitor.new_game(player="random")


def attack(server: Address) -> tuple[Counter[str], list[str]]:
    """Send the matrix; attacks by kind, and those that succeeded."""
    counts: Counter[str] = Counter()
    succeeded: list[str] = []
    changing, sockets = routes()
    stolen = visit(server)[0].token
    visitor, game = visit(server)
    for number, (kind, method, path, body, headers) in enumerate(requests(changing, stolen)):
        if number % 100 == 99:  # the rate limit is not what is tested here
            visitor, game = visit(server)
        counts[kind] += 1
        status, answer, _ = visitor.ask(method, path.replace("{id:str}", game), body, headers)
        # What reaches the application is answered in JSON, also if that refuses it.
        reached = kind in FORGED and answer.get("content-type", "").startswith(JSON)
        if status not in REFUSED or reached:
            succeeded.append(f"{kind} {method} {path} {str(headers)[:80]}: {status}")
    visitor, game = visit(server)
    for path, host, origin in forged_sockets(sockets):
        counts["websocket"] += 1
        where = path.replace("{id:str}", game)
        if forged_socket(visitor.address, where, host, origin, visitor.cookie_header()):
            succeeded.append(f"websocket {path} {host} {origin}")
    for method, path in changing:  # so that it is not the route itself that refused
        status = visitor.ask(method, path.replace("{id:str}", game), USUAL.get(path, {}))[0]
        if status in BY_GUARD:
            succeeded.append(f"an honest {method} {path} was refused: {status}")
    return counts, succeeded


def forged_sockets(paths: list[str]) -> Iterator[tuple[str, str, str]]:
    """Each websocket with each foreign host and each foreign origin."""
    for path in paths:
        yield from ((path, host, "") for host in EVIL_HOSTS if host)
        yield from ((path, "", origin) for origin in EVIL_ORIGINS)


def forged_socket(address: str, path: str, host: str, origin: str, cookie: str) -> bool:
    """Whether a websocket with a foreign Host or Origin is opened."""
    request = (
        f"GET {path} HTTP/1.1\r\nHost: {host or address}\r\n"
        f"Origin: {origin or 'http://' + address}\r\nCookie: {cookie}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    name, port = address.split(":")
    with socket.create_connection((name, int(port)), timeout=20) as connection:
        connection.sendall(request.encode("latin-1", "replace"))
        return b" 101 " in connection.recv(100)


def hold(address: str, count: int, running: threading.Event) -> None:
    """Keep half-open connections, opening those again that the server drops."""
    name, port = address.split(":")
    held: list[socket.socket] = []
    while running.is_set():
        for _ in range(count - len(held)):
            with contextlib.suppress(OSError):
                connection = socket.create_connection((name, int(port)), timeout=5)
                connection.sendall(HALF)
                connection.setblocking(False)
                held.append(connection)
        time.sleep(0.1)
        for connection in list(held):
            with contextlib.suppress(BlockingIOError):
                try:
                    dropped = connection.recv(1) == b""
                except BlockingIOError:
                    continue
                except OSError:
                    dropped = True
                if dropped:
                    connection.close()
                    held.remove(connection)
    for connection in held:
        connection.close()


def latencies(server: Address, seconds: float) -> tuple[list[float], int]:
    """Milliseconds of a visitor's requests, and how many were refused."""
    times, refused, end = [], 0, time.monotonic() + seconds
    visitor = Client(server)
    visitor.hello()
    while time.monotonic() < end:
        for path in ("/", "/api/session"):
            began = time.perf_counter()
            try:
                refused += visitor.ask("GET", path)[0] != 200
            except OSError:
                refused += 1
            times.append(1000 * (time.perf_counter() - began))
        time.sleep(0.1)
    return times, refused


def main() -> int:
    """Attack and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sockets", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20.0)
    args = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        errors = Path(folder) / "errors.txt"
        with served(errors) as server:
            counts, succeeded = attack(server)
            running = threading.Event()
            running.set()
            address = server.url.removeprefix("http://").rstrip("/")
            holder = threading.Thread(
                target=hold, args=(address, args.sockets, running), daemon=True
            )
            holder.start()
            time.sleep(1.0)
            try:
                times, refused = latencies(server, args.seconds)
            finally:
                running.clear()
                holder.join(30)
        printed = errors.read_text()
    minutes = 1 + (time.monotonic() - began) // 60
    lines = Counter(printed.splitlines())
    noise = [
        line
        for line, count in lines.items()
        if count > minutes or not any(text in line for text in COMPLAINTS)
    ]
    report = {
        "attacks": counts.total(),
        "by_kind": dict(counts),
        "refused": counts.total() - len(succeeded),
        "succeeded": succeeded[:10],
        "half_open_sockets": args.sockets,
        "visitor_requests": len(times),
        "visitor_refused": refused,
        "p50_ms": round(statistics.median(times), 1),
        "p99_ms": round(statistics.quantiles(times, n=100)[98], 1),
        "load_of_machine": round(os.getloadavg()[0], 1),
        "printed": dict(lines.most_common(5)),
        "noise": noise[:5],
    }
    print(json.dumps(report, indent=2))
    return 1 if succeeded or refused or noise else 0


if __name__ == "__main__":
    sys.exit(main())
