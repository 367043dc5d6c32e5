"""A real Ray cluster of several nodes on this machine, each a process group of its own."""

from __future__ import annotations

import os
from typing import Any

# Before Ray is imported: it would replace the loopback address by the machine's own.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

LOOPBACK = "127.0.0.1"


class LoopbackCluster:
    """A head without cores, and nodes that can be killed."""

    def __init__(self, nodes: int, **options: Any) -> None:
        from ray.cluster_utils import Cluster

        # Dead nodes are noticed within a few seconds instead of half a minute.
        system = {"health_check_period_ms": 1000, "health_check_failure_threshold": 3}
        head = {
            "num_cpus": 0,
            "include_dashboard": False,
            "node_ip_address": LOOPBACK,
            "_system_config": system,
        }
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        self.address: str = self._cluster.address
        self.nodes = [self.add(**options) for _ in range(nodes)]

    def add(self, cores: int = 1, **options: Any) -> Any:
        """Another node."""
        return self._cluster.add_node(
            wait=False, num_cpus=cores, node_ip_address=LOOPBACK, **options
        )

    def kill(self, node: Any) -> None:
        """Kill a node's processes, without a word of warning."""
        self._cluster.remove_node(node, allow_graceful=False)

    def close(self) -> None:
        """End everything."""
        self._cluster.shutdown()

    def __enter__(self) -> LoopbackCluster:
        """Return the cluster."""
        return self

    def __exit__(self, *error: object) -> None:
        """End everything."""
        self.close()
