"""AlphaZero: a network plays itself with tree search, and learns what the search found out.

Silver et al. 2018, "A general reinforcement learning algorithm that masters chess, shogi, and Go
through self-play"; Danihelka et al. 2022 for the root ("Policy improvement by planning with
Gumbel"); Wu 2019 (KataGo) for playout caps and surprise weighting; paper 002.

    self-play -> samples -> window -> learner -> (gate) -> the network that plays

Games, trees and, for the family `squares`, the network itself run in C++ without Python's lock:
with several workers each plays games of its own while the learner learns from those before.
"""

from __future__ import annotations

import copy
import time
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

from rookery._core import NativeEvaluator, SelfPlay
from rookery.algorithms.alphazero_recipe import AlphaZeroRecipe
from rookery.algorithms.policy_value import (
    Losses,
    learn_step,
    learning_rate,
    make_optimizer,
    mean_losses,
)
from rookery.algorithms.search_matches import play_networks, play_search_bot
from rookery.algorithms.starts import start_fens
from rookery.algorithms.window import SampleWindow
from rookery.data.samples import SampleBlock, concatenate
from rookery.evaluator import Evaluator, TorchEvaluator, read_model
from rookery.model_file import parse_model
from rookery.nets import Network, make_network
from rookery.nets.inference import InferenceNetwork
from rookery.nets.native import native_network
from rookery.training.state import State
from rookery.training.trainer import Algorithm, Context, Evaluation, Metrics

SLICE = 0.2  # seconds between two looks at whether someone waits
RESIGNATIONS = 20  # games played on before their share of wrong ones says anything


class AlphaZeroTrainer:
    """Play, keep, learn; see `rookery.training.trainer.Trainer`."""

    def __init__(self, context: Context[AlphaZeroRecipe]) -> None:
        """Make the network, the optimiser, the games and the window."""
        self.context = context
        recipe = context.recipe
        self.network = self._new_network()
        # The one that plays: the learner's own, or the last that passed the gate.
        self.best = copy.deepcopy(self.network) if recipe.gate.games else self.network
        self.optimizer = make_optimizer(self.network, recipe.learn)
        self.rng = context.generator("learn")
        self.window = SampleWindow(
            context.folder / "replay",
            recipe.network.observation,
            recipe.run.keep_checkpoints,
            context.log,
        )
        # Without a native form all games share one batch, and torch uses the cores.
        native = native_network(self.network) is not None
        self.plays = [self._new_games(i) for i in range(context.workers if native else 1)]
        if len(self.plays) > 1:
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

    def _new_games(self, number: int) -> SelfPlay:
        tree, play = self.context.recipe.tree, self.context.recipe.selfplay
        options = tree.model_dump(
            exclude={"simulations", "first_simulations", "fast_simulations", "full_share", "reuse"}
        )
        return SelfPlay(
            play.games,
            self.context.recipe.network.observation,
            self.context.seed("games", number),
            simulations=tree.simulations,
            fast_simulations=tree.fast_simulations,
            full_share=tree.full_share,
            reuse=tree.reuse,
            temperature=play.temperature,
            late_temperature=play.late_temperature,
            temperature_plies=play.temperature_plies,
            max_plies=play.max_plies,
            random_share=play.random_share,
            random_plies=(play.random_plies[0], play.random_plies[1]),
            start_fens=start_fens(play, self.context.generator("starts"), self.context.log),
            starts_share=play.starts_share,
            resign_below=play.resign_below,
            resign_check_share=play.resign_check_share,
            cache_megabytes=play.cache_megabytes,
            tree=options,
        )

    # --- One iteration ---

    def iterate(self) -> Metrics:
        """Play until there are enough new samples; learn from the window."""
        began = time.perf_counter()
        before = self._counts()
        self._prepare_games()
        overlap = len(self.plays) > 1 and len(self.window) > 0
        if overlap:
            # The games are played with the weights of now while the learner changes its own.
            with ThreadPoolExecutor(len(self.plays)) as pool:
                native = native_network(self.best)
                assert native is not None
                tasks = [pool.submit(self._play_native, play, native) for play in self.plays]
                terms, learnt = self._learn()
                for task in tasks:
                    task.result()
            played = time.perf_counter() - began
            block, games = self._take()
            self._keep(block)
        else:
            self._play()
            played = time.perf_counter() - began
            block, games = self._take()
            self._keep(block)
            terms, learnt = self._learn()
        self._pass_gate()
        return self._metrics(block, games, terms, before, {"play": played, "learn": learnt})

    def _prepare_games(self) -> None:
        tree = self.context.recipe.tree
        full = tree.simulations
        if tree.first_simulations:
            growth = tree.simulations / tree.first_simulations
            full = round(tree.first_simulations * growth**self.context.progress)
        for play in self.plays:
            play.network_changed()
            play.set_simulations(full, min(full, tree.fast_simulations))
            wrong, checked = play.resign_wrong, play.resign_checked
            limit = self.context.recipe.selfplay.resign_wrong_limit
            careless = checked >= RESIGNATIONS and wrong / checked > limit
            below = self.context.recipe.selfplay.resign_below
            play.set_resignation(-2.0 if careless else below)

    def _play(self) -> None:
        native = native_network(self.best)
        if native is None:
            self.best.eval()
            precision = self.context.recipe.selfplay.precision
            network = InferenceNetwork(self.best, precision)
            self._play_batches(self.plays[0], TorchEvaluator(network))
            return
        with ThreadPoolExecutor(len(self.plays)) as pool:
            list(pool.map(lambda play: self._play_native(play, native), self.plays))

    def _quota(self) -> int:
        return -(-self.context.recipe.selfplay.samples // len(self.plays))

    def _play_native(self, play: SelfPlay, native: NativeEvaluator) -> None:
        while not play.run(native, self._quota(), SLICE):
            pass

    def _play_batches(self, play: SelfPlay, evaluator: Evaluator) -> None:
        while play.ready < self._quota():
            play.gather()
            answer = evaluator.evaluate(play.observations, play.legal_actions, play.legal_offsets)
            play.apply(*answer)

    def _take(self) -> tuple[SampleBlock, list[dict[str, Any]]]:
        blocks, games = [], []
        for play in self.plays:
            blocks.append(SampleBlock.from_columns(play.take_samples()))
            games += play.take_games()
        return concatenate(blocks), games

    def _keep(self, block: SampleBlock) -> None:
        replay = self.context.recipe.replay
        low, high = min(replay.first_window, replay.window), replay.window
        self.window.add(block, round(low + (high - low) * self.context.progress))

    def _learn(self) -> tuple[list[Losses], float]:
        """Steps on minibatches from the window, as many as the new samples allow."""
        began = time.perf_counter()
        recipe = self.context.recipe
        rate = learning_rate(recipe.learn, self.context.progress)
        draws = recipe.selfplay.samples * recipe.replay.passes
        steps = max(1, round(draws / recipe.learn.minibatch))
        sampler = self.window.sampler(recipe.replay.surprise_share)
        terms = [
            learn_step(
                self.network,
                self.optimizer,
                sampler.draw(recipe.learn.minibatch, self.rng),
                recipe.learn,
                rate,
            )
            for _ in range(steps)
        ]
        return terms, time.perf_counter() - began

    def _pass_gate(self) -> None:
        gate = self.context.recipe.gate
        number = self.context.iteration + 1
        if not gate.games or number % gate.every:
            return
        seed = self.context.seed("gate", number)
        score = play_networks(self.network, self.best, gate.games, seed, gate.simulations)
        passed = score >= gate.score
        verdict = "plays from now on" if passed else "goes on learning"
        self.context.log(
            f"iteration {number}: the new network scores {score:.1%} of {gate.games} games "
            f"against the one that plays; it {verdict}"
        )
        if passed:
            self.best.load_state_dict(self.network.state_dict())
            self.promotions += 1

    def _counts(self) -> np.ndarray[Any, Any]:
        names = ("simulations", "evaluations", "moves", "aborted")
        return np.array([sum(getattr(play, name) for play in self.plays) for name in names])

    def _metrics(
        self,
        block: SampleBlock,
        games: list[dict[str, Any]],
        terms: list[Losses],
        before: np.ndarray[Any, Any],
        seconds: dict[str, float],
    ) -> Metrics:
        means = mean_losses(terms)
        simulations, evaluations, moves, aborted = self._counts() - before
        rows = block.observations.reshape(len(block), -1)
        unique = len(np.unique(np.ascontiguousarray(rows), axis=0))
        results = Counter({1: "white", 0: "draw", -1: "black"}[game["result"]] for game in games)
        checked = sum(play.resign_checked for play in self.plays)
        wrong = sum(play.resign_wrong for play in self.plays)
        lengths = [len(game["moves"]) for game in games]
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
                "simulations_a_move": float(simulations / max(1, moves)),
                "evaluations_a_simulation": float(evaluations / max(1, simulations)),
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

    def model(self) -> Network:
        """The network that plays."""
        network: Network = self.best
        return network

    def evaluate(self, rng: np.random.Generator) -> list[Evaluation]:
        """Matches against simple players, with search or by the policy alone."""
        from rookery.algorithms.evaluation import play_bot

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
        if self.best is not self.network:
            state.put_module("best", self.best)
        state.put_optimizer("optimizer", self.optimizer)
        for number, play in enumerate(self.plays):
            # Trees are mostly zeros: a quarter of the size, for a fraction of a second.
            state.put_bytes(f"games{number}", zlib.compress(play.get_state(), 1))
        state.put_generator("learn", self.rng)
        state.values["window"] = self.window.state()
        state.values["promotions"] = self.promotions
        state.values["workers"] = len(self.plays)
        return state

    def load_state(self, state: State) -> None:
        """Go on from there; with another number of workers the games begin anew."""
        state.get_module("network", self.network)
        if self.best is not self.network:
            state.get_module("best", self.best)
        state.get_optimizer("optimizer", self.optimizer)
        for number, play in enumerate(self.plays):
            if number < state.value("workers"):
                play.set_state(zlib.decompress(state.get_bytes(f"games{number}")))
        state.get_generator("learn", self.rng)
        self.window.restore(state.value("window"))
        self.promotions = state.value("promotions")


ALGORITHM = Algorithm(AlphaZeroRecipe, AlphaZeroTrainer)
