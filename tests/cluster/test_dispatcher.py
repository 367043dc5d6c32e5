"""The dispatcher with nodes that do not exist and a clock that does what it is told."""

from __future__ import annotations

import hashlib
import heapq
import random
from dataclasses import dataclass, field
from typing import Any

from rookery.cluster import dispatcher as rules
from rookery.cluster.dispatcher import Dispatcher
from rookery.cluster.jobs import Answer, Failed, Job, Lost, NodeInfo
from rookery.cluster.tasks import AHEAD, Attempt


def job(number: int, exact: bool = True) -> Job:
    return Job(f"piece {number}", "tests:work", str(number).encode(), exact=exact)


def answer(job: Job, wrong: bool = False) -> Answer:
    data = job.content + (b" wrong" if wrong else b"")
    return Answer(data, hashlib.sha256(data).hexdigest(), positions=10, seconds=1.0)


@dataclass
class Events:
    """Nodes that take a given time for a piece; everything that the dispatcher says."""

    seconds: dict[str, float]  # of a piece, by node
    share: float = 0.0
    wrong: set[str] = field(default_factory=set)  # nodes that give wrong results
    lost: set[str] = field(default_factory=set)  # nodes that lose every piece
    now: float = 0.0
    results: list[str] = field(default_factory=list)
    done_by: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    stopped: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.dispatcher = Dispatcher(self, self.share)
        self._due: list[tuple[float, int, Attempt, str, Job]] = []
        self._count = 0
        for name in self.seconds:
            self.join(name)

    def join(self, name: str, **options: Any) -> None:
        self.dispatcher.join(NodeInfo(name, name, 1), self.now, **options)

    def start(self, node: str, job: Job) -> Attempt:
        attempt = self.dispatcher.nodes[node].running[-1]
        waiting = len(self.dispatcher.nodes[node].running)
        self._count += 1
        entry = (self.now + waiting * self.seconds[node], self._count, attempt, node, job)
        heapq.heappush(self._due, entry)
        return attempt

    def stop(self, handle: Any, silent: bool) -> None:
        self.stopped.append((handle, silent))

    def result(self, job: Job, answer: Answer) -> None:
        self.results.append(job.name)
        assert answer.data == job.content

    def failed(self, job: Job, reason: str) -> None:
        self.failures.append(f"{job.name}: {reason}")

    def dispute(self, job: Job, answers: dict[str, Answer]) -> None:
        self.dispatcher.settle(job.key, answer(job))

    def log(self, text: str) -> None:
        self.lines.append(text)

    def run(self, until: float = 1e9) -> None:
        """Let time pass until nothing is left to do."""
        self.dispatcher.tick(self.now)
        while self.dispatcher.tasks and self.now < until:
            step = min(self.now + 0.25, until)
            while self._due and self._due[0][0] <= step:
                when, _, attempt, node, job = heapq.heappop(self._due)
                self.now = max(self.now, when)
                if node in self.dispatcher.nodes and not attempt.over:
                    self.done_by.append(node)
                    found = answer(job, wrong=node in self.wrong)
                    outcome = Lost("no such node") if node in self.lost else found
                    self.dispatcher.finish(attempt, outcome, self.now)
                self.dispatcher.fill(self.now)
            self.now = step
            self.dispatcher.tick(self.now)


def test_every_piece_is_done_once_and_spread_over_the_nodes() -> None:
    events = Events({"a": 1.0, "b": 1.0})
    for number in range(10):
        events.dispatcher.add(job(number))
        events.dispatcher.add(job(number))  # asked for twice, done once
    events.run()
    assert sorted(events.results) == sorted(f"piece {n}" for n in range(10))
    assert abs(events.done_by.count("a") - events.done_by.count("b")) <= 1
    assert events.dispatcher.totals["retries"] == 0


def test_a_node_holds_no_more_than_its_slots_and_one() -> None:
    events = Events({"a": 1.0})
    for number in range(10):
        events.dispatcher.add(job(number))
    events.dispatcher.fill(0.0)
    assert len(events.dispatcher.nodes["a"].running) == 1 + AHEAD
    assert events.dispatcher.status(0.0)["waiting"] == 9 - AHEAD


def test_pieces_of_a_dead_node_are_done_again() -> None:
    events = Events({"a": 1.0, "b": 1.0})
    for number in range(8):
        events.dispatcher.add(job(number))
    events.run(until=1.5)
    events.dispatcher.leave("a")
    events.run()
    assert sorted(events.results) == sorted(f"piece {n}" for n in range(8))
    assert events.dispatcher.totals["retries"] == 1 + AHEAD


def test_nodes_that_come_and_go_at_random_lose_and_double_nothing() -> None:
    rng = random.Random(4)
    events = Events({f"n{i}": 0.5 + i / 4 for i in range(5)}, share=0.2)
    for number in range(300):
        events.dispatcher.add(job(number))
    names = 5
    while events.dispatcher.tasks:
        events.run(until=events.now + 2.0)
        alive = list(events.dispatcher.nodes)
        if len(alive) > 1:
            events.dispatcher.leave(rng.choice(alive))
        events.seconds[f"n{names}"] = rng.uniform(0.2, 2.0)
        events.join(f"n{names}")
        names += 1
    assert sorted(events.results) == sorted(f"piece {n}" for n in range(300))
    assert events.dispatcher.totals["retries"] > 10


def test_a_dead_node_that_is_still_listed_does_not_draw_all_pieces() -> None:
    """It loses them at once, so it always has room."""
    events = Events({"good": 1.0, "dead": 0.01}, lost={"dead"})
    for number in range(30):
        events.dispatcher.add(job(number))
    events.run()
    assert sorted(events.results) == sorted(f"piece {n}" for n in range(30))
    assert events.failures == []
    assert 2 <= events.dispatcher.totals["retries"] <= 15
    assert events.now < 40.0
    events.lost.clear()  # it is well again, and gets work after its rest
    events.done_by.clear()
    for number in range(30, 50):
        events.dispatcher.add(job(number))
    events.now += rules.LONGEST_REST
    events.run()
    assert events.done_by.count("dead") > 10


def test_a_slow_node_does_not_hold_up_the_others() -> None:
    """Its piece is copied as soon as another node has nothing else to do."""
    events = Events({"fast": 1.0, "slow": 1000.0})
    for number in range(12):
        events.dispatcher.add(job(number))
    events.run()
    assert len(events.results) == 12
    assert events.now < 20.0
    assert events.dispatcher.totals["copies"] >= 1
    assert [silent for _, silent in events.stopped] == [False] * len(events.stopped)


def test_a_node_that_looks_alive_and_does_nothing_is_given_up() -> None:
    events = Events({"good": 1.0, "dead": float("inf")})
    usual = rules.SHORTEST_SILENCE
    for number in range(200):
        events.dispatcher.add(job(number))
    events.run(until=10 * usual)
    assert len(events.results) == 200
    assert any("node dead is not used any more: it has not answered" in x for x in events.lines)
    assert any(silent for _, silent in events.stopped)


def test_a_piece_that_raises_fails_after_a_second_try() -> None:
    events = Events({"a": 1.0, "b": 1.0})
    events.dispatcher.add(job(0))
    events.dispatcher.fill(0.0)
    for _ in range(rules.MOST_FAILURES):
        [attempt] = list(events.dispatcher.under_way())
        events.dispatcher.finish(attempt, Failed("ValueError: no"), 1.0)
        events.dispatcher.fill(1.0)
    assert events.failures == ["piece 0: ValueError: no (node a); ValueError: no (node b)"]
    assert not events.dispatcher.tasks


def test_a_late_piece_is_not_copied_to_where_it_failed() -> None:
    """A node that cannot do it must not fail it for the one that can."""
    events = Events({"good": 1.0, "broken": 1.0})
    for number in range(2):  # the usual duration is known then
        events.dispatcher.add(job(number))
    events.run()
    events.seconds["good"] = 100.0
    events.dispatcher.nodes["broken"].rests_until = events.now + 0.1
    events.dispatcher.add(job(2))
    events.dispatcher.fill(events.now)
    for later in (10.0, 20.0, 30.0):
        events.dispatcher.tick(events.now + later)
        for attempt in [a for a in events.dispatcher.under_way() if a.node == "broken"]:
            events.dispatcher.finish(attempt, Failed("ImportError: no"), events.now + later)
    assert events.failures == [] and "piece 2" not in events.results
    assert len(events.dispatcher.tasks[job(2).key].failures) == 1


def test_a_damaged_result_counts_as_lost() -> None:
    events = Events({"a": 1.0})
    events.dispatcher.add(job(0))
    events.dispatcher.fill(0.0)
    [attempt] = list(events.dispatcher.under_way())
    events.dispatcher.finish(attempt, Answer(b"other", answer(job(0)).digest), 1.0)
    assert events.results == [] and events.dispatcher.totals["retries"] == 1
    events.run()
    assert events.results == ["piece 0"]


def test_a_wrong_node_is_found_by_the_share_that_is_done_twice() -> None:
    events = Events({"right": 1.0, "liar": 1.0}, share=1.0, wrong={"liar"})
    for number in range(5):
        events.dispatcher.add(job(number))
    events.run()
    assert len(events.results) == 5  # and each of them right, see `Events.result`
    assert "its result of piece" in events.dispatcher.nodes["liar"].refused
    assert events.dispatcher.totals["disputes"] >= 1


def test_one_node_alone_checks_nothing_and_waits_for_nobody() -> None:
    events = Events({"only": 1.0}, share=1.0)
    for number in range(3):
        events.dispatcher.add(job(number))
    events.run()
    assert len(events.results) == 3 and events.dispatcher.totals["checked"] == 0


def test_a_refused_node_gets_nothing_and_another_kernel_only_exact_work() -> None:
    events = Events({})
    events.seconds = {"old": 1.0, "other": 1.0}
    events.join("old", refused="rookery 0.0 instead of 0.1")
    events.join("other", same_kernel=False)
    assert events.lines == ["node old is not used: rookery 0.0 instead of 0.1"]
    events.dispatcher.add(job(0, exact=False))
    events.dispatcher.add(job(1, exact=True))
    events.run(until=5.0)
    assert events.results == ["piece 1"]
    events.seconds["same"] = 1.0
    events.join("same")
    events.run()
    assert events.results == ["piece 1", "piece 0"]


def test_forgotten_pieces_are_stopped_and_their_results_ignored() -> None:
    events = Events({"a": 1.0})
    for number in range(3):
        events.dispatcher.add(job(number))
    events.dispatcher.fill(0.0)
    first = next(iter(events.dispatcher.under_way()))
    events.dispatcher.forget([job(n).key for n in range(3)])
    assert len(events.stopped) == 1 + AHEAD
    events.dispatcher.finish(first, answer(job(0)), 1.0)
    assert events.results == [] and events.dispatcher.totals["late"] == 1
    events.dispatcher.finish(first, Lost("cancelled"), 1.0)
    assert events.dispatcher.totals["retries"] == 0


def test_what_determines_a_piece_names_it() -> None:
    base = Job("a", "m:f", b"1", ("w",))
    assert base.key == Job("another name", "m:f", b"1", ("w",)).key
    others = [Job("a", "m:g", b"1", ("w",)), Job("a", "m:f", b"2", ("w",)), Job("a", "m:f", b"1")]
    assert len({base.key, *(each.key for each in others)}) == 4
