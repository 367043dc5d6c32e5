"""The prediction server: the same games as in one process, and nothing hangs when someone dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from rookery._core import SelfPlay
from rookery.nets.evaluator import EvaluatorError, FakeEvaluator
from rookery.selfplay import server as prediction_server
from rookery.selfplay.collector import COUNTERS, Order, prepare
from rookery.selfplay.local import BatchCollector
from rookery.selfplay.server import PredictionError, ServerCollector
from support.paths import TESTS

OPTIONS: dict[str, Any] = {
    "games": 4, "observation": "tactical70", "simulations": 6, "max_plies": 24,
    "tree": {"gumbel_actions": 4}, "random_share": 0.5, "random_plies": (2, 9),
}  # fmt: skip
SEEDS = [11, 12, 13, 14]
ORDER = Order(60, 6, 6, -2.0, 1.0)


def fake(network: Any) -> FakeEvaluator:
    return FakeEvaluator("tactical70")


@pytest.fixture
def collector() -> Iterator[ServerCollector]:
    made = ServerCollector(OPTIONS, SEEDS, fake)
    yield made
    made.close()


def pids(collector: ServerCollector) -> list[int]:
    return [peer.process.pid for peer in collector.peers]


def running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return status != "Z"


def alone(seed: int, quota: int, orders: int = 1) -> list[dict[str, Any]]:
    """The games of one group without any server."""
    play, judge, games = SelfPlay(seed=seed, **OPTIONS), fake(None), []
    for _ in range(orders):
        prepare(play, ORDER)
        while play.ready < quota:
            play.gather()
            play.apply(*judge.evaluate(play.observations, play.legal_actions, play.legal_offsets))
        play.take_samples()
        games += play.take_games()
    return games


def test_processes_play_the_games_that_one_process_would_play(collector: ServerCollector) -> None:
    first, second = (collector.begin(None, ORDER)() for _ in range(2))
    played = first.games + second.games
    expected = [game["moves"] for seed in SEEDS for game in alone(seed, 15, orders=2)]
    assert sorted(map(tuple, expected)) == sorted(tuple(game["moves"]) for game in played)
    assert len(first.block) >= ORDER.samples
    numbers = [game["number"] for game in played]
    assert len(set(numbers)) == len(numbers)
    assert set(first.block.games) == {game["number"] for game in first.games}
    for game in first.games:
        board = chess.Board(game["start"])
        for move in game["moves"]:
            board.push(board.parse_uci(move))  # refuses what is illegal
    counts = collector.counts()
    assert set(counts) == set(COUNTERS)
    assert counts["evaluations"] > len(first.block) and counts["aborted"] == 0


def test_saved_games_go_on_exactly(collector: ServerCollector) -> None:
    collector.begin(None, ORDER)()
    state, counts = collector.state(), collector.counts()
    expected = collector.begin(None, ORDER)()
    other = ServerCollector(OPTIONS, [seed + 50 for seed in SEEDS], fake)
    try:
        other.load_state(state)
        assert other.counts() == counts
        again = other.begin(None, ORDER)()
        assert again.games == expected.games
        assert np.array_equal(again.block.policy, expected.block.policy)
        assert other.state() == collector.state()
    finally:
        other.close()


def test_one_process_and_a_layout_of_floats_work_too() -> None:
    options = OPTIONS | {"observation": "planes119", "games": 2, "max_plies": 12}
    made = ServerCollector(options, [1, 2], lambda network: FakeEvaluator("planes119"))
    try:
        found = made.begin(None, Order(8, 2, 2, -2.0, 1.0))()
        assert found.block.observations.shape[1:] == (119, 8, 8)
        local = BatchCollector(options, 1, lambda network: FakeEvaluator("planes119"))
        same = local.begin(None, Order(4, 2, 2, -2.0, 1.0))()
        assert np.array_equal(found.block.observations[: len(same.block)], same.block.observations)
    finally:
        made.close()
    assert not any(map(running, pids(made)))


def test_a_dead_process_ends_the_iteration_with_one_line(collector: ServerCollector) -> None:
    os.kill(pids(collector)[1], signal.SIGKILL)
    with pytest.raises(PredictionError, match="process 1 was killed by signal 9") as caught:
        collector.begin(None, ORDER)()
    assert "\n" not in str(caught.value)
    assert not any(map(running, pids(collector)))


def test_a_process_that_says_nothing_is_given_up(
    collector: ServerCollector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prediction_server, "PATIENCE", 0.3)
    monkeypatch.setattr(prediction_server, "LAST_WORDS", 0.3)
    os.kill(pids(collector)[0], signal.SIGSTOP)
    with pytest.raises(PredictionError, match="process 0 has not answered"):
        collector.begin(None, ORDER)()
    assert not any(map(running, pids(collector)))


def test_what_a_process_cannot_do_is_told() -> None:
    with pytest.raises(PredictionError, match=r"process 0 failed: .*max_plies must be 1 or more"):
        ServerCollector(OPTIONS | {"max_plies": 0}, SEEDS, fake)
    with pytest.raises(ValueError, match="3 seeds are not 2 for each process"):
        ServerCollector(OPTIONS, SEEDS[:3], fake)


def test_a_network_that_fails_ends_the_processes(collector: ServerCollector) -> None:
    def nonsense(observation: Any, legal: Any) -> tuple[Any, float]:
        return np.full(len(legal), np.nan), 0.0

    collector._make_evaluator = lambda network: FakeEvaluator("tactical70", function=nonsense)
    with pytest.raises(EvaluatorError, match="NaN"):
        collector.begin(None, ORDER)()
    assert not any(map(running, pids(collector)))


def test_processes_end_when_their_server_dies(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import os, signal, sys
        sys.path.insert(0, sys.argv[1])
        from test_prediction_server import OPTIONS, SEEDS, fake, pids
        from rookery.selfplay.server import ServerCollector
        collector = ServerCollector(OPTIONS, SEEDS, fake)
        print(*pids(collector), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(TESTS)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    # The pipe of standard error is closed when the last process has ended.
    assert done.returncode == -signal.SIGKILL
    children = [int(word) for word in done.stdout.split()]
    assert len(children) == 2
    deadline = time.monotonic() + 10
    while any(map(running, children)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(running, children))
    assert done.stderr.count("its trainer is gone") == 2
    assert "Traceback" not in done.stderr
