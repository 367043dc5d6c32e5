"""Any UCI engine as a player; every misbehaviour becomes an `EngineFault`.

The engine is started at its first game, so that a missing or broken program forfeits games
instead of stopping a tournament, and it is restarted in the game after a fault.

Each `go` is preceded by `isready`: anything the engine printed earlier (a second `bestmove`, the
rest of a flood) is dropped before `readyok` and cannot be mistaken for the answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from numpy.random import Generator

from rookery._core import STANDARD_BOARD, Game, board_names, known_boards
from rookery.base.scales import value_of_centipawns
from rookery.engines.faults import EngineFault
from rookery.engines.label_engine import position_command
from rookery.engines.process import EngineProcess, ProcessLimits
from rookery.players.base import Capabilities, Decision, Limits
from rookery.players.programs.program import Program

MATE_VALUE = 1.0


@dataclass(frozen=True)
class UciSettings:
    """How an engine is started and searches."""

    command: Sequence[str]  # argument list
    options: Mapping[str, str] = field(default_factory=dict)  # UCI options; unknown ones are faults
    depth: int | None = None  # plies; overrides the match's depth and nodes, as does `nodes`
    nodes: int | None = None
    movetime: float | None = None  # seconds; if the match has a limit too, the smaller applies
    start_seconds: float = 20.0  # time for `uciok` and each `readyok`
    hang_seconds: float = 120.0  # time for a move without clock and movetime
    # Time beyond movetime or clock before a search is abandoned. Whether the move lost on time is
    # decided by the match, with its own margin.
    grace_seconds: float = 2.0
    process: ProcessLimits = field(default_factory=ProcessLimits)


@dataclass
class _Answer:
    """The result of a search."""

    move: str = ""
    line: tuple[str, ...] = ()
    value: float | None = None
    details: dict[str, object] = field(default_factory=dict)


class UciPlayer(Program):
    """A player that is an engine process."""

    def __init__(self, name: str, settings: UciSettings) -> None:
        """Start nothing yet."""
        super().__init__(settings.command, settings.process)
        self.name = name
        self.settings = settings
        self.engine_name = ""  # reported by the engine
        self.stray_moves = 0  # bestmove lines without a search
        self._offered: dict[str, str] = {}
        self._fresh = False
        self._chess960 = False  # the engine's UCI_Chess960
        self._board = STANDARD_BOARD  # the engine's UCI_Variant, as our board

    @property
    def capabilities(self) -> Capabilities:
        """Timed with its own movetime, or if neither it nor the match limits depth or nodes."""
        own = self.settings
        bounded = own.depth is not None or own.nodes is not None
        return Capabilities(
            timed=own.movetime is not None or (False if bounded else None),
            boards=None,  # what the engine's UCI_Variant offers, known once it has started
        )

    def new_game(self) -> None:
        """Start the engine if necessary and tell it that a new game begins."""
        process = self._running()
        if self._fresh:
            self._fresh = False
            return
        with self._closed_on_fault():
            process.send("ucinewgame")
            self._synchronise(process)

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Search; raises `EngineFault` with evidence if no move comes."""
        process = self._running()
        self._fresh = False
        with self._closed_on_fault():
            if game.board != self._board:
                self._set_variant(process, game.board)
            if game.chess960 != self._chess960:
                self._set_option(process, "UCI_Chess960", "true" if game.chess960 else "false")
                self._chess960 = game.chess960
            process.send(position_command(game))
            self._synchronise(process)
            process.begin_answer()
            command, seconds = self._go(limits, game.turn)
            process.send(command)
            answer = self._search(process, seconds)
        answer.details["engine"] = self.engine_name
        return Decision(answer.move, answer.value, answer.line, details=answer.details)

    # Conversation

    def _handshake(self, process: EngineProcess) -> None:
        self._offered = {}
        for line in self._ask(process, "uci", "uciok"):
            words = line.split()
            if words[:2] == ["id", "name"]:
                self.engine_name = line.split(None, 2)[2] if len(words) > 2 else ""
            elif words[:2] == ["option", "name"]:
                name = line.partition(" name ")[2].partition(" type ")[0].strip()
                self._offered[name.lower()] = line
        self._chess960 = False
        self._board = STANDARD_BOARD
        for name, value in self.settings.options.items():
            self._set_option(process, name, value)
            if name.lower() == "uci_chess960":
                self._chess960 = value.lower() == "true"
        self._synchronise(process)
        self._fresh = True

    def _set_option(self, process: EngineProcess, name: str, value: str) -> None:
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
        process.send(f"setoption name {name} value {value}")

    def _set_variant(self, process: EngineProcess, board: str) -> None:
        """Tell the engine which board is played, by the name that it offers."""
        offered = self._offered.get("uci_variant", "").split()
        known = [each for each in known_boards() if each.name == board]
        names = [name for each in known for name in board_names(each) if name in offered]
        if not names:
            raise EngineFault(
                "option", f"{self.engine_name or 'the engine'} does not play on the board {board}"
            )
        process.send(f"setoption name UCI_Variant value {names[0]}")
        self._board = board

    def _synchronise(self, process: EngineProcess) -> None:
        """Wait for `readyok` and drop everything printed before it."""
        for line in self._ask(process, "isready", "readyok"):
            self.stray_moves += line.startswith("bestmove")

    def _ask(self, process: EngineProcess, command: str, last: str) -> Iterator[str]:
        """Send a command and yield the lines of the answer before the line `last`."""
        process.begin_answer()
        process.send(command)
        deadline = time.monotonic() + self.settings.start_seconds
        while (found := process.read_line(deadline)) is not None:
            if found[0].strip() == last:
                return
            yield found[0]
        raise EngineFault("handshake", f"no {last} in {self.settings.start_seconds:g} s")

    def _go(self, limits: Limits | None, white: bool) -> tuple[str, float | None]:
        """The `go` command, and the seconds that it allows (None: no time limit).

        A player's own depth and nodes override the match's, but the match's time limit always
        applies: exceeding it loses the game.
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
            # Without any limit, a tenth of a second keeps plain "stockfish" playable.
            words, seconds = ["movetime 100"], 0.1
        return "go " + " ".join(words), seconds

    def _search(self, process: EngineProcess, seconds: float | None) -> _Answer:
        allowed = (
            self.settings.hang_seconds if seconds is None else seconds + self.settings.grace_seconds
        )
        started = time.monotonic()
        answer = _Answer()
        while True:
            found = process.read_line(started + allowed)
            if found is None:
                raise EngineFault(
                    "hang" if seconds is None else "time",
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


def _spin_bounds(words: Sequence[str]) -> tuple[int, int] | None:
    """Smallest and largest value of a `spin` option; None for other or malformed options."""
    try:
        low, high = (int(words[words.index(key) + 1]) for key in ("min", "max"))
    except (ValueError, IndexError):
        return None
    return (low, high) if "spin" in words else None


def _read_info(words: Sequence[str], answer: _Answer) -> None:
    """Store depth, nodes, score and line of an `info`; ignore malformed ones."""
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
