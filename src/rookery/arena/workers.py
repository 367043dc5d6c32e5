"""Many questions to players side by side: each worker thread has a player of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar


class Closable(Protocol):
    """Anything a worker owns: a player, or several."""

    def close(self) -> None:
        """Give back what is held."""
        ...


Item = TypeVar("Item")
Answer = TypeVar("Answer")
Owned = TypeVar("Owned", bound=Closable)


def ask_all(
    make_player: Callable[[], Owned],
    items: Sequence[Item],
    ask: Callable[[Owned, Item, int], Answer],
    workers: int = 1,
    progress: Callable[[int], None] | None = None,
) -> list[Answer]:
    """Answers to all items in order.

    Args:
        make_player: makes what a worker asks (a player, or a pair of them), once a worker.
        items: the questions.
        ask: gets a player, an item and its number; must not raise for a player's faults.
        workers: number of threads.
        progress: called with the number of answers so far.
    """
    answers: dict[int, Answer] = {}
    errors: list[BaseException] = []
    numbers = iter(range(len(items)))
    lock = threading.Lock()
    stop = threading.Event()

    def work() -> None:
        player: Owned | None = None
        try:
            player = make_player()
            while not stop.is_set():
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
            stop.set()
        finally:
            if player is not None:
                player.close()

    threads = [
        threading.Thread(target=work, daemon=True) for _ in range(max(1, min(workers, len(items))))
    ]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)  # lets Ctrl-C through
    finally:
        stop.set()
        for thread in threads:
            thread.join(30)
    if errors:
        raise errors[0]
    return [answers[number] for number in range(len(items))]
