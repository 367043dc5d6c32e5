"""A real Ray cluster of several nodes on this machine, each a process group of its own."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Before Ray is imported: it would replace the loopback address by the machine's own.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
# Half a minute, Ray's own limit for the start of a node, is too little on a busy machine.
os.environ["RAY_raylet_start_wait_time_s"] = "240"  # noqa: SIM112 (Ray's own spelling)
# Nodes get the share of the machine that this process has; Ray's own 15 leaves them the rest.
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112
# Nodes find the work functions of tests (support/cluster_work.py).
TESTS = str(Path(__file__).resolve().parents[1])
os.environ["PYTHONPATH"] = os.pathsep.join([TESTS, os.environ.get("PYTHONPATH", "")]).strip(":")

LOOPBACK = "127.0.0.1"
MOST_ATTEMPTS = 4


class LoopbackCluster:
    """A head without cores, and nodes that can be killed."""

    def __init__(self, nodes: int, port: int = 0, **options: Any) -> None:
        """Start them; `port` of the head, 0: any."""
        from ray.cluster_utils import Cluster

        # Dead nodes are noticed within seconds instead of half a minute; slow ones are not dead,
        # since a check may take as long as it usually may.
        system = {"health_check_period_ms": 500, "health_check_failure_threshold": 5}
        head = {
            "num_cpus": 0,
            # Fewer processes to start; nobody asks them anything here.
            "include_dashboard": False,
            "include_log_monitor": False,
            "no_monitor": True,  # of the autoscaler
            "node_ip_address": LOOPBACK,
            "_system_config": system,
            **({"gcs_server_port": port} if port else {}),
        }
        self._cluster: Any = patiently(lambda: Cluster(initialize_head=True, head_node_args=head))
        self.address: str = self._cluster.address
        self.nodes = [self.add(**options) for _ in range(nodes)]

    def add(self, cores: int = 1, **options: Any) -> Any:
        """Another node."""
        return patiently(
            lambda: self._cluster.add_node(
                wait=False, num_cpus=cores, node_ip_address=LOOPBACK, **options
            )
        )

    def kill(self, node: Any) -> None:
        """Kill a node's processes, without a word of warning."""
        self._cluster.remove_node(node, allow_graceful=False)

    def kill_all(self) -> None:
        """Kill the head and all nodes."""
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        """End everything."""
        self._cluster.shutdown()

    def processes(self) -> list[int]:
        """All processes of the cluster: those that know its session folder."""
        session = self._cluster.head_node.get_session_dir_path()
        return [pid for pid in all_processes() if session in command_of(pid)]

    def __enter__(self) -> LoopbackCluster:
        """Return the cluster."""
        return self

    def __exit__(self, *error: object) -> None:
        """End everything."""
        self.close()


def patiently(start: Callable[[], Any]) -> Any:
    """Start something of Ray again if it took too long, as it may on a busy machine."""
    for _ in range(MOST_ATTEMPTS - 1):
        try:
            return start()
        except Exception as error:
            if "timed out during startup" not in str(error):
                raise
    return start()


def all_processes() -> list[int]:
    """Every process of this machine."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def command_of(pid: int) -> str:
    """The command line of a process; empty if it is gone."""
    try:
        return (Path("/proc") / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def listening(pids: list[int]) -> set[str]:
    """Addresses on which processes listen for TCP connections, in hexadecimal as in /proc."""
    inodes = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for entry in (Path("/proc") / str(pid) / "fd").iterdir():
                with contextlib.suppress(OSError):
                    inodes.add(os.readlink(entry).removeprefix("socket:[").rstrip("]"))
    found = set()
    for table in ("tcp", "tcp6"):
        for line in (Path("/proc/net") / table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                found.add(fields[1].partition(":")[0])
    return found
