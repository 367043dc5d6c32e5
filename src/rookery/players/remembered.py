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
from rookery.players.base import Decision, Limits, Player

SEPARATOR = "\t"  # between the position (EPD) and the move


class RememberedPlayer:
    """Asks another player about each position once."""

    memoryless = True
    timed = False

    def __init__(self, inner: Player, file: Path | None) -> None:
        """Read the answers in `file`, if it exists; new ones are added to it."""
        self.inner = inner
        self.name = inner.name
        self.file = file
        self.asked = 0  # questions that the inner player had to answer
        self.answers: dict[str, str] = _read(file) if file is not None else {}
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


def _read(file: Path) -> dict[str, str]:
    """The answers in a file; a line that was cut off (the machine stopped) does not count."""
    if not file.is_file():
        return {}
    text = file.read_text(encoding="utf-8", errors="replace")
    lines = text.split("\n")[:-1]
    pairs = (line.split(SEPARATOR) for line in lines)
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and pair[1]}
