"""The nodes of a Ray cluster, as the bridge sees them.

Every piece is sent to a certain node (a hard node affinity) and never retried by Ray: the
dispatcher decides about that. Shared bytes are put into Ray's object store once, and every node
fetches them once. Nothing listens on other than the loopback address unless an address was given.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable
from typing import Any

from rookery.base.extras import how_to_install
from rookery.cluster import node
from rookery.cluster.jobs import Answer, Failed, Job, Lost, NodeInfo, Outcome

LOOPBACK = ("127.0.0.1", "localhost", "::1")
# Ray replaces a loopback address by the machine's own unless it is told not to.
KEEP_LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
QUIET = {
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "RAY_BACKEND_LOG_LEVEL": "error",
    # Half a minute, Ray's own limit for the start of a node, is too little on a busy machine.
    "RAY_raylet_start_wait_time_s": "240",
    # Ray's own 15 would leave the games what everything else on this machine does not want.
    "RAY_worker_niceness": "0",
}


class ConnectError(ValueError):
    """There is no such cluster, or it cannot be used."""


def import_ray() -> Any:
    """Ray itself, or an error that says how to install it."""
    try:
        import ray
    except ImportError:
        raise ConnectError(f"--cluster needs Ray: {how_to_install('cluster')}") from None
    return ray


def connect(address: str, cores: int) -> Any:
    """Connect to a cluster, or start one on this machine for `local`; returns Ray."""
    os.environ.update({key: os.environ.get(key, value) for key, value in QUIET.items()})
    host = address.rpartition(":")[0].strip("[]")
    if address == "local" or host in LOOPBACK:
        os.environ[KEEP_LOOPBACK] = "0"
    ray = import_ray()
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False, "configure_logging": True}
    try:
        if address == "local":
            ray.init(
                address="local",
                num_cpus=cores,
                include_dashboard=False,
                _node_ip_address="127.0.0.1",
                **quiet,
            )
        else:
            ray.init(address=address, namespace="rookery", **quiet)
    except (ConnectionError, RuntimeError, ValueError) as error:
        text = " ".join(str(error).split())
        raise ConnectError(f"no connection to the cluster {address!r}: {text[:300]}") from None
    return ray


class RayNodes:
    """Starts pieces on nodes and says what becomes of them.

    `report(handle, outcome)` is called from other threads.
    """

    def __init__(self, ray: Any, report: Callable[[Any, Outcome], None]) -> None:
        """Use a connected Ray."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._ray, self._report, self._affinity = ray, report, NodeAffinitySchedulingStrategy
        self._perform = ray.remote(num_cpus=1, max_retries=0, max_calls=0)(_perform)
        self._describe = ray.remote(num_cpus=0, max_retries=0)(node.describe)
        self._shared: dict[str, Any] = {}

    def listed(self) -> dict[str, dict[str, Any]]:
        """The nodes that are alive, by id, as Ray lists them."""
        return {each["NodeID"]: each for each in self._ray.nodes() if each["Alive"]}

    def describe(self, node_id: str) -> Any:
        """Ask a node what it has; returns a future of `node.describe`."""
        on = self._affinity(node_id, soft=False)
        return self._describe.options(scheduling_strategy=on).remote().future()

    def share(self, digest: str, data: bytes) -> None:
        """Put bytes into the object store."""
        if digest not in self._shared:
            self._shared[digest] = self._ray.put(data)

    def unshare(self, digest: str) -> None:
        """Let Ray drop them when no piece needs them."""
        self._shared.pop(digest, None)

    def start(self, node_id: str, job: Job) -> Any:
        """Start a piece; its handle."""
        shared = [self._shared[digest] for digest in job.shared]
        on = self._affinity(node_id, soft=False)
        reference = self._perform.options(scheduling_strategy=on, name=job.name[:100]).remote(
            job.work, job.content, *shared
        )
        reference.future().add_done_callback(
            lambda future: self._report(reference, self._outcome(future))
        )
        return reference

    def _outcome(self, future: Any) -> Outcome:
        from ray.exceptions import RayTaskError

        error = future.exception()
        if error is None:
            return Answer(*future.result())
        if isinstance(error, RayTaskError):
            cause = getattr(error, "cause", error)
            return Failed(f"{type(cause).__name__}: {' '.join(str(cause).split())[:500]}")
        return Lost(type(error).__name__)

    def stop(self, handle: Any, silent: bool) -> None:
        """Give up a piece; `silent`: kill its process."""
        with contextlib.suppress(Exception):  # it may be over already
            self._ray.cancel(handle, force=silent)


def info_of(node_id: str, listed: dict[str, Any], described: dict[str, Any]) -> NodeInfo:
    """A node from what Ray and the node itself say."""
    slots = int(listed.get("Resources", {}).get("CPU", 0))
    name = f"{described['host']}/{node_id[:6]}"
    facts = {**described["facts"], "processor": described.get("processor", "")}
    return NodeInfo(node_id, name, slots, facts)


def _perform(work: str, content: bytes, *shared: bytes) -> tuple[Any, ...]:
    """`node.perform`, with the shared bytes where Ray replaces references by objects."""
    return node.perform(work, content, shared)
