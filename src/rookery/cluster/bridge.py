"""The process between a trainer and Ray.

Ray ends a process whose cluster is gone, and takes signals and output for itself; here it may. The
trainer sees a closed socket, starts another bridge, and asks again for what it has not got. When
the trainer ends, however it ends, the socket closes and the bridge leaves the cluster.

Messages (see base/messages.py) from the trainer:
    {"begin": {"address", "cores", "check_share", "facts", "detailed"}}     once, first
    {"share": digest, "data": array}, {"unshare": digest}
    {"jobs": [{"name", "work", "content", "shared", "exact"}, ...]}, {"forget": [key, ...]}
and to the trainer:
    {"ready": true}, {"error": text}, {"log": text}, {"status": {...}}
    {"key": key, "data": array, "pieces": done so far}, {"key": key, "failed": text}
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from rookery.base.messages import pack, unpack
from rookery.cluster import node
from rookery.cluster.dispatcher import Dispatcher
from rookery.cluster.jobs import Answer, Job
from rookery.cluster.ray_nodes import ConnectError, RayNodes, connect, info_of
from rookery.cluster.tasks import Attempt

TICK = 0.25  # seconds
NODES_EVERY = 1.0
STATUS_EVERY = 1.0


class Bridge:
    """Ray on one side, the trainer's socket on the other, the dispatcher in between."""

    def __init__(self, ray: Any, connection: Connection, begin: dict[str, Any]) -> None:
        """Use a connected Ray; `begin` is the trainer's first message."""
        self.connection = connection
        self.events: queue.SimpleQueue[tuple[str, Any, Any]] = queue.SimpleQueue()
        self.nodes = RayNodes(ray, lambda handle, found: self.events.put(("over", handle, found)))
        self.dispatcher = Dispatcher(self, begin["check_share"])
        self.facts: dict[str, str] = begin["facts"]
        self.attempts: dict[Any, Attempt] = {}  # by handle
        self.data: dict[str, bytes] = {}  # shared, for disputes
        self.asked: dict[str, dict[str, Any]] = {}  # nodes that describe themselves now
        self.detailed = bool(begin["detailed"])
        self._looked = self._told = 0.0
        self._ended = False

    def run(self) -> None:
        """Work until the trainer goes away."""
        threading.Thread(target=self._listen, daemon=True).start()
        self._look(time.monotonic())
        self.send({"ready": True})
        while not self._ended:
            try:
                self._handle(*self.events.get(timeout=TICK))
                while True:
                    self._handle(*self.events.get_nowait())
            except queue.Empty:
                pass
            now = time.monotonic()
            if now - self._looked > NODES_EVERY:
                self._look(now)
            self.dispatcher.tick(now)
            if now - self._told > STATUS_EVERY:
                self._told = now
                status = self.dispatcher.status(now, self.detailed)
                self.send({"status": {**status, "unknown": len(self.asked)}})

    def send(self, content: Any) -> None:
        """Tell the trainer; if it is gone, so are we soon."""
        try:
            self.connection.send_bytes(pack(content))
        except OSError:
            self._ended = True

    def _listen(self) -> None:
        try:
            while True:
                self.events.put(("message", unpack(self.connection.recv_bytes()), None))
        except (EOFError, OSError):
            self.events.put(("gone", None, None))

    def _handle(self, kind: str, first: Any, second: Any) -> None:
        if kind == "gone":
            self._ended = True
        elif kind == "message":
            self._obey(first)
        elif kind == "over":
            attempt = self.attempts.pop(first, None)
            if attempt is not None:
                self.dispatcher.finish(attempt, second, time.monotonic())
        else:
            self._meet(first, second)

    def _obey(self, message: dict[str, Any]) -> None:
        if "share" in message:
            self.data[message["share"]] = message["data"].tobytes()
            self.nodes.share(message["share"], self.data[message["share"]])
        if "unshare" in message:
            self.data.pop(message["unshare"], None)
            self.nodes.unshare(message["unshare"])
        for job in message.get("jobs", ()):
            content, shared = job.pop("content").tobytes(), tuple(job.pop("shared"))
            self.dispatcher.add(Job(**job, content=content, shared=shared))
        self.dispatcher.forget(message.get("forget", ()))

    # --- Nodes that come and go ---

    def _look(self, now: float) -> None:
        """Compare the cluster's nodes with those we know."""
        self._looked = now
        listed = self.nodes.listed()
        for node_id in [*self.dispatcher.nodes.keys() - listed.keys()]:
            self.dispatcher.leave(node_id)
        for node_id, found in listed.items():
            known = node_id in self.dispatcher.nodes or node_id in self.asked
            if not known and found.get("Resources", {}).get("CPU", 0) >= 1:
                self.asked[node_id] = found
                self.nodes.describe(node_id).add_done_callback(
                    lambda future, name=node_id: self.events.put(("met", name, future))
                )

    def _meet(self, node_id: str, future: Any) -> None:
        listed = self.asked.pop(node_id)
        error = future.exception()
        if error is not None:
            if type(error).__name__.startswith("RayTaskError"):
                described = {"host": listed.get("NodeName", ""), "facts": {}}
                refused = f"Rookery does not work there: {' '.join(str(error).split())[-200:]}"
                info = info_of(node_id, listed, described)
                self.dispatcher.join(info, time.monotonic(), refused)
            return  # otherwise it is gone, or will be asked again
        info = info_of(node_id, listed, future.result())
        refused = node.differences(self.facts, info.facts, node.MUST_AGREE)
        kernel = node.differences(self.facts, info.facts, node.KERNEL)
        if kernel and not refused:
            self.log(
                f"node {info.name} has {kernel}: it gets no work whose last bits depend on that"
            )
        self.dispatcher.join(info, time.monotonic(), refused, not kernel)

    # --- What the dispatcher asks for ---

    def start(self, node_id: str, job: Job) -> Any:
        """As in `dispatcher.Reports`."""
        handle = self.nodes.start(node_id, job)
        # The dispatcher has just appended this attempt.
        self.attempts[handle] = self.dispatcher.nodes[node_id].running[-1]
        return handle

    def stop(self, handle: Any, silent: bool) -> None:
        """As in `dispatcher.Reports`."""
        self.nodes.stop(handle, silent)

    def result(self, job: Job, answer: Answer) -> None:
        """As in `dispatcher.Reports`."""
        data = np.frombuffer(answer.data, np.uint8)
        self.send({"key": job.key, "data": data, "pieces": self.dispatcher.totals["pieces"]})

    def failed(self, job: Job, reason: str) -> None:
        """As in `dispatcher.Reports`."""
        self.send({"key": job.key, "failed": f"the piece {job.name} failed: {reason}"})

    def dispute(self, job: Job, answers: dict[str, Answer]) -> None:
        """As in `dispatcher.Reports`: this machine does the piece itself, and decides."""
        shared = tuple(self.data[digest] for digest in job.shared)
        self.dispatcher.settle(job.key, Answer(*node.perform(job.work, job.content, shared)))

    def log(self, text: str) -> None:
        """As in `dispatcher.Reports`."""
        self.send({"log": text})


def main() -> None:
    """Connect as the trainer asks, and work."""
    connection = Connection(int(sys.argv[1]))
    try:
        begin = unpack(connection.recv_bytes())["begin"]
        ray = connect(begin["address"], begin["cores"])
    except (EOFError, ConnectError) as error:
        connection.send_bytes(pack({"error": str(error)}))
        return
    try:
        Bridge(ray, connection, begin).run()
    finally:
        ray.shutdown()


if __name__ == "__main__":
    main()
