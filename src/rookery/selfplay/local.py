"""Self-play inside this process: with threads where the network is native, in batches otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from rookery._core import NativeEvaluator, SelfPlay
from rookery.nets.evaluator import Evaluator
from rookery.nets.native import native_network
from rookery.selfplay.collector import (
    GameOptions,
    Harvest,
    Order,
    counts_of,
    harvest,
    prepare,
    share_of,
)

SLICE = 0.2  # seconds between two looks at whether someone waits


class ThreadCollector:
    """Games with a native network: on each core a thread with games of its own."""

    def __init__(self, options: GameOptions, seeds: Sequence[int]) -> None:
        """Begin games, a set of them for each seed."""
        self.plays = [SelfPlay(seed=seed, **options) for seed in seeds]
        self.overlaps = len(self.plays) > 1

    def begin(self, network: Any, order: Order) -> Callable[[], Harvest]:
        """Play in the background; the learner may change the network meanwhile."""
        native = native_network(network)
        if native is None:
            raise ValueError(f"a network of family {network.family!r} has no native form")
        for play in self.plays:
            prepare(play, order)
        quota = share_of(order, len(self.plays))
        pool = ThreadPoolExecutor(len(self.plays))
        tasks = [pool.submit(_play_native, play, native, quota) for play in self.plays]

        def finish() -> Harvest:
            with pool:
                for task in tasks:
                    task.result()
            return harvest(self.plays)

        return finish

    def counts(self) -> dict[str, int]:
        """Since the beginning."""
        return counts_of(self.plays)

    def state(self) -> list[bytes]:
        """The games of each thread."""
        return [play.get_state() for play in self.plays]

    def load_state(self, states: Sequence[bytes]) -> None:
        """Go on with them."""
        for play, state in zip(self.plays, states, strict=False):
            play.set_state(state)

    def close(self) -> None:
        """There is nothing to end."""


class BatchCollector:
    """Games with any network: all of them in one batch after the other, torch using the cores."""

    overlaps = False

    def __init__(
        self, options: GameOptions, seed: int, make_evaluator: Callable[[Any], Evaluator]
    ) -> None:
        """Begin games; `make_evaluator` copies the weights of a network that is to play."""
        self.play = SelfPlay(seed=seed, **options)
        self._make_evaluator = make_evaluator

    def begin(self, network: Any, order: Order) -> Callable[[], Harvest]:
        """Take the weights; the games are played when the result is called."""
        evaluator = self._make_evaluator(network)
        prepare(self.play, order)

        def finish() -> Harvest:
            while self.play.ready < order.samples:
                play_batch(self.play, evaluator)
            return harvest([self.play])

        return finish

    def counts(self) -> dict[str, int]:
        """Since the beginning."""
        return counts_of([self.play])

    def state(self) -> list[bytes]:
        """The games."""
        return [self.play.get_state()]

    def load_state(self, states: Sequence[bytes]) -> None:
        """Go on with them."""
        self.play.set_state(states[0])

    def close(self) -> None:
        """There is nothing to end."""


def play_batch(play: SelfPlay, evaluator: Evaluator) -> None:
    """One leaf of every game."""
    play.gather()
    answer = evaluator.evaluate(play.observations, play.legal_actions, play.legal_offsets)
    play.apply(*answer)


def _play_native(play: SelfPlay, native: NativeEvaluator, samples: int) -> None:
    while not play.run(native, samples, SLICE):
        pass
