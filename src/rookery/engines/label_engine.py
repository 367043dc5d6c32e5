"""An engine that ranks the moves of positions: hundreds of questions a second.

python-chess understands every line that an engine prints, which takes longer than a short search
itself; here only the last lines are read. The process is a `rookery.engines.process`: it can
neither hang nor outlive us.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from rookery._core import Game
from rookery.engines.faults import EngineFault
from rookery.engines.process import EngineProcess

MATE = 1000  # centipawns that a mate counts as, and the most that anything else does
START_SECONDS, ANSWER_SECONDS = 20.0, 60.0
HASH_MEGABYTES = 16


@dataclass(frozen=True)
class Ranked:
    """A move and what the engine thinks of it, for the side to move."""

    move: str
    centipawns: float  # [-MATE, MATE]
    chances: float | None = None  # chance to win less chance to lose, if the engine tells


class LabelEngine:
    """A UCI engine with several principal variations; one thread's own."""

    def __init__(self, command: Sequence[str], nodes: int, lines: int) -> None:
        """Start it; it ranks `lines` moves with `nodes` nodes a position."""
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
        """Forget everything: what it says of a game depends on that game alone."""
        self._process.send("ucinewgame")
        self._ask("isready", "readyok", START_SECONDS)

    def rank(self, game: Game) -> list[Ranked]:
        """The best moves of a position with legal moves, the best first."""
        moves = game.moves()
        played = f" moves {' '.join(moves)}" if moves else ""
        self._process.send(f"position fen {game.start_fen}{played}")
        answer = self._ask(f"go nodes {self._nodes}", "bestmove", ANSWER_SECONDS)
        found: dict[str, Ranked] = {}
        complete: dict[str, str] = {}  # rank -> its last line
        for line in answer:
            if " pv " in line and "bound " not in line:  # lowerbound, upperbound: no scores
                complete[_word(line, "multipv") or "1"] = line
        for rank in sorted(complete, key=int):
            ranked = read_line(complete[rank])
            if ranked is not None:
                found.setdefault(ranked.move, ranked)
        if not found:
            raise EngineFault("error", f"{self._name} gave no move for {game.fen()!r}")
        return sorted(found.values(), key=lambda ranked: -ranked.centipawns)

    def close(self) -> None:
        """End the process."""
        self._process.close()

    def _ask(self, command: str, last: str, seconds: float) -> list[str]:
        """Lines of the answer up to the one that begins with `last`."""
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


def read_line(line: str) -> Ranked | None:
    """What an `info` line says of its first move; None if it says nothing."""
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


def _word(line: str, key: str) -> str | None:
    """The word after a key."""
    _, found, rest = line.partition(f" {key} ")
    return rest.split(" ", 1)[0] if found else None
