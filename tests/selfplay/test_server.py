"""The prediction server: the same games as in one process, and nothing hangs when one side dies."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from rookery._core import SelfPlay
from rookery.base.messages import pack
from rookery.nets.evaluator import EvaluatorError, FakeEvaluator
from rookery.selfplay import local, server, server_worker
from rookery.selfplay.collector import Hooks, Weights
from rookery.selfplay.local import BatchCollector
from rookery.selfplay.server import PredictionError, ServerCollector
from rookery.selfplay.trees import TreeOrder, TreePlan, prepare, take

OPTIONS: dict[str, Any] = {
    "observation": "tactical70", "simulations": 6, "max_plies": 24,
    "tree": {"gumbel_actions": 4}, "random_share": 0.5, "random_plies": (2, 9),
}  # fmt: skip
PLAN = TreePlan(OPTIONS, games=8, seed=11, processes=2)
GAMES, SETS = 4, 4  # games of each set; two sets (groups) of each process
ORDER = TreeOrder(60, 6, 6, -2.0, 1.0)
WEIGHTS = Weights(b"")  # a fake evaluator does not ask


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (server, local):
        monkeypatch.setattr(module, "evaluator_of", lambda *_: FakeEvaluator("tactical70"))


@pytest.fixture
def collector() -> Iterator[ServerCollector]:
    made = ServerCollector(PLAN, Hooks())
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


def alone(number: int, quota: int, orders: int = 1) -> list[tuple[str, ...]]:
    """Moves of the games of one set, without any server."""
    play, evaluator = (
        SelfPlay(games=GAMES, seed=PLAN.seed_of(number), **OPTIONS),
        FakeEvaluator("tactical70"),
    )
    games: list[tuple[str, ...]] = []
    for _ in range(orders):
        prepare(play, ORDER, SETS)
        while play.ready < quota:
            local.play_batch(play, evaluator)
        games += [tuple(game.moves) for game in take(play).games]
    return games


def test_processes_play_the_games_that_one_process_would_play(collector: ServerCollector) -> None:
    first, second = (collector.begin(WEIGHTS, ORDER)() for _ in range(2))
    played = [*first.games, *second.games]
    expected = [moves for number in range(SETS) for moves in alone(number, 15, orders=2)]
    assert sorted(expected) == sorted(tuple(game.moves) for game in played)
    assert len(first.block) >= ORDER.samples
    numbers = [game.number for game in played]
    assert len(set(numbers)) == len(numbers)
    assert set(first.block.games) == {game.number for game in first.games}
    for game in first.games:
        board = chess.Board(game.start)
        for move in game.moves:
            board.push(board.parse_uci(move))  # refuses what is illegal
    counts = collector.counts()
    assert counts["evaluations"] > len(first.block) and counts["aborted"] == 0


def test_saved_games_continue_exactly(collector: ServerCollector) -> None:
    collector.begin(WEIGHTS, ORDER)()
    state, counts = collector.state(), collector.counts()
    expected = collector.begin(WEIGHTS, ORDER)()
    other = ServerCollector(replace(PLAN, seed=99), Hooks())
    try:
        other.load_state(state)
        assert other.counts() == counts
        again = other.begin(WEIGHTS, ORDER)()
        assert again.games == expected.games
        assert np.array_equal(again.block.policy, expected.block.policy)
        for name, tensor in collector.state().tensors.items():
            assert np.array_equal(tensor, other.state().tensors[name])
    finally:
        other.close()


def test_one_process_and_a_layout_of_floats_work_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (server, local):
        monkeypatch.setattr(module, "evaluator_of", lambda *_: FakeEvaluator("planes119"))
    options = OPTIONS | {"observation": "planes119", "max_plies": 12}
    plan = TreePlan(options, games=2, seed=1, processes=1)
    made = ServerCollector(plan, Hooks())
    try:
        found = made.begin(WEIGHTS, TreeOrder(8, 2, 2, -2.0, 1.0))()
        assert found.block.observations.shape[1:] == (119, 8, 8)
        same = BatchCollector(plan, Hooks()).begin(WEIGHTS, TreeOrder(4, 2, 2, -2.0, 1.0))()
        assert np.array_equal(found.block.observations[: len(same.block)], same.block.observations)
    finally:
        made.close()
    assert not any(map(running, pids(made)))


def harvest_of(collector: ServerCollector) -> Any:
    return collector.begin(WEIGHTS, ORDER)()


@pytest.mark.parametrize("when", ["between", "during", "stopped"])
def test_a_lost_process_is_replaced_and_the_games_are_the_same(
    collector: ServerCollector, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    told: list[str] = []

    def tell(text: str) -> None:
        told.append(text)
        monkeypatch.setattr(server, "PATIENCE", 120.0)

    harvest_of(collector)
    other = ServerCollector(PLAN, Hooks(tell))
    harvest_of(other)
    if when == "during":
        serve = ServerCollector._evaluate
        left = itertools.count()

        def deadly(self: Any, *words: Any) -> Any:
            if self is other and next(left) in (5, 40):
                os.kill(pids(other)[1], signal.SIGKILL)
            return serve(self, *words)

        monkeypatch.setattr(ServerCollector, "_evaluate", deadly)
    elif when == "between":
        os.kill(pids(other)[1], signal.SIGKILL)
    else:
        monkeypatch.setattr(server, "PATIENCE", 1.0)
        os.kill(pids(other)[0], signal.SIGSTOP)
    try:
        for _ in range(2):
            expected, found = harvest_of(collector), harvest_of(other)
            assert found.games == expected.games
            assert np.array_equal(found.block.policy, expected.block.policy)
        for name, tensor in collector.state().tensors.items():
            assert np.array_equal(tensor, other.state().tensors[name])
        assert other.counts() == collector.counts()
    finally:
        other.close()
    assert len(told) == (2 if when == "during" else 1)
    how = "process 0 has not answered" if when == "stopped" else "process 1 was killed by signal 9"
    assert all(how in text and "start again" in text for text in told)
    assert not any(map(running, pids(other)))


def test_processes_that_always_die_end_the_iteration_with_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "MOST_ATTEMPTS", 2)
    told: list[str] = []
    monkeypatch.setattr(server.sys, "executable", "/bin/false")
    with pytest.raises(PredictionError, match="ended with status 1; continue with") as caught:
        ServerCollector(PLAN, Hooks(told.append))
    assert "\n" not in str(caught.value) and len(told) == 1


def test_processes_do_not_load_torch() -> None:
    script = "import sys, rookery.selfplay.server_worker; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_process_says_what_it_cannot_do() -> None:
    with pytest.raises(PredictionError, match=r"process 0 failed: .*max_plies must be 1 or more"):
        ServerCollector(replace(PLAN, options=OPTIONS | {"max_plies": 0}), Hooks())


def test_a_network_that_fails_ends_the_processes(
    collector: ServerCollector, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nonsense(observation: Any, legal: Any) -> tuple[Any, float]:
        return np.full(len(legal), np.nan), 0.0

    broken = FakeEvaluator("tactical70", function=nonsense)
    monkeypatch.setattr(server, "evaluator_of", lambda *_: broken)
    with pytest.raises(EvaluatorError, match="NaN"):
        collector.begin(WEIGHTS, ORDER)()
    assert not any(map(running, pids(collector)))


def test_processes_end_when_their_server_dies(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import ast, os, signal, sys
        from rookery.selfplay.collector import Hooks
        from rookery.selfplay.server import ServerCollector
        from rookery.selfplay.trees import TreePlan
        options = ast.literal_eval(sys.argv[1])
        collector = ServerCollector(TreePlan(options, games=8, seed=11, processes=2), Hooks())
        print(*(peer.process.pid for peer in collector.peers), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script, repr(OPTIONS)],
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
    assert done.stderr == ""


@pytest.mark.parametrize("last", [None, {"plan": {"nonsense": 1}, "process": 0}])
def test_a_process_whose_server_is_gone_ends_without_a_word(
    last: dict[str, Any] | None, capfd: pytest.CaptureFixture[str]
) -> None:
    """Even if it has an error to report."""
    ours, theirs = socket.socketpair()
    connection = Connection(ours.detach())
    if last is not None:
        connection.send_bytes(pack(last))
    connection.close()
    assert server_worker.main([str(theirs.detach()), "0"]) == 1
    assert capfd.readouterr() == ("", "")
