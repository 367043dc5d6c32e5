"""A cache of a slow player's moves by position.

For players whose move depends only on the position after `new_game`, such as an engine with a fixed
number of nodes. Each position is passed to the player once, without the moves that led to it; the
answer is kept in memory and in a file for later runs. In a small ending the cache soon covers all
positions.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TextIO

from numpy.random import Generator

from rookery._core import Game
from rookery.players.base import Capabilities, Decision, Limits, Player
from rookery.players.spec import SpecError

SEPARATOR = "\t"  # between the position (EPD) and the move
_PIECES = r"[1-8KQRBNPkqrbnp/]+"
_ANSWER = re.compile(rf"({_PIECES} [wb] \S+ \S+){SEPARATOR}([a-h][1-8][a-h][1-8][qrbn]?)")
_TORN = re.compile(rf"{_PIECES}( .*)?")


class RememberedPlayer:
    """Caches the moves of another player."""

    def __init__(self, inner: Player, file: Path | None) -> None:
        """Read the answers in `file`, if it exists; new ones are appended to it."""
        self.inner = inner
        self.name = inner.name
        self.capabilities = Capabilities(memoryless=True, parts=(inner,))
        self.file = file
        self.asked = 0  # cache misses
        try:
            self.answers: dict[str, str] = _read(file) if file is not None else {}
        except SpecError:
            inner.close()
            raise
        self._output: TextIO | None = None

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Return the cached move, or ask the inner player."""
        key = game.epd()
        move = self.answers.get(key)
        if move is None:
            self.inner.new_game()
            # Fixed move counters, so that the answer depends only on the position.
            move = self.inner.choose(Game(f"{key} 0 1"), rng).move
            self.asked += 1
            self.answers[key] = move
            self._append(f"{key}{SEPARATOR}{move}\n")
        return Decision(move)

    def _append(self, line: str) -> None:
        if self.file is None:
            return
        if self._output is None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._output = self.file.open("a", encoding="utf-8", buffering=1)
            if _is_torn(self.file):
                line = f"\n{line}"
        self._output.write(line)

    def new_game(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Close file and inner player."""
        if self._output is not None:
            self._output.close()
            self._output = None
        self.inner.close()


def answers_file(name: str) -> Path:
    """The default file for the answers of `name`, in ROOKERY_CACHE or the user's cache."""
    folder = os.environ.get("ROOKERY_CACHE")
    if not folder:
        user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = str(Path(user) / "rookery")
    return Path(folder) / "answers" / (re.sub(r"[^A-Za-z0-9,=.-]", "_", name) + ".tsv")


def _is_torn(file: Path) -> bool:
    """Whether a file ends in the middle of a line."""
    with file.open("rb") as content:
        if not content.seek(0, os.SEEK_END):
            return False
        content.seek(-1, os.SEEK_END)
        return content.read() != b"\n"


def _read(file: Path) -> dict[str, str]:
    """The answers in a file, ignoring an incomplete last line.

    Raises:
        SpecError: it is some other file, which appending would corrupt.
    """
    if not file.exists():
        return {}
    wayout = "choose a new file, or use remember=auto"
    if not file.is_file():
        kind = "a folder" if file.is_dir() else "not a regular file"
        raise SpecError(f"remember={str(file)!r} is {kind}; {wayout}")
    *lines, torn = file.read_text(encoding="utf-8", errors="replace").split("\n")
    found = [_ANSWER.fullmatch(line) for line in lines]
    answers = {match[1]: match[2] for match in found if match}
    if not answers and (any(lines) or (torn and not _TORN.fullmatch(torn))):
        raise SpecError(f"remember={str(file)!r} is not a file of answers; {wayout}")
    return answers
