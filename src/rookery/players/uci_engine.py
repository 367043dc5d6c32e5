"""Any UCI engine as a player; every misbehaviour becomes an `EngineFault`.

The engine is started at its first game, so that a missing or broken program forfeits games
instead of stopping a tournament, and it is started afresh in the game after a fault.

Before each `go` an `isready` is answered: whatever the engine printed earlier (a second
`bestmove`, the rest of a flood) is read and dropped there and cannot be taken for the answer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rookery._core import Game
from rookery.base.scales import value_of_centipawns
from rookery.engines.faults import EngineFault
from rookery.engines.process import EngineProcess, ProcessLimits
from rookery.players.base import Capabilities, Decision, Limits

MATE_VALUE = 1.0


@dataclass(frozen=True)
class UciSettings:
    """How an engine is started and asked.

    Fields:
        command: argument list.
        options: UCI options by name; a name the engine does not offer is a fault.
        depth, nodes: fixed limits of every search; either goes before the match's depth and nodes.
        movetime: seconds a move; where the match has one too, the smaller counts.
        start_seconds: time for `uciok` and each `readyok`.
        hang_seconds: time for a move where neither clock nor movetime bounds it.
        grace_seconds: what a move may exceed a movetime or clock by before the search is given up
            (whether it lost on time is the match's decision, by its own margin).
        process: bounds on output and memory.
    """

    command: Sequence[str]
    options: Mapping[str, str] = field(default_factory=dict)
    depth: int | None = None
    nodes: int | None = None
    movetime: float | None = None
    start_seconds: float = 20.0
    hang_seconds: float = 120.0
    grace_seconds: float = 2.0
    process: ProcessLimits = field(default_factory=ProcessLimits)


@dataclass
class _Answer:
    """What a search told."""

    move: str = ""
    line: tuple[str, ...] = ()
    value: float | None = None
    details: dict[str, object] = field(default_factory=dict)


class UciPlayer:
    """A player that asks an engine process."""

    def __init__(self, name: str, settings: UciSettings) -> None:
        """Describe the player; nothing is started yet."""
        self.name = name
        self.settings = settings
        self.engine_name = ""  # as the engine calls itself
        self.stray_moves = 0  # bestmove lines that nobody had asked for
        self._process: EngineProcess | None = None
        self._offered: dict[str, str] = {}
        self._fresh = False
        self._chess960 = False  # what the engine was told

    @property
    def capabilities(self) -> Capabilities:
        """Timed by its own movetime, or if neither it nor the match limits depth or nodes."""
        own = self.settings
        bounded = own.depth is not None or own.nodes is not None
        return Capabilities(timed=own.movetime is not None or (False if bounded else None))

    def new_game(self) -> None:
        """Start the engine if need be and tell it that a new game begins."""
        process = self._running()
        if self._fresh:
            self._fresh = False
            return
        with self._faults_end_the_process():
            process.send("ucinewgame")
            self._synchronise()

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Ask for a move; raises `EngineFault` with evidence if none comes."""
        process = self._running()
        self._fresh = False
        with self._faults_end_the_process():
            if game.chess960 != self._chess960:
                self._set_option("UCI_Chess960", "true" if game.chess960 else "false")
                self._chess960 = game.chess960
            process.send(self._position(game))
            self._synchronise()
            process.begin_answer()
            command, seconds = self._go(limits, game.turn)
            process.send(command)
            answer = self._search(seconds, bounded="time" if seconds is not None else "hang")
        answer.details["engine"] = self.engine_name
        return Decision(answer.move, answer.value, answer.line, details=answer.details)

    def close(self) -> None:
        """End the engine and everything it started."""
        if self._process is not None:
            self._process.close()
            self._process = None

    # Conversation

    def _running(self) -> EngineProcess:
        if self._process is None:
            self._process = EngineProcess(self.settings.command, self.settings.process)
            with self._faults_end_the_process():
                self._handshake()
            self._fresh = True
        return self._process

    def _handshake(self) -> None:
        assert self._process is not None
        self._offered = {}
        self._process.begin_answer()
        self._process.send("uci")
        deadline = time.monotonic() + self.settings.start_seconds
        while True:
            line = self._line(deadline)
            if line is None:
                raise EngineFault("handshake", f"no uciok in {self.settings.start_seconds:g} s")
            words = line.split()
            if words[:2] == ["id", "name"]:
                self.engine_name = line.split(None, 2)[2] if len(words) > 2 else ""
            elif words[:2] == ["option", "name"]:
                name = line.partition(" name ")[2].partition(" type ")[0].strip()
                self._offered[name.lower()] = line
            elif words == ["uciok"]:
                break
        self._chess960 = False
        for name, value in self.settings.options.items():
            self._set_option(name, value)
            if name.lower() == "uci_chess960":
                self._chess960 = value.lower() == "true"
        self._synchronise()

    def _set_option(self, name: str, value: str) -> None:
        assert self._process is not None
        offer = self._offered.get(name.lower())
        if offer is None:
            raise EngineFault(
                "option", f"{self.engine_name or 'the engine'} has no option {name!r}"
            )
        words = offer.split()
        bounds = _spin_bounds(words)
        if bounds is not None:
            low, high = bounds
            if not value.lstrip("-").isdigit() or not low <= int(value) <= high:
                raise EngineFault("option", f"{name}={value} is outside {low} to {high}")
        self._process.send(f"setoption name {name} value {value}")

    def _synchronise(self) -> None:
        """Wait for `readyok`; everything printed before it is old news."""
        assert self._process is not None
        self._process.begin_answer()
        self._process.send("isready")
        deadline = time.monotonic() + self.settings.start_seconds
        while True:
            line = self._line(deadline)
            if line is None:
                raise EngineFault("handshake", f"no readyok in {self.settings.start_seconds:g} s")
            if line.startswith("bestmove"):
                self.stray_moves += 1
            if line.strip() == "readyok":
                return

    def _line(self, deadline: float) -> str | None:
        assert self._process is not None
        found = self._process.read_line(deadline)
        return None if found is None else found[0]

    @staticmethod
    def _position(game: Game) -> str:
        moves = game.moves()
        return f"position fen {game.start_fen}" + (f" moves {' '.join(moves)}" if moves else "")

    def _go(self, limits: Limits | None, white: bool) -> tuple[str, float | None]:
        """The command, and the seconds it bounds the search to (None: no clock).

        A player's own depth and nodes go before the match's, but the match's time is always told:
        whoever exceeds it loses.
        """
        own = self.settings
        limits = limits or Limits()
        words = []
        seconds: float | None = None
        if own.depth is None and own.nodes is None and own.movetime is None:
            depth, nodes = limits.depth, limits.nodes
        else:
            depth, nodes = own.depth, own.nodes
        movetime = min((t for t in (own.movetime, limits.movetime) if t is not None), default=None)
        if depth is not None:
            words.append(f"depth {depth}")
        if nodes is not None:
            words.append(f"nodes {nodes}")
        if movetime is not None:
            words.append(f"movetime {max(1, round(movetime * 1000))}")
            seconds = movetime
        if limits.white_time is not None and limits.black_time is not None:
            own_time = limits.white_time if white else limits.black_time
            seconds = own_time if seconds is None else min(seconds, own_time)
            for key, value in (
                ("wtime", limits.white_time),
                ("btime", limits.black_time),
                ("winc", limits.white_increment or 0.0),
                ("binc", limits.black_increment or 0.0),
            ):
                words.append(f"{key} {max(0, int(value * 1000))}")
        if not words:
            # Nothing bounds the search: a tenth of a second keeps "stockfish" alone playable.
            words, seconds = ["movetime 100"], 0.1
        return "go " + " ".join(words), seconds

    def _search(self, seconds: float | None, bounded: str) -> _Answer:
        assert self._process is not None
        allowed = (
            self.settings.hang_seconds if seconds is None else seconds + self.settings.grace_seconds
        )
        started = time.monotonic()
        answer = _Answer()
        while True:
            found = self._process.read_line(started + allowed)
            if found is None:
                raise EngineFault(
                    bounded,
                    f"no bestmove after {allowed:.3f} s",
                    allowance=allowed if seconds is None else seconds,
                )
            line, arrival = found
            words = line.split()
            if not words:
                continue
            if words[0] == "info":
                _read_info(words, answer)
            elif words[0] == "bestmove":
                answer.details["seconds"] = arrival - started
                answer.move = words[1] if len(words) > 1 else ""
                if not answer.line or answer.line[0] != answer.move:
                    answer.line = (answer.move,)
                return answer

    def _faults_end_the_process(self) -> _EndOnFault:
        return _EndOnFault(self)


class _EndOnFault:
    """Ends the engine when a fault leaves the block: what it does next is anybody's guess."""

    def __init__(self, player: UciPlayer) -> None:
        self._player = player

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._player.close()


def _spin_bounds(words: Sequence[str]) -> tuple[int, int] | None:
    """Smallest and largest value of a `spin` option; None if it does not say (readably)."""
    try:
        low, high = (int(words[words.index(key) + 1]) for key in ("min", "max"))
    except (ValueError, IndexError):
        return None
    return (low, high) if "spin" in words else None


def _read_info(words: Sequence[str], answer: _Answer) -> None:
    """Keep depth, nodes, score and line of an `info`; anything malformed is ignored."""
    try:
        if "multipv" in words and words[words.index("multipv") + 1] != "1":
            return
        for key in ("depth", "nodes"):
            if key in words:
                answer.details[key] = int(words[words.index(key) + 1])
        if "score" in words:
            at = words.index("score")
            number = int(words[at + 2])
            if words[at + 1] == "cp":
                answer.value = value_of_centipawns(number)
                answer.details["centipawns"] = number
            elif words[at + 1] == "mate":
                answer.value = MATE_VALUE if number > 0 else -MATE_VALUE
                answer.details["mate"] = number
        if "pv" in words:
            answer.line = tuple(words[words.index("pv") + 1 :][:64])
    except (ValueError, IndexError):
        return
