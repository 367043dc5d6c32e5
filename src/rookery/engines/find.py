"""Locating engine programs."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

# Programs and Debian packages of the same name; each may also be given by ROOKERY_NAME.
CLASSIC_ENGINES = ("gnuchess", "phalanx", "hoichess", "fairymax")
GAMES_FOLDER = "/usr/games"  # Debian's folder for engines, not on every PATH


def find_program(name: str, variable: str, further: tuple[Path, ...] = ()) -> str | None:
    """Path from an environment variable, or the first of `further`, PATH and /usr/games."""
    named = os.environ.get(variable)
    if named:
        return named
    for candidate in further:
        if os.access(candidate, os.X_OK) and candidate.is_file():
            return str(candidate)
    search = os.pathsep.join([os.environ.get("PATH", ""), GAMES_FOLDER])
    return shutil.which(name, path=search)


def find_stockfish() -> str | None:
    """Path of Stockfish, or of ROOKERY_STOCKFISH."""
    return find_program("stockfish", "ROOKERY_STOCKFISH")


def find_fairy_stockfish() -> str | None:
    """Path of Fairy-Stockfish, or of ROOKERY_FAIRY_STOCKFISH."""
    return find_program("fairy-stockfish", "ROOKERY_FAIRY_STOCKFISH")


def find_classic_engine(name: str) -> str | None:
    """Path of one of `CLASSIC_ENGINES`, or of ROOKERY_GNUCHESS and so on."""
    return find_program(name, f"ROOKERY_{name.upper()}")


def find_sunfish() -> str | None:
    """Path of Sunfish in its own environment (it pins an old python-chess), or ROOKERY_SUNFISH."""
    folders = (Path(__file__).resolve().parents[3], Path(sys.prefix).parent, Path.cwd())
    places = tuple(folder / ".venv-sunfish" / "bin" / "sunfish-uci" for folder in folders)
    return find_program("sunfish-uci", "ROOKERY_SUNFISH", places)
