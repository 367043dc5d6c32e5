"""Bounds on connections: how long a request may take to arrive, and how many may be open.

uvicorn waits for ever for the rest of a request. Here the headers and the body of a request must
arrive within `REQUEST_SECONDS`, and of the connections that still owe us a request only the newest
`MOST_WAITING` are kept: a browser sends its request at once, so those that are dropped are not its.
A websocket owes us its hello until `greeted`. All connections together leave enough of the
process's file descriptors for files and engines. What visitors do wrong is logged once a minute.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Protocol

REQUEST_SECONDS = 10.0  # from the first byte (or the connection) to the end of the body
MOST_WAITING = 512  # connections without a complete request
MOST_CONNECTIONS = 2000
DESCRIPTORS = 2  # of one connection: its socket, and what it makes us open
RESERVED_DESCRIPTORS = 24  # for files and engines, even if the limit is very low
PARTING_SECONDS = 1.0  # from our close of a websocket to its end
BACKLOG = 64  # connections accepted in one turn of the event loop
WARNING_SECONDS = 60.0  # between two warnings of the same kind
OUT_OF_FILES = "too many open files; raise the limit with 'ulimit -n'"
CONNECTION = "rookery.connection"  # key in the state of a websocket's scope

LOG = logging.getLogger("uvicorn.error")


def most_connections() -> int:
    """Connections that this process can bear."""
    try:
        import resource
    except ImportError:  # not on Windows, whose limit is far above ours
        return MOST_CONNECTIONS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    used = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 64
    return max(4, min(MOST_CONNECTIONS, (soft - used - RESERVED_DESCRIPTORS) // DESCRIPTORS))


class Waiting(Protocol):
    """A connection that owes us something."""

    def give_up(self) -> None:
        """Drop the connection."""


def bounded_protocols(most: int) -> tuple[type[asyncio.Protocol], type[asyncio.Protocol]]:
    """Uvicorn's HTTP and websocket protocols with these bounds; it is imported only here."""
    waiting: OrderedDict[Waiting, None] = OrderedDict()  # oldest first
    return _bounded_http(most, waiting), _bounded_websocket(waiting)


def _bounded_http(most: int, waiting: OrderedDict[Waiting, None]) -> type[asyncio.Protocol]:
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class BoundedProtocol(H11Protocol):
        """One connection."""

        deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._await_request()
            if len(waiting) > MOST_WAITING or len(self.connections) > most:
                next(iter(waiting)).give_up()

        def connection_lost(self, exc: Exception | None) -> None:
            self._request_came()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.transport.get_protocol() is not self:  # now a websocket
                self._request_came()
            elif self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
                self._await_request()
            else:
                self._request_came()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if not self.transport.is_closing():
                waiting[self] = None  # uvicorn closes it soon unless another request begins

        def give_up(self) -> None:
            """Drop the connection."""
            self._request_came()
            self.transport.abort()

        def _await_request(self) -> None:
            waiting.setdefault(self)
            if self.deadline is None:
                self.deadline = self.loop.call_later(REQUEST_SECONDS, self.give_up)

        def _request_came(self) -> None:
            waiting.pop(self, None)
            if self.deadline is not None:
                self.deadline.cancel()
                self.deadline = None

    return BoundedProtocol


def _bounded_websocket(waiting: OrderedDict[Waiting, None]) -> type[asyncio.Protocol]:
    from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
    from websockets.http11 import Request

    class BoundedWebSocket(WebSocketsSansIOProtocol):
        """One websocket."""

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            waiting[self] = None

        def connection_lost(self, exc: Exception | None) -> None:
            self.greeted()
            super().connection_lost(exc)

        def handle_connect(self, event: Request) -> None:
            super().handle_connect(event)
            if not self.close_sent:  # otherwise it is no websocket, and has no scope
                self.scope["state"][CONNECTION] = self

        def greeted(self) -> None:
            """Keep the connection, which has shown whose it is."""
            waiting.pop(self, None)

        def part(self) -> None:
            """Drop the connection soon: the visitor can read why, but need not agree."""
            self.loop.call_later(PARTING_SECONDS, self.give_up)

        def give_up(self) -> None:
            """Drop the connection."""
            waiting.pop(self, None)
            self.transport.abort()

    return BoundedWebSocket


def out_of_files(error: BaseException | None) -> bool:
    """Whether the process, or the system, may open no more files."""
    return isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)


class OnceAMinute(logging.Filter):
    """Lets the same complaint pass once in `WARNING_SECONDS`: visitors can cause any number."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Let each pass the first time."""
        super().__init__()
        self._clock = clock
        self._last: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is new; what is no fault of ours loses its traceback."""
        error = record.exc_info[1] if record.exc_info else None
        if out_of_files(error):
            record.levelno, record.levelname = logging.WARNING, "WARNING"
            record.msg, record.args = OUT_OF_FILES, ()
        if out_of_files(error) or isinstance(error, UnicodeDecodeError):
            record.exc_info, error = None, None
        kind = (str(record.msg), type(error).__name__)
        now = self._clock()
        if now - self._last.get(kind, -WARNING_SECONDS) < WARNING_SECONDS:
            return False
        self._last[kind] = now
        return True


ONCE_A_MINUTE = OnceAMinute()


def quiet_errors(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Say the expected in one line, as exception handler of the event loop.

    asyncio prints a traceback for each connection that cannot be accepted, thousands a second.
    """
    error = context.get("exception")
    if isinstance(error, ConnectionError):
        return  # the other side has gone
    if out_of_files(error):
        LOG.warning(OUT_OF_FILES)
        return
    loop.default_exception_handler(context)
