"""A bounded queue of messages for one websocket.

A slow client gets fewer thoughts, since a new one replaces a waiting one; a client that does not
read at all is disconnected.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

MOST_WAITING = 100  # messages
SEND_SECONDS = 10.0
GOING_AWAY = 1001
TRY_AGAIN_LATER = 1013


class Outbox:
    """Messages for one connection, sent by `run`."""

    def __init__(self) -> None:
        """Start empty."""
        self._waiting: deque[dict[str, Any]] = deque()
        self._thought: dict[str, Any] | None = None
        self._ready = asyncio.Event()
        self._ending: tuple[int, str] | None = None

    def put(self, message: dict[str, Any]) -> None:
        """Queue a message that must arrive."""
        if message["type"] == "state" and self._thought is not None:
            # Keep the last thought about the previous position in order.
            self._waiting.append(self._thought)
            self._thought = None
        self._waiting.append(message)
        if len(self._waiting) > MOST_WAITING:
            self._waiting.clear()
            self._ending = (TRY_AGAIN_LATER, "too slow")
        self._ready.set()

    def replace(self, message: dict[str, Any]) -> None:
        """Queue a message that replaces a waiting one of its kind."""
        self._thought = message
        self._ready.set()

    def end(self, reason: str) -> None:
        """Close the connection after the waiting messages."""
        self._ending = (GOING_AWAY, reason)
        self._ready.set()

    async def run(self, connection: WebSocket) -> None:
        """Send messages until the end."""
        while True:
            await self._ready.wait()
            self._ready.clear()
            while self._waiting or self._thought is not None:
                if self._waiting:
                    message = self._waiting.popleft()
                else:
                    message, self._thought = self._thought or {}, None
                text = json.dumps(message, separators=(",", ":"))
                await asyncio.wait_for(connection.send_text(text), SEND_SECONDS)
            if self._ending is not None:
                await connection.close(*self._ending)
                return
