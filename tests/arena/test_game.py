"""Single games: clocks, faults and who is to blame, endings both players agree on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import chess.pgn
import numpy as np
import pytest

from rookery._core import Game
from rookery.arena.game import play_game
from rookery.arena.limits import (
    Adjudication,
    MatchLimits,
    TimeControl,
    ValueJudge,
    parse_time_control,
)
from rookery.arena.match import MatchSettings, game_rngs, run_match
from rookery.arena.pgn import read_games, stored, to_pgn
from rookery.arena.results import Tally
from rookery.data.openings import Opening
from rookery.engines.faults import EngineFault
from rookery.players.base import Decision, Limits
from support.scripted import Scripted


def test_time_controls() -> None:
    assert parse_time_control("10+0.1") == TimeControl(10, 0.1)
    assert parse_time_control("2:30+1") == TimeControl(150, 1)
    assert str(parse_time_control("60")) == "60+0"
    for text in ("", "x", "10+", "-1", "0", "1:2:3", "10+0.1+2"):
        with pytest.raises(ValueError, match="time control"):
            parse_time_control(text)


class FakeTime:
    """A clock that only moves when a player thinks."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


class Thinker(Scripted):
    """Takes so long by that clock, then moves or raises a fault."""

    def __init__(
        self, clock: FakeTime, seconds: float, fault: tuple[str, float | None] | None = None
    ) -> None:
        super().__init__()
        self.clock = clock
        self.seconds = seconds
        self.fault = fault  # kind and allowance

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        self.clock.now += self.seconds
        if self.fault is not None:
            raise EngineFault(self.fault[0], "no bestmove", allowance=self.fault[1])
        return super().choose(game, rng, limits)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    fake = FakeTime()
    monkeypatch.setattr("rookery.arena.game.time", fake)
    return fake


def test_the_clock_runs_down_and_the_flag_falls(clock: FakeTime) -> None:
    slow = Thinker(clock, 0.06)
    record = play_game(
        slow,
        Thinker(clock, 0.01),
        Opening(),
        game_rngs(0, 0, 0),
        limits=MatchLimits(time_control=TimeControl(0.2, 0.0), margin=0.0),
        overload=lambda since: 0.0,
    )
    clocks = [limits.white_time for limits in slow.seen if limits is not None]
    assert clocks == pytest.approx([0.2, 0.14, 0.08, 0.02])
    assert record is not None and record.reason == "forfeit: White time"
    assert record.fault is not None and "0.020 s on the clock" in record.fault.evidence


def test_increment_is_added(clock: FakeTime) -> None:
    player = Thinker(clock, 0.25)
    play_game(
        player,
        Thinker(clock, 0.0),
        Opening(),
        game_rngs(0, 0, 0),
        limits=MatchLimits(time_control=TimeControl(1.0, 0.5)),
        adjudication=Adjudication(max_plies=8),
    )
    times = [limits.white_time for limits in player.seen if limits is not None]
    assert times == pytest.approx([1.0, 1.25, 1.5, 1.75])


@pytest.mark.parametrize(
    ("seconds", "fault", "stall", "excused"),
    [
        (0.05, None, 0.0, False),
        (0.05, None, 0.02, False),  # late by 0.04, of which 0.02 are ours: too late all the same
        (0.05, None, 0.03, True),
        (0.05, None, 1.0, True),
        (5.0, None, 0.06, False),  # a gross loss is not explained by any small stall
        (5.0, None, 4.99, True),
        (2.0, ("time", 0.01), 0.06, False),
        (2.0, ("time", 0.01), 1.99, True),
        (10.0, ("hang", 10.0), 0.06, False),
        (10.0, ("hang", 10.0), 4.9, False),
        (10.0, ("hang", 10.0), 5.1, True),
        (10.0, ("hang", None), 60.0, False),
        (0.05, ("crash", None), 60.0, False),
    ],
)
def test_only_a_stall_long_enough_excuses_a_fault(
    seconds: float,
    fault: tuple[str, float | None] | None,
    stall: float,
    excused: bool,
    clock: FakeTime,
) -> None:
    record = play_game(
        Thinker(clock, seconds, fault),
        Thinker(clock, 0.0),
        Opening(),
        game_rngs(0, 0, 0),
        limits=MatchLimits(movetime=0.01, margin=0.01),
        overload=lambda since: stall,
    )
    assert record is not None and record.fault is not None
    assert record.void == record.excused == excused
    tally = Tally()
    tally.add(stored(record))
    text = to_pgn(record, {})
    (_, read_back, _) = next(read_games(text))
    assert read_back == replace(stored(record), seconds=read_back.seconds)
    if excused:
        assert record.result == "*" and "this machine stalled" in record.reason
        assert tally.void == 1 and tally.faults["first"].total() == 0
        assert "[Excused " in text and "[Fault " not in text
    else:
        assert record.result == "0-1" and record.reason.startswith("forfeit: White")
        assert tally.void == 0 and tally.faults["first"].total() == 1


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "e2e4",
        Decision(None),  # type: ignore[arg-type]
        Decision(12),  # type: ignore[arg-type]
        Decision("e2e4", value="good"),  # type: ignore[arg-type]
        Decision("e2e4", value=float("nan")),
        Decision("e2e4", details=None),  # type: ignore[arg-type]
    ],
)
def test_malformed_decisions_lose_the_game(answer: object) -> None:
    class Odd(Scripted):
        def choose(self, *_: object) -> Decision:
            return answer  # type: ignore[return-value]

    record = play_game(Odd(), Scripted(), Opening(), game_rngs(0, 0, 0))
    assert record is not None and record.result == "0-1"
    assert record.fault is not None and record.fault.kind == "error" and record.fault.evidence
    to_pgn(record, {})


def test_invalid_unicode_is_an_illegal_move() -> None:
    class Odd(Scripted):
        def choose(self, *_: object) -> Decision:
            return Decision("\ud800")

    record = play_game(Odd(), Scripted(), Opening(), game_rngs(0, 0, 0))
    assert record is not None and record.fault is not None and record.fault.kind == "illegal"
    to_pgn(record, {}).encode()


def test_an_exception_that_cannot_be_printed_loses_the_game() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    class Odd(Scripted):
        def choose(self, *_: object) -> Decision:
            raise Mute

    record = play_game(Odd(), Scripted(), Opening(), game_rngs(0, 0, 0))
    assert record is not None and record.fault is not None and record.fault.evidence == "Mute"


def test_a_wrong_draw_claim_loses() -> None:
    class Claims(Scripted):
        def choose(
            self, game: Game, rng: np.random.Generator, limits: Limits | None = None
        ) -> Decision:
            return Decision(game.legal_moves()[0], claims_draw=True)

    record = play_game(Claims(), Scripted(), Opening(), game_rngs(0, 0, 0))
    assert record is not None and record.result == "0-1"
    assert record.fault is not None and record.fault.kind == "illegal"
    repeated = Opening(moves=("g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"))
    record = play_game(Scripted(), Claims(), repeated, game_rngs(0, 0, 0))
    assert record is not None and (record.result, record.reason) == ("1/2-1/2", "draw claimed")


@pytest.mark.parametrize(
    ("values", "rules", "result"),
    [
        ((0.95, -0.95), Adjudication(resign_value=0.9), "1-0"),
        ((-0.95, 0.95), Adjudication(resign_value=0.9), "0-1"),
        ((0.95, 0.95), Adjudication(resign_value=0.9, max_plies=60), "1/2-1/2"),
        ((0.01, 0.0), Adjudication(draw_value=0.05, draw_after_move=5), "1/2-1/2"),
    ],
)
def test_adjudication_needs_both_players(
    values: tuple[float, float], rules: Adjudication, result: str, tmp_path: Path
) -> None:
    path = tmp_path / "games.pgn"
    run_match(
        lambda: Scripted(values[0], shuffle=True),
        lambda: Scripted(values[1], shuffle=True),
        MatchSettings(games=1, openings="start", adjudication=rules, pgn=path),
        names=("a", "b"),
    )
    with path.open() as stream:
        game = chess.pgn.read_game(stream)
    assert game is not None
    assert game.headers["Result"] == result
    assert game.headers["Termination"] == "adjudication"


def test_value_judge_starts_counting_again_after_another_value() -> None:
    judge = ValueJudge(Adjudication(resign_value=0.9, resign_moves=2))
    assert judge.verdict(True, 0.95, 10) is None
    assert judge.verdict(False, -0.95, 10) is None
    assert judge.verdict(True, 0.1, 11) is None
    assert judge.verdict(False, -0.95, 11) is None
    assert judge.verdict(True, 0.95, 12) is None
    assert judge.verdict(False, -0.95, 12) is None
    assert judge.verdict(True, 0.95, 13) == "1-0"
