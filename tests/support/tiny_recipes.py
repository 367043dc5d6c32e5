"""Every algorithm, made so small that an iteration takes milliseconds.

For tests and benchmarks that must hold for all of them: a run killed at any time, saved often or
seldom, with its workers killed. An algorithm without an entry fails these tests with a message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rookery.runs.algorithms import ALGORITHMS

GAMES = """[Event "a"]
[Result "1-0"]

1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0

[Event "b"]
[Result "0-1"]

1. f3 e5 2. g4 Qh4# 0-1
"""


@dataclass(frozen=True)
class TinyRecipe:
    """A recipe with the settings that make it tiny."""

    recipe: str
    iterations: int  # enough for all phases of the algorithm
    settings: tuple[str, ...]


TINY_RECIPES: Mapping[str, TinyRecipe] = {
    "alphazero": TinyRecipe(
        "alphazero",
        8,
        (
            "tree.first_simulations=4", "tree.simulations=8", "tree.gumbel_actions=4",
            "selfplay.games=8", "selfplay.samples=60", "selfplay.max_plies=40",
            "replay.window=400", "replay.first_window=120", "gate.every=2", "gate.games=2",
            "gate.simulations=2", "network.squares.width=16", "network.squares.key_width=8",
            "learn.minibatch=32", "evaluation.games=2", "evaluation.simulations=4",
        ),
    ),
    "blind": TinyRecipe(
        "blind-paper",
        6,
        (
            'data.teachers=["random"]', "supervised.iterations=2", "supervised.steps=3",
            "supervised.minibatch=32", "ppo.games=4", "ppo.turns=6", "network.filters=8",
            "network.convolutions=2", "pool.every=1", "evaluation.games=2",
            'evaluation.opponents=["random"]',
        ),
    ),
    "ddqn": TinyRecipe(
        "ddqn",
        12,
        (
            "play.games=4", "play.depth=1", "play.nodes=200", "play.max_plies=20",
            "learn.hidden=16", "learn.memory=100", "learn.copy_every=2", "learn.minibatch=32",
            "learn.priority=0.5", "evaluation.games=2", "evaluation.depth=1",
            'evaluation.opponents=["random"]',
        ),
    ),
    "ddqn-paper": TinyRecipe(
        "ddqn-paper",
        12,
        (
            "network.width=16", "agent.max_plies=12", "agent.memory=40", "agent.minibatch=8",
            "agent.copy_every=2", "evaluation.games=2", "evaluation.depth=1",
            'evaluation.opponents=["random"]',
        ),
    ),
    "dqn": TinyRecipe(
        "kpk-random-king",
        12,
        (
            "dqn.games=8", "dqn.rounds=8", "dqn.replay=200", "dqn.replay_start=50",
            "dqn.replay_ratio=4", "dqn.updates=2", "dqn.target_games=5", "network.hidden=[16]",
            "evaluation.games=8",
        ),
    ),
    "endgame": TinyRecipe(
        "krk",
        8,
        ("fitting.minibatch=4096", "fitting.share=0.05", "network.width=16"),
    ),
    "engine": TinyRecipe(
        "engine",
        24,
        (
            "play.first_positions=300", "play.growth=1.0", "play.nodes=[8, 12]", "play.games=1",
            "learn.hidden=[16, 32]", "learn.positions=2000", "learn.visits=4.0", "gate.games=4",
            "gate.pairs=2", "gate.nodes=10", "evaluation.games=2", "evaluation.nodes=10",
            "evaluation.anchor=1",
        ),
    ),
    "ppo": TinyRecipe(
        "ppo",
        12,
        (
            "ppo.games=8", "ppo.plies=16", "ppo.minibatch=64", "network.squares.width=16",
            "network.squares.key_width=8", "opponent.rival_share=0.5",
            "opponent.snapshot_every=1", "opponent.snapshots=2", "evaluation.games=2",
            "game.max_plies=60",
        ),
    ),
    "supervised": TinyRecipe(
        "supervised",
        12,
        (
            "data.steps=4", "learn.minibatch=32", "network.squares.width=16",
            "network.squares.key_width=8", "evaluation.games=2",
        ),
    ),
    "tdleaf": TinyRecipe(
        "tdleaf",
        12,
        (
            "tdleaf.games=4", "tdleaf.plies=4", "tdleaf.width=16", "tdleaf.depth=2",
            "evaluation.games=2", 'evaluation.opponents=["random"]',
        ),
    ),
}  # fmt: skip


def algorithms() -> list[str]:
    """All registered algorithms but those that tests register."""
    return sorted(name for name in ALGORITHMS if name != "tiny")


def tiny_recipe(algorithm: str, folder: Path) -> TinyRecipe:
    """The tiny recipe of an algorithm; what it must read is written to `folder`."""
    if algorithm not in TINY_RECIPES:
        raise LookupError(f"add a tiny recipe of {algorithm!r} to tests/support/tiny_recipes.py")
    found = TINY_RECIPES[algorithm]
    if algorithm == "supervised":
        samples = folder / "samples"
        if not samples.exists():
            write_samples(folder / "games.pgn", samples)
        return replace(found, settings=(*found.settings, f"data.samples={samples}"))
    if algorithm == "blind":
        records = folder / "records.jsonl"
        if not records.exists():
            write_blind_records(records)
        return replace(found, settings=(*found.settings, f'data.records=["{records}"]'))
    return found


def write_blind_records(records: Path) -> None:
    """A few short games of blind chess between random players."""
    from rookery.blind.arena import BlindSettings, run_blind_match
    from rookery.blind.players import RandomPlayer

    settings = BlindSettings(games=6, seed=4, turn_limit=20, records=records)
    run_blind_match((RandomPlayer, RandomPlayer), ("random", "random"), settings)


def write_samples(games: Path, samples: Path) -> None:
    """Two short games as samples."""
    import contextlib
    import io

    from rookery.cli import main

    games.write_text(GAMES)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        status = main(["data", "pgn", str(games), "--out", str(samples), "--json"])
    if status != 0:
        raise RuntimeError(f"{games} could not be turned into samples")
