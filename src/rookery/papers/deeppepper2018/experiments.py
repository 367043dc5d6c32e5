"""The experiments of Deep Pepper revisited (2023), each with three seeds.

    python -m rookery.papers.deeppepper2018.experiments --games EXAM.pgn.gz
    rookery report runs/pepper-experiments/*-[123] --out report.html

Four experiments: the four networks of Deep Pepper; learning rates (constant, its one-cycle
schedule, cyclic); squeeze-and-excitation; and constants of PUCT, which need no training: the
networks of the one-cycle schedule search with them. Each arm learns from labels for a fixed number
of steps, takes the exam (exam.py) with a search, and plays a match against the first arm of its
experiment.

Every part is written as soon as it is done: the same command continues an interrupted one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from rookery.arena.match import MatchSettings, run_match
from rookery.base.storage import atomic_write
from rookery.nets.evaluator import Evaluator, load_network
from rookery.nets.native import network_evaluator
from rookery.papers.deeppepper2018.exam import Exam, load_exam, share_answered
from rookery.players.mcts import MctsPlayer, MctsSettings
from rookery.training.folder import RunFolder
from rookery.training.session import resume, start

SEEDS = (1, 2, 3)
RESULTS = "experiment.json"  # in the folder of each run: its arms with their measurements
C_PUCT = 2.0  # Deep Pepper's


@dataclass(frozen=True)
class Arm:
    """One setting of an experiment."""

    experiment: str
    name: str
    run: str  # name of its runs, without the seed
    settings: tuple[str, ...] = ()  # changes of the recipe pepper-paper-pretrained
    c_puct: float = C_PUCT
    planes: bool = False  # learns from planes


@dataclass(frozen=True)
class Sizes:
    """How much is computed for each arm and seed."""

    iterations: int = 30  # of STEPS steps: the learning rate changes between them
    positions: int = 150  # of each part of the exam
    simulations: int = 64  # in the exam
    games: int = 40  # of a match
    match_simulations: int = 16
    extra: tuple[str, ...] = field(default=())  # settings of all runs


STEPS = 10
SHORT = (f"data.steps={STEPS}", "data.held_out=0.0", "run.evaluations=0")
MINIBATCH = ("learn.minibatch=256", *SHORT)
ADAM = ("learn.learning_rate=3e-4", *MINIBATCH)
# The rates of the paper are for gradient descent with momentum, so these arms use it. Smaller
# policy and value layers make them five times as fast; the arms are compared with each other only.
SGD = (
    "learn.optimizer=sgd", "learn.gradient_norm=5.0", "network.pepper.policy=256",
    "network.pepper.value=128", *MINIBATCH,
)  # fmt: skip
PLANES = (
    "network.family=resnet", "network.observation=planes22", "network.resnet.blocks=2",
    "network.resnet.filters=16", "learn.learning_rate=2e-3", "learn.search_value=0.0",
    "learn.minibatch=128", *SHORT,
)  # fmt: skip


def arms() -> list[Arm]:
    """All arms; matches are played against the first of each experiment."""
    networks = [
        Arm("networks", name, name, (f"network.pepper.first={first}", separate, *ADAM))
        for name, first, separate in (
            ("parts", "parts", "network.pepper.separate=false"),
            ("full", "full", "network.pepper.separate=false"),
            ("parts-separate", "parts", "network.pepper.separate=true"),
            ("full-separate", "full", "network.pepper.separate=true"),
        )
    ]
    rates = [
        Arm("learning rates", name, f"rate-{name}", (f"learn.schedule={schedule}", *rate, *SGD))
        for name, schedule, rate in (
            ("constant", "constant", ("learn.learning_rate=0.02",)),
            ("one-cycle", "three-phase", ("learn.learning_rate=0.2",)),
            (
                "cyclic",
                "cyclic",
                ("learn.learning_rate=0.2", "learn.final_learning_rate=0.02", "learn.cycles=3"),
            ),
        )
    ]
    squeeze = [
        Arm("squeeze-and-excitation", name, name, (f"network.resnet.squeeze={width}", *PLANES),
            planes=True)
        for name, width in (("without-squeeze", 0), ("with-squeeze", 8))
    ]  # fmt: skip
    constants = [
        Arm("constants of PUCT", f"c = {value:g}", rates[1].run, rates[1].settings, value)
        for value in (C_PUCT, 0.5, 1.0, 4.0)
    ]
    return [*networks, *rates, *squeeze, *constants]


# --- Training ---


def train(arm: Arm, seed: int, samples: str, out: Path, sizes: Sizes) -> None:
    """Train an arm's network, or finish its training."""
    folder = out / f"{arm.run}-{seed}"
    budget = f"{sizes.iterations}it"

    def done() -> bool:
        return len(RunFolder.open(folder).reader.metrics()) >= sizes.iterations

    if not folder.exists():
        start(
            "pepper-paper-pretrained",
            str(folder),
            budget,
            seed,
            1,
            [f"data.samples={samples}", *arm.settings, *sizes.extra],
        )
    elif not done():
        resume(str(folder), budget)
    if not done():  # Ctrl-C ends a run without an error
        raise KeyboardInterrupt


# --- Measuring ---


@cache
def evaluator_of(folder: Path) -> Evaluator:
    """The evaluator of a run's network."""
    return network_evaluator(load_network(str(folder)), folder.name)


def player(folder: Path, arm: Arm, simulations: int) -> MctsPlayer:
    """The arm's search with the network of a run."""
    settings = MctsSettings(simulations=simulations, c_init=arm.c_puct, c_factor=0.0, megabytes=16)
    return MctsPlayer(evaluator_of(folder), settings, f"{folder.name} {arm.name}")


def measure(arm: Arm, first: Arm, seed: int, exam: Exam, out: Path, sizes: Sizes) -> None:
    """Exam and match of one arm and seed, kept in the run folder; done once."""
    folder, opponent = out / f"{arm.run}-{seed}", out / f"{first.run}-{seed}"
    path = folder / RESULTS
    stored: list[dict[str, Any]] = json.loads(path.read_text()) if path.is_file() else []
    if any((one["experiment"], one["arm"]) == (arm.experiment, arm.name) for one in stored):
        return
    searching = player(folder, arm, sizes.simulations)
    found: dict[str, Any] = {
        "experiment": arm.experiment,
        "arm": arm.name,
        "seed": seed,
        "simulations": sizes.simulations,
        "positions": len(exam.endings),
        "endings": share_answered(searching, exam.endings),
        "choices": share_answered(searching, exam.choices),
    }
    if arm is not first:
        match = run_match(
            lambda: player(folder, arm, sizes.match_simulations),
            lambda: player(opponent, first, sizes.match_simulations),
            MatchSettings(games=sizes.games, seed=seed, concurrency=1),
            names=(arm.name, first.name),
        )
        found |= {
            "against": first.name,
            "match_simulations": sizes.match_simulations,
            "pentanomial": list(match.tally.pentanomial),
        }
    atomic_write(path, json.dumps([*stored, found], indent=1))


def run_all(
    labels: str, planes: str, games: Sequence[Path], out: Path, sizes: Sizes, only: str = ""
) -> None:
    """Train and measure everything that is missing, or `only` one experiment."""
    out.mkdir(parents=True, exist_ok=True)
    exam = load_exam(out / "exam.json", games, sizes.positions)
    every = [arm for arm in arms() if only in ("", arm.experiment)]
    for number, arm in enumerate(every, 1):
        first = next(one for one in every if one.experiment == arm.experiment)
        for seed in SEEDS:
            train(arm, seed, planes if arm.planes else labels, out, sizes)
            measure(arm, first, seed, exam, out, sizes)
        print(
            f"{number} of {len(every)}: {arm.experiment}, {arm.name}", file=sys.stderr, flush=True
        )


def main(words: Sequence[str] | None = None) -> int:
    """Run the experiments."""
    parser = argparse.ArgumentParser(description="The experiments of Deep Pepper revisited.")
    parser.add_argument("--labels", default="data/pepper-games", help="samples of pepper353")
    parser.add_argument("--planes", default="data/planes-games", help="samples of planes22")
    parser.add_argument("--games", nargs="+", required=True, help="PGN files for the exam")
    parser.add_argument("--out", default="runs/pepper-experiments", help="folder of the runs")
    names = list(dict.fromkeys(arm.experiment for arm in arms()))
    parser.add_argument("--only", choices=names, default="", help="one experiment; default: all")
    args = parser.parse_args(words)
    games = [Path(name) for name in args.games]
    try:
        run_all(args.labels, args.planes, games, Path(args.out), Sizes(), args.only)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
