"""Engines that misbehave lose their games with evidence; nothing stops, leaks or stays behind."""

from __future__ import annotations

import os
import re
import secrets
import sys
import time
from pathlib import Path

import chess.pgn
import pytest

from rookery.arena.limits import Adjudication, MatchLimits
from rookery.arena.match import MatchResult, MatchSettings, run_match
from rookery.players.process import MARK, ProcessLimits
from rookery.players.random import RandomPlayer
from rookery.players.uci_engine import UciPlayer, UciSettings

BAD_ENGINE = Path(__file__).with_name("bad_engine.py")
GAMES = 4
# Several test processes may run side by side: each looks only for what it started itself.
TEST_RUN = "ROOKERY_TEST_RUN"


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TEST_RUN, secrets.token_hex(8))


# Misbehaviour -> the kind of fault it must be blamed for; "" where the games must go on, because
# it is rude but harmless.
FAULTS = {
    "missing-file": "missing",
    "not-executable": "missing",
    "a-directory": "missing",
    "exit-at-start": "crash",
    "closes-stdin": "handshake",
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
        # Two cores shared with whatever else the tests run: generous, but for those that must
        # run out of it.
        start_seconds=0.7 if FAULTS[mode] == "handshake" else 20.0,
        hang_seconds=0.4 if FAULTS[mode] == "hang" else 20.0,
        process=ProcessLimits(
            output_bytes=1 << 22,
            memory_bytes=1 << 30 if mode == "eats-memory" else None,
            quit_seconds=0.2,
        ),
    )


def marked_processes() -> list[str]:
    """Command lines of engines, and of what engines started, that this test process made."""
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


def play(mode: str, folder: Path) -> MatchResult:
    limits = MatchLimits(movetime=0.2, margin=0.1) if mode == "slow" else MatchLimits()
    return run_match(
        lambda: UciPlayer("bad", settings(mode, folder)),
        RandomPlayer,
        MatchSettings(
            games=GAMES,
            openings="random:2",
            concurrency=1,
            limits=limits,
            adjudication=Adjudication(max_plies=40),
            pgn=folder / "games.pgn",
        ),
        names=("bad", "random"),
    )


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
@pytest.mark.parametrize("mode", FAULTS)
def test_misbehaviour(mode: str, tmp_path: Path) -> None:
    descriptors = len(os.listdir("/proc/self/fd"))
    result = play(mode, tmp_path)
    summary = result.to_json()

    # Nothing stopped: all games are there, in the result and in the PGN.
    assert result.tally.games + result.tally.void == GAMES
    with (tmp_path / "games.pgn").open() as stream:
        games = []
        while (game := chess.pgn.read_game(stream)) is not None:
            games.append(game)
    assert len(games) == GAMES
    assert not any(game.errors for game in games)

    # The culprit is blamed, with evidence, and only the culprit.
    assert result.tally.faults["second"].total() == 0
    kind = FAULTS[mode]
    if kind:
        assert dict(result.tally.faults["first"]) == {kind: GAMES}, summary
        assert result.tally.count("losses") + result.tally.void == GAMES
        for game in games:
            culprit = "white" if game.headers["White"] == "bad" else "black"
            assert re.match(rf"{culprit} {kind}: \S", game.headers["Fault"])
            assert game.headers["Fault"].isprintable()
    else:
        assert result.tally.faults["first"].total() == 0, summary
        assert all("Fault" not in game.headers for game in games)

    # Nothing is left behind.
    deadline = time.monotonic() + 2
    while marked_processes() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert marked_processes() == []
    assert len(os.listdir("/proc/self/fd")) == descriptors
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


def test_stray_bestmoves_are_counted(tmp_path: Path) -> None:
    from rookery._core import Game
    from rookery.arena.match import game_rngs

    player = UciPlayer("bad", settings("two-bestmoves", tmp_path))
    rng = game_rngs(0, 0, 0)[0]
    game = Game()
    for _ in range(3):
        game.push(player.choose(game, rng).move)
    player.close()
    assert player.stray_moves == 2  # the third has not been looked for yet


def test_a_forgotten_player_takes_its_engine_along(tmp_path: Path) -> None:
    player = UciPlayer("bad", settings("ignores-signals", tmp_path))
    player.new_game()
    assert len(marked_processes()) == 1
    del player
    assert marked_processes() == []
