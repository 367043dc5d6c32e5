"""`SelfPlay` used in unexpected ways: by several threads at once, and without `apply`."""

from __future__ import annotations

from rookery._core import HashEvaluator, SelfPlay
from support.scripts import words_of

# Without a guard this crashes, so it has a process of its own.
MANY_THREADS = """
import threading, time
from rookery._core import HashEvaluator, SelfPlay

play, seen = SelfPlay(games=4, observation="planes22", simulations=8, max_plies=20), {}
end = time.monotonic() + 2

def call(number):
    steps = [
        lambda: play.run(HashEvaluator(), 50, 0.01),
        play.take_samples,
        play.take_games,
        play.get_state,
        lambda: (play.gather(), play.observations.sum(), play.legal_actions.sum()),
        lambda: (play.ready, play.moves, play.cache_hits),
        play.network_changed,
    ]
    at = number
    while time.monotonic() < end:
        at += number + 1
        try:
            steps[at % len(steps)]()
        except (RuntimeError, ValueError) as error:
            seen[str(error)] = type(error).__name__

threads = [threading.Thread(target=call, args=(n,)) for n in range(6)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(seen["another thread is using these games"])
print(play.run(HashEvaluator(), 50), play.ready >= 50)
"""


def test_calls_from_several_threads_are_errors_not_crashes() -> None:
    assert words_of(MANY_THREADS) == ["RuntimeError", "True", "True"]


def test_gathered_leaves_may_be_abandoned() -> None:
    play = SelfPlay(games=4, observation="planes22", simulations=8, max_plies=20)
    for _ in range(400):
        assert play.gather() == 4
        play.run(HashEvaluator(), 1 << 40, 1e-9)  # one evaluation of each game
    assert play.moves > 100
    assert play.run(HashEvaluator(), 200)
