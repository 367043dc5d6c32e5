"""Early stops: games that wait for a judge, and the engine that judges them."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from rookery._core import HashEvaluator, SelfPlay
from rookery.engines.find import find_stockfish
from rookery.selfplay.judge import Judge, JudgeError, JudgePlan
from support.needs import needs_stockfish


def games(**options: int) -> SelfPlay:
    """Games of a pseudo-random network that wait every four plies from ply 6 on."""
    schedule = {"judge_from": 6, "judge_every": 4} | options
    return SelfPlay(4, "tactical70", 1, simulations=4, max_plies=60, **schedule)  # type: ignore[arg-type]


def ply_of(fen: str) -> int:
    """Plies since the start, from the side and the move number."""
    words = fen.split()
    return 2 * (int(words[5]) - 1) + (words[1] == "b")


def test_games_wait_at_the_plies_of_the_schedule_and_play_on() -> None:
    play, seen = games(), set()
    while not play.run(HashEvaluator(), 20):
        waiting = play.unjudged()
        assert waiting
        for slot, fen in waiting:
            seen.add(ply_of(fen))
            play.play_on(slot)
    assert min(seen) == 6 and all((ply - 6) % 4 == 0 for ply in seen) and len(seen) > 3
    assert {game.ending for game in play.take_games()} <= {"checkmate", "ply_cap", "stalemate"}


def test_a_judged_game_ends_with_the_value_as_target() -> None:
    play = games()
    assert not play.run(HashEvaluator(), 1)
    slot, fen = play.unjudged()[0]
    play.judge(slot, -0.75)
    [game] = play.take_games()
    assert (game.ending, game.result, len(game.moves)) == ("adjudication", -1, ply_of(fen))
    samples = play.take_samples()
    assert len(samples) == 6 and (np.asarray(samples.plies_left) == [6, 5, 4, 3, 2, 1]).all()
    np.testing.assert_array_equal(samples.results, [-0.75, 0.75] * 3)  # White moves first


def test_only_waiting_games_can_be_judged_and_none_is_saved() -> None:
    play = games()
    with pytest.raises(ValueError, match="does not wait"):
        play.judge(0, 0.5)
    play.run(HashEvaluator(), 1)
    slot, _ = play.unjudged()[0]
    with pytest.raises(ValueError, match=r"\[-1, 1\]"):
        play.judge(slot, 1.5)
    with pytest.raises(ValueError, match="judge the waiting games"):
        play.get_state()
    with pytest.raises(ValueError, match="does not wait"):
        play.play_on(99)


def script(path: Path, text: str) -> str:
    """An executable shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def judged(judge: Judge) -> list[tuple[str, int]]:
    """Ends and lengths of some judged games."""
    play = games()
    while not play.run(HashEvaluator(), 60):
        judge.settle(play)
    judge.settle(play)
    judge.close()
    return [(game.ending, len(game.moves)) for game in play.take_games()]


@needs_stockfish
def test_stockfish_ends_decided_games_and_only_those() -> None:
    plan = JudgePlan("stockfish", 200, 3.0)
    expected = judged(Judge(plan, print))
    assert "adjudication" in {ending for ending, _ in expected}
    assert judged(Judge(plan, print)) == expected  # it depends on the positions alone
    never = judged(Judge(JudgePlan("stockfish", 200, 9.99), print))
    assert sum(length for _, length in never) > sum(length for _, length in expected)


@needs_stockfish
def test_an_engine_that_dies_is_started_anew_and_nothing_changes(tmp_path: Path) -> None:
    expected = judged(Judge(JudgePlan("stockfish", 200, 3.0), print))
    lines: list[str] = []
    # Five lines at the start, four for each position; its input ends before a "go".
    mortal = script(tmp_path / "mortal", f"sed -u 24q | {find_stockfish()}")
    assert judged(Judge(JudgePlan(mortal, 200, 3.0), lines.append)) == expected
    assert lines and all("started anew" in line and "crash" in line for line in lines)


def test_an_engine_that_keeps_dying_ends_the_run_in_one_line(tmp_path: Path) -> None:
    judge = Judge(JudgePlan(script(tmp_path / "dead", "exit 3"), 100, 6.5), lambda text: None)
    play = games()
    play.run(HashEvaluator(), 1)
    with pytest.raises(JudgeError, match="rookery resume") as caught:
        judge.settle(play)
    assert "\n" not in str(caught.value) and "dead" in str(caught.value)


def test_a_missing_stockfish_is_told_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rookery.selfplay.judge.find_stockfish", lambda: None)
    with pytest.raises(JudgeError, match=r"judge\.every=0"):
        Judge(JudgePlan("stockfish", 100, 6.5), print)


@pytest.mark.parametrize("engine", ["/nowhere/engine --quiet", "", "."])
def test_a_missing_engine_is_told_at_the_start(engine: str) -> None:
    with pytest.raises(JudgeError, match="is no program"):
        Judge(JudgePlan(engine, 100, 6.5), print)
