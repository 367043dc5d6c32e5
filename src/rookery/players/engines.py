"""Engines that Rookery knows by name: where they are found and how their options translate."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

from rookery.players.base import Player
from rookery.players.process import ProcessLimits
from rookery.players.spec import SpecError
from rookery.players.sunfish import NativeSunfish
from rookery.players.uci_engine import UciPlayer, UciSettings

GAMES_FOLDER = "/usr/games"  # where Debian puts engines; not on everybody's PATH
MEBIBYTE = 1 << 20


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


def stockfish_player(name: str, options: dict[str, Any]) -> UciPlayer:
    """Stockfish with `elo`, `skill`, `threads`, `hash` and the limits of a search."""
    program = _program(options, find_stockfish())
    if not program:
        raise SpecError(
            "player 'stockfish': Stockfish is not installed; apt install stockfish, or set "
            "ROOKERY_STOCKFISH to its path"
        )
    settings = {"Threads": str(options.get("threads", 1)), "Hash": str(options.get("hash", 16))}
    if "elo" in options and "skill" in options:
        raise SpecError("player 'stockfish': give either elo or skill, not both")
    if "elo" in options:
        settings |= {"UCI_LimitStrength": "true", "UCI_Elo": str(options["elo"])}
    if "skill" in options:
        settings["Skill Level"] = str(options["skill"])
    return UciPlayer(name, _settings(program, settings, options))


def sunfish_player(name: str, options: dict[str, Any]) -> Player:
    """Sunfish with `nodes`, `depth` or `movetime`; with `native` a copy of its search."""
    if options.get("native"):
        if "nodes" not in options or len(options) > 2:
            raise SpecError("player 'sunfish': native=true goes with nodes=N and nothing else")
        return NativeSunfish(name, options["nodes"])
    program = _program(options, find_sunfish())
    if not program:
        raise SpecError(
            "player 'sunfish': Sunfish is not installed; 'make test' puts it into .venv-sunfish, "
            "or set ROOKERY_SUNFISH to the path of sunfish-uci"
        )
    return UciPlayer(name, _settings(program, {}, options))


def uci_player(name: str, options: dict[str, Any]) -> UciPlayer:
    """Any engine: `command` is split like a shell would, but no shell runs it."""
    command = _program(options, None)
    if not command:
        raise SpecError("player 'uci' needs the engine: uci,command=/path/to/engine")
    settings = {
        key.removeprefix("option."): value
        for key, value in options.items()
        if key.startswith("option.")
    }
    return UciPlayer(name, _settings(command, settings, options))


def _program(options: dict[str, Any], found: str | None) -> list[str]:
    """The argument list: `command` split like a shell would, or the program that was found."""
    if "command" not in options:
        return [found] if found else []
    try:
        return shlex.split(options["command"])
    except ValueError as error:
        raise SpecError(f"engine command {options['command']!r}: {error}") from error


def _settings(
    command: list[str], uci_options: dict[str, str], options: dict[str, Any]
) -> UciSettings:
    memory = options.get("memory")
    return UciSettings(
        command=command,
        options=uci_options,
        depth=options.get("depth"),
        nodes=options.get("nodes"),
        movetime=options.get("movetime"),
        hang_seconds=options.get("timeout", UciSettings.hang_seconds),
        process=ProcessLimits(memory_bytes=None if memory is None else memory * MEBIBYTE),
    )
