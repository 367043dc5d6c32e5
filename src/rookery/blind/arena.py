"""Matches of blind chess: colour-swapped pairs, clocks, faults, records.

As in `rookery.arena`, the random streams of a game depend only on (seed, pair, game, side).
Every game begins from the start position; players differ by their random streams.
"""

from __future__ import annotations

import json
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import chess
from numpy.random import Generator

from rookery._core import STANDARD_BOARD, BlindGame, MoveError
from rookery.arena.game import game_rngs
from rookery.arena.pgn import StoredGame
from rookery.arena.results import Tally, describe, missing_games
from rookery.blind.players import BlindPlayer
from rookery.engines.workers import run_workers

Factory = Callable[[], BlindPlayer]


@dataclass(frozen=True)
class BlindSettings:
    """Everything about a match except its players."""

    games: int = 100
    seed: int = 0
    concurrency: int = 1
    seconds: float = 900.0  # on each clock, as on the server
    increment: float = 5.0  # added after each turn
    turn_limit: int = 0  # full turns; 0: none
    records: Path | None = None  # one JSON object a game


@dataclass
class BlindRecord:
    """One game; turns of both sides in order."""

    white: str
    black: str
    result: str = "*"
    reason: str = ""
    fault: str = ""  # kind and evidence, of `fault_white`
    fault_white: bool | None = None
    seconds: tuple[float, float] = (0.0, 0.0)  # thinking time of White and Black
    longest_turn: tuple[float, float] = (0.0, 0.0)
    turns: list[dict[str, Any]] = field(default_factory=list)


class BlindFault(Exception):
    """A player broke the rules, failed, or ran out of time."""

    def __init__(self, kind: str, evidence: str) -> None:
        """Name the kind (illegal, crash, time) and what happened."""
        super().__init__(f"{kind}: {evidence}")
        self.kind = kind


def play_blind_game(
    white: BlindPlayer,
    black: BlindPlayer,
    rngs: tuple[Generator, Generator],
    settings: BlindSettings,
) -> BlindRecord:
    """Play one game; a fault loses it."""
    game = BlindGame(turn_limit=settings.turn_limit)
    record = BlindRecord(white.name, black.name)
    players, clocks = (white, black), [settings.seconds, settings.seconds]
    spent, longest = [0.0, 0.0], [0.0, 0.0]
    side = 0
    try:
        for side in (0, 1):
            _guard(players[side].new_game, game.knowledge(side == 0), rngs[side])
        while not game.is_over:
            side = 0 if game.white_to_move else 1
            begin = time.perf_counter()
            record.turns.append(play_turn(game, players[side], rngs[side], clocks[side]))
            used = time.perf_counter() - begin
            spent[side] += used
            longest[side] = max(longest[side], used)
            clocks[side] -= used
            if clocks[side] <= 0:
                raise BlindFault("time", f"{-clocks[side]:.2f} s beyond the clock")
            clocks[side] += settings.increment
    except BlindFault as fault:
        record.fault, record.fault_white = str(fault), side == 0
        record.reason = fault.kind
        winner: bool | None = side == 1
    else:
        outcome = game.outcome()
        assert outcome is not None
        record.reason, winner = outcome
    record.result = "1/2-1/2" if winner is None else "1-0" if winner else "0-1"
    record.seconds = (round(spent[0], 3), round(spent[1], 3))
    record.longest_turn = (round(longest[0], 3), round(longest[1], 3))
    for side in (0, 1):
        won = None if winner is None else winner == (side == 0)
        try:
            players[side].game_over(game.knowledge(side == 0), won)
        except Exception as error:  # the result stands, whatever a bot's farewell does
            record.fault = record.fault or f"crash after the game: {error!r}"
    return record


def play_turn(game: BlindGame, player: BlindPlayer, rng: Generator, clock: float) -> dict[str, Any]:
    """Let a player sense and move; returns what happened, as records have it."""
    white = game.white_to_move
    square = _guard(player.choose_sense, game.knowledge(white), rng, clock)
    try:
        game.sense(square)
    except (MoveError, TypeError) as error:
        raise BlindFault("illegal", f"sense {square!r}: {error}") from None
    request = _guard(player.choose_move, game.knowledge(white), rng, clock)
    try:
        taken, capture = game.move(request)
    except (MoveError, TypeError) as error:
        raise BlindFault("illegal", f"request {request!r}: {error}") from None
    return turn_record(square, request, taken, capture)


def turn_record(
    sense: int | None, request: str | None, taken: str | None, capture: int | None
) -> dict[str, Any]:
    """Return one turn as records have it, with squares by name."""
    return {
        "sense": None if sense is None else chess.square_name(sense),
        "request": request,
        "taken": taken,
        "capture": None if capture is None else chess.square_name(capture),
    }


def _guard(call: Callable[..., Any], *arguments: Any) -> Any:
    """Turn any exception of a player into a fault."""
    try:
        return call(*arguments)
    except Exception as error:
        raise BlindFault("crash", f"{type(error).__name__}: {error}") from error


def run_blind_match(
    factories: tuple[Factory, Factory],
    names: tuple[str, str],
    settings: BlindSettings,
    progress: Callable[[Tally], None] | None = None,
    on_game: Callable[[BlindRecord], None] | None = None,
) -> dict[str, Any]:
    """Play a match and return the object that `rookery blind arena --json` prints.

    It has all keys of `rookery arena --json`. Ctrl-C ends the match; `interrupted` is then true
    and the games played so far count.
    """
    tally = Tally()
    tasks = iter(missing_games(settings.games, []))
    lock, abort = threading.Lock(), threading.Event()
    errors: list[BaseException] = []
    longest = {"first": 0.0, "second": 0.0}
    spent = {"first": 0.0, "second": 0.0}
    examples: dict[str, str] = {}

    def work() -> None:
        players: list[BlindPlayer] = []
        try:
            players.extend(factory() for factory in factories)
            while not abort.is_set():
                with lock:
                    task = next(tasks, None)
                if task is None:
                    return
                order = (0, 1) if task[1] == 0 else (1, 0)
                white, black = (players[i] for i in order)
                rngs = game_rngs(settings.seed, *task)
                record = play_blind_game(white, black, rngs, settings)
                with lock:
                    if not abort.is_set():  # engines of an interrupted match are killed
                        store(record, *task)
        except BaseException as error:
            errors.append(error)
            abort.set()
        finally:
            for player in players:
                player.close()

    def store(record: BlindRecord, pair: int, index: int) -> None:
        tally.add(_stored(record, pair, index))
        for key, side in (("first", index), ("second", 1 - index)):
            longest[key] = max(longest[key], record.longest_turn[side])
            spent[key] = max(spent[key], record.seconds[side])
        if record.fault:
            guilty = record.white if record.fault_white else record.black
            examples.setdefault(guilty, record.fault)
        if settings.records is not None:
            with settings.records.open("a") as file:
                file.write(json.dumps({"pair": pair, "index": index, **asdict(record)}) + "\n")
        if on_game is not None:
            on_game(record)
        if progress is not None:
            progress(tally)

    begin = time.monotonic()
    if settings.records is not None:
        if settings.records.is_file() and settings.records.stat().st_size:
            raise ValueError(
                f"{settings.records} is not empty; name another file or delete this one"
            )
        settings.records.parent.mkdir(parents=True, exist_ok=True)
        settings.records.write_text("")
    clock = f"{settings.seconds:g}+{settings.increment:g}"
    interrupted = False
    try:
        run_workers(work, max(1, min(settings.concurrency, settings.games)), abort)
    except KeyboardInterrupt:
        interrupted = True
    if errors and not interrupted:
        raise errors[0]
    return describe(*names, tally, time.monotonic() - begin) | {
        "seed": settings.seed,
        "openings": "start",
        "board": STANDARD_BOARD,
        "opening_count": 1,
        "limits": f"tc={clock}",
        "clock": clock,
        "adjudication": (
            f"draw after {settings.turn_limit} turns of each side"
            if settings.turn_limit
            else "none"
        ),
        "resumed": 0,
        "interrupted": interrupted,
        "turn_limit": settings.turn_limit,
        "longest_turn_seconds": {key: round(value, 3) for key, value in longest.items()},
        "longest_game_seconds": {key: round(value, 3) for key, value in spent.items()},
        "fault_examples": examples,
    }


def _stored(record: BlindRecord, pair: int, index: int) -> StoredGame:
    words = " ".join(f"{turn['sense']}{turn['request']}" for turn in record.turns)
    return StoredGame(
        pair=pair,
        index=index,
        result=record.result,
        reason=record.reason,
        fault_white=record.fault_white,
        fault_kind=record.reason if record.fault_white is not None else "",
        void=False,
        line_hash=zlib.crc32(words.encode()),
        plies=len(record.turns),
        seconds=sum(record.seconds),
    )
