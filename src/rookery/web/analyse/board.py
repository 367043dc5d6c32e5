"""The analysis board: any position of any game, an engine that thinks about it, and the review.

One websocket is one board. The page keeps the tree of moves and names the position on show by its
start and its moves; the server, which knows the rules, answers with what is legal there, with the
engine's lines while it thinks, and with the verdicts of a review. Everything stops when the socket
is closed.

    position  start, moves, perhaps one more move as it was `typed`
                             -> position: fen, legal moves, the last move in SAN, opening, tablebase
    think     lines (0: off) -> thought, repeatedly, about the last position
    review    start, moves   -> verdict for each position (the last first), again for doubtful ones
                                (`again`: how many of how many), then reviewed

The engine does not think while it reviews: on one core both would take turns, and the review takes
seconds only.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Coroutine
from typing import Any

import chess

from rookery._core import Game
from rookery.data.notation import read_move, sans_of
from rookery.players.base import Limits
from rookery.players.offered_levels import FULL
from rookery.players.thinking import Thought
from rookery.report.review import (
    NODES,
    SECOND_NODES,
    Judgement,
    Verdict,
    final_verdict,
    judge,
    look_again,
    player_accuracy,
    positions_of,
    second_looks,
    verdict_of_line,
)
from rookery.web.analyse.facts import Facts
from rookery.web.games.records import (
    SHOWN_PLIES,
    color_name,
    destinations,
    fens_of,
    game_of_moves,
    standard_game,
    thought_to_json,
)
from rookery.web.games.thinking import Searches, Wish
from rookery.web.transport.outbox import Outbox

Work = Callable[[], Coroutine[Any, Any, None]]
MOST_LINES = 5
MOST_REVIEWED = 600  # plies
# Seconds of one search after another about the same position: other games get their turn between
# them, and the engine's table makes each continue where the last one ended.
SLICES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 30.0, 30.0)


class Analysis:
    """One board."""

    def __init__(self, engine: str, searches: Searches, facts: Facts, outbox: Outbox) -> None:
        """Think with the player `engine`."""
        self._engine, self._searches, self._facts, self._outbox = engine, searches, facts, outbox
        self._id = secrets.token_urlsafe(12)
        self._game = Game()
        self._lines = 0
        self._thinking: asyncio.Task[None] | None = None
        self._reviewing: asyncio.Task[None] | None = None

    def act(self, message: object) -> None:
        """Execute a message of the page."""
        if not isinstance(message, dict):
            raise ValueError("a message must be a JSON object")
        match message.get("type"):
            case "position":
                game = standard_game(
                    game_of_moves(message.get("start", ""), message.get("moves", []))
                )
                if isinstance(typed := message.get("typed"), str):
                    game.push(read_move(chess.Board(game.fen()), typed))
                self._game = game
                self._outbox.put(self._position(message.get("key")))
                self._think_again()
            case "think":
                lines = message.get("lines")
                self._lines = min(MOST_LINES, max(0, lines)) if isinstance(lines, int) else 0
                self._think_again()
            case "review":
                game = standard_game(
                    game_of_moves(message.get("start", ""), message.get("moves", []))
                )
                if game.ply > MOST_REVIEWED:
                    raise ValueError(f"a game of more than {MOST_REVIEWED} plies is not reviewed")
                self._stop_review()
                self._reviewing = self._begin(lambda: self._review(game))
                self._think_again()
            case "stop-review":
                self._stop_review()
                self._think_again()
            case "ping":
                self._outbox.put({"type": "pong"})
            case other:
                raise ValueError(f"unknown message {str(other)[:40]!r}")

    def close(self) -> None:
        """Stop everything."""
        self._lines = 0
        self._stop_review()
        self._think_again()

    # --- Positions ---

    def _position(self, key: object) -> dict[str, Any]:
        game = self._game
        uci, san = last_move(game)
        outcome = game.outcome()
        return {
            "type": "position",
            "key": key if isinstance(key, int | str) else None,
            "fen": game.fen(),
            "san": san,
            "uci": uci,
            "turn": color_name(game.turn),
            "check": game.in_check,
            "dests": {} if outcome else destinations(game),
            "outcome": None if outcome is None else {"ending": outcome[0], "winner": outcome[1]},
            "opening": self._facts.opening(game),
            "book": self._facts.book_moves(game),
            "tablebase": self._facts.tablebase(game),
        }

    # --- Thinking ---

    def _think_again(self) -> None:
        if self._thinking is not None:
            self._thinking.cancel()
            self._thinking = None
        if self._lines and self._reviewing is None and self._game.outcome() is None:
            game, lines = self._game.copy(), self._lines
            self._thinking = self._begin(lambda: self._think(game, lines))

    async def _think(self, game: Game, lines: int) -> None:
        board = chess.Board(game.fen())
        deepest = 0

        def tell(thought: Thought) -> None:
            nonlocal deepest
            if thought.depth >= deepest and thought.lines:  # a new slice begins at depth 1
                deepest = thought.depth
                message = thought_to_json(board, thought, self._engine, "analysis")
                for line in message["lines"]:
                    line["fens"] = fens_of(board, line["moves"][: len(line["sans"])])
                self._outbox.replace(message)

        for seconds in SLICES:
            await self._search(game, Limits(movetime=seconds), lines, tell)

    async def _search(
        self, game: Game, limits: Limits, lines: int, tell: Callable[[Thought], None]
    ) -> None:
        wish = Wish(
            spec=self._engine,
            game_id=self._id,
            game=game.copy(),
            limits=limits,
            seed=0,
            settings=FULL,
            lines=min(lines, game.legal_count()),
        )
        await self._searches.begin(wish, tell).decision()

    # --- Review ---

    async def _review(self, game: Game) -> None:
        try:
            await self._look_at(game)
        finally:
            if self._reviewing is asyncio.current_task():  # not replaced by another
                self._reviewing = None
                self._think_again()

    async def _look_at(self, game: Game) -> None:
        moves = game.moves()
        games = positions_of(game.start_fen, moves)
        verdicts: list[Verdict] = [Verdict(0.0)] * len(games)

        async def look(ply: int, nodes: int, again: tuple[int, int] | None = None) -> None:
            verdicts[ply] = final_verdict(games[ply]) or await self._verdict(games[ply], nodes)
            message = verdict_json(games[ply], verdicts[ply])
            place = {"ply": ply, "of": len(games), "again": again}
            self._outbox.put({"type": "verdict", **place, **message})

        for ply in reversed(range(len(games))):
            await look(ply, NODES)
        doubtful = look_again(second_looks(verdicts, moves))
        for done, ply in enumerate(doubtful, start=1):
            await look(ply, SECOND_NODES, (done, len(doubtful)))
        judged = [judge(verdicts[p], verdicts[p + 1], move) for p, move in enumerate(moves)]
        self._outbox.put(
            {
                "type": "reviewed",
                "moves": [judgement_json(judgement) for judgement in judged],
                "accuracy": accuracies(game, judged),
                "engine": self._engine,
                "nodes": NODES,
            }
        )

    async def _verdict(self, game: Game, nodes: int) -> Verdict:
        latest: list[Thought] = []
        await self._search(game, Limits(nodes=nodes, movetime=5.0), 1, latest.append)
        await asyncio.sleep(0)  # the last report arrives as a callback of the loop
        return verdict_of_line(latest[-1].lines[0])

    def _stop_review(self) -> None:
        if self._reviewing is not None:
            self._reviewing.cancel()
            self._reviewing = None

    def _begin(self, work: Work) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(self._guarded(work))

    async def _guarded(self, work: Work) -> None:
        """Tell the page why something failed."""
        try:
            await work()
        except Exception as error:
            with contextlib.suppress(ValueError):
                text = " ".join(str(error).split())[:300]
                self._outbox.put({"type": "error", "text": f"{self._engine} failed: {text}"})


def last_move(game: Game) -> tuple[str, str]:
    """Return the last move in UCI and in SAN, "" if there is none."""
    if not game.ply:
        return "", ""
    before = game.copy()
    uci = before.pop()
    return uci, sans_of(chess.Board(before.fen()), [uci])[0]


def verdict_json(game: Game, verdict: Verdict) -> dict[str, Any]:
    """Convert a verdict to JSON; scores are White's."""
    sign = 1 if game.turn else -1
    board = chess.Board(game.fen())
    sans = sans_of(board, verdict.line[:SHOWN_PLIES])
    line = verdict.line[: len(sans)]
    return {
        "chance": round(verdict.chance if game.turn else 100.0 - verdict.chance, 2),
        "centipawns": None if verdict.centipawns is None else sign * verdict.centipawns,
        "mate": None if verdict.mate is None else sign * verdict.mate,
        "line": list(line),
        "sans": sans,
        "fens": fens_of(board, line),
    }


def judgement_json(judgement: Judgement) -> dict[str, Any]:
    """Convert a judgement to JSON."""
    return {
        "kind": judgement.kind,
        "loss": round(judgement.loss, 1),
        "centipawns": judgement.centipawns,
        "accuracy": round(judgement.accuracy, 1),
    }


def accuracies(game: Game, judged: list[Judgement]) -> dict[str, float | None]:
    """Return the accuracy of both players in per cent; None without a move."""
    first = Game(game.start_fen).turn
    sides = {first: judged[0::2], not first: judged[1::2]}
    found = {color_name(side): player_accuracy(moves) for side, moves in sides.items()}
    return {name: None if value is None else round(value, 1) for name, value in found.items()}
