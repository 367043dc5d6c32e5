"""Engines that misbehave lose their games with evidence; nothing stops, leaks or stays behind."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import chess.pgn
import pytest

from rookery._core import Game
from rookery.arena.limits import Adjudication, MatchLimits
from rookery.arena.match import MatchResult, MatchSettings, game_rngs, run_match
from rookery.cli import main
from rookery.engines.process import MARK, ProcessLimits
from rookery.players.bots import RandomPlayer
from rookery.players.registry import make_player
from rookery.players.uci_engine import UciPlayer, UciSettings
from support.paths import SUPPORT

BAD_ENGINE = SUPPORT / "bad_engine.py"
GAMES = 4
# Several test processes may run side by side: each looks only for what it started itself.
TEST_RUN = "ROOKERY_TEST_RUN"


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TEST_RUN, secrets.token_hex(8))


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
}


def command(mode: str, folder: Path) -> list[str]:
    if mode == "missing-file":
        return [str(folder / "no such engine; touch canary")]
    if mode == "not-executable":
        path = folder / "plain.txt"
        path.write_text("not a program")
        return [str(path)]
    if mode == "a-directory":
        return [str(folder)]
    return [sys.executable, "-E", "-u", str(BAD_ENGINE), mode]


def settings(mode: str, folder: Path) -> UciSettings:
    return UciSettings(
        command(mode, folder),
        depth=None if mode == "slow" else 1,
        # Generous, since other tests share the cores, except where the time must run out.
        start_seconds=0.7 if FAULTS[mode].startswith("handshake") else 20.0,
        hang_seconds=0.4 if FAULTS[mode] == "hang" else 20.0,
        process=ProcessLimits(
            output_bytes=1 << 22,
            memory_bytes=1 << 30 if mode == "eats-memory" else None,
            quit_seconds=0.2,
        ),
        options={"Hash": "64"} if mode == "malformed-options" else {},
    )


def marked_processes() -> list[str]:
    """Return the command lines of all processes that engines of this test started or are."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            variables = entry.read_bytes().split(b"\0")
            ours = f"{TEST_RUN}={os.environ[TEST_RUN]}".encode() in variables
            if ours and any(item.startswith(f"{MARK}=".encode()) for item in variables):
                found.append((entry.parent / "cmdline").read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return found


def play(mode: str, folder: Path, bad_first: bool, concurrency: int) -> MatchResult:
    limits = MatchLimits(movetime=0.2, margin=0.1) if mode == "slow" else MatchLimits()

    def bad() -> UciPlayer:
        return UciPlayer("bad", settings(mode, folder))

    return run_match(
        bad if bad_first else RandomPlayer,
        RandomPlayer if bad_first else bad,
        MatchSettings(
            games=GAMES,
            openings="random:2",
            concurrency=concurrency,
            limits=limits,
            adjudication=Adjudication(max_plies=40),
            pgn=folder / "games.pgn",
        ),
        names=("bad", "random") if bad_first else ("random", "bad"),
    )


needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


@needs_proc
@pytest.mark.parametrize("mode", FAULTS)
def test_misbehaviour(mode: str, tmp_path: Path) -> None:
    check_misbehaviour(mode, tmp_path, bad_first=True, concurrency=1)


@needs_proc
@pytest.mark.parametrize(
    "mode", ["missing-file", "crash-on-go", "hang", "flood-stdout", "illegal", "grandchildren"]
)
def test_misbehaviour_of_the_second_player_in_two_games_at_once(mode: str, tmp_path: Path) -> None:
    check_misbehaviour(mode, tmp_path, bad_first=False, concurrency=2)


def check_misbehaviour(mode: str, tmp_path: Path, bad_first: bool, concurrency: int) -> None:
    descriptors = len(os.listdir("/proc/self/fd"))
    result = play(mode, tmp_path, bad_first, concurrency)
    summary = result.to_json()
    bad, good = ("first", "second") if bad_first else ("second", "first")

    # Nothing stopped: all games are there, in the result and in the PGN.
    assert result.tally.games + result.tally.void == GAMES
    with (tmp_path / "games.pgn").open() as stream:
        games = []
        while (game := chess.pgn.read_game(stream)) is not None:
            games.append(game)
    assert len(games) == GAMES
    assert not any(game.errors for game in games)

    # The culprit is blamed, with evidence, and only the culprit.
    assert result.tally.faults[good].total() == 0
    kind = FAULTS[mode]
    void = result.tally.void
    assert void == 0 or kind == "time"  # a machine that stalls during the tests explains lateness
    if kind:
        assert result.tally.faults[bad].total() == GAMES - void, summary
        assert set(result.tally.faults[bad]) <= set(kind.split("|")), summary
        assert result.tally.count("losses" if bad_first else "wins") == GAMES - void
        for game in games:
            culprit = "white" if game.headers["White"] == "bad" else "black"
            blame = game.headers["Excused" if "Void" in game.headers else "Fault"]
            assert re.match(rf"{culprit} ({kind}): \S", blame)
            assert blame.isprintable()
    else:
        assert result.tally.faults[bad].total() == 0, summary
        assert all("Fault" not in game.headers for game in games)

    # Nothing is left behind.
    assert wait_for(lambda: marked_processes() == [], 2)
    assert len(os.listdir("/proc/self/fd")) <= descriptors
    assert not (tmp_path / "canary").exists() and not Path("canary").exists()


def test_two_broken_players_void_the_game(tmp_path: Path) -> None:
    bad = UciSettings(command("missing-file", tmp_path))
    result = run_match(
        lambda: UciPlayer("a", bad),
        lambda: UciPlayer("b", bad),
        MatchSettings(games=4, pgn=tmp_path / "games.pgn"),
        names=("a", "b"),
    )
    assert result.tally.void == 4 and result.tally.games == 0
    text = (tmp_path / "games.pgn").read_text()
    assert text.count("[Event ") == 4 and text.count('[Void "yes"]') == 4
    # Both are blamed, now and when the match is read back.
    again = run_match(
        lambda: UciPlayer("a", bad),
        lambda: UciPlayer("b", bad),
        MatchSettings(games=4, pgn=tmp_path / "games.pgn"),
        names=("a", "b"),
    )
    for found in (result, again):
        assert {side: dict(kinds) for side, kinds in found.tally.faults.items()} == {
            "first": {"missing": 4},
            "second": {"missing": 4},
        }
    assert again.resumed == 4


def engine(mode: str, log: Path, **options: object) -> str:
    """Return the player spec of such an engine, which logs every line it receives."""
    words = f"uci,command={sys.executable} -E -u {BAD_ENGINE} {mode} {log}"
    return ",".join([words, *(f"{key}={value}" for key, value in options.items())])


def wait_for(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@needs_proc
@pytest.mark.parametrize("command", ["arena", "suite"])
def test_ctrl_c_ends_hanging_engines_at_once(command: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    words = [sys.executable, "-m", "rookery.cli", command, engine("hang", log, depth=1)]
    if command == "arena":
        words += ["random", "--games", "8", "--pgn", str(tmp_path / "games.pgn")]
    else:
        epd = tmp_path / "suite.epd"
        epd.write_text("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - bm Rd8#;\n" * 4)
        words += [str(epd)]
    process = subprocess.Popen(
        [*words, "--concurrency", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert wait_for(lambda: log.exists() and log.read_text().count("\ngo ") == 2)
        assert len(marked_processes()) == 2
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)  # the engines would have had 120 seconds
        assert process.returncode == 130
    finally:
        process.kill()
        process.wait()
    assert wait_for(lambda: marked_processes() == [], 5)
    if command == "arena":
        # An engine that we killed has not lost.
        assert "[Event " not in (tmp_path / "games.pgn").read_text()


def test_chess960_is_switched_off_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    player = make_player(engine("honest", log))
    rng = game_rngs(0, 0, 0)[0]
    shuffled = Game("bnrbkrqn/pppppppp/8/8/8/8/PPPPPPPP/BNRBKRQN w KQkq - 0 1", True)
    for game in (Game(), shuffled, shuffled, Game(), Game()):
        player.choose(game, rng)
    player.close()
    told = [line for line in log.read_text().splitlines() if line.startswith("setoption")]
    assert told == [f"setoption name UCI_Chess960 value {value}" for value in ("true", "false")]


CLOCKS = "wtime 60000 btime 60000 winc 500 binc 500"


@pytest.mark.parametrize(
    ("own", "limits", "told"),
    [
        ({}, ["--nodes", "50"], "go nodes 50"),
        ({}, ["--depth", "1"], "go depth 1"),
        ({}, ["--movetime", "60"], "go movetime 60000"),
        ({}, ["--tc", "60+0.5"], f"go {CLOCKS}"),
        ({}, [], "go movetime 100"),
        # A player's own limits go first, but what it would lose by is always told.
        ({"depth": 3}, ["--depth", "1"], "go depth 3"),
        ({"depth": 3}, ["--movetime", "60"], "go depth 3 movetime 60000"),
        ({"nodes": 7}, ["--tc", "60+0.5"], f"go nodes 7 {CLOCKS}"),
        ({"movetime": "90s"}, ["--movetime", "60"], "go movetime 60000"),
        ({"movetime": "30s"}, ["--movetime", "60"], "go movetime 30000"),
        ({"movetime": "30s"}, ["--tc", "60+0.5"], f"go movetime 30000 {CLOCKS}"),
    ],
)
def test_match_limits_reach_the_engine(
    own: dict[str, object],
    limits: list[str],
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = tmp_path / "log"
    words = ["arena", engine("honest", log, **own), "random", "--games", "1", "--max-plies", "3"]
    words += ["--openings", "start", "--margin", "60", "--json"]
    assert main([*words, *limits]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["games"] == 1 and found["faults"] == {"first": 0, "second": 0}
    first = next(line for line in log.read_text().splitlines() if line.startswith("go"))
    assert first == told


def test_a_memory_limit_beyond_the_machine_is_harmless(tmp_path: Path) -> None:
    player = make_player(engine("honest", tmp_path / "log", memory=10**15))
    player.new_game()
    assert Game().is_legal(player.choose(Game(), game_rngs(0, 0, 0)[0]).move)
    player.close()


def test_stray_bestmoves_are_counted(tmp_path: Path) -> None:
    player = UciPlayer("bad", settings("two-bestmoves", tmp_path))
    rng = game_rngs(0, 0, 0)[0]
    game = Game()
    for _ in range(3):
        game.push(player.choose(game, rng).move)
    player.close()
    assert player.stray_moves == 2  # the third has not been looked for yet


def test_a_garbage_collected_player_ends_its_engine(tmp_path: Path) -> None:
    player = UciPlayer("bad", settings("ignores-signals", tmp_path))
    player.new_game()
    assert len(marked_processes()) == 1
    del player
    assert marked_processes() == []
