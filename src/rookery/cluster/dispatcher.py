"""Which node does which piece: in order, with copies of late ones, and checks.

The dispatcher is told what happens (`add`, `join`, `leave`, `finish`, `tick`) and calls back. It
knows neither Ray nor the time of day, so that benchmarks/cluster_simulation.py runs the same code
with a thousand nodes that do not exist.

- A node has at most `slots + AHEAD` pieces: enough to be busy while results travel, and no more
  than that is late if it is slow.
- Pieces start in the order in which they came. A node with nothing else to do copies the oldest
  piece that takes twice the usual time elsewhere; the first result counts.
- A piece that is lost with its node is done again. The node gets nothing for a while, longer each
  time: one that is dead and still listed would otherwise draw and lose all pieces.
- A piece that raises an exception twice fails.
- A share of the pieces is done by two nodes and compared; the caller settles a dispute.
"""

from __future__ import annotations

import heapq
import statistics
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from rookery.cluster.jobs import Answer, Failed, Job, Lost, NodeInfo, Outcome
from rookery.cluster.tasks import Attempt, Node, Task

TICK = 0.2  # seconds between two looks at late pieces
SLOW = 2.0  # times the usual duration, after which an idle node makes a copy
SILENT = 10.0  # times the usual duration, after which a process counts as dead ...
SHORTEST_SILENCE = 60.0  # ... but not before so many seconds
SILENCES = 3  # of a node before it gets no more work
REST = 1.0  # seconds without work for a node that lost a piece, twice as long each time ...
LONGEST_REST = 32.0  # ... up to this
MOST_LOST = 50  # times that one piece may be lost
MOST_FAILURES = 2  # exceptions of one piece
REMEMBERED = 64  # durations of each kind of work
SHARES = 1 << 32


class Reports(Protocol):
    """What the dispatcher calls back."""

    def start(self, node: str, job: Job) -> Any:
        """Start a piece on a node; returns a handle."""

    def stop(self, handle: Any, silent: bool) -> None:
        """Give up a piece; `silent`: it has not answered and must be killed."""

    def result(self, job: Job, answer: Answer) -> None:
        """A piece is done."""

    def failed(self, job: Job, reason: str) -> None:
        """A piece cannot be done."""

    def dispute(self, job: Job, answers: dict[str, Answer]) -> None:
        """Two nodes disagree; `settle` ends it."""

    def log(self, text: str) -> None:
        """Tell the user."""


class Dispatcher:
    """The pieces and nodes of one pool."""

    def __init__(self, reports: Reports, check_share: float = 0.0) -> None:
        """Begin with neither pieces nor nodes; `check_share` of the pieces are done twice."""
        self.reports, self.check_share = reports, check_share
        self.nodes: dict[str, Node] = {}
        self.tasks: dict[str, Task] = {}
        self.totals = dict.fromkeys(
            ("pieces", "retries", "copies", "late", "checked", "disputes", "joined", "left"), 0
        )
        self._waiting: list[tuple[int, str]] = []
        self._roomy: dict[str, None] = {}  # nodes that may have room; all others are full
        self._number = 0
        self._ticked = float("-inf")
        self._durations: dict[str, deque[float]] = {}

    # --- What happens ---

    def add(self, job: Job) -> None:
        """A new piece; a second one with the same key changes nothing."""
        if job.key in self.tasks:
            return
        self._number += 1
        checked = int(job.key[:8], 16) < self.check_share * SHARES
        self.tasks[job.key] = Task(job, self._number, 2 if checked else 1)
        self._wait(self.tasks[job.key])

    def forget(self, keys: Iterable[str]) -> None:
        """Pieces that nobody wants any more."""
        for key in keys:
            task = self.tasks.pop(key, None)
            for attempt in list(task.attempts) if task is not None else ():
                self._stop(attempt)

    def join(self, info: NodeInfo, now: float, refused: str = "", same_kernel: bool = True) -> None:
        """A node is there; `refused` says why it must not be used."""
        self.nodes[info.id] = Node(info, now, same_kernel, refused)
        self._roomy[info.id] = None
        self.totals["joined"] += 1
        if refused:
            self.reports.log(f"node {info.name} is not used: {refused}")

    def leave(self, node_id: str) -> None:
        """A node is gone, with everything that it was doing."""
        node = self.nodes.pop(node_id, None)
        if node is None:
            return
        self.totals["left"] += 1
        for attempt in list(node.running):
            self.finish(attempt, Lost(f"node {node.info.name} is gone"), 0.0)

    def finish(self, attempt: Attempt, outcome: Outcome, now: float) -> None:
        """An attempt is over."""
        if attempt.over:
            self.totals["late"] += isinstance(outcome, Answer)
            return
        task = self._end(attempt)
        if task is None:
            self.totals["late"] += isinstance(outcome, Answer)
        elif isinstance(outcome, Answer) and outcome.intact:
            self._answered(task, attempt, outcome, now)
        elif isinstance(outcome, Failed):
            self._raised(task, attempt, outcome.reason)
        else:
            reason = outcome.reason if isinstance(outcome, Lost) else "its result is damaged"
            self._rest(attempt.node, now)
            self._lost(task, reason)

    def settle(self, key: str, right: Answer) -> None:
        """End a dispute: `right` counts, and nodes that said something else get no more work."""
        task = self.tasks.get(key)
        for node_id, answer in dict(task.answers).items() if task is not None else ():
            node = self.nodes.get(node_id)
            if answer.digest != right.digest and node is not None:
                node.refused = f"its result of {task.job.name} is wrong"  # type: ignore[union-attr]
                self.reports.log(
                    f"node {node.info.name} is not used any more: {node.refused}; {node.done} "
                    "pieces before it were not all checked"
                )
        if task is not None:
            self._deliver(task, right)

    def tick(self, now: float) -> None:
        """Some time has passed: give up what is silent, fill the nodes, copy what is late."""
        self.fill(now)
        if now - self._ticked < TICK:
            return
        self._ticked = now
        usual = {work: statistics.median(found) for work, found in self._durations.items()}
        for node in list(self.nodes.values()):
            for attempt in list(node.running):
                task = self.tasks.get(attempt.key)
                known = usual.get(task.job.work) if task is not None else None
                if known and now - attempt.began > max(SHORTEST_SILENCE, SILENT * known):
                    self._silent(node, attempt)
        self.fill(now)
        self._copy(now, usual)

    def fill(self, now: float) -> None:
        """Give work to every node that has room for it."""
        if not self._waiting:
            return
        known = (self.nodes.get(node_id) for node_id in self._roomy)
        roomy = [node for node in known if node is not None and node.room > 0]
        self._roomy = {node.info.id: None for node in roomy}
        free = [node for node in roomy if node.rests_until <= now]
        # The emptiest first, in turns: pieces spread over the nodes.
        heap = [(len(n.running) / n.info.slots, i, n) for i, n in enumerate(free)]
        heapq.heapify(heap)
        while heap:
            _, place, node = heapq.heappop(heap)
            task = self._next(node)
            if task is None:
                continue
            self._start(task, node, now)
            if node.room > 0:
                heapq.heappush(heap, (len(node.running) / node.info.slots, place, node))

    # --- Choosing ---

    def _next(self, node: Node) -> Task | None:
        """The oldest waiting piece that the node may do."""
        passed: list[tuple[int, str]] = []
        found = None
        while self._waiting and found is None:
            entry = heapq.heappop(self._waiting)
            task = self.tasks.get(entry[1])
            if task is None or task.missing <= 0:
                continue
            if task.is_on(node.info.id) or not self._fits(node, task, others=True):
                passed.append(entry)
                continue
            found = task
        for entry in passed:
            heapq.heappush(self._waiting, entry)
        return found

    def _copy(self, now: float, usual: dict[str, float]) -> None:
        """Copy the oldest late pieces to nodes that have nothing else to do."""
        idle = [
            node
            for node in self.nodes.values()
            if node.room > 0 and len(node.running) < node.info.slots and node.rests_until <= now
        ]
        for task in list(self.tasks.values()) if idle else ():  # in the order in which they came
            known = usual.get(task.job.work)
            if known is None or len(task.attempts) != 1:
                continue
            if now - task.attempts[0].began <= SLOW * known:
                continue
            fitting = (n for n in idle if not task.is_on(n.info.id) and self._fits(n, task))
            node = next((n for n in fitting if n.info.id not in task.failures), None)
            if node is None:
                continue
            self.totals["copies"] += 1
            self._start(task, node, now)
            if len(node.running) >= node.info.slots:
                idle.remove(node)
                if not idle:
                    return

    def _fits(self, node: Node, task: Task, others: bool = False) -> bool:
        """Whether a node may do a piece; `others`: not if it failed there and not yet elsewhere."""
        if not node.same_kernel and not task.job.exact:
            return False
        if not others or node.info.id not in task.failures:
            return True
        usable = (each for each in self.nodes.values() if not each.refused)
        return all(each.info.id in task.failures or not self._fits(each, task) for each in usable)

    # --- Attempts ---

    def _start(self, task: Task, node: Node, now: float) -> None:
        attempt = Attempt(task.job.key, node.info.id, now)
        task.attempts.append(attempt)
        node.running.append(attempt)
        if task.missing > 0:
            self._wait(task)
        attempt.handle = self.reports.start(node.info.id, task.job)

    def _end(self, attempt: Attempt) -> Task | None:
        """Take an attempt from its node and its task."""
        attempt.over = True
        node, task = self.nodes.get(attempt.node), self.tasks.get(attempt.key)
        if node is not None and attempt in node.running:
            node.running.remove(attempt)
            self._roomy[attempt.node] = None
        if task is not None and attempt in task.attempts:
            task.attempts.remove(attempt)
            return task
        return None

    def _stop(self, attempt: Attempt, silent: bool = False) -> None:
        self._end(attempt)
        self.reports.stop(attempt.handle, silent)

    def _wait(self, task: Task) -> None:
        heapq.heappush(self._waiting, (task.number, task.job.key))

    def _silent(self, node: Node, attempt: Attempt) -> None:
        task = self.tasks.get(attempt.key)
        self._stop(attempt, silent=True)
        node.silences += 1
        if node.silences >= SILENCES and not node.refused:
            node.refused = f"it has not answered {node.silences} times"
            self.reports.log(f"node {node.info.name} is not used any more: {node.refused}")
        if task is not None:
            self._lost(task, f"node {node.info.name} has not answered")

    def _rest(self, node_id: str, now: float) -> None:
        """Give nothing to a node that lost a piece, for a while."""
        node = self.nodes.get(node_id)
        if node is not None and node.rests_until <= now:  # otherwise it lost several at once
            node.rests_until = now + min(REST * 2.0**node.losses, LONGEST_REST)
            node.losses += 1

    def _lost(self, task: Task, reason: str) -> None:
        task.lost += 1
        self.totals["retries"] += 1
        if task.lost >= MOST_LOST:
            self._fail(task, f"it was lost {task.lost} times, the last time because {reason}")
        else:
            self._wait(task)

    def _raised(self, task: Task, attempt: Attempt, reason: str) -> None:
        node = self.nodes.get(attempt.node)
        name = node.info.name if node is not None else attempt.node[:8]
        task.failures[attempt.node] = f"{reason} (node {name})"
        task.raised += 1
        if task.raised >= MOST_FAILURES:
            self._fail(task, "; ".join(task.failures.values()))
        else:
            self.totals["retries"] += 1
            self._wait(task)

    def _fail(self, task: Task, reason: str) -> None:
        self.forget([task.job.key])
        self.reports.failed(task.job, reason)

    def _answered(self, task: Task, attempt: Attempt, answer: Answer, now: float) -> None:
        node = self.nodes.get(attempt.node)
        if node is not None:
            node.losses = 0
            node.done += 1
            node.positions += answer.positions
            node.busy += answer.seconds
            node.cpu += answer.cpu_seconds
        durations = self._durations.setdefault(task.job.work, deque(maxlen=REMEMBERED))
        durations.append(now - attempt.began)
        task.answers[attempt.node] = answer
        if len(task.answers) < task.wanted:
            usable = sum(1 for n in self.nodes.values() if not n.refused and self._fits(n, task))
            if len(task.answers) < min(task.wanted, usable):
                self._wait(task)
                return
        if len(task.answers) > 1:
            self.totals["checked"] += 1
            if len({each.digest for each in task.answers.values()}) > 1:
                self.totals["disputes"] += 1
                task.disputed = True
                self.reports.dispute(task.job, dict(task.answers))
                return
        self._deliver(task, answer)

    def _deliver(self, task: Task, answer: Answer) -> None:
        self.totals["pieces"] += 1
        self.forget([task.job.key])
        self.reports.result(task.job, answer)

    # --- Progress ---

    def under_way(self) -> Iterator[Attempt]:
        """All attempts that run now."""
        for node in self.nodes.values():
            yield from node.running

    def status(self, now: float, facts: bool = False) -> dict[str, Any]:
        """Totals and nodes, for people and for metrics; `facts`: what each node has, too."""
        nodes = [
            {
                "name": node.info.name,
                "slots": node.info.slots,
                "under_way": len(node.running),
                "pieces": node.done,
                "positions": node.positions,
                "positions_per_second": node.positions / max(now - node.joined, 1e-9),
                "busy": node.busy,
                "cpu": node.cpu,
                "refused": node.refused,
                "kernel": "" if node.same_kernel else "another",
                **({"facts": node.info.facts} if facts else {}),
            }
            for node in self.nodes.values()
        ]
        usable = [node for node in self.nodes.values() if not node.refused]
        return {
            **self.totals,
            "nodes": nodes,
            "slots": sum(node.info.slots for node in usable),
            "waiting": sum(task.missing > 0 for task in self.tasks.values()),
            "under_way": sum(1 for _ in self.under_way()),
        }
