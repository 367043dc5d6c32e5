"""Access checks before any request reaches the application.

Another site can make a browser send requests here, and by DNS rebinding even read the answers.
These checks prevent it, in this order:

1. The Host header must be one of our names (a rebound name is the attacker's).
2. The Origin header, if present, must match the Host header.
3. With an access token (required to listen beyond this machine) its cookie must be present;
   guesses of the token are limited.
4. Requests that change something need a JSON body and the session token in a header; other sites
   can send neither.

The size of bodies is limited. Every answer carries a content security policy.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import ipaddress
import re
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.websockets import WebSocketDisconnect

from rookery.web.transport.quota import Buckets, QuotaError, Quotas

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
WILDCARDS = frozenset({"0.0.0.0", "::", ""})
LARGEST_BODY = 64 * 1024  # bytes
SESSION_COOKIE = "rookery_session"
ACCESS_COOKIE = "rookery_access"
TOKEN_HEADER = "x-rookery-token"
_HOST = re.compile(
    r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::(?P<port>[0-9]{1,5}))?"
)
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

# Chessground's style sheets contain pieces and board as data: images. Its drawings have one style
# attribute ("color-scheme:light only"), which is allowed by its hash.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "style-src-attr 'unsafe-hashes' 'sha256-SyXRxMCl6H7Kgy9uTmu1UZqVBsRmMBF4sHRiTO3FQc0='; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)


@dataclass
class Access:
    """Secrets and host names of one server process."""

    hosts: frozenset[str] = LOOPBACK  # lower case, without port
    any_address: bool = False  # accept every numeric address as host
    token: str = ""  # access token; "": not required
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    tickets: set[str] = field(default_factory=set)  # each stands for the token once

    def session_token(self, session: str) -> str:
        """Return the token that a session must send to change something."""
        return hmac.new(self.secret, b"session " + session.encode(), hashlib.sha256).hexdigest()

    def new_session(self) -> str:
        """Return a random, signed session name."""
        name = secrets.token_urlsafe(18)
        return f"{name}.{self._signature(name)}"

    def is_session(self, text: str) -> bool:
        """Whether the signature of a session name is valid."""
        name, _, signature = text.partition(".")
        return hmac.compare_digest(signature.encode(), self._signature(name).encode())

    def _signature(self, name: str) -> str:
        return hmac.new(self.secret, b"name " + name.encode(), hashlib.sha256).hexdigest()[:24]

    def access_cookie(self) -> str:
        """Return the cookie of browsers that have sent the access token."""
        return hmac.new(self.secret, b"access " + self.token.encode(), hashlib.sha256).hexdigest()

    def new_ticket(self) -> str:
        """A word that admits one browser once: addresses in command lines are visible to others."""
        ticket = secrets.token_urlsafe(18)
        self.tickets.add(ticket)
        return ticket

    def admits(self, shown: str) -> bool:
        """Whether a word is the access token, or a ticket, which it uses up."""
        if shown in self.tickets:
            self.tickets.discard(shown)
            return True
        return hmac.compare_digest(shown.encode(), self.token.encode())

    def host_allowed(self, header: str) -> bool:
        """Whether a Host header names this server, with any port (of a tunnel, say)."""
        name = host_name(header)
        return name in self.hosts or (self.any_address and is_address(name))


def make_access(host: str, token: str, names: Iterable[str] = ()) -> Access:
    """Return the access for a listening address; beyond this machine it requires a token."""
    name = host.strip("[]").lower()
    if name not in LOOPBACK and not token:
        raise ValueError(
            f"--host {host!r} lets other machines connect; give them a password of at least 8 "
            "characters in the environment variable ROOKERY_TOKEN or by --token-file FILE (or "
            "--token WORD), or omit --host"
        )
    if token and len(token) < 8:
        raise ValueError("the access token is shorter than 8 characters; choose a longer one")
    own = socket.gethostname().lower() if name in WILDCARDS else name
    hosts = LOOPBACK | {own} | {extra.lower() for extra in names}
    # A rebound name is never numeric, so numeric addresses are safe with a wildcard.
    return Access(frozenset(hosts), name in WILDCARDS, token)


def host_name(header: str) -> str:
    """Return the lower-case name in a Host header, "" if it is malformed."""
    found = _HOST.fullmatch(header)
    if found is None or int(found["port"] or 0) > 65535:
        return ""
    return (found["address"] or found["name"]).lower()


def is_address(name: str) -> bool:
    """Whether a name is a numeric address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def header(scope: Scope, name: str) -> str:
    """Return a request header, "" if absent."""
    wanted = name.encode()
    return next((v.decode("latin-1") for k, v in scope["headers"] if k == wanted), "")


def cookie(scope: Scope, name: str) -> str:
    """Return a cookie of a request, "" if absent or malformed."""
    try:
        found = SimpleCookie(header(scope, "cookie")).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""


class Guard:
    """The outermost layer of the application."""

    def __init__(
        self, application: Application, access: Access, quotas: Quotas | None = None
    ) -> None:
        """Protect `application`."""
        self._application = application
        self._access = access
        quotas = quotas or Quotas()
        self._guesses = Buckets("access tokens from this address", quotas.guesses)
        self._all_guesses = Buckets("access tokens", quotas.guesses_in_all)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or refuse it with one line."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        try:
            refusal = self._refusal(scope)
        except QuotaError as error:
            wait = ((b"retry-after", str(error.seconds).encode()),)
            await _refuse(scope, receive, send, 429, str(error), wait)
            return
        if refusal is not None:
            await _refuse(scope, receive, send, *refusal)
            return
        # A visitor may leave at any time; what the application cannot tell it is no error.
        with contextlib.suppress(ClientDisconnect, WebSocketDisconnect, ConnectionError):
            if scope["type"] == "websocket":
                await self._application(scope, receive, send)
            else:
                await self._limited(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        host, origin = header(scope, "host"), header(scope, "origin")
        if not self._access.host_allowed(host):
            return 403, f"this server is not {host[:80]!r}; open the address that it printed"
        socket_asked = scope["type"] == "websocket"
        if (origin or socket_asked) and not _same_origin(origin, host):
            return 403, f"requests from {origin[:80]!r} are refused; open the page itself"
        if header(scope, "sec-fetch-site") == "cross-site" and scope.get("path") != "/":
            return 403, "requests from other sites are refused; open the page itself"
        if not self._admitted(scope):
            return 401, "the access token is missing; append ?token=... to the address"
        if socket_asked or scope["method"] in SAFE_METHODS:
            return None
        return self._change_refusal(scope)

    def _admitted(self, scope: Scope) -> bool:
        """Whether the browser has sent the access token; the route / checks it itself.

        Guesses of the token (or of the cookie) are limited, also those that are right.
        """
        if not self._access.token:
            return True
        shown = cookie(scope, ACCESS_COOKIE)
        if hmac.compare_digest(shown.encode(), self._access.access_cookie().encode()):
            return True
        first = scope.get("path") == "/"
        if shown or (first and b"token=" in scope.get("query_string", b"")):
            self._all_guesses.take("")
            self._guesses.take((scope.get("client") or ("unknown", 0))[0])
        return first

    def _change_refusal(self, scope: Scope) -> tuple[int, str] | None:
        session = cookie(scope, SESSION_COOKIE)
        shown = header(scope, TOKEN_HEADER)
        expected = self._access.session_token(session)
        if not session or not hmac.compare_digest(shown.encode(), expected.encode()):
            return 403, f"the header {TOKEN_HEADER} is missing or wrong; reload the page"
        kind = header(scope, "content-type").partition(";")[0].strip().lower()
        if scope["method"] != "DELETE" and kind != "application/json":
            return 403, f"a body of type {kind[:40]!r} is refused; send application/json"
        return None

    async def _limited(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward with a limit on the body, and add headers to the answer."""
        length = header(scope, "content-length")
        if length and (not length.isdigit() or int(length) > LARGEST_BODY):
            await _refuse(scope, receive, send, 413, f"more than {LARGEST_BODY} bytes are refused")
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > LARGEST_BODY:
                raise HTTPException(413, f"more than {LARGEST_BODY} bytes are refused")
            return message

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *HEADERS]}
            await send(message)

        await self._application(scope, counted, sent)


def _same_origin(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


async def _refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    status: int,
    text: str,
    more: Iterable[tuple[bytes, bytes]] = (),
) -> None:
    if scope["type"] == "websocket":
        await receive()  # websocket.connect
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    body = text.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *more,
        *HEADERS,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
