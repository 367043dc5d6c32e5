"""Many questions to players side by side: each worker thread has a player of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from rookery.players.base import Player

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def ask_all(
    make_player: Callable[[], Player],
    items: Sequence[Item],
    ask: Callable[[Player, Item, int], Answer],
    workers: int = 1,
    progress: Callable[[int], None] | None = None,
) -> list[Answer]:
    """Answers to all items in order.

    Args:
        make_player: called once a worker.
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
        player: Player | None = None
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
