"""Bounds on connections: how long a request may take to arrive, and how many may be open.

uvicorn waits for ever for the rest of a request. Here the headers and the body of a request must
arrive within `REQUEST_SECONDS`, and of the connections that still owe us a request only the newest
`MOST_WAITING` are kept: a browser sends its request at once, so those that are dropped are not its.
All connections together leave enough of the process's file descriptors for files and engines.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

REQUEST_SECONDS = 10.0  # from the first byte (or the connection) to the end of the body
MOST_WAITING = 512  # connections without a complete request
MOST_CONNECTIONS = 2000
RESERVED_DESCRIPTORS = 24  # for files and engines, even if the limit is very low
BACKLOG = 64  # connections accepted in one turn of the event loop
WARNING_SECONDS = 60.0  # between two warnings of the same kind

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
    return max(4, min(MOST_CONNECTIONS, soft - used - RESERVED_DESCRIPTORS))


def bounded_protocol(most: int) -> type[asyncio.Protocol]:
    """Uvicorn's HTTP protocol with these bounds; it is optional and imported only here."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    waiting: OrderedDict[Any, None] = OrderedDict()  # connections that owe a request, oldest first

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


def quiet_errors(
    clock: Callable[[], float] = time.monotonic,
) -> Callable[[Any, dict[str, Any]], None]:
    """An exception handler for the event loop that says the expected in one line.

    asyncio prints a traceback for each connection that cannot be accepted, thousands a second.
    """
    last = -WARNING_SECONDS

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal last
        error = context.get("exception")
        if isinstance(error, ConnectionError):
            return  # the other side has gone
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            if clock() - last >= WARNING_SECONDS:
                last = clock()
                LOG.warning("too many open files; raise the limit with 'ulimit -n'")
            return
        loop.default_exception_handler(context)

    return handle
