"""The pool with real Ray: order, back-pressure, and everything that can die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery.cluster.jobs import Job
from rookery.cluster.pool import ClusterError, Pool, check_address
from support.loopback_cluster import LoopbackCluster, command_of, listening

WORK = "support.cluster_work"


def jobs(count: int, work: str = "double", text: str = "piece") -> list[Job]:
    return [Job(f"{text} {n}", f"{WORK}:{work}", f"{text} {n}".encode()) for n in range(count)]


def test_results_come_in_order_and_a_slow_consumer_slows_the_cluster_down(pool: Pool) -> None:
    made = 0

    def source() -> Iterator[Job]:
        nonlocal made
        for job in jobs(60, text="ordered"):
            made += 1
            yield job

    results = pool.map(source())
    first = next(results)
    time.sleep(0.5)
    assert made <= pool.window + 1 < 60  # no more than the window is under way, or waits
    found = [first, *results]
    assert found == [job.content * 2 for job in jobs(60, text="ordered")]


def test_shared_bytes_reach_the_nodes(pool: Pool) -> None:
    digest = pool.share(b"weights:")
    job = Job("one", f"{WORK}:double", b"x", (digest,))
    assert list(pool.map([job])) == [b"weights:xx"]


def test_an_error_names_the_piece_the_node_and_the_reason(pool: Pool) -> None:
    with pytest.raises(ClusterError, match=r"the piece bad 0 failed: ValueError: cannot do bad 0"):
        list(pool.map(jobs(1, "refuse", "bad")))
    assert list(pool.map(jobs(2, text="after"))) == [b"after 0after 0", b"after 1after 1"]


def test_a_process_that_dies_is_replaced(pool: Pool, tmp_path: Path) -> None:
    retries = pool.status["retries"]
    job = Job("mortal", f"{WORK}:die", str(tmp_path).encode())
    assert list(pool.map([job])) == [b"survived"]
    wait_until(lambda: pool.status["retries"] > retries)


@pytest.mark.parametrize(("module", "ends"), [("colorsys", True), ("", False)])
def test_a_piece_given_up_while_importing_ends_its_process(module: str, ends: bool) -> None:
    """What is half imported may never import again; without imports the process goes on."""
    code = (
        "from rookery.cluster import node\n"
        "try:\n"
        f"    node.perform('{WORK}:interrupted', {module.encode()!r}, ())\n"
        "except KeyboardInterrupt:\n"
        "    pass\n"
        f"node.perform('{WORK}:double', b'x', ())\n"
    )
    warm = f"import {WORK}\n{code}"  # so that only the piece itself imports
    done = subprocess.run([sys.executable, "-c", warm], env=os.environ, capture_output=True)
    assert done.returncode == (1 if ends else 0) and not done.stderr


def test_a_node_that_is_killed_loses_nothing(pool: Pool, cluster: LoopbackCluster) -> None:
    doomed = cluster.add()
    wait_until(lambda: pool.slots == 3)
    work = [Job(f"slow {n}", f"{WORK}:slowly", f"0.3 {n}".encode()) for n in range(24)]
    results = pool.map(work)
    found = [next(results)]
    cluster.kill(doomed)
    found += results
    assert found == [job.content for job in work]
    wait_until(lambda: pool.slots == 2)
    assert pool.status["left"] >= 1


def test_a_head_that_dies_and_comes_back_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_gcs_rpc_server_reconnect_timeout_s", "2")  # instead of a minute
    work = [Job(f"headless {n}", f"{WORK}:slowly", f"0.2 {n}".encode()) for n in range(8)]
    with LoopbackCluster(1) as first, Pool(first.address) as alone:
        alone.wait_for_nodes()
        results = alone.map(work)
        found = [next(results)]
        first.kill_all()
        with LoopbackCluster(1, port=int(first.address.rpartition(":")[2])):
            found += results
        assert found == [job.content for job in work]
        assert alone.reconnections >= 1


def test_a_lost_connection_is_made_again(pool: Pool) -> None:
    """Ray may end the process that it runs in."""
    work = [Job(f"late {n}", f"{WORK}:slowly", f"0.2 late {n}".encode()) for n in range(8)]
    results = pool.map(work)
    found = [next(results)]
    assert pool._process is not None
    pool._process.send_signal(signal.SIGKILL)
    found += results
    assert found == [job.content for job in work]
    assert pool.reconnections >= 1


def test_a_node_with_another_version_is_named_and_refused(
    pool: Pool, cluster: LoopbackCluster, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "from rookery.cluster import node\n"
        "known = node._version\n"
        "node._version = lambda name: '0.0.9' if name == 'rookery' else known(name)\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])
    other = cluster.add(env_vars={"PYTHONPATH": path})
    try:
        wait_until(lambda: any(node["refused"] for node in pool.status["nodes"]))
        [refused] = [node["refused"] for node in pool.status["nodes"] if node["refused"]]
        assert refused.startswith("rookery 0.0.9 instead of ")
        assert list(pool.map(jobs(6, text="still"))) == [
            j.content * 2 for j in jobs(6, text="still")
        ]
    finally:
        cluster.kill(other)


def test_nothing_listens_on_other_than_loopback(cluster: LoopbackCluster, pool: Pool) -> None:
    pids = cluster.processes()
    assert len(pids) > 3 and any("raylet" in command_of(pid) for pid in pids)
    found = listening(pids)
    loopback = {"0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F"}
    assert found and found <= loopback


def test_a_local_cluster_ends_with_its_pool() -> None:
    with Pool("local", cores=1) as alone:
        alone.wait_for_nodes()
        assert list(alone.map(jobs(3, text="local"))) == [
            j.content * 2 for j in jobs(3, text="local")
        ]
        assert alone._process is not None
        bridge = alone._process.pid
        children = [pid for pid in descendants(bridge) if "raylet" in command_of(pid)]
        assert children
    wait_until(lambda: not any(command_of(pid) for pid in [bridge, *children]))


def test_addresses() -> None:
    assert [check_address(each) for each in ("auto", "local", "10.0.0.1:6379")]
    with pytest.raises(ClusterError, match="'nowhere' is neither 'auto', 'local' nor HOST:PORT"):
        Pool("nowhere")


def descendants(pid: int) -> list[int]:
    found = []
    for task in (Path("/proc") / str(pid) / "task").iterdir():
        children = (task / "children").read_text().split()
        for child in map(int, children):
            found += [child, *descendants(child)]
    return found


def wait_until(condition: object, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end, "never came true"
        time.sleep(0.1)
