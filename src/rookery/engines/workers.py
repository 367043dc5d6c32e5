"""Worker threads that query players in parallel and always end together."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from rookery.engines.process import kill_engines

GIVE_UP = 10.0  # seconds that workers get to close their players after an abort


class Closable(Protocol):
    """The resource a worker owns: a player, or several."""

    def close(self) -> None:
        """Release it."""
        ...


Item = TypeVar("Item")
Answer = TypeVar("Answer")
Owned = TypeVar("Owned", bound=Closable)


def run_workers(work: Callable[[], None], count: int, abort: threading.Event) -> None:
    """Run `work` in `count` threads and wait for them.

    Setting `abort` stops them early: `work` checks it between tasks, and engines that a thread is
    waiting for are killed. Ctrl-C sets it, and `KeyboardInterrupt` is re-raised once the threads
    have ended.
    """
    # Not Thread.join: up to Python 3.12 an interrupt inside join(timeout) marks the running thread
    # as ended for later callers.
    begun: list[threading.Event] = []
    threads: set[int] = set()

    def run(done: threading.Event) -> None:
        threads.add(threading.get_ident())
        try:
            work()
        finally:
            threads.discard(threading.get_ident())
            done.set()

    def finish(seconds: float) -> None:
        deadline = time.monotonic() + seconds
        for done in begun:
            while not done.wait(0.05 if abort.is_set() else 0.2):
                if abort.is_set():
                    # Repeatedly: a worker may just have started another engine.
                    kill_engines(frozenset(threads))
                if time.monotonic() > deadline:
                    return  # a Python player that does not return; the thread is a daemon

    try:
        for _ in range(count):
            done = threading.Event()
            begun.append(done)
            try:
                threading.Thread(target=run, args=(done,), daemon=True).start()
            except RuntimeError:  # no more threads: those that run do the rest
                begun.remove(done)
                if not begun:
                    raise
                break
        finish(float("inf"))
    except BaseException:
        abort.set()
        finish(GIVE_UP)
        raise


def ask_all(
    make_player: Callable[[], Owned],
    items: Sequence[Item],
    ask: Callable[[Owned, Item, int], Answer],
    workers: int = 1,
    progress: Callable[[int], None] | None = None,
) -> list[Answer]:
    """Process all items in parallel and return the answers in order.

    Args:
        make_player: Makes the player (or players) of a worker; called once per worker.
        items: What to ask about.
        ask: Called with a player, an item and its index; must not raise for a player's faults.
        workers: Number of threads.
        progress: Called with the number of answers so far.
    """
    answers: dict[int, Answer] = {}
    errors: list[BaseException] = []
    numbers = iter(range(len(items)))
    lock = threading.Lock()
    abort = threading.Event()

    def work() -> None:
        player: Owned | None = None
        try:
            player = make_player()
            while not abort.is_set():
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                answer = ask(player, items[number], number)
                with lock:
                    answers[number] = answer
                    if progress is not None:
                        progress(len(answers))
        except BaseException as error:
            errors.append(error)
            abort.set()
        finally:
            if player is not None:
                player.close()

    run_workers(work, max(1, min(workers, len(items))), abort)
    if errors:
        raise errors[0]
    return [answers[number] for number in range(len(items))]
