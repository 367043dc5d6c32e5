"""Answers of a slow player, kept by position.

For players whose move follows from the position alone, if they are asked in a fresh game: an engine
with a fixed number of nodes, for example. Each position is asked about once, without the moves that
led to it and after `new_game`; the answer is kept in memory and, one line each, in a file that
later runs read. In a small ending soon no question is new.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TextIO

import numpy as np

from rookery._core import Game
from rookery.players.base import Capabilities, Decision, Limits, Player
from rookery.players.spec import SpecError

SEPARATOR = "\t"  # between the position (EPD) and the move
_PIECES = r"[1-8KQRBNPkqrbnp/]+"
_ANSWER = re.compile(rf"({_PIECES} [wb] \S+ \S+){SEPARATOR}([a-h][1-8][a-h][1-8][qrbn]?)")
_TORN = re.compile(rf"{_PIECES}( .*)?")


class RememberedPlayer:
    """Asks another player about each position once."""

    def __init__(self, inner: Player, file: Path | None) -> None:
        """Read the answers in `file`, if it exists; new ones are added to it.

        Raises:
            SpecError: `file` is not a file of answers.
        """
        self.inner = inner
        self.name = inner.name
        self.capabilities = Capabilities(memoryless=True, parts=(inner,))
        self.file = file
        self.asked = 0  # questions that the inner player had to answer
        try:
            self.answers: dict[str, str] = _read(file) if file is not None else {}
        except SpecError:
            inner.close()
            raise
        self._output: TextIO | None = None

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Answer from memory, or ask."""
        key = game.epd()
        move = self.answers.get(key)
        if move is None:
            self.inner.new_game()
            # The same clocks whatever came before, so that the answer belongs to the position.
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
        """Nothing depends on the game."""

    def close(self) -> None:
        """Close file and inner player."""
        if self._output is not None:
            self._output.close()
            self._output = None
        self.inner.close()


def answers_file(name: str) -> Path:
    """Where the answers of the player `name` are kept: in ROOKERY_CACHE or the user's cache."""
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
    """The answers in a file; a line that was cut off (the machine stopped) does not count.

    Raises:
        SpecError: it is not a file of answers, and would be spoilt by adding some.
    """
    if not file.exists():
        return {}
    wayout = "name a new file, or write remember=auto"
    if not file.is_file():
        kind = "a folder" if file.is_dir() else "not a regular file"
        raise SpecError(f"remember={str(file)!r} is {kind}; {wayout}")
    *lines, torn = file.read_text(encoding="utf-8", errors="replace").split("\n")
    found = [_ANSWER.fullmatch(line) for line in lines]
    answers = {match[1]: match[2] for match in found if match}
    if not answers and (any(lines) or (torn and not _TORN.fullmatch(torn))):
        raise SpecError(f"remember={str(file)!r} holds something else than answers; {wayout}")
    return answers
