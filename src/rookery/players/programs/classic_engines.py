"""GNU Chess, Phalanx, HoiChess and Fairy-Max: engines with a rating that others have measured.

All four are in Debian, play without their opening books here, and are held to a time per move, the
only limit they share:

- GNU Chess speaks UCI and keeps `movetime`.
- Phalanx takes fractions in `st`, but as an average that it stays far below. It is told a long time
  and interrupted by `?` at the end of its own, which it obeys at its next look at the input.
- HoiChess takes whole seconds in `st`, never looks at `?`, and of a clock it keeps one second back.
  Two seconds for N moves therefore are 1/N seconds for the next one.
- Fairy-Max begins no new iteration after a fifteenth of the time for the move, finishes the one
  that it began, and cannot be interrupted. It is told so much time that the moves take the limit on
  average; single ones take several times as long.

docs/results.md has the times that they really take.
"""

from __future__ import annotations

import math
from typing import Any

from rookery.engines.find import find_classic_engine
from rookery.engines.process import ProcessLimits
from rookery.players.programs.builders import MEBIBYTE, program_of, settings_of
from rookery.players.programs.uci_engine import UciPlayer
from rookery.players.programs.xboard_engine import Pace, XboardPlayer, XboardSettings
from rookery.players.spec import PlayerSpec, SpecError

LONG = 1000  # times the time for a move: never the reason to stop
FAIRYMAX_SHARE = 0.3  # of the time, after which it begins no new iteration
FAIRYMAX_PARTS = 15  # it begins none after this part of the time it is told


def hoichess_commands(seconds: float) -> list[str]:
    """The clock of which one move may take `seconds`."""
    if seconds > 1:
        return [f"st {math.floor(seconds)}"]
    return [f"level {max(1, round(1 / max(seconds, 0.001)))} 0:02 0"]


def fairymax_commands(seconds: float) -> list[str]:
    """One move, for a time (in centiseconds) of which it uses a small part."""
    told = max(1, round(100 * seconds * FAIRYMAX_SHARE * FAIRYMAX_PARTS))
    return ["st 1", f"time {told}"]


PACES = {
    "phalanx": Pace(lambda seconds: [f"st {seconds * LONG:g}"], interrupt=True),
    "hoichess": Pace(hoichess_commands),
    "fairymax": Pace(fairymax_commands),
}
ARGUMENTS = {
    "phalanx": ("-b-", "-l-"),  # neither its book nor a file of what it learnt
    "hoichess": ("--norc",),  # the file opens its book
    "fairymax": (),
}


def classic_player(spec: PlayerSpec, options: dict[str, Any]) -> UciPlayer | XboardPlayer:
    """One of the four, by its name."""
    program = program_of(options, find_classic_engine(spec.name))
    if not program:
        raise SpecError(
            f"player {spec.name!r}: {spec.name} is not installed; apt install {spec.name}, or set "
            f"ROOKERY_{spec.name.upper()} to its path"
        )
    if spec.name == "gnuchess":
        uci = {"Hash": "16", "OwnBook": "false"}
        return UciPlayer(str(spec), settings_of([*program, "--uci"], uci, options))
    memory = options.get("memory")
    return XboardPlayer(
        str(spec),
        XboardSettings(
            command=[*program, *ARGUMENTS[spec.name]],
            pace=PACES[spec.name],
            movetime=options.get("movetime"),
            process=ProcessLimits(memory_bytes=None if memory is None else memory * MEBIBYTE),
        ),
    )
