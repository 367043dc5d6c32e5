"""Games against engines that misbehave: the culprit is blamed, and no process is left.

    python benchmarks/hostile_engines.py --games 100
    python benchmarks/hostile_engines.py --games 4 --kind hang --kind daemon

Every kind of misbehaviour of tests/support/bad_engine.py plays a match against `random`. All games
must be there, in the result and in the PGN; a harmful kind must lose each game with its own fault
and evidence, a harmless one must have none; afterwards no process and no file descriptor of the
engine may be left.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import chess.pgn

from rookery.arena.limits import Adjudication, MatchLimits
from rookery.arena.match import MatchResult, MatchSettings, run_match
from rookery.engines.process import ProcessLimits
from rookery.players.bots import RandomPlayer
from rookery.players.programs.uci_engine import UciPlayer, UciSettings

BAD_ENGINE = Path(__file__).resolve().parents[1] / "tests" / "support" / "bad_engine.py"
# Processes started here, and their descendants, have this variable in their environment; a daemon
# that drops it sleeps for a time that ends with its value.
OURS = "ROOKERY_TEST_RUN"
END_SECONDS = 5.0  # to the end of all processes after a match

# Misbehaviour -> the kind of fault it must be blamed for; "" if it is harmless and the games
# must continue.
FAULTS = {
    "missing-file": "missing",
    "not-executable": "missing",
    "a-directory": "missing",
    "exit-at-start": "crash",
    "closes-stdin": "handshake|crash",  # whether we write before or after it closes is a race
    "no-uciok": "handshake",
    "flood-at-uci": "flood",
    "no-readyok": "handshake",
    "crash-at-ready": "crash",
    "crash-on-go": "crash",
    "crash-later": "crash",
    "exit-after-bestmove": "crash",
    "closes-stdout": "crash",
    "hang": "hang",
    "busy-hang": "hang",
    "trickle": "hang",
    "slow": "time",
    "endless-line": "flood",
    "flood-stdout": "flood",
    "flood-stderr": "flood",
    "eats-memory": "crash",
    "illegal": "illegal",
    "null-move": "illegal",
    "none-move": "illegal",
    "empty-move": "illegal",
    "garbage-move": "illegal",
    "san-move": "illegal",
    "upper-case": "illegal",
    "opponents-move": "illegal",
    "stale-move": "illegal",
    "invalid-utf8-move": "illegal",
    "escape-codes": "illegal",
    "huge-move": "illegal",
    "daemon-and-hang": "hang",
    "daemon-and-exit": "crash",
    "invalid-utf8": "",
    "carriage-returns": "",
    "chatter-before-uci": "",
    "malformed-options": "",
    "malformed-info": "",
    "two-bestmoves": "",
    "late-second-bestmove": "",
    "ignores-quit": "",
    "ignores-signals": "",
    "grandchildren": "",
    "escaped-grandchildren": "",
    "daemon": "",
}


def own_processes() -> None:
    """Mark the processes that are started from now on; see `left_over`."""
    os.environ[OURS] = str(secrets.randbelow(10**15) + 10**15)


def left_over() -> list[str]:
    """Command lines of the engines, their guards and descendants started since `own_processes`."""
    found = []
    mark = f"{OURS}={os.environ[OURS]}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            daemon = any(word.endswith(b"." + os.environ[OURS].encode()) for word in words)
            ours = daemon or mark in (entry / "environ").read_bytes().split(b"\0")
            # Not this process, nor a command of Rookery that is being tested.
            if ours and int(entry.name) != os.getpid() and b"rookery.cli" not in words:
                found.append(b" ".join(words).decode(errors="replace"))
        except OSError:
            continue
    return found


def nothing_left(seconds: float = END_SECONDS) -> bool:
    """Whether all of them end in this time."""
    deadline = time.monotonic() + seconds
    while left_over():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def engine_command(kind: str, folder: Path) -> list[str]:
    """The arguments that start such an engine; `folder` is for files."""
    if kind == "missing-file":
        return [str(folder / "no such engine; touch canary")]
    if kind == "not-executable":
        path = folder / "plain.txt"
        path.write_text("not a program")
        return [str(path)]
    if kind == "a-directory":
        return [str(folder)]
    return [sys.executable, "-E", "-u", str(BAD_ENGINE), kind]


def settings(kind: str, folder: Path) -> UciSettings:
    """How such an engine is started, with limits that it will exceed soon."""
    return UciSettings(
        engine_command(kind, folder),
        depth=None if kind == "slow" else 1,
        # Generous, since others share the cores, except where the time must run out.
        start_seconds=0.7 if FAULTS[kind].startswith("handshake") else 20.0,
        hang_seconds=0.4 if FAULTS[kind] == "hang" else 20.0,
        process=ProcessLimits(
            output_bytes=1 << 22,
            memory_bytes=1 << 30 if kind == "eats-memory" else None,
            quit_seconds=0.2,
        ),
        options={"Hash": "64"} if kind == "malformed-options" else {},
    )


def play(kind: str, folder: Path, games: int, bad_first: bool, concurrency: int) -> MatchResult:
    """A match of such an engine against `random`, with its PGN in the folder."""
    limits = MatchLimits(movetime=0.2, margin=0.1) if kind == "slow" else MatchLimits()

    def bad() -> UciPlayer:
        return UciPlayer("bad", settings(kind, folder))

    return run_match(
        bad if bad_first else RandomPlayer,
        RandomPlayer if bad_first else bad,
        MatchSettings(
            games=games,
            openings="random:2",
            concurrency=concurrency,
            limits=limits,
            adjudication=Adjudication(max_plies=40),
            pgn=folder / "games.pgn",
        ),
        names=("bad", "random") if bad_first else ("random", "bad"),
    )


def problems(
    kind: str, folder: Path, games: int, bad_first: bool = True, concurrency: int = 1
) -> Iterator[str]:
    """Play a match and yield everything that is not as it should be."""
    descriptors = len(os.listdir("/proc/self/fd"))
    result = play(kind, folder, games, bad_first, concurrency)
    tally = result.tally
    bad, good = ("first", "second") if bad_first else ("second", "first")
    played = _read(folder / "games.pgn")
    if tally.games + tally.void != games or len(played) != games:
        yield f"{tally.games + tally.void} games and {len(played)} in the PGN instead of {games}"
    if any(game.errors for game in played):
        yield "the PGN has errors"
    if tally.faults[good]:
        yield f"the innocent player is blamed: {dict(tally.faults[good])}"
    # A machine that stalls explains lateness, and nothing else.
    if tally.void and FAULTS[kind] != "time":
        yield f"{tally.void} void games"
    blamed = dict(tally.faults[bad])
    right = set(FAULTS[kind].split("|")) - {""}
    lost = tally.count("losses" if bad_first else "wins")
    if not set(blamed) <= right or (right and sum(blamed.values()) != games - tally.void):
        yield f"blamed for {blamed} instead of {FAULTS[kind] or 'nothing'}"
    if right and lost != games - tally.void:
        yield f"{lost} games lost of {games}"
    yield from (text for game in played if (text := _wrong_header(game, FAULTS[kind])))
    if not nothing_left():
        yield f"processes are left: {left_over()}"
    if len(os.listdir("/proc/self/fd")) > descriptors:
        yield "file descriptors are left"
    if (folder / "canary").exists() or Path("canary").exists():
        yield "a shell has run the engine's command"


def _read(path: Path) -> list[chess.pgn.Game]:
    games = []
    with path.open() as stream:
        while (game := chess.pgn.read_game(stream)) is not None:
            games.append(game)
    return games


def _wrong_header(game: chess.pgn.Game, kind: str) -> str:
    """What is wrong with the blame in the PGN; empty: nothing."""
    if not kind:
        return f"blamed: {game.headers['Fault']}" if "Fault" in game.headers else ""
    culprit = "white" if game.headers["White"] == "bad" else "black"
    blame = game.headers.get("Excused" if "Void" in game.headers else "Fault", "")
    right = re.match(rf"{culprit} ({kind}): \S", blame) and blame.isprintable()
    return "" if right else f"the header is {blame!r}"


def main() -> int:
    """Play all kinds and print the result as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--games", type=int, default=100, help="games of each kind (100)")
    parser.add_argument("--kind", action="append", choices=FAULTS, help="repeatable; default: all")
    args = parser.parse_args()
    own_processes()
    found: dict[str, list[str]] = {}
    began = time.monotonic()
    for kind in args.kind or FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            start = time.monotonic()
            found[kind] = list(problems(kind, Path(folder), args.games))
            print(f"{kind}: {time.monotonic() - start:.0f} s {found[kind] or ''}", file=sys.stderr)
    wrong = {kind: texts for kind, texts in found.items() if texts}
    summary = {
        "kinds": len(found),
        "games": args.games * len(found),
        "processes_left": len(left_over()),
        "problems": wrong,
        "seconds": round(time.monotonic() - began),
    }
    print(json.dumps(summary, indent=2))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
