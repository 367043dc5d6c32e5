"""MCTS simulations per second: the tree alone, the `squares` network, residual networks.

Everything is measured as in self-play, with many games at once and batches of leaves. For
comparison, the evaluator alone is measured with batches of the same size.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from rookery._core import Game, HashEvaluator, MctsSearch, SelfPlay
from rookery.base.cores import usable_cores
from rookery.bench.measure import Comparison, Participant, Result, rate
from rookery.bench.peer_process import interleave_with_peers

SECONDS = 2.0
REPETITIONS = 3
SIMULATIONS = 400  # per move, as in Vanhoutte 2022
TREE_SIMULATIONS = 800
POSITIONS = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r1bqk2r/pp1nbppp/2p1pn2/3p4/2PP4/2N1PN2/PPQ2PPP/R1B1KB1R w KQkq - 4 7",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
)
# Peer script: our participant that it is compared with, and how.
PEERS = {
    "python_chess_mcts": (
        "19x256 self-play in float32, one core",
        "19x256 on 19 planes; ours: float32 as the peer, 16 games at once, batch norms folded into "
        "the convolutions",
    ),
    "openspiel_mcts": ("tree alone, one core", "the tree with a trivial evaluator"),
}
BIG_GAMES, MIDDLE_GAMES, SMALL_GAMES = 16, 128, 256


def tree_alone() -> Participant:
    """Search positions with an evaluator that costs almost nothing."""
    search = MctsSearch("", megabytes=64, cache_megabytes=0)
    evaluator = HashEvaluator()

    def work() -> int:
        for fen in POSITIONS:
            search.forget()
            search.set_game(Game(fen))
            search.begin(TREE_SIMULATIONS)
            search.run(evaluator)
        return TREE_SIMULATIONS * len(POSITIONS)

    return lambda seconds: rate(work, seconds)


def games_of(count: int, observation: str) -> SelfPlay:
    """Set up self-play as in the paper, from random openings so that all games differ."""
    return SelfPlay(
        count, observation, 1, simulations=SIMULATIONS, random_share=1.0, random_plies=(4, 20),
        cache_megabytes=0,
    )  # fmt: skip


def torch_selfplay(evaluator: Any, count: int) -> Participant:
    """Run self-play with an `Evaluator`."""
    from rookery.selfplay.local import play_batch

    play = games_of(count, evaluator.observation)

    def work() -> int:
        # Ignores the few simulations that end in a terminal position.
        before = play.evaluations
        play_batch(play, evaluator)
        return int(play.evaluations - before)

    return lambda seconds: rate(work, seconds)


def torch_alone(evaluator: Any, count: int) -> Participant:
    """Evaluate the same batch repeatedly."""
    play = games_of(count, evaluator.observation)
    play.gather()
    batch = (play.observations.copy(), play.legal_actions.copy(), play.legal_offsets.copy())

    def work() -> int:
        evaluator.evaluate(*batch)
        return count

    return lambda seconds: rate(work, seconds)


def native_selfplay(native: Any, cores: int) -> Participant:
    """Run native self-play, with one thread and its own games per core."""
    plays = [games_of(SMALL_GAMES, "tactical70") for _ in range(cores)]

    def measure(seconds: float) -> float:
        before = sum(play.evaluations for play in plays)
        threads = [
            threading.Thread(target=play.run, args=(native, 1 << 60, seconds)) for play in plays
        ]
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        done = sum(play.evaluations for play in plays) - before
        for play in plays:
            play.take_samples()
            play.take_games()
        return float(done) / (time.perf_counter() - begun)

    return measure


def residual(observation: str, blocks: int, filters: int, precision: str = "") -> Any:
    """Make an evaluator of an untrained residual network, by default in the fastest precision."""
    from rookery.nets import make_network
    from rookery.nets.evaluator import TorchEvaluator
    from rookery.nets.inference import InferenceNetwork, has_fast_bfloat16

    sizes = {"blocks": blocks, "filters": filters}
    network = make_network("resnet", observation, "az4672", sizes)
    precision = precision or ("bfloat16" if has_fast_bfloat16() else "float32")
    return TorchEvaluator(InferenceNetwork(network, precision))  # type: ignore[arg-type]


def on_one_core(participant: Participant) -> Participant:
    """The same with one thread of torch."""
    import torch

    def measure(seconds: float) -> float:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            return participant(seconds)
        finally:
            torch.set_num_threads(threads)

    return measure


def participants(cores: int) -> dict[str, Callable[[float], float]]:
    """Return everything that is measured, by its name in the details."""
    from rookery.nets import make_network
    from rookery.nets.native import native_network

    big, middle = residual("planes19", 19, 256), residual("planes119", 6, 64)
    plain = residual("planes19", 19, 256, "float32")
    native = native_network(make_network("squares", "tactical70", "az4672"))
    return {
        "tree alone, one core": tree_alone(),
        "19x256 self-play": torch_selfplay(big, BIG_GAMES),
        "19x256 self-play, one core": on_one_core(torch_selfplay(big, BIG_GAMES)),
        "19x256 self-play in float32, one core": on_one_core(torch_selfplay(plain, BIG_GAMES)),
        "19x256 evaluator alone": torch_alone(big, BIG_GAMES),
        "6x64 self-play": torch_selfplay(middle, MIDDLE_GAMES),
        "6x64 evaluator alone": torch_alone(middle, MIDDLE_GAMES),
        "squares self-play": native_selfplay(native, cores),
        "squares self-play, one core": native_selfplay(native, 1),
    }


def run() -> Result:
    """Run the benchmark."""
    import torch

    cores = usable_cores()
    threads = torch.get_num_threads()
    torch.set_num_threads(cores)
    try:
        values, peers, missing = interleave_with_peers(
            participants(cores), {name: [name] for name in PEERS}, REPETITIONS, SECONDS
        )
    finally:
        torch.set_num_threads(threads)
    middle = values["6x64 self-play"]
    squares = values["squares self-play"]
    return Result(
        squares,
        "simulations/s",
        f"self-play with a squares network, {SIMULATIONS} simulations per move, {cores} cores",
        [
            Comparison("our own 6x64 network", middle, squares, "both in self-play"),
            Comparison(
                "6x64 evaluator alone", values["6x64 evaluator alone"], middle,
                f"batches of {MIDDLE_GAMES}",
            ),
            *(
                Comparison(
                    peer.label, values[script], values[PEERS[script][0]],
                    f"{PEERS[script][1]}; peer: {peer.conditions}",
                )
                for script, peer in peers.items()
            ),
        ],
        missing,
        details=values,
    )  # fmt: skip
