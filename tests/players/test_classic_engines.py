"""Engines with published ratings, and the client of the xboard protocol that most of them speak."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from tests.support.needs import needs_classic_engines

from rookery import Game
from rookery.engines.faults import EngineFault
from rookery.engines.find import CLASSIC_ENGINES
from rookery.players.base import Limits
from rookery.players.programs.classic_engines import fairymax_commands, hoichess_commands
from rookery.players.programs.xboard_engine import (
    Pace,
    XboardPlayer,
    XboardSettings,
    as_uci,
    read_features,
)
from rookery.players.registry import make_player
from rookery.players.spec import SpecError

# An engine that does what the first word of its argument says once it has to move.
ENGINE = """
import sys
how = sys.argv[1]
moves = iter(["e7e5", "b8c6"])
for line in sys.stdin:
    word = line.split()[0]
    if word == "protover":
        ping = 0 if how == "deaf" else 1
        print(f'feature ping={ping} setboard=0 myname="The One" usermove=1')
        print("feature done=1", flush=True)
    elif word == "ping":
        print("pong", line.split()[1], flush=True)
    elif word == "usermove" and how == "picky":
        print("Illegal move:", line.split()[1], flush=True)
    elif word == "go" and how == "resigns":
        print("resign", flush=True)
    elif word == "go" and how == "plays" or word == "?" and how == "waits":
        print("move", next(moves), flush=True)
"""


def engine(tmp_path: Path, how: str, **more: object) -> XboardPlayer:
    script = tmp_path / "engine.py"
    script.write_text(ENGINE)
    pace = Pace(lambda seconds: [f"st {seconds:g}"], interrupt=how == "waits")
    settings = XboardSettings([sys.executable, str(script), how], pace, **more)  # type: ignore[arg-type]
    return XboardPlayer(how, settings)


def ask(player: XboardPlayer, *moves: str, seconds: float = 5.0) -> str:
    game = Game()
    for move in moves:
        game.push(move)
    return player.choose(game, np.random.default_rng(1), Limits(movetime=seconds)).move


@needs_classic_engines
@pytest.mark.parametrize("name", CLASSIC_ENGINES)
def test_each_engine_plays_on_from_any_opening(name: str) -> None:
    player = make_player(f"{name},movetime=0.02")
    rng = np.random.default_rng(1)
    try:
        for opening in (["a2a3", "h7h5"], ["e2e4", "e7e5", "g1f3"]):
            player.new_game()
            game = Game()
            for move in opening:
                game.push(move)
            for _ in range(3):
                decision = player.choose(game, rng)
                assert game.is_legal(decision.move)
                assert decision.details["seconds"] > 0  # type: ignore[operator]
                game.push(decision.move)
                game.push(game.legal_moves()[0])
    finally:
        player.close()


@needs_classic_engines
@pytest.mark.parametrize("name", ["gnuchess", "phalanx", "hoichess"])
def test_they_mate_from_a_position(name: str) -> None:
    player = make_player(f"{name},movetime=0.1")
    player.new_game()
    try:
        game = Game("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1")
        assert player.choose(game, np.random.default_rng(1)).move == "a1a8"
    finally:
        player.close()


def test_a_missing_engine_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    from rookery.players.programs import classic_engines

    monkeypatch.setattr(classic_engines, "find_classic_engine", lambda name: None)
    for name in CLASSIC_ENGINES:
        with pytest.raises(SpecError, match=f"apt install {name}, or set ROOKERY_{name.upper()}"):
            make_player(name)


def test_the_time_that_engines_are_told() -> None:
    assert hoichess_commands(0.1) == ["level 10 0:02 0"]  # it keeps a second back
    assert hoichess_commands(1.0) == ["level 1 0:02 0"]
    assert hoichess_commands(3.0) == ["st 3"]
    assert fairymax_commands(0.1)[0] == "st 1"  # one move to go
    told = [int(fairymax_commands(seconds)[1].removeprefix("time ")) for seconds in (0.1, 1.0)]
    assert told[1] == pytest.approx(10 * told[0], rel=0.1)


def test_moves_are_understood_in_their_ways() -> None:
    game = Game("r3k2r/1P6/8/8/8/8/8/R3K2R w KQkq - 0 1")
    told = {"e1g1": "e1g1", "O-O": "e1g1", "O-O-O": "e1c1", "b8=Q": "b7b8q", "b7a8n": "b7a8n"}
    assert {said: as_uci(game, said) for said in told} == told
    assert as_uci(game, "nonsense") == "nonsense"  # the referee's to judge


def test_features_are_read() -> None:
    line = 'feature ping=1 setboard=0 myname="A = B" option="Hash -spin 1 0 9" done=1'
    assert read_features(line) == {
        "ping": "1",
        "setboard": "0",
        "myname": "A = B",
        "option": "Hash -spin 1 0 9",
        "done": "1",
    }
    assert read_features("tellics say hello=1") == {}


def test_a_game_is_continued_and_another_begun(tmp_path: Path) -> None:
    player = engine(tmp_path, "plays")
    player.new_game()
    try:
        assert ask(player, "e2e4") == "e7e5"
        assert player.engine_name == "The One"
        assert ask(player, "e2e4", "e7e5", "g1f3") == "b8c6"
    finally:
        player.close()


def test_an_engine_is_interrupted_when_its_time_is_over(tmp_path: Path) -> None:
    player = engine(tmp_path, "waits")
    player.new_game()
    try:
        assert ask(player, "e2e4", seconds=0.01) == "e7e5"
    finally:
        player.close()


@pytest.mark.parametrize(
    ("how", "kind", "evidence"),
    [
        ("deaf", "handshake", "ping"),
        ("picky", "illegal", "refuses our input: Illegal move: e2e4"),
        ("resigns", "illegal", "no move, but 'resign'"),
        ("sleeps", "time", "no move after"),
    ],
)
def test_misbehaviour_is_a_fault(tmp_path: Path, how: str, kind: str, evidence: str) -> None:
    player = engine(tmp_path, how, grace_seconds=0.0)
    with pytest.raises(EngineFault, match=evidence) as caught:
        ask(player, "e2e4", seconds=0.05 if how == "sleeps" else 5.0)
    assert caught.value.kind == kind
    player.close()


def test_a_position_that_cannot_be_set_up_is_a_fault(tmp_path: Path) -> None:
    player = engine(tmp_path, "plays")
    with pytest.raises(EngineFault, match="The One plays from the starting position alone"):
        player.choose(Game("6k1/8/8/8/8/8/8/R3K3 w - - 0 1"), np.random.default_rng(1))
    player.close()
