"""Where engines are found: a variable that names them, folders of ours, PATH, /usr/games."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

GAMES_FOLDER = "/usr/games"  # where Debian puts engines; not on everybody's PATH


def find_program(name: str, variable: str, further: tuple[Path, ...] = ()) -> str | None:
    """Path of a program: named by a variable, in a folder of ours, on PATH, or in /usr/games."""
    named = os.environ.get(variable)
    if named:
        return named
    for candidate in further:
        if os.access(candidate, os.X_OK) and candidate.is_file():
            return str(candidate)
    search = os.pathsep.join([os.environ.get("PATH", ""), GAMES_FOLDER])
    return shutil.which(name, path=search)


def find_stockfish() -> str | None:
    """Debian's Stockfish, or the one that ROOKERY_STOCKFISH names."""
    return find_program("stockfish", "ROOKERY_STOCKFISH")


def find_sunfish() -> str | None:
    """Sunfish in its own environment (it pins an old python-chess), or ROOKERY_SUNFISH."""
    checkout = Path(__file__).resolve().parents[3]
    beside = Path(sys.prefix).parent
    folders = (checkout, beside, Path.cwd())
    places = tuple(folder / ".venv-sunfish" / "bin" / "sunfish-uci" for folder in folders)
    return find_program("sunfish-uci", "ROOKERY_SUNFISH", places)
