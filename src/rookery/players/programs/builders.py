"""Builders of UCI players: Stockfish, Fairy-Stockfish, or any other engine."""

from __future__ import annotations

import shlex
from typing import Any

from rookery.engines.find import find_fairy_stockfish, find_stockfish
from rookery.engines.process import ProcessLimits
from rookery.players.programs.uci_engine import UciPlayer, UciSettings
from rookery.players.spec import PlayerSpec, SpecError

MEBIBYTE = 1 << 20


def stockfish_player(spec: PlayerSpec, options: dict[str, Any]) -> UciPlayer:
    """Stockfish with `elo`, `skill`, `threads`, `hash` and the limits of a search."""
    program = program_of(options, find_stockfish())
    if not program:
        raise SpecError(
            "player 'stockfish': Stockfish is not installed; apt install stockfish, or set "
            "ROOKERY_STOCKFISH to its path"
        )
    settings = _threads_and_hash(options)
    if "elo" in options and "skill" in options:
        raise SpecError("player 'stockfish': give either elo or skill, not both")
    if "elo" in options:
        settings |= {"UCI_LimitStrength": "true", "UCI_Elo": str(options["elo"])}
    if "skill" in options:
        settings["Skill Level"] = str(options["skill"])
    return UciPlayer(str(spec), settings_of(program, settings, options))


def fairy_stockfish_player(spec: PlayerSpec, options: dict[str, Any]) -> UciPlayer:
    """Fairy-Stockfish, which plays on boards of other sizes too."""
    program = program_of(options, find_fairy_stockfish())
    if not program:
        raise SpecError(
            "player 'fairy-stockfish': Fairy-Stockfish is not installed; apt install "
            "fairy-stockfish, or set ROOKERY_FAIRY_STOCKFISH to its path"
        )
    return UciPlayer(str(spec), settings_of(program, _threads_and_hash(options), options))


def _threads_and_hash(options: dict[str, Any]) -> dict[str, str]:
    return {"Threads": str(options.get("threads", 1)), "Hash": str(options.get("hash", 16))}


def uci_player(spec: PlayerSpec, options: dict[str, Any]) -> UciPlayer:
    """Any engine; `command` is split like in a shell, but no shell runs it."""
    command = program_of(options, None)
    if not command:
        raise SpecError("player 'uci' needs the engine: uci,command=/path/to/engine")
    settings = {
        key.removeprefix("option."): value
        for key, value in options.items()
        if key.startswith("option.")
    }
    return UciPlayer(str(spec), settings_of(command, settings, options))


def program_of(options: dict[str, Any], found: str | None) -> list[str]:
    """The argument list: the option `command`, or the program that was found."""
    if "command" not in options:
        return [found] if found else []
    try:
        return shlex.split(options["command"])
    except ValueError as error:
        raise SpecError(f"engine command {options['command']!r}: {error}") from error


def settings_of(
    command: list[str], uci_options: dict[str, str], options: dict[str, Any]
) -> UciSettings:
    """Convert a player's options to `UciSettings`; memory is given in MiB."""
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
