"""The benchmarks: their form, their peers, and what happens without peers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import chess
import pytest

from rookery import Game, VectorGames, bench
from rookery._core import perft as core_perft
from rookery.bench import encode, env, mcts, measure, peer_process, perft, ppo, prediction
from rookery.bench.measure import Comparison, Result, interleave, rate
from rookery.bench.peer_process import PeerMissingError, PeerProcess
from rookery.encodings import OBSERVATIONS
from rookery.engines.find import find_stockfish
from support.needs import needs_stockfish


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measurements of a few milliseconds: the form matters here, not the figures."""
    monkeypatch.setattr(measure.interleave, "__defaults__", (1, 0.02))
    monkeypatch.setattr(encode, "SECONDS", 0.01)
    monkeypatch.setattr(perft, "POSITIONS", ((chess.STARTING_FEN, 4, 2),))
    for module in (mcts, prediction):
        monkeypatch.setattr(module, "SECONDS", 0.01)
        monkeypatch.setattr(module, "REPETITIONS", 1)
    monkeypatch.setattr(prediction, "RESIDUAL_GAMES", 8)
    monkeypatch.setattr(prediction, "SQUARES_GAMES", 8)
    monkeypatch.setattr(prediction, "ORDER", {"6x64": 1, "squares": 16})
    monkeypatch.setattr(ppo, "GAMES", 8)
    monkeypatch.setattr(ppo, "STEPS", 64)
    monkeypatch.setattr(ppo, "BATCHES", ((32, 2),))


def test_rate_counts_units_per_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [5.0]

    def work() -> int:
        now[0] += 0.25
        return 100

    monkeypatch.setattr(measure.time, "perf_counter", lambda: now[0])
    assert rate(work, seconds=0.9) == 400.0
    assert now[0] == 6.0  # four calls: the last began before the time was over


def test_repetitions_are_taken_in_turn() -> None:
    order: list[str] = []

    def participant(name: str, values: list[float]) -> measure.Participant:
        def run(seconds: float) -> float:
            order.append(name)
            assert seconds == 0.5
            return values.pop(0)

        return run

    found = interleave(
        {"a": participant("a", [1, 100, 3]), "b": participant("b", [5, 4, 6])}, 3, 0.5
    )
    assert order == ["a", "b"] * 3
    assert found == {"a": 3, "b": 5}  # medians: an outlier does not count


def test_the_first_comparison_is_at_the_top_of_the_json() -> None:
    result = Result(
        10.0, "steps/s", "all", [Comparison("x", 4.0, 10.0, ""), Comparison("y", 5, 20, "")]
    )
    data = result.as_json()
    assert (data["peer"], data["peer_value"], data["ratio"]) == ("x", 4.0, 2.5)
    rows = data["comparisons"]
    assert isinstance(rows, list) and [row["ratio"] for row in rows] == [2.5, 4.0]
    assert "peer" not in Result(10.0, "steps/s", "alone").as_json()


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("name", bench.BENCHMARKS)
def test_json_has_the_promised_keys(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main([name], json=True) == 0
    captured = capsys.readouterr()
    data = json.loads(captured.out)  # exactly one object
    assert list(data) == [name]
    row = data[name]
    assert row["value"] > 0 and "/s" in row["unit"]
    for comparison in row["comparisons"]:
        assert comparison["peer_value"] > 0
        expected = comparison["value"] / comparison["peer_value"]
        assert comparison["ratio"] == pytest.approx(expected, rel=0.05)
    if row["comparisons"]:
        assert {"peer", "peer_value", "ratio"} <= row.keys()
    assert name in captured.err


@pytest.mark.usefixtures("short")
def test_the_table_names_every_layout(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["encode"], json=False) == 0
    shown = capsys.readouterr().out
    for layout in OBSERVATIONS:
        assert layout in shown


def test_unknown_benchmarks_are_refused_before_measuring() -> None:
    with pytest.raises(ValueError, match="did you mean 'perft'"):
        bench.main(["encode", "prft"], json=True)


def test_a_missing_peer_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pyspiel.py").write_text("raise ImportError('No module named pyspiel')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(PeerMissingError, match=r"pyspiel.*make bench"):
        PeerProcess("openspiel_chess")


def test_a_peer_that_dies_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(peer_process, "RUNNER", tmp_path / "absent.py")
    with pytest.raises(PeerMissingError, match="exited unexpectedly"):
        PeerProcess("python_chess_random")


@pytest.mark.usefixtures("short")
def test_a_peer_that_dies_while_measuring_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    measure_peer = PeerProcess.measure

    def dying(self: PeerProcess, seconds: float) -> float:
        if self.script == "python_chess_random":
            self._process.kill()
        return measure_peer(self, seconds)

    monkeypatch.setattr(env, "PEERS", {"python_chess_random": "planes19"})
    monkeypatch.setattr(PeerProcess, "measure", dying)
    result = env.run()
    assert result.value > 0 and result.comparisons == []
    assert "exited unexpectedly" in result.missing["python_chess_random"]


def test_peers_run_under_our_own_python(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []

    class Recorded(RuntimeError):
        pass

    def start(command: list[str], **_: object) -> None:
        started.extend(command)
        raise Recorded

    monkeypatch.setattr(peer_process.subprocess, "Popen", start)
    with pytest.raises(Recorded):
        PeerProcess("openspiel_chess")
    assert started[0] == sys.executable and started[-1] == "openspiel_chess"


def test_a_peer_answers_and_ends() -> None:
    with PeerProcess("python_chess_random") as peer:
        assert peer.label == "python-chess"
        assert peer.measure(0.05) > 0
        process = peer._process
    assert process.returncode == 0


def test_perft_agrees_with_python_chess() -> None:
    """The speeds are comparable only if all count the same nodes."""
    for fen, _, depth in perft.POSITIONS:
        assert perft.count_nodes(chess.Board(fen), depth - 1) == core_perft(fen, depth - 1)


@needs_stockfish
def test_perft_agrees_with_stockfish() -> None:
    program = find_stockfish()
    assert program is not None
    stockfish = perft.StockfishPerft(program)
    try:
        assert stockfish.name.startswith("Stockfish")
        for fen, depth, _ in perft.POSITIONS:
            assert stockfish.count(fen, depth - 1) == core_perft(fen, depth - 1)
    finally:
        stockfish.close()


def test_random_play_moves_the_games_on(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[VectorGames] = []

    def recorded(*arguments: Any, **options: Any) -> VectorGames:
        made.append(VectorGames(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(env, "VectorGames", recorded)
    assert env.random_play("planes19")(0.05) > 0
    (games,) = made
    start = Game().fen()
    assert sum(fen != start for fen in games.fens()) > env.NUM_GAMES // 2
    assert set(env.PEERS.values()) <= set(OBSERVATIONS)


def test_a_peer_may_measure_its_own_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Units and seconds as a pair: the clock of the measurement does not count."""
    script = tmp_path / "timed.py"
    script.write_text(
        "LABEL, CONDITIONS = 'timed', 'none'\n"
        "def prepare(units, seconds):\n"
        "    return lambda: (int(units), float(seconds))\n"
    )
    runner = tmp_path / "run.py"
    runner.write_text(peer_process.RUNNER.read_text())
    monkeypatch.setattr(peer_process, "RUNNER", runner)
    with PeerProcess("timed", "600", "2.5") as peer:
        assert peer.measure(0.01) == pytest.approx(240.0)


def test_a_peer_ends_with_us_whatever_it_does(tmp_path: Path) -> None:
    """The pipe to it ends with us, also by SIGKILL."""
    (tmp_path / "slow.py").write_text("import time\nprint('{}', flush=True)\ntime.sleep(600)\n")
    runner = tmp_path / "run.py"
    runner.write_text(peer_process.RUNNER.read_text())
    with subprocess.Popen(
        [sys.executable, str(runner), "slow"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == b"{}\n"
        process.stdin.close()
        assert process.wait(30) == 0


def test_a_missing_learner_says_which_extra_brings_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "sb3_contrib.py").write_text("raise ImportError('No module named sb3_contrib')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(PeerMissingError, match=r"sb3_contrib.*\[sb3,train\]"):
        PeerProcess("maskable_ppo", "8", "64", "32", "2")


def test_benchmarks_that_lack_a_package_are_left_out_unless_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lacking(name: str) -> Result:
        if name == "ppo":
            raise ImportError("this needs torch; install it")
        return Result(1.0, "steps/s", "fake")

    monkeypatch.setattr(bench, "run", lacking)
    assert bench.main([], json=True) == 0
    captured = capsys.readouterr()
    assert set(json.loads(captured.out)) == set(bench.BENCHMARKS) - {"ppo"}
    assert "ppo was skipped: this needs torch" in captured.err
    with pytest.raises(ImportError, match="torch"):
        bench.main(["ppo"], json=True)
