"""Starts the server for `rookery play`, `rookery watch` and `rookery demo`."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rookery.web import require_extra

if TYPE_CHECKING:
    from rookery.web.transport.guard import Access

PORTS_TRIED = 20


class Running:
    """A server in a background thread."""

    def __init__(self, server: Any, url: str, access: Access) -> None:
        """Made by `start`."""
        self._server: Any = server
        self.url = url
        self.access = access
        # Not Thread.join: after Ctrl-C it considers a running thread as ended.
        self._ended = threading.Event()
        threading.Thread(target=self._run, name="web", daemon=True).start()

    def stop(self) -> None:
        """Close all connections and end; idempotent."""
        if self._server is None:
            return
        self._server.should_exit = True
        self._ended.wait(10)
        self._server = None
        gc.collect()  # frees games in reference cycles, which nanobind would report as leaks

    def wait(self, wish: threading.Event | None = None) -> None:
        """Wait for an interrupt, or for a wish of the page."""
        while not self._ended.wait(0.5) and not (wish is not None and wish.is_set()):
            pass

    def _run(self) -> None:
        try:
            self._server.run()
        finally:
            self._ended.set()


def start(
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str = "",
    *,
    given: str = "",
    runs: Path | None = None,
    first: dict[str, Any] | None = None,
    names: Iterable[str] = (),
    workers: int = 0,
    extra: Iterable[Any] = (),
    make: Any = None,
    games: Path | None = None,
    more: threading.Event | None = None,
) -> Running:
    """Start the server in a thread and return when it is ready.

    A `host` beyond loopback needs a `token`; if `port` is taken the next free one is used (0: any).
    `given` is the operator's player, `first` what the page shows first (`Server.start`), `names`
    are additional host names, `extra` additional choices, and `make` replaces `make_player`.
    Games are kept in the folder `games`, if there is one. `more` is set when a visitor of a demo
    that is over asks for more training.
    """
    require_extra()
    from rookery.web.transport.guard import make_access

    access = make_access(host, token, names)  # may raise, so before loading anything
    require_assets()
    import uvicorn

    from rookery.web.app import LARGEST_FRAME, Server
    from rookery.web.choices import Choices
    from rookery.web.games.shelf import Shelf
    from rookery.web.transport.connections import (
        BACKLOG,
        LOG,
        ONCE_A_MINUTE,
        bounded_protocols,
        most_connections,
    )

    sys.setswitchinterval(0.002)  # seconds; searches in Python must not block the server
    folder = runs if runs is not None else Path("runs")
    application = Server(
        access,
        Choices(folder, given, extra),
        folder,
        start=first,
        shelf=Shelf(make) if make is not None else None,
        workers=workers,
        games=games,
        more=more,
    ).application()
    listener = listen(host, port)
    most = most_connections()
    http, websocket = bounded_protocols(most)
    LOG.addFilter(ONCE_A_MINUTE)
    config = uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,
        ws=websocket,
        ws_max_size=LARGEST_FRAME,
        ws_max_queue=16,
        ws_ping_interval=20.0,
        h11_max_incomplete_event_size=32 * 1024,
        http=http,
        limit_concurrency=most + BACKLOG + 1,  # dropped ones still count for a moment
        backlog=BACKLOG,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    server = make_server(config, listener)
    shown = "127.0.0.1" if host in ("0.0.0.0", "::", "localhost") else host.strip("[]")
    shown = f"[{shown}]" if ":" in shown else shown
    running = Running(server, f"http://{shown}:{listener.getsockname()[1]}/", access)
    if not server.ready.wait(20):
        raise OSError("the web server did not start; set ROOKERY_TRACEBACK=1 to see why")
    return running


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket on the first free port from `port` on."""
    if not 0 <= port <= 65535:
        raise ValueError(f"--port {port} is not a port; choose one from 1 to 65535, or 0 for any")
    name = host.strip("[]")
    family = socket.AF_INET6 if ":" in name else socket.AF_INET
    for number in [port] if port == 0 else range(port, min(port + PORTS_TRIED, 65536)):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((name, number))
            listener.listen(512)
        except OSError as error:
            listener.close()
            taken = error
            continue
        return listener
    raise OSError(f"cannot listen on {host} port {port}: {taken.strerror}; pass another --port")


def require_assets() -> None:
    """Raise an error with the remedy if the files from npm are missing."""
    vendor = Path(__file__).parent / "static" / "vendor" / "chessground" / "chessground.min.js"
    if not vendor.is_file():
        raise ValueError(
            "the web page's board is missing from this installation; run 'make web-assets' in the "
            "checkout, or play with --terminal"
        )


def run_until_interrupted(running: Running, browser: bool, path: str = "", token: str = "") -> int:
    """Print the address, open the page, and serve until Ctrl-C."""
    address = running.url + (f"?token={token}" if token else "") + path
    print(f"Rookery is at {address}  (Ctrl-C to quit)", flush=True)
    if browser:
        open_page(running, path, token)
    stop_on_terminate()
    with contextlib.suppress(KeyboardInterrupt):
        running.wait()
    running.stop()
    return 0


def open_page(running: Running, path: str, token: str) -> None:
    """Open a page in the browser, whose command line is visible to others: it gets a ticket."""
    ticket = f"?token={running.access.new_ticket()}" if token else ""
    open_browser(running.url + ticket + path)


def open_browser(address: str) -> None:
    """Open the page in a browser, or tell the user to if there is no display."""
    if not has_screen():
        print("There is no display here: open the address in your browser.", flush=True)
        return
    threading.Thread(target=lambda: webbrowser.open(address), daemon=True).start()


def has_screen() -> bool:
    """Whether there is a display; without one a text browser might open in the terminal."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def stop_on_terminate() -> None:
    """Let SIGTERM end the server like Ctrl-C."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def make_server(config: Any, listener: socket.socket) -> Any:
    """Make a uvicorn server for a socket; uvicorn is optional and imported only here."""
    import uvicorn

    from rookery.web.transport.connections import quiet_errors

    class SocketServer(uvicorn.Server):
        """Leaves signals to the main thread and signals when it is ready."""

        ready = threading.Event()

        def run(self, sockets: list[socket.socket] | None = None) -> None:
            super().run(sockets=sockets or [listener])

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            asyncio.get_running_loop().set_exception_handler(quiet_errors)
            await super().startup(sockets=sockets)
            self.ready.set()

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    return SocketServer(config)
