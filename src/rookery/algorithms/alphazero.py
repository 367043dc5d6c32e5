"""AlphaZero: a network plays itself with tree search, and learns what the search found out.

Silver et al. 2018, "A general reinforcement learning algorithm that masters chess, shogi, and Go
through self-play"; Danihelka et al. 2022 for the root ("Policy improvement by planning with
Gumbel"); Wu 2019 (KataGo) for playout caps and surprise weighting; paper 002.

    self-play -> samples -> window -> learner -> (gate) -> the network that plays

Games are played by a `Collector` (collector.py). For the family `squares` trees and network run in
C++ without Python's lock: with several workers each plays games of its own while the learner
learns from those before.
"""

from __future__ import annotations

import copy
import time
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rookery.algorithms.alphazero_recipe import AlphaZeroRecipe
from rookery.data.samples import SampleBlock, concatenate, read_samples
from rookery.learning.policy_value import (
    Losses,
    learn_step,
    learning_rate,
    make_optimizer,
    mean_losses,
    update_average,
)
from rookery.learning.search_matches import play_networks, play_search_bot
from rookery.learning.starts import start_fens
from rookery.learning.window import Sampler, SampleWindow
from rookery.nets import PolicyValueNetwork, make_network
from rookery.nets.evaluator import Evaluator, TorchEvaluator, read_model
from rookery.nets.inference import InferenceNetwork
from rookery.nets.model_file import parse_model
from rookery.nets.native import native_network, network_evaluator
from rookery.runs.state import State
from rookery.selfplay.collector import Collector, Harvest, Order
from rookery.selfplay.games import write_selfplay_games
from rookery.selfplay.local import BatchCollector, ThreadCollector
from rookery.selfplay.server import ServerCollector
from rookery.selfplay.server_messages import GROUPS
from rookery.training.trainer import Context, Evaluation, Metrics


class AlphaZeroTrainer:
    """Play, keep, learn; see `rookery.training.trainer.Trainer`."""

    def __init__(self, context: Context[AlphaZeroRecipe]) -> None:
        """Make the network, the optimiser, the games and the window."""
        self.context = context
        recipe = context.recipe
        self.network = self._new_network()
        # What the learner has to offer: its weights, or a running mean of them.
        self.average = copy.deepcopy(self.network) if recipe.learn.average else self.network
        # The one that plays: the learner's offer, or the last that passed the gate.
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
        self.games_each = recipe.selfplay.games  # of each thread, or group of a process
        if recipe.selfplay.processes:
            # As many leaves in a batch as without processes.
            self.games_each = max(1, recipe.selfplay.games // recipe.selfplay.processes)
        self.collector = self._new_collector()
        if self.collector.overlaps:
            # The cores are busy with games: more threads would only wait for each other.
            torch.set_num_threads(1)
        self.promotions = 0

    def _new_network(self) -> Any:
        settings = self.context.recipe.network
        if self.context.recipe.initial:
            origin, data = read_model(self.context.recipe.initial)
            network, _ = parse_model(data, origin)
            if (network.family, network.observation) != (settings.family, settings.observation):
                raise ValueError(
                    f"initial: {origin} is a network of family {network.family!r} on "
                    f"{network.observation!r}; the recipe asks for {settings.family!r} on "
                    f"{settings.observation!r}"
                )
            return network
        return make_network(
            settings.family,
            settings.observation,
            "az4672",
            getattr(settings, settings.family),
            self.context.torch_generator("weights"),
        )

    def _read_labels(self) -> Sampler | None:
        replay = self.context.recipe.replay
        if not replay.labels:
            return None
        block = read_samples(Path(replay.labels), self.context.recipe.network.observation)
        block.results = block.values  # what became of those games is another matter
        self.context.log(f"{len(block)} labelled samples from {replay.labels}")
        return Sampler([block], 0.0)

    def _new_collector(self) -> Collector:
        """Whoever plays; docs/alphazero.md says which one is faster."""
        play, options = self.context.recipe.selfplay, self._game_options()
        native = native_network(self.network) is not None

        def seeds(count: int) -> list[int]:
            return [self.context.seed("games", number) for number in range(count)]

        if play.processes:
            return ServerCollector(options, seeds(GROUPS * play.processes), self._evaluator)
        if native:
            return ThreadCollector(options, seeds(self.context.workers))
        # Without a native form all games share one batch, and torch uses the cores.
        return BatchCollector(options, seeds(1)[0], self._evaluator)

    def _evaluator(self, network: Any) -> Evaluator:
        """A copy of a network's present weights that judges batches."""
        if native_network(network) is not None:
            return network_evaluator(network, threads=self.context.workers)
        network.eval()
        precision = self.context.recipe.selfplay.precision
        return TorchEvaluator(InferenceNetwork(network, precision))

    def _game_options(self) -> dict[str, Any]:
        tree, play = self.context.recipe.tree, self.context.recipe.selfplay
        return {
            "games": self.games_each,
            "observation": self.context.recipe.network.observation,
            "simulations": tree.simulations,
            "fast_simulations": tree.fast_simulations,
            "full_share": tree.full_share,
            "reuse": tree.reuse,
            "temperature": play.temperature,
            "late_temperature": play.late_temperature,
            "temperature_plies": play.temperature_plies,
            "max_plies": play.max_plies,
            "random_share": play.random_share,
            "random_plies": (play.random_plies[0], play.random_plies[1]),
            "start_fens": self._start_fens(),
            "starts_share": play.starts_share,
            "resign_below": play.resign_below,
            "resign_check_share": play.resign_check_share,
            "cache_megabytes": play.cache_megabytes,
            "tree": tree.model_dump(
                exclude={
                    "simulations", "first_simulations", "fast_simulations", "full_share", "reuse",
                }
            ),
        }  # fmt: skip

    def _start_fens(self) -> list[str]:
        play = self.context.recipe.selfplay
        if not play.starts_share:
            return []
        rng = self.context.generator("starts")
        return start_fens(play.start_file, play.start_themes, play.endings, rng, self.context.log)

    # --- One iteration ---

    def iterate(self) -> Metrics:
        """Play until there are enough new samples; learn from the window."""
        began = time.perf_counter()
        before = self.collector.counts()
        finish = self.collector.begin(self.best, self._order())
        if self.collector.overlaps and len(self.window) > 0:
            # The games are played with the weights of now while the learner changes its own.
            try:
                terms, learnt = self._learn()
            finally:
                harvest = finish()
            played = time.perf_counter() - began
            self._keep(harvest.block)
        else:
            harvest = finish()
            played = time.perf_counter() - began
            self._keep(harvest.block)
            terms, learnt = self._learn()
        self._write_games(harvest)
        self._pass_gate()
        counts = self.collector.counts()
        new = {name: counts[name] - before[name] for name in counts}
        return self._metrics(harvest, terms, counts, new, {"play": played, "learn": learnt})

    def _order(self) -> Order:
        tree, play = self.context.recipe.tree, self.context.recipe.selfplay
        full = tree.simulations
        if tree.first_simulations:
            growth = tree.simulations / tree.first_simulations
            full = round(tree.first_simulations * growth**self.context.progress)
        return Order(
            samples=play.samples,
            simulations=full,
            fast_simulations=min(full, tree.fast_simulations),
            resign_below=play.resign_below,
            resign_wrong_limit=play.resign_wrong_limit,
        )

    def _keep(self, block: SampleBlock) -> None:
        replay = self.context.recipe.replay
        low, high = min(replay.first_window, replay.window), replay.window
        self.window.add(block, round(low + (high - low) * self.context.progress))

    def _write_games(self, harvest: Harvest) -> None:
        play = self.context.recipe.selfplay
        write_selfplay_games(
            self.context.folder,
            self.context.iteration + 1,
            harvest.games,
            play.pgn_games,
            play.pgn_iterations,
        )

    def _learn(self) -> tuple[list[Losses], float]:
        """Steps on minibatches from the window, as many as the new samples allow."""
        began = time.perf_counter()
        recipe = self.context.recipe
        rate = learning_rate(recipe.learn, self.context.progress)
        draws = recipe.selfplay.samples * recipe.replay.passes
        steps = max(1, round(draws / recipe.learn.minibatch))
        sampler = self.window.sampler(recipe.replay.surprise_share)
        terms = [
            learn_step(self.network, self.optimizer, self._minibatch(sampler), recipe.learn, rate)
            for _ in range(steps)
        ]
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
        seed = self.context.seed("gate", number)
        score = play_networks(self.average, self.best, gate.games, seed, gate.simulations)
        passed = score >= gate.score
        verdict = "plays from now on" if passed else "goes on learning"
        self.context.log(
            f"iteration {number}: the new network scores {score:.1%} of {gate.games} games "
            f"against the one that plays; it {verdict}"
        )
        if passed:
            self.best.load_state_dict(self.average.state_dict())
            self.promotions += 1

    def _metrics(
        self,
        harvest: Harvest,
        terms: list[Losses],
        counts: dict[str, int],
        new: dict[str, int],
        seconds: dict[str, float],
    ) -> Metrics:
        """`counts` are the collector's since the beginning, `new` those of this iteration."""
        means = mean_losses(terms)
        block, games = harvest.block, harvest.games
        rows = block.observations.reshape(len(block), -1)
        unique = len(np.unique(np.ascontiguousarray(rows), axis=0))
        results = Counter({1: "white", 0: "draw", -1: "black"}[game["result"]] for game in games)
        checked, wrong = counts["resign_checked"], counts["resign_wrong"]
        lengths = [len(game["moves"]) for game in games]
        simulations, aborted = new["simulations"], new["aborted"]
        if aborted:
            self.context.log(f"{aborted} games aborted: the network answered with a NaN")
        return Metrics(
            samples=len(block),
            games=len(games),
            losses={"policy": means["policy"], "value": means["value"]},
            values={
                "agreement": means["agreement"],
                "explained_variance": means["explained_variance"],
                "surprise": float(block.surprise.mean()),
                "draw_share": results["draw"] / max(1, len(games)),
                "game_plies": float(np.mean(lengths)) if lengths else float("nan"),
                "unique_positions": unique / len(block),
                "simulations_a_move": float(simulations / max(1, new["moves"])),
                "evaluations_a_simulation": float(new["evaluations"] / max(1, simulations)),
                "wrong_resignations": wrong / checked if checked else float("nan"),
                "window": float(len(self.window)),
                "aborted": float(aborted),
                "promotions": float(self.promotions),
            },
            results=dict(sorted(results.items())),
            endings=dict(sorted(Counter(game["ending"] for game in games).items())),
            timing=seconds | {"simulations_per_second": float(simulations) / seconds["play"]},
        )

    # --- The rest of the protocol ---

    def model(self) -> PolicyValueNetwork:
        """The network that plays."""
        network: PolicyValueNetwork = self.best
        return network

    def evaluate(self, rng: np.random.Generator) -> list[Evaluation]:
        """Matches against simple players, with search or by the policy alone."""
        from rookery.learning.policy_matches import play_bot

        settings = self.context.recipe.evaluation
        self.best.eval()
        found = []
        for bot in settings.opponents:
            seed = int(rng.integers(1 << 62))
            if settings.simulations:
                found.append(
                    play_search_bot(self.best, bot, settings.games, seed, settings.simulations)
                )
            else:
                found.append(play_bot(self.best, bot, settings.games, seed))
        return found

    def state(self) -> State:
        """Weights, optimiser, games with their trees, window, random streams."""
        state = State()
        state.put_module("network", self.network)
        if self.average is not self.network:
            state.put_module("average", self.average)
        if self.best is not self.average:
            state.put_module("best", self.best)
        state.put_optimizer("optimizer", self.optimizer)
        games = self.collector.state()
        for number, part in enumerate(games):
            # Trees are mostly zeros: a quarter of the size, for a fraction of a second.
            state.put_bytes(f"games{number}", zlib.compress(part, 1))
        state.put_generator("learn", self.rng)
        state.values["window"] = self.window.state()
        state.values["promotions"] = self.promotions
        state.values["workers"] = len(games)
        state.values["games_each"] = self.games_each
        return state

    def load_state(self, state: State) -> None:
        """Go on from there; where the number of workers differs, games begin anew."""
        state.get_module("network", self.network)
        if self.average is not self.network:
            state.get_module("average", self.average)
        if self.best is not self.average:
            state.get_module("best", self.best)
        state.get_optimizer("optimizer", self.optimizer)
        # Checkpoints from before there were processes do not say how many games each part has.
        each = state.values.get("games_each", self.games_each)
        if each == self.games_each:
            parts = range(state.value("workers"))
            games = [zlib.decompress(state.get_bytes(f"games{number}")) for number in parts]
            self.collector.load_state(games)
        else:
            self.context.log(f"{self.games_each} games at a time instead of {each}: all begin anew")
        state.get_generator("learn", self.rng)
        self.window.restore(state.value("window"))
        self.promotions = state.value("promotions")
