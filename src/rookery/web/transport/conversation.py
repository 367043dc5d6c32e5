"""One websocket: its first message, and the messages after it in both directions."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from collections.abc import Callable
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from rookery.web.transport.arrived import read_json
from rookery.web.transport.connections import CONNECTION
from rookery.web.transport.guard import Access
from rookery.web.transport.outbox import Outbox
from rookery.web.transport.quota import Buckets, QuotaError, Rate

HELLO_SECONDS = 10.0
POLICY_VIOLATION = 1008


async def greeted(socket: WebSocket, session: str, access: Access) -> bool:
    """Whether the first message has the session's token."""
    try:
        hello = read_json(await asyncio.wait_for(socket.receive_text(), HELLO_SECONDS))
        shown = hello["token"]
        expected = access.session_token(session)
        known = bool(session) and hmac.compare_digest(shown.encode(), expected.encode())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False  # a malformed message
    except (TimeoutError, WebSocketDisconnect):
        return False
    if known and (connection := _connection(socket)) is not None:
        connection.greeted()
    return known


async def refuse(socket: WebSocket, reason: str) -> None:
    """Close a connection that may not go on."""
    await _close(socket, POLICY_VIOLATION, reason)


async def _close(socket: WebSocket, code: int = 1000, reason: str = "") -> None:
    """Close a connection, unless it is closed already."""
    with contextlib.suppress(RuntimeError, WebSocketDisconnect):
        await socket.close(code, reason)
    if (connection := _connection(socket)) is not None:
        connection.part()


def _connection(socket: WebSocket) -> Any:
    """Return our protocol below a websocket; None if another server runs the application."""
    return socket.scope.get("state", {}).get(CONNECTION)


async def converse(
    socket: WebSocket, outbox: Outbox, handle: Callable[[str], None], rate: Rate
) -> None:
    """Send the outbox and handle messages, at most at `rate`, until the connection closes."""
    sender = asyncio.create_task(outbox.run(socket))
    listener = asyncio.create_task(_listen(socket, outbox, handle, rate))
    try:
        await asyncio.wait({sender, listener}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sender, listener):
            task.cancel()
        await asyncio.gather(sender, listener, return_exceptions=True)
        await _close(socket)


async def _listen(
    socket: WebSocket, outbox: Outbox, handle: Callable[[str], None], rate: Rate
) -> None:
    bucket = Buckets("messages", rate)
    while True:
        try:
            text = await socket.receive_text()
        except (WebSocketDisconnect, KeyError):  # KeyError: a binary message
            return
        try:
            bucket.take("")
            handle(text)
        except QuotaError as error:
            outbox.put({"type": "error", "text": str(error), "seconds": error.seconds})
        except (ValueError, RecursionError) as error:
            outbox.put(trouble(error))


def trouble(error: Exception) -> dict[str, Any]:
    """Return an error as a message for the page."""
    return {"type": "error", "text": " ".join(str(error).split())[:400]}
