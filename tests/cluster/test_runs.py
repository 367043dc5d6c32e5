"""Whole commands on a real cluster whose nodes and trainer are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rookery.cli import main
from rookery.training.session import start
from support.loopback_cluster import LoopbackCluster, all_processes, command_of
from support.runs import QuietView, final_state, rows
from support.tiny_recipes import TINY_RECIPES

SETTINGS = {
    "engine": [*TINY_RECIPES["engine"].settings, "play.games=12", "run.evaluations=0"],
    "alphazero": [*TINY_RECIPES["alphazero"].settings, "selfplay.sets=3", "run.evaluations=0"],
}
ITERATIONS = {"engine": "30it", "alphazero": "8it"}


def command(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    """A `rookery` command in a process of its own, its output in a file."""
    with (folder / "output.txt").open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "rookery.cli", *words],
            stdout=output,
            stderr=output,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )


def wait_for_rows(trainer: subprocess.Popen[bytes], run: Path, count: int) -> None:
    end = time.monotonic() + 240
    while rows(run) < count:
        assert trainer.poll() is None, (run.parent / "output.txt").read_text()
        assert time.monotonic() < end
        time.sleep(0.02)


def machine_run(algorithm: str, run: Path) -> None:
    start(algorithm, str(run), ITERATIONS[algorithm], 5, 1, SETTINGS[algorithm], QuietView())


def words_of(algorithm: str, run: Path, address: str) -> list[str]:
    words = ["train", algorithm, "--run", str(run), "--budget", ITERATIONS[algorithm]]
    words += ["--seed", "5", "--workers", "1", "--cluster", address]
    return [*words, *(part for setting in SETTINGS[algorithm] for part in ("--set", setting))]


def assert_same(one: Path, other: Path) -> None:
    assert final_state(one) == final_state(other)
    assert (one / "metrics.jsonl").read_bytes() == (other / "metrics.jsonl").read_bytes()
    # Not the quarantine of shards that a killed trainer had begun.
    replay = [{p.name: p.read_bytes() for p in (r / "replay").glob("*.*")} for r in (one, other)]
    assert replay[0] == replay[1] and replay[0]


def test_an_engine_run_survives_ctrl_c_and_a_killed_trainer(
    cluster: LoopbackCluster, tmp_path: Path
) -> None:
    """It ends with the bytes of one machine and leaves nothing behind."""
    run = tmp_path / "cluster"
    trainer = command(tmp_path, *words_of("engine", run, cluster.address))
    wait_for_rows(trainer, run, 3)
    trainer.send_signal(signal.SIGINT)
    assert trainer.wait(120) == 0
    assert "saved; resume with" in (tmp_path / "output.txt").read_text()
    trainer = command(tmp_path, "resume", str(run))
    wait_for_rows(trainer, run, 9)
    trainer.kill()
    trainer.wait()
    trainer = command(tmp_path, "resume", str(run))
    assert trainer.wait(280) == 0, (tmp_path / "output.txt").read_text()
    machine_run("engine", tmp_path / "machine")
    assert_same(run, tmp_path / "machine")
    timing = [json.loads(line) for line in (run / "timing.jsonl").read_text().splitlines()]
    assert timing[-1]["cluster_nodes"] == 2
    assert timing[-1]["cluster_pieces"] > 0
    nodes = json.loads((run / "cluster.json").read_text())["nodes"]
    assert len(nodes) == 2 and all(node["pieces"] >= 0 for node in nodes)
    assert "cluster 2 nodes" in (tmp_path / "output.txt").read_text()
    wait_until_gone(str(tmp_path))


def wait_until_gone(word: str) -> None:
    """No bridge of a trainer, and no piece of it on a node, is left."""
    end = time.monotonic() + 60
    while any("ray::data/" in command_of(pid) for pid in all_processes()):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert not any(word in command_of(pid) for pid in all_processes())


def test_an_alphazero_run_survives_a_killed_node(cluster: LoopbackCluster, tmp_path: Path) -> None:
    run, doomed = tmp_path / "cluster", cluster.add()
    trainer = command(tmp_path, *words_of("alphazero", run, cluster.address))
    wait_for_rows(trainer, run, 2)
    cluster.kill(doomed)
    assert trainer.wait(280) == 0, (tmp_path / "output.txt").read_text()
    machine_run("alphazero", tmp_path / "machine")
    assert_same(run, tmp_path / "machine")


def test_a_match_on_a_cluster_is_that_of_one_machine(
    cluster: LoopbackCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["arena", "rookery,nodes=40", "simplified,depth=1", "--games", "6", "--seed", "3"]
    found = []
    for more in ([], ["--cluster", cluster.address]):
        assert main([*words, "--json", *more]) == 0
        summary = json.loads(capsys.readouterr().out)
        found.append({k: v for k, v in summary.items() if k != "seconds"})
    assert found[0] == found[1] and found[0]["games"] == 6
    assert main(["arena", "rookery", "random", "--cluster", cluster.address]) == 1
    assert "--cluster plays without clocks, but rookery thinks" in capsys.readouterr().err


def test_a_rating_on_a_cluster_is_that_of_one_machine(
    cluster: LoopbackCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    # The ladder's rungs up to greedy-safe have no clocks, so their games depend on nothing else.
    words = ["rate", "greedy-safe", "--games", "24", "--seed", "3", "--start", "greedy-safe"]
    found = []
    for more in ([], ["--cluster", cluster.address]):
        assert main([*words, "--no-outside", "--concurrency", "1", "--json", *more]) == 0
        summary = json.loads(capsys.readouterr().out)
        found.append({key: summary[key] for key in ("elo", "elo_low", "elo_high", "opponents")})
    assert found[0] == found[1] and found[0]["opponents"]


def test_doctor_lists_the_nodes(
    cluster: LoopbackCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--cluster", cluster.address, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["cores"] == 2 and len(found["nodes"]) == 2
    assert all(node["facts"]["rookery"] == found["trainer"]["rookery"] for node in found["nodes"])


def test_a_cluster_that_is_not_there_is_an_error_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    status = main(["train", "ppo", "--run", str(run), "--cluster", "nowhere"])
    assert status == 1 and not run.exists()
    assert "neither 'auto', 'local' nor HOST:PORT" in capsys.readouterr().err
