"""AlphaZero: self-play with tree search, learning the search's policy and the games' results.

Silver et al. 2018, "A general reinforcement learning algorithm that masters chess, shogi, and Go
through self-play"; Danihelka et al. 2022 for the root ("Policy improvement by planning with
Gumbel"); Wu 2019 (KataGo) for playout caps and surprise weighting; Vanhoutte 2022.

    collect (self-play) -> keep (window of samples) -> learn -> gate -> the network that plays

Games are played by a `Collector` (selfplay/collector.py). If the network has a native form, trees
and network run in C++ without the GIL: with several workers, games are played in the background
while the learner learns from earlier ones.
"""

from __future__ import annotations

import copy
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from rookery.algorithms.alphazero_recipe import AlphaZeroRecipe
from rookery.data.samples import SampleBlock, concatenate, read_samples
from rookery.data.starts import start_fens
from rookery.learning.matches import bot_matches, play_pairs, policy_match, search_player
from rookery.learning.policy_value import (
    Losses,
    learn_step,
    living_share,
    make_optimizer,
    mean_losses,
    new_network,
    update_average,
)
from rookery.learning.window import Sampler, SampleWindow
from rookery.nets import PolicyValueNetwork
from rookery.nets.evaluator import read_model
from rookery.nets.model_file import parse_model
from rookery.nets.native import native_network
from rookery.runs.state import State
from rookery.selfplay.collector import Collector, Hooks, make_collector
from rookery.selfplay.games import CUT_OFF, write_selfplay_games
from rookery.selfplay.judge import JudgePlan
from rookery.selfplay.networks import weights_of
from rookery.selfplay.trees import TreeHarvest, TreeOrder, TreePlan
from rookery.training.trainer import Context, MatchScore, Metrics, Trainer

GATE_OPENING_PLIES = 6  # random plies before each pair of games
LIVING_SAMPLES = 256  # positions in which living units are counted
SESSION_STEPS = 20  # optimiser steps of an iteration with `replay.sessions`


class AlphaZeroTrainer(Trainer):
    """Collect, keep, learn, gate; see `rookery.training.trainer.Trainer`."""

    def __init__(self, context: Context[AlphaZeroRecipe]) -> None:
        """Make the network, the optimiser, the games and the window."""
        self.context = context
        recipe = context.recipe
        self.network = self._new_network().to(context.device)
        # The candidate: the learner's weights, or a moving average of them.
        self.average = copy.deepcopy(self.network) if recipe.learn.average else self.network
        # The network that plays: the candidate, or the last one that passed the gate.
        self.best = copy.deepcopy(self.network) if recipe.gate.games else self.average
        self.optimizer = make_optimizer(self.network, recipe.learn)
        self.rng = context.generator("learn")
        self.window = SampleWindow(
            context.folder / "replay",
            recipe.network.observation,
            recipe.run.keep_checkpoints,
            context.log,
        )
        self.labels = self._read_labels()
        self.promotions = 0
        # With `replay.sessions`: those finished, and of the current one the samples collected and
        # the optimiser steps left.
        self.session, self.collected, self.steps_left = 0, 0, 0
        self.collector = self._begin_games()
        if self.collector.overlaps:
            torch.set_num_threads(1)  # the other cores play games

    def _begin_games(self) -> Collector[TreeOrder, TreeHarvest]:
        context = self.context
        hooks = Hooks(context.log, context.check_stop, pool=context.pool)
        made: Collector[TreeOrder, TreeHarvest] = make_collector(
            "trees", self._backend(), self._plan(), hooks
        )
        return made

    def _new_network(self) -> Any:
        network = self._first_network()
        network.board = self.context.recipe.board
        return network

    def _first_network(self) -> Any:
        settings = self.context.recipe.network
        if not self.context.recipe.initial:
            return new_network(settings, self.context.torch_generator("weights"))
        origin, data = read_model(self.context.recipe.initial)
        network, _ = parse_model(data, origin)
        if (network.family, network.observation) != (settings.family, settings.observation):
            raise ValueError(
                f"initial: {origin} is a network of family {network.family!r} on "
                f"{network.observation!r}; the recipe asks for {settings.family!r} on "
                f"{settings.observation!r}"
            )
        return network

    def _read_labels(self) -> Sampler | None:
        replay = self.context.recipe.replay
        if not replay.labels:
            return None
        block = read_samples(Path(replay.labels), self.context.recipe.network.observation)
        block.results = block.values  # learn the labels only, not the results of those games
        self.context.log(f"{len(block)} labelled samples from {replay.labels}")
        return Sampler([block], 0.0)

    def _backend(self) -> str:
        """The collector's backend; docs/alphazero.md compares their speed."""
        if self.context.recipe.selfplay.processes:
            return "server"
        # Without a native form all games form one batch, for which torch uses the cores.
        return "batches" if native_network(self.network) is None else "threads"

    def _plan(self) -> TreePlan:
        tree, play = self.context.recipe.tree, self.context.recipe.selfplay
        judge, run = self.context.recipe.judge, self.context.recipe.run
        shared = {"simulations", "fast_simulations", "full_share", "reuse"}
        options = {
            "observation": self.context.recipe.network.observation,
            "board": self.context.recipe.board,
            "start_fens": self._start_fens(),
            "random_plies": (play.random_plies[0], play.random_plies[1]),
            "judge_from": judge.first,
            "judge_every": judge.every,
            **tree.model_dump(include=shared),
            "tree": tree.model_dump(exclude={*shared, "first_simulations"}),
            **play.model_dump(
                include={
                    "temperature", "late_temperature", "temperature_plies", "max_plies",
                    "random_share", "starts_share", "resign_below", "resign_check_share",
                    "cache_megabytes",
                }
            ),
        }  # fmt: skip
        return TreePlan(
            options=options,
            games=play.games,
            seed=self.context.seed("session", self.session) if self.session else run.seed,
            sets=play.sets,
            workers=self.context.workers,
            processes=play.processes,
            precision=play.precision,
            device=self.context.device,
            judge=JudgePlan(judge.engine, judge.nodes, judge.pawns) if judge.every else None,
        )

    def _start_fens(self) -> list[str]:
        play = self.context.recipe.selfplay
        if not play.starts_share:
            return []
        rng = self.context.generator("starts")
        return start_fens(
            play.start_file,
            play.start_themes,
            play.endings,
            rng,
            self.context.log,
            self.context.recipe.board,
        )

    # --- One iteration ---

    def iterate(self) -> Metrics:
        """Collect, keep, learn, gate; or, with `replay.sessions`, collect or learn."""
        if self.context.recipe.replay.sessions:
            return self._learn_dataset() if self.steps_left else self._collect_dataset()
        began = time.perf_counter()
        before = self.collector.counts()
        finish = self.collector.begin(weights_of(self.best), self._order())
        # With `overlaps`, learn while the games are played with the weights from before.
        overlap = self.collector.overlaps and len(self.window) > 0
        try:
            terms, learnt = self._learn() if overlap else ([], 0.0)
        finally:
            harvest = finish()
        played = time.perf_counter() - began
        self._keep(harvest)
        if not overlap:
            terms, learnt = self._learn()
        self._pass_gate()
        counts = self.collector.counts()
        new = {name: counts[name] - before[name] for name in counts}
        return self._metrics(harvest, terms, counts, new, {"play": played, "learn": learnt})

    def _collect_dataset(self) -> Metrics:
        """Add samples to the dataset of a session, all played by the same network."""
        replay, learn = self.context.recipe.replay, self.context.recipe.learn
        began, before = time.perf_counter(), self.collector.counts()
        order = replace(self._order(), moves=self.context.recipe.selfplay.samples)
        harvest = self.collector.begin(weights_of(self.best), order)()
        self.collected += len(harvest.block)
        if len(harvest.block):
            self._keep(harvest, self.collected)  # which drops those of the session before
        wanted = replay.sessions[self.session]
        if self.collected >= wanted:
            self.steps_left = max(1, round(self.collected * replay.passes / learn.minibatch))
            self.context.log(f"session {self.session + 1} learns from {self.collected} samples")
        counts = self.collector.counts()
        new = {name: counts[name] - before[name] for name in counts}
        return self._metrics(harvest, [], counts, new, {"play": time.perf_counter() - began})

    def _learn_dataset(self) -> Metrics:
        """Some optimiser steps on the dataset; the last ones end the session."""
        steps = min(self.steps_left, SESSION_STEPS)
        terms, seconds = self._learn(steps)
        self.steps_left -= steps
        if not self.steps_left:
            self.session, self.collected = self.session + 1, 0
            # The next dataset consists of games that the new network plays from their first move.
            self.collector.close()
            self.collector = self._begin_games()
        means = mean_losses(terms)
        return Metrics(
            samples=0,  # they were counted when they were collected
            losses={name: means.pop(name) for name in ("policy", "value")},
            values=means,
            timing={"learn": seconds},
        )

    @property
    def solved(self) -> bool:
        """Whether all sessions of `replay.sessions` are done."""
        sessions = self.context.recipe.replay.sessions
        return bool(sessions) and self.session >= len(sessions)

    def _order(self) -> TreeOrder:
        tree, play = self.context.recipe.tree, self.context.recipe.selfplay
        full = tree.simulations
        if tree.first_simulations:
            growth = tree.simulations / tree.first_simulations
            full = round(tree.first_simulations * growth**self.context.progress)
        return TreeOrder(
            samples=play.samples,
            simulations=full,
            fast_simulations=min(full, tree.fast_simulations),
            resign_below=play.resign_below,
            resign_wrong_limit=play.resign_wrong_limit,
        )

    def _keep(self, harvest: TreeHarvest, size: int = 0) -> None:
        """Add the samples to the window, of `size` if given, and write some games as PGN."""
        replay, play = self.context.recipe.replay, self.context.recipe.selfplay
        low, high = min(replay.first_window, replay.window), replay.window
        size = size or round(low + (high - low) * self.context.progress)
        self.window.add(harvest.block, size)
        folder, number = self.context.folder, self.context.iteration + 1
        write_selfplay_games(folder, number, harvest.games, play.pgn_games, play.pgn_iterations)

    def _learn(self, steps: int = 0) -> tuple[list[Losses], float]:
        """Optimiser steps, by default in proportion to the new samples; losses and seconds."""
        began = time.perf_counter()
        recipe = self.context.recipe
        draws = recipe.selfplay.samples * recipe.replay.passes
        steps = steps or max(1, round(draws / recipe.learn.minibatch))
        sampler = Sampler(self.window.blocks, recipe.replay.surprise_share)
        terms = []
        for _ in range(steps):
            self.context.check_stop()
            minibatch = self._minibatch(sampler)
            progress = self.context.progress
            terms.append(
                learn_step(self.network, self.optimizer, minibatch, recipe.learn, progress)
            )
        if self.average is not self.network:
            keep = recipe.learn.average
            update_average(self.average, self.network, keep, self.context.iteration)
        return terms, time.perf_counter() - began

    def _minibatch(self, sampler: Sampler) -> SampleBlock:
        size = self.context.recipe.learn.minibatch
        if self.labels is None:
            return sampler.draw(size, self.rng)
        labelled = round(size * self.context.recipe.replay.labels_share)
        parts = ((sampler, size - labelled), (self.labels, labelled))
        return concatenate([source.draw(count, self.rng) for source, count in parts if count])

    def _pass_gate(self) -> None:
        gate = self.context.recipe.gate
        number = self.context.iteration + 1
        if not gate.games or number % gate.every:
            return
        new, old = (search_player(each, gate.simulations) for each in (self.average, self.best))
        rng = self.context.generator("gate", number)
        board = self.context.recipe.board

        def over() -> bool:
            self.context.check_stop()  # all games are played, or the iteration is given up
            return False

        games = play_pairs(new, old, gate.games, rng, GATE_OPENING_PLIES, board, over)
        score = sum(1 + game.result for game in games) / (2 * len(games))
        passed = score >= gate.score
        verdict = "plays from now on" if passed else "keeps learning"
        self.context.log(
            f"iteration {number}: the new network scores {score:.1%} in {len(games)} games "
            f"against the current one; it {verdict}"
        )
        if passed:
            self.best.load_state_dict(self.average.state_dict())
            self.promotions += 1

    def _metrics(
        self,
        harvest: TreeHarvest,
        terms: list[Losses],
        counts: dict[str, int],
        new: dict[str, int],
        seconds: dict[str, float],
    ) -> Metrics:
        """`counts` are the collector's totals, `new` those of this iteration."""
        means = mean_losses(terms)
        block, games = harvest.block, harvest.games
        ended = [game for game in games if game.ending != CUT_OFF]  # the others have no result
        results = Counter({1: "white", 0: "draw", -1: "black"}[game.result] for game in ended)
        checked, wrong = counts["resign_checked"], counts["resign_wrong"]
        lengths = [len(game.moves) for game in games]
        simulations, aborted = new["simulations"], new["aborted"]
        if aborted:
            self.context.log(f"{aborted} games aborted: the network returned a NaN")
        return Metrics(
            samples=len(block),
            games=len(games),
            losses={name: means[name] for name in ("policy", "value")} if terms else {},
            values={
                "agreement": means["agreement"],
                "explained_variance": means["explained_variance"],
                "legal_share": means["legal_share"],
                **self._block_values(block),
                "draw_share": results["draw"] / max(1, len(ended)),
                "game_plies": float(np.mean(lengths)) if lengths else float("nan"),
                "simulations_a_move": float(simulations / max(1, new["moves"])),
                "evaluations_a_simulation": float(new["evaluations"] / max(1, simulations)),
                "wrong_resignations": wrong / checked if checked else float("nan"),
                "window": float(len(self.window)),
                "aborted": float(aborted),
                "promotions": float(self.promotions),
            },
            results=dict(sorted(results.items())),
            terminations=dict(sorted(Counter(game.ending for game in games).items())),
            timing=seconds | {"simulations_per_second": float(simulations) / seconds["play"]},
        )

    def _block_values(self, block: SampleBlock) -> dict[str, float]:
        """What the samples of an iteration tell; nothing if no game has ended in it."""
        if not len(block):
            return {}
        rows = np.ascontiguousarray(block.observations.reshape(len(block), -1))
        return {
            "living_units": living_share(self.network, block.observations[:LIVING_SAMPLES]),
            "surprise": float(block.surprise.mean()),
            "unique_positions": len(np.unique(rows, axis=0)) / len(block),
        }

    # --- The rest of the protocol ---

    def model(self) -> PolicyValueNetwork:
        """The network that plays."""
        return cast(PolicyValueNetwork, self.best)

    def evaluate(self, rng: np.random.Generator) -> list[MatchScore]:
        """Matches against simple players, with search or with the policy alone."""
        settings, board = self.context.recipe.evaluation, self.context.recipe.board
        over = self.context.evaluation_is_over
        self.best.eval()
        if not settings.simulations:
            return [
                policy_match(
                    self.best,
                    bot,
                    settings.games,
                    int(rng.integers(1 << 62)),
                    board=board,
                    over=over,
                )
                for bot in settings.opponents
            ]
        player = search_player(self.best, settings.simulations)
        values = {"simulations": float(settings.simulations)}
        return bot_matches(player, settings.opponents, settings.games, rng, over, values, board)

    def state(self) -> State:
        """Weights, optimiser, games with their trees, window, random streams."""
        state = self.collector.state()
        for name, network in self._networks().items():
            state.put_module(name, network)
        state.put_optimizer("optimizer", self.optimizer)
        state.put_generator("learn", self.rng)
        state.values["window"] = self.window.state()
        state.values["promotions"] = self.promotions
        state.values["session"] = [self.session, self.collected, self.steps_left]
        return state

    def load_state(self, state: State) -> None:
        """Resume; with more workers than before, the additional ones start new games."""
        for name, network in self._networks().items():
            state.get_module(name, network)
        state.get_optimizer("optimizer", self.optimizer)
        self.collector.load_state(state)
        state.get_generator("learn", self.rng)
        self.window.restore(state.value("window"))
        self.promotions = state.value("promotions")
        self.session, self.collected, self.steps_left = state.values.get("session", [0, 0, 0])

    def _networks(self) -> dict[str, Any]:
        """The distinct networks, by their names in a state."""
        networks = {"network": self.network}
        if self.average is not self.network:
            networks["average"] = self.average
        if self.best is not self.average:
            networks["best"] = self.best
        return networks

    def close(self) -> None:
        """End self-play processes and engines."""
        self.collector.close()
