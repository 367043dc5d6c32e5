"""Routes of the server.

GET    /                         the page; with ?token=... the login of other machines
GET    /static/...               its files; /static/blind/ those of rookery.blind
GET    /api/session              session token, players, runs
GET    /api/players              players
POST   /api/games                new game -> its id
GET    /api/games/ID/pgn         the game as PGN
DELETE /api/games/ID             close the game; it stays in the library
GET    /api/library              this visitor's kept games
GET    /api/library/pgn          all of them as PGN
GET    /api/library/ID/pgn       one of them
DELETE /api/library/ID           delete it
WS     /api/games/ID/socket      the game itself; first {"type": "hello", "token": ...}
WS     /api/analysis/socket      an analysis board, as analysis.py describes
WS     /api/blind/socket         games of blind chess, as blind.py describes
GET    /api/networks             players with a network to look into
POST   /api/insight              what networks see in a position, as insight.py describes
POST   /api/insight/tree         the search tree of one of them
POST   /api/pgn                  a PGN game with comments and variations, as a tree
GET    /api/runs, /api/runs/NAME training runs
POST   /api/demo/train           go on with the training of a demo that is over

Errors are JSON: {"error": text}. Too many requests get 429 with Retry-After in seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket

from rookery import __version__
from rookery.web.analyse.board import Analysis
from rookery.web.analyse.facts import Facts
from rookery.web.analyse.insight_routes import InsightRoutes, json_object
from rookery.web.analyse.pgn_tree import Node, tree_of_pgn
from rookery.web.blind import BlindRooms, serve_blind
from rookery.web.choices import Choices
from rookery.web.games.library import VISITOR, Library, summary
from rookery.web.games.records import LONGEST_PGN, standard_game, start_game
from rookery.web.games.rooms import Rooms
from rookery.web.games.shelf import Shelf
from rookery.web.games.table import Table
from rookery.web.games.table_json import pgn_of_record, record_of
from rookery.web.games.thinking import Searches
from rookery.web.runs import Runs
from rookery.web.transport.arrived import read_json
from rookery.web.transport.conversation import converse, greeted, refuse, trouble
from rookery.web.transport.files import FilesInMemory
from rookery.web.transport.guard import ACCESS_COOKIE, SESSION_COOKIE, Access, Guard
from rookery.web.transport.outbox import Outbox
from rookery.web.transport.quota import Buckets, Clamps, QuotaError, Quotas

STATIC = Path(__file__).parent / "static"
BLIND_STATIC = Path(__file__).parents[1] / "blind" / "static"
ENGINES = ("rookery", "stockfish")  # that analyse, the first that is installed
MOST_BOARDS = 3  # analysis boards of one session
SHOWN_HEADERS = ("White", "Black", "Result", "Event", "Date")
VISITOR_COOKIE = "rookery_visitor"
VISITOR_SECONDS = 400 * 24 * 3600  # the longest that browsers keep a cookie
LARGEST_FRAME = 16 * 1024  # bytes of one websocket message; uvicorn closes with 1009 beyond it
Handler = Callable[[Request], Awaitable[Response]]


class Server:
    """The application and its state."""

    def __init__(
        self,
        access: Access,
        choices: Choices,
        runs: Path,
        *,
        start: dict[str, Any] | None = None,
        shelf: Shelf | None = None,
        workers: int = 0,
        quotas: Quotas | None = None,
        clamps: Clamps | None = None,
        games: Path | None = None,
        more: threading.Event | None = None,
    ) -> None:
        """Set up the application.

        `runs` is the folder of training runs; `start` is what the page shows first (`tab`,
        `player`, `color`, `run`, `note`); `workers` is the number of concurrent searches (0: one
        per core); `games` is the folder in which games are kept (None: in memory only); `more` is
        set when a visitor wants the demo to train on (None: there is no demo).
        """
        self.quotas = quotas = quotas or Quotas()
        self.access, self.choices, self.runs = access, choices, Runs(runs)
        self.start = start if start is not None else {}  # a demo changes it
        self._more = more
        self.searches = Searches(shelf or Shelf(), workers)
        self.facts = Facts()
        self.blind_rooms = BlindRooms()
        self.insights = InsightRoutes(choices)
        self._files, self._blind_files = FilesInMemory(STATIC), FilesInMemory(BLIND_STATIC)
        self._boards: Counter[str] = Counter()  # open analysis boards by session
        self.library = None if games is None else Library(games)
        self.rooms = Rooms(choices, self.searches, clamps or Clamps(), quotas, self.library)
        self._requests = Buckets("requests", quotas.requests)
        self._sessions = Buckets("sessions", quotas.sessions)
        self._games = Buckets("new games", quotas.games)
        self._message_rate = quotas.messages

    def application(self) -> Guard:
        """Return the ASGI application behind its guard."""
        application = Starlette(routes=self.routes(), lifespan=self._lifespan)
        return Guard(application, self.access, self.quotas)

    def routes(self) -> list[BaseRoute]:
        """Return all that can be asked for."""
        games = "/api/games/{id:str}"
        return [
            Route("/", self.page),
            Route("/api/session", self._checked(self.session)),
            Route("/api/players", self._checked(self.players)),
            Route("/api/games", self._checked(self.new_game), methods=["POST"]),
            Route(f"{games}/pgn", self._checked(self.game_pgn)),
            Route(games, self._checked(self.drop_game), methods=["DELETE"]),
            WebSocketRoute(f"{games}/socket", self.socket),
            WebSocketRoute("/api/analysis/socket", self.analysis),
            WebSocketRoute("/api/blind/socket", self.blind),
            Route("/api/pgn", self._checked(self.read_pgn), methods=["POST"]),
            Route("/api/networks", self._checked(self.insights.networks)),
            Route("/api/insight", self._checked(self.insights.see), methods=["POST"]),
            Route("/api/insight/tree", self._checked(self.insights.tree), methods=["POST"]),
            Route("/api/library", self._checked(self.list_games)),
            Route("/api/library/pgn", self._checked(self.kept_pgn)),
            Route("/api/library/{id:str}/pgn", self._checked(self.kept_pgn)),
            Route("/api/library/{id:str}", self._checked(self.forget_game), methods=["DELETE"]),
            Route("/api/runs", self._checked(self.list_runs)),
            Route("/api/runs/{name:str}", self._checked(self.show_run)),
            Route("/api/demo/train", self._checked(self.train_on), methods=["POST"]),
            Mount("/static/blind", self._blind_files),
            Mount("/static", self._files),
        ]

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        sweeper = asyncio.create_task(self.rooms.sweep())
        try:
            yield
        finally:
            sweeper.cancel()
            self.rooms.close()
            await asyncio.to_thread(self.blind_rooms.close)
            await self.searches.close()

    def _checked(self, handler: Handler) -> Handler:
        """Apply the rate limit and convert errors to JSON."""

        async def answer(request: Request) -> Response:
            try:
                self._requests.take(self._session(request) or _address(request))
                return await handler(request)
            except QuotaError as error:
                wait = {"retry-after": str(error.seconds)}
                body = {"error": str(error), "seconds": error.seconds}
                return JSONResponse(body, 429, headers=wait)
            except KeyError:
                return JSONResponse({"error": "there is no such game or run"}, 404)
            except ValueError as error:
                return JSONResponse({"error": " ".join(str(error).split())[:400]}, 400)

        return answer

    # --- The page ---

    async def page(self, request: Request) -> Response:
        """Serve the page, or check the access token."""
        access = self.access
        if access.token:
            shown = request.query_params.get("token", "")
            if access.admits(shown):
                admitted = RedirectResponse("/", 303)
                _set_cookie(admitted, ACCESS_COOKIE, access.access_cookie())
                return admitted
            known = request.cookies.get(ACCESS_COOKIE, "")
            if not hmac.compare_digest(known.encode(), access.access_cookie().encode()):
                text = "The access token is missing: append ?token=... to this address."
                return PlainTextResponse(text, 401)
        answer = self._files.response("index.html")
        answer.headers["cache-control"] = "no-cache"
        return answer

    async def session(self, request: Request) -> Response:
        """Start or continue a session."""
        session = self._session(request)
        fresh = not session
        if fresh:
            self._sessions.take(_address(request))
            session = self.access.new_session()
        answer = JSONResponse(
            {
                "token": self.access.session_token(session),
                "version": __version__,
                "start": self.start,
                "players": await self._players(),
                "runs": await asyncio.to_thread(self.runs.names),
            },
            headers={"cache-control": "no-store"},
        )
        if fresh:
            _set_cookie(answer, SESSION_COOKIE, session)
        visitor = _visitor(request) or secrets.token_urlsafe(18)
        _set_cookie(answer, VISITOR_COOKIE, visitor, VISITOR_SECONDS)
        return answer

    def _session(self, request: HTTPConnection) -> str:
        """Return the session of a browser, "" if it has no valid one."""
        text = request.cookies.get(SESSION_COOKIE, "")
        return text if self.access.is_session(text) else ""

    async def players(self, _: Request) -> Response:
        """Return the players."""
        return JSONResponse({"players": await self._players()})

    async def _players(self) -> list[dict[str, object]]:
        found = await asyncio.to_thread(self.choices.all)
        return [choice.summary() for choice in found.values()]

    # --- Games ---

    async def new_game(self, request: Request) -> Response:
        """Start a game."""
        session = self._session(request)
        wishes = await json_object(request)
        if "resume" not in wishes:
            self._games.take(session)
        table = self.rooms.open(session, wishes, _visitor(request))
        return JSONResponse({"id": table.id}, 201)

    async def game_pgn(self, request: Request) -> Response:
        """Download a game."""
        table = self.rooms.find(request.path_params["id"], self._session(request))
        return _pgn(pgn_of_record(record_of(table)))

    async def drop_game(self, request: Request) -> Response:
        """Close a game."""
        self.rooms.put_away(self.rooms.find(request.path_params["id"], self._session(request)))
        return Response(status_code=204)

    # --- Kept games ---

    async def list_games(self, request: Request) -> Response:
        """Return the visitor's kept games, the last changed first."""
        found = await self._kept(request)
        return JSONResponse(
            {"kept": self.library is not None, "games": [summary(record) for record in found]}
        )

    async def kept_pgn(self, request: Request) -> Response:
        """Download one kept game, or all."""
        wanted = request.path_params.get("id")
        found = await self._kept(request)
        if wanted is not None:
            found = [record for record in found if record["id"] == wanted]
        if not found:
            raise KeyError(wanted)
        return _pgn("\n".join(pgn_of_record(record) for record in found))

    async def forget_game(self, request: Request) -> Response:
        """Delete a kept game."""
        if self.library is None:
            raise KeyError(request.path_params["id"])
        await asyncio.to_thread(self.library.delete, _visitor(request), request.path_params["id"])
        return Response(status_code=204)

    async def _kept(self, request: Request) -> list[dict[str, Any]]:
        if self.library is None:
            return []
        await asyncio.to_thread(self.rooms.flush)
        return await asyncio.to_thread(self.library.games, _visitor(request))

    async def socket(self, socket: WebSocket) -> None:
        """Connect a client to a game."""
        session = self._session(socket)
        await socket.accept()
        try:
            known = await greeted(socket, session, self.access)
            table = self.rooms.find(socket.path_params["id"], session) if known else None
        except KeyError:
            table = None
        if table is None:
            await refuse(socket, "no such game, or no hello with the token")
            return
        found = table
        outbox = Outbox()

        def handle(text: str) -> None:
            try:
                act(found, read_json(text), outbox)
            except (ValueError, RecursionError) as error:
                outbox.put(trouble(error))
                outbox.put(found.state())  # the page may show a move that was rejected

        found.join(outbox)
        try:
            await converse(socket, outbox, handle, self._message_rate)
        finally:
            found.leave(outbox)

    async def analysis(self, socket: WebSocket) -> None:
        """Connect a client to an analysis board of its own."""
        session = self._session(socket)
        await socket.accept()
        engine = next((name for name in ENGINES if name in self.choices.all()), None)
        if engine is None or not await greeted(socket, session, self.access):
            await refuse(socket, "no engine to analyse with, or no hello with the token")
            return
        if self._boards[session] >= MOST_BOARDS:
            await refuse(socket, "no engine for so many analysis boards; close one")
            return
        self._boards[session] += 1
        loading = asyncio.create_task(asyncio.to_thread(self.facts.load))
        outbox = Outbox()
        board = Analysis(self.choices.all()[engine].spec, self.searches, self.facts, outbox)
        try:
            await converse(
                socket, outbox, lambda text: board.act(read_json(text)), self._message_rate
            )
        finally:
            board.close()
            self._boards[session] -= 1
            await loading

    async def blind(self, socket: WebSocket) -> None:
        """Connect a client to its games of blind chess."""
        session = self._session(socket)
        await socket.accept()
        if await greeted(socket, session, self.access):
            await serve_blind(socket, session, self.blind_rooms, self._message_rate)
        else:
            await refuse(socket, "no hello with the token")

    async def read_pgn(self, request: Request) -> Response:
        """Return a PGN game with its comments and variations as a tree; or one position."""
        sent = await json_object(request)
        if "fen" in sent:
            start = Node(-1, fen=standard_game(start_game(sent["fen"])).fen())
            return JSONResponse({"headers": {}, "nodes": [start.to_json()]})
        text = sent.get("pgn")
        if not isinstance(text, str) or len(text) > LONGEST_PGN:
            raise ValueError(f"the PGN must be a string of at most {LONGEST_PGN} characters")
        tree = await asyncio.to_thread(tree_of_pgn, text)
        headers = {name: tree.headers.get(name, "")[:80] for name in SHOWN_HEADERS}
        return JSONResponse({"headers": headers, "nodes": [node.to_json() for node in tree.nodes]})

    # --- Runs ---

    async def list_runs(self, _: Request) -> Response:
        """Return a summary of all runs."""
        return JSONResponse({"runs": await asyncio.to_thread(self.runs.overview)})

    async def show_run(self, request: Request) -> Response:
        """Return one run."""
        name = request.path_params["name"]
        run = await asyncio.to_thread(self.runs.read, name)
        demo = self.start if self.start.get("run") == name else {}
        told = {key: demo.get(key) for key in ("stage", "note")}
        return JSONResponse({**run, **told, "more": self._more is not None})

    async def train_on(self, request: Request) -> Response:
        """Let a demo that is over train on."""
        await json_object(request)
        if self._more is None or self.start.get("stage") != "done":
            raise ValueError("there is no finished demo that could train on")
        self.start["stage"] = "train"
        self._more.set()
        return JSONResponse({})


def act(table: Table, message: object, outbox: Outbox) -> None:
    """Execute a message of the page."""
    if not isinstance(message, dict):
        raise ValueError("a message must be a JSON object")
    match message.get("type"):
        case "move":
            table.move(message.get("move"), message.get("ply"))
        case "takeback":
            table.take_back()
        case "resign":
            table.resign()
        case "claim":
            table.claim()
        case "draw":
            table.offer_draw()
        case "hint":
            table.hint()
        case "now":
            table.move_now()
        case "pause":
            table.pause(message.get("paused") is True)
        case "pace":
            table.set_pace(message.get("seconds"))
        case "ping":
            outbox.put({"type": "pong"})
        case other:
            raise ValueError(f"unknown message {str(other)[:40]!r}")


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else "unknown"


def _visitor(request: HTTPConnection) -> str:
    """Return the name of a browser, which outlives sessions; "" if it has none yet."""
    text = request.cookies.get(VISITOR_COOKIE, "")
    return text if VISITOR.fullmatch(text) else ""


def _set_cookie(answer: Response, name: str, value: str, seconds: int | None = None) -> None:
    answer.set_cookie(name, value, seconds, httponly=True, samesite="strict", path="/")


def _pgn(text: str) -> Response:
    headers = {"content-disposition": 'attachment; filename="rookery-games.pgn"'}
    return Response(text, headers=headers, media_type="application/x-chess-pgn")
