"""An engine that ranks the moves of hundreds of positions a second.

python-chess parses every line that an engine prints, which takes longer than a short search; here
only the last lines are parsed. The process is a `rookery.engines.process`, which can neither hang
nor outlive us.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rookery._core import Game
from rookery.engines.faults import EngineFault
from rookery.engines.process import EngineProcess

MATE = 1000  # centipawns; the score of a mate and the bound of all scores
START_SECONDS, ANSWER_SECONDS = 20.0, 60.0
HASH_MEGABYTES = 16
ATTEMPTS = 3  # of a question, with a new process each

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Ranked:
    """A move and the engine's score for it, from the side to move."""

    move: str
    centipawns: float  # [-MATE, MATE]
    chances: float | None = None  # P(win) - P(loss), if the engine reports WDL


class LabelEngine:
    """A UCI engine in MultiPV mode; not thread-safe."""

    def __init__(self, command: Sequence[str], nodes: int, lines: int) -> None:
        """Start the engine; it ranks `lines` moves with `nodes` nodes per position."""
        self._process = EngineProcess(command)
        self._nodes = nodes
        self._name = command[0]
        try:
            offered = self._ask("uci", "uciok", START_SECONDS)
            options = {"Hash": HASH_MEGABYTES, "Threads": 1, "MultiPV": lines}
            for name, value in options.items():
                if any(line.startswith(f"option name {name} ") for line in offered):
                    self._process.send(f"setoption name {name} value {value}")
                elif name == "MultiPV" and lines > 1:
                    raise EngineFault("option", "it cannot rank several moves; pass --lines 1")
            if any(line.startswith("option name UCI_ShowWDL ") for line in offered):
                self._process.send("setoption name UCI_ShowWDL value true")
        except BaseException:
            self.close()
            raise

    def new_game(self) -> None:
        """Clear the engine's state, so that its scores depend on this game alone."""
        self._process.send("ucinewgame")
        self._ask("isready", "readyok", START_SECONDS)

    def rank(self, game: Game) -> list[Ranked]:
        """The best moves of an unfinished game, best first."""
        self._process.send(position_command(game))
        answer = self._ask(f"go nodes {self._nodes}", "bestmove", ANSWER_SECONDS)
        found: dict[str, Ranked] = {}
        complete: dict[int, str] = {}  # MultiPV index -> its last line
        for line in answer:
            if " pv " in line and "bound " not in line:  # lowerbound, upperbound: no scores
                index = line.partition(" multipv ")[2] or "1"
                complete[int(index.split(" ", 1)[0])] = line
        for rank in sorted(complete):
            ranked = read_line(complete[rank])
            if ranked is not None:
                found.setdefault(ranked.move, ranked)
        if not found:
            raise EngineFault("error", f"{self._name} gave no move for {game.fen()!r}")
        return sorted(found.values(), key=lambda ranked: -ranked.centipawns)

    @property
    def stopped(self) -> bool:
        """Whether we have killed it, as Ctrl-C does."""
        return self._process.stopped

    def close(self) -> None:
        """End the process."""
        self._process.close()

    def _ask(self, command: str, last: str, seconds: float) -> list[str]:
        """Send a command; return the lines before the one that begins with `last`."""
        self._process.begin_answer()
        self._process.send(command)
        deadline = time.monotonic() + seconds
        lines: list[str] = []
        while True:
            found = self._process.read_line(deadline)
            if found is None:
                raise EngineFault("hang", f"{self._name}: no {last} in {seconds:g} s ({command})")
            if found[0].startswith(last):
                return lines
            lines.append(found[0])


class SteadyEngine:
    """A label engine that is started when needed, and anew after a fault; not thread-safe."""

    def __init__(
        self,
        command: Sequence[str],
        nodes: int,
        lines: int,
        log: Callable[[str], object] = lambda text: None,
    ) -> None:
        """Keep the arguments of `LabelEngine`; `log` gets a line for each new start."""
        self._arguments = (command, nodes, lines)
        self._log = log
        self._engine: LabelEngine | None = None
        self._worked = False

    def ask(self, work: Callable[[LabelEngine], Answer]) -> Answer:
        """The result of `work`, which is repeated from its beginning if the engine fails.

        Raises the fault of an engine that has never worked or that we have killed, and of any
        after ATTEMPTS attempts.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                if self._engine is None:
                    self._engine = LabelEngine(*self._arguments)
                answer = work(self._engine)
                self._worked = True
                return answer
            except EngineFault as fault:
                stopped = self._engine is not None and self._engine.stopped
                self.close()
                if stopped or attempt == ATTEMPTS or not self._worked:
                    raise
                self._log(f"{self._arguments[0][0]}: {fault}; it is started anew")
        raise AssertionError("unreachable")

    def close(self) -> None:
        """End the process."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None


def position_command(game: Game) -> str:
    """The UCI command that sets up a game with all its moves."""
    moves = game.moves()
    return f"position fen {game.start_fen}" + (f" moves {' '.join(moves)}" if moves else "")


def read_line(line: str) -> Ranked | None:
    """The first move and score of an `info` line; None if it has none."""
    words = line.split()
    try:
        at = words.index("score")
        number = int(words[at + 2])
        mate = MATE if number > 0 else -MATE
        score = mate if words[at + 1] == "mate" else max(-MATE, min(MATE, number))
        chances = None
        if "wdl" in words:
            place = words.index("wdl")
            chances = (int(words[place + 1]) - int(words[place + 3])) / 1000
        return Ranked(words[words.index("pv") + 1], float(score), chances)
    except (ValueError, IndexError):
        return None
