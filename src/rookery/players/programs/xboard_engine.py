"""Any engine that speaks the xboard protocol as a player; misbehaviour becomes an `EngineFault`.

The protocol (version 2) is older than UCI: the engine keeps its own board, which we hold in force
mode and extend move by move, and says `move e2e4`. There is no `go movetime`. Its nearest command,
`st`, takes whole seconds in most engines, and what they make of it differs, so every engine has a
`Pace` that holds it to a fraction of a second.

Each `go` is preceded by a `ping`: what the engine printed earlier is dropped before its `pong`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import chess
from numpy.random import Generator

from rookery._core import STARTING_FEN, Game
from rookery.engines.faults import EngineFault
from rookery.engines.process import EngineProcess, ProcessLimits
from rookery.players.base import Capabilities, Decision, Limits, require_board
from rookery.players.programs.program import Program

DEFAULT_SECONDS = 0.1  # a move, without any limit
CLOCK_SHARE, INCREMENT_SHARE = 1 / 40, 0.8  # of a clock, for one move
RESULTS = ("1-0", "0-1", "1/2-1/2")


@dataclass(frozen=True)
class Pace:
    """How an engine is held to a time per move."""

    commands: Callable[[float], Sequence[str]]  # before each `go`, given the seconds
    interrupt: bool = False  # `?` ends its search at once; sent when the time is over


@dataclass(frozen=True)
class XboardSettings:
    """How an engine is started and searches."""

    command: Sequence[str]  # argument list
    pace: Pace
    setup: Sequence[str] = ()  # commands after each `new`
    movetime: float | None = None  # seconds; if the match has a limit too, the smaller applies
    start_seconds: float = 20.0  # time for the handshake and each `pong`
    grace_seconds: float = 2.0  # beyond the time before a search is abandoned
    process: ProcessLimits = field(default_factory=ProcessLimits)


class XboardPlayer(Program):
    """A player that is an engine process."""

    def __init__(self, name: str, settings: XboardSettings) -> None:
        """Start nothing yet."""
        super().__init__(settings.command, settings.process)
        self.name = name
        self.settings = settings
        self.engine_name = ""  # reported by the engine
        self._features: dict[str, str] = {}
        self._start = ""  # FEN where the game on the engine's board began; "": there is none
        self._moves: list[str] = []  # on the engine's board
        self._pings = 0

    @property
    def capabilities(self) -> Capabilities:
        """It knows no other limit than time."""
        return Capabilities(timed=True)

    def new_game(self) -> None:
        """Start the engine if necessary; its board is set up at the first move."""
        process = self._running()
        with self._closed_on_fault():
            self._synchronise(process)
        self._start = ""

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Search; raises `EngineFault` with evidence if no move comes."""
        require_board(self.name, self.capabilities.boards, game.board)
        process = self._running()
        seconds = self._seconds(limits or Limits(), game.turn)
        with self._closed_on_fault():
            self._set_up(process, game)
            for line in self.settings.pace.commands(seconds):
                process.send(line)
            self._synchronise(process)
            said, taken = self._search(process, seconds)
            process.send("force")
            move = as_uci(game, said)
        self._moves.append(move)
        details = {"engine": self.engine_name, "seconds": taken}
        return Decision(move, line=(move,), details=details)

    def close(self) -> None:
        """End the engine and its descendants."""
        super().close()
        self._start = ""

    def _handshake(self, process: EngineProcess) -> None:
        """Read the features; an engine without `ping` cannot be synchronised and is refused."""
        process.begin_answer()
        process.send("xboard")
        process.send("protover 2")
        self._features = {}
        deadline = time.monotonic() + self.settings.start_seconds
        while self._features.get("done") != "1":
            found = process.read_line(deadline)
            if found is None:
                seconds = self.settings.start_seconds
                raise EngineFault("handshake", f"no 'feature done=1' in {seconds:g} s")
            self._features.update(read_features(found[0]))
        self.engine_name = self._features.get("myname", "")
        if self._features.get("ping") != "1":
            raise EngineFault("handshake", "it does not offer 'ping' of the xboard protocol")

    def _synchronise(self, process: EngineProcess) -> None:
        """Wait for the `pong` and drop everything printed before it."""
        self._pings += 1
        process.begin_answer()
        process.send(f"ping {self._pings}")
        deadline = time.monotonic() + self.settings.start_seconds
        while (found := process.read_line(deadline)) is not None:
            line = found[0].strip()
            if line == f"pong {self._pings}":
                return
            # A `?` that crossed its move on the way is no move either, and harmless.
            if line.startswith("Illegal move") and not line.endswith("?"):
                raise EngineFault("illegal", f"it refuses our input: {line}")
        raise EngineFault("handshake", f"no pong in {self.settings.start_seconds:g} s")

    def _set_up(self, process: EngineProcess, game: Game) -> None:
        """Send what the engine's board lacks: the last moves, or the whole game."""
        if game.chess960:
            raise EngineFault("option", f"{self.engine_name} does not play Chess960")
        moves = list(game.moves())
        known = len(self._moves)
        if self._start != game.start_fen or moves[:known] != self._moves:
            for line in ("new", "easy", "nopost", *self.settings.setup, "force"):
                process.send(line)
            if game.start_fen != STARTING_FEN:
                if self._features.get("setboard") != "1":
                    raise EngineFault(
                        "option", f"{self.engine_name} plays from the starting position alone"
                    )
                process.send(f"setboard {game.start_fen}")
            self._start, known = game.start_fen, 0
        prefix = "usermove " if self._features.get("usermove") == "1" else ""
        for move in moves[known:]:
            process.send(prefix + move)
        self._moves = moves

    def _seconds(self, limits: Limits, white: bool) -> float:
        """The time for this move: the smallest of its own, the match's, and a share of a clock."""
        times = [t for t in (self.settings.movetime, limits.movetime) if t is not None]
        left = limits.white_time if white else limits.black_time
        if left is not None:
            increment = (limits.white_increment if white else limits.black_increment) or 0.0
            times.append(min(left / 2, left * CLOCK_SHARE + increment * INCREMENT_SHARE))
        return min(times, default=DEFAULT_SECONDS)

    def _search(self, process: EngineProcess, seconds: float) -> tuple[str, float]:
        """The move, and the seconds until it came."""
        process.begin_answer()
        process.send("go")
        started = time.monotonic()
        until = [started + seconds + self.settings.grace_seconds]
        if self.settings.pace.interrupt:
            until.insert(0, started + seconds)
        while until:
            found = process.read_line(until[0])
            if found is None:
                until.pop(0)
                if until:
                    process.send("?")
                continue
            line, arrival = found
            words = line.split()
            if words[:1] == ["move"] and len(words) > 1:
                return words[1], arrival - started
            if words and words[0] in (*RESULTS, "resign"):
                raise EngineFault("illegal", f"no move, but {line.strip()!r}")
        allowed = seconds + self.settings.grace_seconds
        raise EngineFault("time", f"no move after {allowed:.3f} s", allowance=seconds)


def as_uci(game: Game, said: str) -> str:
    """A move in UCI: engines also say O-O or e8=Q; what is no move stays as it was said."""
    if game.is_legal(said):
        return said
    try:
        return chess.Board(game.fen()).parse_xboard(said).uci()
    except ValueError:
        return said


def read_features(line: str) -> dict[str, str]:
    """The features that a line offers; values without their quotation marks."""
    found: dict[str, str] = {}
    rest = line.strip()
    if not rest.startswith("feature "):
        return found
    rest = rest.removeprefix("feature ").strip()
    while "=" in rest:
        name, _, rest = rest.partition("=")
        if rest.startswith('"'):
            value, _, rest = rest[1:].partition('"')
        else:
            value, _, rest = rest.partition(" ")
        found[name.strip()] = value
    return found
