"""Tree self-play in this process: threads if the network is native, batches otherwise."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from rookery._core import SelfPlay
from rookery.nets.evaluator import Evaluator
from rookery.nets.native import native_network
from rookery.runs.state import State
from rookery.selfplay import trees
from rookery.selfplay.collector import Collector, Hooks, Weights
from rookery.selfplay.judge import Judge
from rookery.selfplay.networks import evaluator_of, network_of
from rookery.selfplay.trees import (
    Quota,
    TreeHarvest,
    TreeOrder,
    TreePlan,
    counts_of,
    merge,
    prepare,
    take,
)

SLICE = 0.5  # seconds between two looks at whether to give up


class _LocalCollector(Collector[TreeOrder, TreeHarvest]):
    """Sets of games in this process."""

    def __init__(self, plan: TreePlan, hooks: Hooks, sets: int) -> None:
        self.plan, self.hooks = plan, hooks
        self.plays = [
            SelfPlay(games=plan.games, seed=plan.seed_of(plan.first_set + number), **plan.options)
            for number in range(sets)
        ]
        # With several sets the learner works with the weights from before, while games are played.
        self.overlaps = sets > 1
        # One judge for each set: they play in parallel.
        self.judges = [Judge(plan.judge, hooks.log) if plan.judge else None for _ in self.plays]

    def counts(self) -> dict[str, int]:
        """Totals since the first game of the run."""
        return counts_of(self.plays)

    def state(self) -> State:
        """The games of each set."""
        return trees.put_sets([play.get_state() for play in self.plays], self.plan.games)

    def load_state(self, state: State) -> None:
        """Resume these games; sets missing from the state start new games."""
        sets = trees.get_sets(state, self.plan.games, self.hooks.log)
        for play, stored in zip(self.plays, sets, strict=False):
            play.set_state(stored)

    def close(self) -> None:
        """End the engines that judge."""
        for judge in self.judges:
            if judge is not None:
                judge.close()


class ThreadCollector(_LocalCollector):
    """Games with a native network, one thread per core and, by default, one set."""

    def __init__(self, plan: TreePlan, hooks: Hooks) -> None:
        """Begin games."""
        super().__init__(plan, hooks, plan.sets or plan.workers)

    def begin(self, weights: Weights, order: TreeOrder) -> Callable[[], TreeHarvest]:
        """Play in the background."""
        native = native_network(network := network_of(weights))
        if native is None:
            raise ValueError(f"a network of family {network.family!r} has no native form")
        quotas = [prepare(play, order, len(self.plays)) for play in self.plays]
        given_up = threading.Event()

        def work(play: SelfPlay, judge: Judge | None, quota: Quota) -> None:
            # A judge settles games at moments that must not depend on the clock.
            seconds = SLICE if judge is None else 0.0
            until = quota.samples, seconds, quota.until_moves
            while not play.run(native, *until) and not given_up.is_set():
                if judge is not None:
                    judge.settle(play)
            if judge is not None:
                judge.settle(play)

        pool = ThreadPoolExecutor(min(self.plan.workers, len(self.plays)))
        sets = zip(self.plays, self.judges, quotas, strict=True)
        tasks = [pool.submit(work, *each) for each in sets]

        def finish() -> TreeHarvest:
            with pool:
                try:
                    while wait(tasks, SLICE).not_done:
                        self.hooks.check_stop()
                except BaseException:
                    given_up.set()
                    raise
                for task in tasks:
                    task.result()
            return merge([take(play) for play in self.plays])

        return finish


class BatchCollector(_LocalCollector):
    """Games with any network: sets in turn, in batches for which torch uses the cores."""

    def __init__(self, plan: TreePlan, hooks: Hooks) -> None:
        """Begin games."""
        super().__init__(plan, hooks, plan.sets or 1)

    def begin(self, weights: Weights, order: TreeOrder) -> Callable[[], TreeHarvest]:
        """Load the weights; the games are played when the result is called."""
        evaluator = evaluator_of(weights, self.plan.workers, self.plan.precision, self.plan.device)
        quotas = [prepare(play, order, len(self.plays)) for play in self.plays]

        def finish() -> TreeHarvest:
            for play, judge, quota in zip(self.plays, self.judges, quotas, strict=True):
                while not quota.met(play):
                    self.hooks.check_stop()
                    play_batch(play, evaluator)
                    if judge is not None:
                        judge.settle(play)
            return merge([take(play) for play in self.plays])

        return finish


def play_batch(play: SelfPlay, evaluator: Evaluator) -> None:
    """Evaluate one leaf of every game."""
    if not play.gather():
        return  # all games wait to be judged
    play.apply(*evaluator.evaluate(play.observations, play.legal_actions, play.legal_offsets))
