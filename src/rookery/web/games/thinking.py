"""Searches in a few threads; stopped when no client waits for them.

There are as many threads as cores; further searches queue while the server's own thread answers
everything else. All threads have the same priority: a low-priority thread that is preempted with
the interpreter lock delays the server (99th percentile of other requests, one run each on a loaded
machine: 146 ms with low priority, 48 ms without).
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from rookery._core import Game
from rookery.base.cores import usable_cores
from rookery.players.base import Decision, Limits, Player
from rookery.players.thinking import Annotator, Line, MoveNote, Thinker, Thought
from rookery.web.games.shelf import Shelf

REPORTS_PER_SECOND = 8.0
CLOSE_SECONDS = 3.0
STOP_EVERY = 0.05  # seconds between two attempts to stop


@dataclass(frozen=True)
class Wish:
    """A requested search."""

    spec: str
    game_id: str
    game: Game  # a private copy
    limits: Limits
    seed: int
    random: float = 0.0  # probability of a random move instead
    settings: Mapping[str, str] = field(default_factory=dict)
    lines: int = 1


Tell = Callable[[Thought], None]


class Search:
    """One search; `stop` is thread-safe."""

    def __init__(self, wish: Wish, shelf: Shelf, tell: Tell) -> None:
        """Prepare; `tell` is called on the search thread."""
        self._wish, self._shelf, self._tell = wish, shelf, tell
        self._player: Player | None = None
        self._stopping = threading.Event()
        self._latest: Thought | None = None
        self._next = 0.0

    def run(self) -> Decision:
        """Search and return the decision."""
        wish = self._wish
        rng = np.random.default_rng(wish.seed)
        if wish.random and rng.random() < wish.random:
            return Decision(str(rng.choice(wish.game.legal_moves())))
        with self._shelf.borrow(wish.spec, wish.game_id) as player:
            self._player = player
            try:
                decision = self._ask(player, rng)
            finally:
                self._player = None
        if not wish.game.is_legal(decision.move):
            raise ValueError(f"{player.name} chose {decision.move!r}, which is illegal")
        final = thought_of(decision, self._latest)
        if final is not None:
            self._tell(final)
        return decision

    def stop(self) -> None:
        """Ask for the best move so far; only a `Thinker` can be stopped."""
        self._stopping.set()
        player = self._player
        if isinstance(player, Thinker):
            player.stop()

    def _ask(self, player: Player, rng: np.random.Generator) -> Decision:
        wish = self._wish
        if not isinstance(player, Thinker):
            decision = player.choose(wish.game, rng, wish.limits)
            notes = tuple(player.notes(wish.game)) if isinstance(player, Annotator) else ()
            return replace(decision, details={**decision.details, "notes": notes})
        defaults = {setting.name: setting.default for setting in player.settings}
        for name, value in wish.settings.items():
            if name in defaults:
                player.configure(name, value or defaults[name])
        limits = wish.limits
        if self._stopping.is_set():  # stopped before it began
            limits = Limits(movetime=0.01, depth=1)
        return player.think(wish.game, limits, self._report, lines=wish.lines)

    def _report(self, thought: Thought) -> None:
        if self._stopping.is_set():
            self.stop()  # again: a stop before the search began is lost
        self._latest = thought
        now = time.monotonic()
        if now >= self._next:
            self._next = now + 1 / REPORTS_PER_SECOND
            self._tell(thought)


def thought_of(decision: Decision, latest: Thought | None) -> Thought | None:
    """Return the final thought of a search, made from the decision if necessary."""
    if latest is not None and latest.lines and latest.lines[0].moves[:1] == (decision.move,):
        return latest
    known = decision.details.get("notes", ())
    notes: tuple[MoveNote, ...] = known if isinstance(known, tuple) else ()
    if not notes and latest is not None:
        notes = latest.notes
    if decision.value is None and not decision.line and not notes:
        return None
    facts = {k: v for k, v in decision.details.items() if isinstance(v, int | float)}
    lines: tuple[Line, ...] = ()
    if decision.value is not None:
        score, mate = (int(facts[k]) if k in facts else None for k in ("centipawns", "mate"))
        moves = decision.line or (decision.move,)
        lines = (Line(moves, decision.value, centipawns=score, mate=mate),)
        if latest is not None:  # the decision differs from the best line, perhaps by its level
            others = (line for line in latest.lines if line.moves[:1] != (decision.move,))
            lines = (*lines, *others)[: len(latest.lines)]
    return Thought(
        lines,
        depth=int(facts.get("depth", 0)),
        nodes=int(facts.get("nodes", 0)),
        seconds=float(facts.get("seconds", 0.0)),
        notes=notes,
    )


class Searches:
    """All searches of the server."""

    def __init__(self, shelf: Shelf, workers: int = 0) -> None:
        """Use `workers` threads; 0: one per core."""
        self.shelf = shelf
        self.workers = workers or usable_cores()
        self._pool = ThreadPoolExecutor(self.workers, "search")
        self._going: dict[Future[Decision], Search] = {}
        self._reapers: set[asyncio.Task[None]] = set()

    @property
    def going(self) -> int:
        """Number of running and queued searches."""
        return sum(not future.done() for future in list(self._going))

    def begin(self, wish: Wish, tell: Tell) -> Thinking:
        """Start a search; `tell` is called on the thread of the event loop."""
        loop = asyncio.get_running_loop()

        def tell_loop(thought: Thought) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(tell, thought)

        search = Search(wish, self.shelf, tell_loop)
        future = self._pool.submit(search.run)
        self._going[future] = search
        future.add_done_callback(lambda done: self._going.pop(done, None))
        return Thinking(search, future, self)

    def reap(self, search: Search, future: Future[Decision]) -> None:
        """Stop a search without waiting for it."""
        if future.cancel():
            return
        task = asyncio.get_running_loop().create_task(_stop_until_done(search, future))
        self._reapers.add(task)
        task.add_done_callback(self._reapers.discard)

    async def close(self) -> None:
        """Stop all searches; waits a limited time for players that cannot be stopped."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        end = time.monotonic() + CLOSE_SECONDS
        while self.going and time.monotonic() < end:
            for search in list(self._going.values()):
                search.stop()
            await asyncio.sleep(STOP_EVERY)
        for task in list(self._reapers):
            task.cancel()
        self.shelf.close()


class Thinking:
    """A search in the event loop."""

    def __init__(self, search: Search, future: Future[Decision], owner: Searches) -> None:
        """Made by `Searches.begin`."""
        self._search, self._future, self._owner = search, future, owner

    def move_now(self) -> None:
        """Stop the search with its best move so far."""
        self._search.stop()

    async def decision(self) -> Decision:
        """Wait for the decision; cancelling stops the search."""
        try:
            return await asyncio.shield(asyncio.wrap_future(self._future))
        except asyncio.CancelledError:
            self._owner.reap(self._search, self._future)
            raise


async def _stop_until_done(search: Search, future: Future[Decision]) -> None:
    while not future.done():
        search.stop()
        await asyncio.sleep(STOP_EVERY)
    if not future.cancelled():
        future.exception()  # retrieved, so that asyncio does not complain
