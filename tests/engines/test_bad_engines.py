"""Engines that misbehave lose their games with evidence; nothing stops, leaks or stays behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hostile_engines import (
    BAD_ENGINE,
    FAULTS,
    OURS,
    engine_command,
    left_over,
    nothing_left,
    own_processes,
    problems,
    settings,
)
from rookery._core import Game
from rookery.arena.game import game_rngs
from rookery.arena.match import MatchSettings, run_match
from rookery.cli import main
from rookery.engines.faults import EngineFault
from rookery.engines.process import EngineProcess
from rookery.players.programs.uci_engine import UciPlayer, UciSettings
from rookery.players.registry import make_player

GAMES = 4


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several test processes may run side by side: each looks only for what it started itself."""
    monkeypatch.setenv(OURS, "")
    own_processes()


needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


@needs_proc
@pytest.mark.parametrize("kind", FAULTS)
def test_misbehaviour(kind: str, tmp_path: Path) -> None:
    assert list(problems(kind, tmp_path, GAMES)) == []


@needs_proc
@pytest.mark.parametrize(
    "kind", ["missing-file", "crash-on-go", "hang", "flood-stdout", "illegal", "daemon"]
)
def test_misbehaviour_of_the_second_player_in_two_games_at_once(kind: str, tmp_path: Path) -> None:
    assert list(problems(kind, tmp_path, GAMES, bad_first=False, concurrency=2)) == []


@needs_proc
def test_why_an_engine_does_not_start_is_told_in_either_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guard and the program's process report at the same time."""
    guard = tmp_path / "guard"
    guard.write_text(
        f"#!{sys.executable}\nimport os, sys\nos.write(int(sys.argv[3]), b'error 2\\n4711\\n')\n"
    )
    guard.chmod(0o755)
    monkeypatch.setattr("rookery.engines.pipes.GUARD", guard)
    with pytest.raises(EngineFault, match="No such file or directory: '/no/such/engine'"):
        EngineProcess(["/no/such/engine"])


def test_two_broken_players_void_the_game(tmp_path: Path) -> None:
    bad = UciSettings(engine_command("missing-file", tmp_path))
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
        assert len(left_over()) == 4  # two engines with their guards
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)  # the engines would have had 120 seconds
        assert process.returncode == 130
    finally:
        process.kill()
        process.wait()
    assert nothing_left()
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
    assert len(left_over()) == 2  # with its guard
    del player
    assert left_over() == []
