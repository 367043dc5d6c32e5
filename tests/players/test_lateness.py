"""A player learns from the clocks how late its moves are, and keeps a reserve for it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from rookery import Game
from rookery.players.base import Limits
from rookery.players.lateness import (
    FIRST_MEAN,
    FIRST_WORST,
    MOST,
    MOST_SHARE,
    RESERVE,
    Clock,
    Lateness,
)
from support.needs import needs_stockfish
from support.paths import PROJECT


def clocks(left: float, increment: float = 0.0) -> Limits:
    return Limits(
        white_time=left, black_time=left, white_increment=increment, black_increment=increment
    )


def play(lateness: Lateness, late: list[float], left: float = 10.0, increment: float = 0.1) -> Game:
    """A game whose searches take 0.05 s each, and so much more on the clock."""
    game = Game()
    for more in late:
        limits = clocks(left, increment)
        lateness.begin(game, limits)
        lateness.end(game, limits, 0.05)
        for _ in range(2):
            game.push(game.legal_moves()[0])
        left += increment - 0.05 - more
    lateness.begin(game, clocks(left, increment))
    return game


def test_punctual_moves_need_no_reserve() -> None:
    lateness = Lateness()
    first = lateness.begin(Game(), clocks(5.0, 0.1))
    assert first == Clock(5.0 - RESERVE * FIRST_WORST, 0.1 - FIRST_MEAN)
    play(lateness, [0.0] * 100, left=100.0)
    clock = lateness.begin(Game(), clocks(5.0, 0.1))
    assert clock is not None
    assert clock.left == pytest.approx(5.0, abs=0.01)
    assert clock.increment == pytest.approx(0.1, abs=0.001)


def test_late_moves_cost_a_reserve_and_their_mean_of_the_increment() -> None:
    lateness = Lateness()
    play(lateness, [0.02, 0.08, 0.02, 0.02])
    assert 0.07 < lateness.worst <= 0.08
    assert 0.005 < lateness.mean < 0.08
    clock = lateness.begin(Game(), clocks(5.0, 0.1))
    assert clock is not None
    assert clock.left == pytest.approx(5.0 - RESERVE * lateness.worst)
    assert clock.increment == pytest.approx(0.1 - lateness.mean)


def test_the_reserve_fades_and_never_takes_the_whole_clock() -> None:
    lateness = Lateness()
    play(lateness, [0.5])
    clock = lateness.begin(Game(), clocks(0.2, 0.0))
    assert clock is not None and clock.left == pytest.approx(0.2 * (1 - MOST_SHARE))
    play(lateness, [0.0] * 100, left=100.0)
    assert lateness.worst < 0.05


def test_another_game_a_new_control_and_a_suspended_machine_teach_nothing_absurd() -> None:
    lateness = Lateness()
    game = Game()
    lateness.begin(game, clocks(1.0))
    lateness.end(game, clocks(1.0), 0.05)
    for _ in range(2):
        game.push(game.legal_moves()[0])
    lateness.begin(game, clocks(60.0))  # more than before: a new time control
    lateness.end(game, clocks(60.0), 0.05)
    lateness.begin(Game(), clocks(1.0))  # not the next move: another game
    assert lateness.worst == FIRST_WORST
    play(lateness, [1000.0], left=3000.0)
    assert lateness.worst == MOST


def test_searches_without_a_clock_are_ignored() -> None:
    lateness = Lateness()
    game = Game()
    assert lateness.begin(game, Limits(nodes=10)) is None
    lateness.end(game, Limits(nodes=10), 0.05)
    lateness.begin(game, clocks(1.0, 0.0))
    assert lateness.worst == FIRST_WORST and lateness.mean == FIRST_MEAN


@needs_stockfish
def test_the_benchmark_of_a_busy_machine_in_short_form() -> None:
    words = ["--games", "1", "--load", "1", "--tc", "1+0.05"]
    done = subprocess.run(
        [sys.executable, str(PROJECT / "benchmarks" / "busy_clock.py"), *words],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if "two cores" in done.stderr:
        pytest.skip("needs two cores")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["ours"]["moves"] > 0 and result["stockfish"]["moves"] > 0
