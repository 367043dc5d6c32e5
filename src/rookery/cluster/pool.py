"""A cluster as the rest of Rookery sees it: jobs in, bytes out.

    with Pool("local") as pool:
        for data in pool.map(jobs):   # in the order of the jobs
            ...

At most a window of results is under way or waits to be taken, so that a slow consumer slows the
cluster down instead of filling memory. If the connection is lost, it is made again and everything
that has not arrived is asked for once more; the results are the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from rookery.base.cores import usable_cores
from rookery.base.messages import pack, unpack
from rookery.cluster import node
from rookery.cluster.jobs import Job

CONNECT_SECONDS = 180.0  # to find a cluster or to start one
RECONNECT_SECONDS = 900.0  # that a cluster may be away
EXIT_SECONDS = 30.0  # that the bridge gets to leave the cluster
WAIT = 0.2  # seconds between two looks at whether to give up
KEPT = 16  # shared bytes, the last used ones
CHECK_SHARE = 0.01  # of the pieces are done by two nodes and compared
WINDOW = 2  # pieces per slot that may be under way or wait to be taken ...
SMALLEST_WINDOW = 8  # ... but at least so many


class ClusterError(ValueError):
    """The cluster cannot do the work; the message says why."""


class Pool:
    """A connection to a cluster."""

    def __init__(
        self,
        address: str,
        log: Callable[[str], object] = lambda text: None,
        check_share: float = CHECK_SHARE,
        cores: int = 0,
        on_status: Callable[[dict[str, Any]], object] = lambda status: None,
        detailed: bool = False,
    ) -> None:
        """Connect to `auto`, `local` or HOST:PORT.

        Args:
            address: `auto` finds a cluster on this machine or in RAY_ADDRESS, `local` starts one.
            log: Called with lines for the user, from another thread.
            check_share: Share of the pieces that two nodes do, to compare their results.
            cores: Of `local`; 0: all that this process may use.
            on_status: Called with every new status, from another thread.
            detailed: The status says what each node has.
        """
        self.address, self._log, self._on_status = check_address(address), log, on_status
        self._begin = {
            "address": address,
            "cores": cores or usable_cores(),
            "check_share": check_share,
            "facts": node.facts(),
            "detailed": detailed,
        }
        self.status: dict[str, Any] = {"nodes": [], "slots": 0}
        self.reconnections = 0
        self._changed = threading.Condition()
        self._jobs: OrderedDict[str, Job] = OrderedDict()  # asked for, not arrived
        self._results: dict[str, bytes | ClusterError] = {}  # arrived, not taken
        self._shared: OrderedDict[str, bytes] = OrderedDict()
        self._fault: ClusterError | None = None
        self._closed = False
        self._process: subprocess.Popen[bytes] | None = None
        self._connection = self._connect()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    # --- Work ---

    def share(self, data: bytes) -> str:
        """Send bytes that many jobs need, once; their digest, for `Job.shared`."""
        digest = hashlib.sha256(data).hexdigest()
        with self._changed:
            new = digest not in self._shared
            self._shared[digest] = data
            self._shared.move_to_end(digest)
            if new:
                self._send({"share": digest, "data": np.frombuffer(data, np.uint8)})
            needed = {each for job in self._jobs.values() for each in job.shared}
            for old in [each for each in list(self._shared)[:-KEPT] if each not in needed]:
                del self._shared[old]
                self._send({"unshare": old})
        return digest

    def submit(self, jobs: Iterable[Job]) -> None:
        """Ask for results; jobs that were asked for already change nothing."""
        with self._changed:
            known = self._jobs.keys() | self._results.keys()
            new = {job.key: job for job in jobs if job.key not in known}
            self._jobs.update(new)
            if new:
                self._send({"jobs": [_message(job) for job in new.values()]})

    def take(self, job: Job, check_stop: Callable[[], object] = lambda: None) -> bytes:
        """Wait for a job's result, and forget it; `check_stop` may raise to give up."""
        while True:
            with self._changed:
                if job.key in self._results:
                    found = self._results.pop(job.key)
                    if isinstance(found, ClusterError):
                        raise found
                    return found
                if self._fault is not None:
                    raise self._fault
                if job.key not in self._jobs:
                    raise KeyError(f"nobody asked for {job.name}")
                self._changed.wait(WAIT)
            check_stop()

    def forget(self, jobs: Iterable[Job]) -> None:
        """Give up jobs, wherever they are."""
        keys = [job.key for job in jobs]
        with self._changed:
            for key in keys:
                self._jobs.pop(key, None)
                self._results.pop(key, None)
            if keys and not self._closed:
                self._send({"forget": keys})

    def map(
        self, jobs: Iterable[Job], check_stop: Callable[[], object] = lambda: None
    ) -> Iterator[bytes]:
        """The results of jobs in their order, with a bounded window of jobs under way."""
        source, ahead = iter(jobs), deque[Job]()
        try:
            while True:
                while len(ahead) < self.window and (job := next(source, None)) is not None:
                    self.submit([job])
                    ahead.append(job)
                if not ahead:
                    return
                result = self.take(ahead[0], check_stop)
                ahead.popleft()
                yield result
        finally:
            self.forget(ahead)

    @property
    def slots(self) -> int:
        """Pieces that the cluster does at once, as far as it is known."""
        return int(self.status["slots"])

    @property
    def window(self) -> int:
        """Results that may be under way or wait."""
        return max(SMALLEST_WINDOW, WINDOW * self.slots + 2)

    def wait_for_nodes(self, slots: int = 1, seconds: float = CONNECT_SECONDS) -> None:
        """Wait until the cluster can do so many pieces at once."""
        end = time.monotonic() + seconds
        with self._changed:
            while self.slots < slots and self._fault is None:
                if not self._changed.wait(max(0.0, end - time.monotonic())):
                    raise ClusterError(f"the cluster {self.address!r} has no usable node")

    # --- The bridge ---

    def _connect(self) -> Connection:
        """Start a bridge, and wait until it is connected."""
        ours, theirs = socket.socketpair()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "rookery.cluster.bridge", str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                start_new_session=True,  # only the trainer handles Ctrl-C
            )
        connection = Connection(ours.detach())
        try:
            connection.send_bytes(pack({"begin": self._begin}))
            if not connection.poll(CONNECT_SECONDS):
                raise ClusterError(f"the cluster {self.address!r} does not answer")
            first = unpack(connection.recv_bytes())
        except BaseException as error:
            self._end_process()
            connection.close()
            if isinstance(error, EOFError | OSError):
                raise ClusterError(f"no connection to {self.address!r}: {self._last()}") from None
            raise
        if "error" in first:
            self._end_process()
            connection.close()
            raise ClusterError(first["error"])
        return connection

    def _read(self) -> None:
        """Receive until the pool is closed."""
        while not self._closed:
            try:
                message = unpack(self._connection.recv_bytes())
            except (EOFError, OSError):
                if not self._closed:
                    self._reconnect()
                continue
            with self._changed:
                self._receive(message)
                self._changed.notify_all()
            if "log" in message:
                self._log(message["log"])
            if "status" in message:
                self._on_status(self.status)

    def _receive(self, message: dict[str, Any]) -> None:
        if "status" in message:
            self.status = {**message["status"], "reconnections": self.reconnections}
        if "pieces" in message:  # known at once, so that a short iteration has its own count
            self.status = {**self.status, "pieces": message["pieces"]}
        key = message.get("key")
        if key is not None and self._jobs.pop(key, None) is not None:
            failed = message.get("failed")
            self._results[key] = ClusterError(failed) if failed else message["data"].tobytes()

    def _reconnect(self) -> None:
        """Connect again and ask for everything that is missing."""
        self._log(f"the connection to the cluster {self.address!r} is lost; connecting again")
        self._end_process()
        end, pause = time.monotonic() + RECONNECT_SECONDS, 1.0
        while not self._closed:
            try:
                connection = self._connect()
                break
            except ClusterError as error:
                if time.monotonic() > end:
                    with self._changed:
                        self._fault = ClusterError(f"{error}; continue with 'rookery resume'")
                        self._closed = True
                        self._changed.notify_all()
                    return
                time.sleep(pause)
                pause = min(2 * pause, 30.0)
        else:
            return
        with self._changed:
            self._connection = connection
            self.reconnections += 1
            for digest, data in self._shared.items():
                self._send({"share": digest, "data": np.frombuffer(data, np.uint8)})
            self._send({"jobs": [_message(job) for job in self._jobs.values()]})
        self._log(f"connected to the cluster {self.address!r} again")

    def _send(self, content: Any) -> None:
        # If the bridge is gone, the reader notices and everything is sent again.
        with contextlib.suppress(OSError):
            self._connection.send_bytes(pack(content))

    def _last(self) -> str:
        """The last line that the bridge wrote."""
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it ended without a word"

    def _end_process(self) -> None:
        process = self._process
        if process is not None and process.poll() is None:
            try:
                process.wait(EXIT_SECONDS if self._closed else 1.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def close(self) -> None:
        """Leave the cluster, giving up what is under way; may be called twice."""
        if self._process is None:
            return
        self._closed = True
        with contextlib.suppress(OSError), _socket(self._connection) as end:
            end.shutdown(socket.SHUT_RDWR)  # wakes both readers; closing alone would not
        self._reader.join(EXIT_SECONDS)
        self._end_process()
        self._connection.close()
        self._process = None

    def __enter__(self) -> Pool:
        """Return the pool."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()


def _socket(connection: Connection) -> socket.socket:
    return socket.socket(fileno=os.dup(connection.fileno()))


def check_address(address: str) -> str:
    """`auto`, `local` or HOST:PORT, unchanged; anything else is an error."""
    host, colon, port = address.rpartition(":")
    if address in ("auto", "local") or (host and colon and port.isdigit()):
        return address
    raise ClusterError(f"--cluster {address!r} is neither 'auto', 'local' nor HOST:PORT")


def _message(job: Job) -> dict[str, Any]:
    return {
        "name": job.name,
        "work": job.work,
        "content": np.frombuffer(job.content, np.uint8),
        "shared": list(job.shared),
        "exact": job.exact,
    }
