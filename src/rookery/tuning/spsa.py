"""Search parameters tuned by games: simultaneous perturbation stochastic approximation (SPSA).

Spall 1992, "Multivariate Stochastic Approximation Using a Simultaneous Perturbation Gradient
Approximation". In every step each parameter moves a little up or down, at random and all at once;
the engine with these values plays the one with the opposite values, and all parameters move towards
the winner. Noise that concerns one parameter averages out over thousands of games. The decay of
steps and perturbations is the one that Stockfish's testers use (alpha 0.602, gamma 0.101).

    perturbation  c_k = c / k^gamma             k: pairs of games so far; c at the end: a
    step          a_k = a / (A + k)^alpha          PERTURBED share of the parameter's range
    update        value += a_k / c_k * points * sign
    points        wins minus losses of the engine at value + c_k * sign, -2 to 2 a pair

All games are determined by the seed; FOLDER/spsa.json is written after every step and resumes it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rookery._core import NetworkMatch, search_parameters
from rookery.arena.elo import EloEstimate, estimate_from_pairs, pentanomial_of
from rookery.base.storage import atomic_write
from rookery.runs.state import seed_of

FILE = "spsa.json"
ALPHA, GAMMA = 0.602, 0.101
PERTURBED = 1 / 20  # last perturbation, as a share of the parameter's range
STABILITY = 0.1  # Spall's A, as a share of all pairs
TRAIL = 200  # points of the curve that are kept


@dataclass(frozen=True)
class Plan:
    """What is tuned, and how; the same plan gives the same values."""

    network: str  # a player's name, model file or run folder
    parameters: tuple[str, ...]
    pairs: int  # of games in all
    nodes: int = 4000  # per move, never exceeded
    rate: float = 0.02  # step per point at the end, as a share of the perturbation
    batch: int = 2  # pairs per step, which threads share
    seed: int = 0


@dataclass
class Tuning:
    """A plan and how far it has come."""

    plan: Plan
    values: dict[str, float]
    played: int = 0  # pairs
    trail: list[dict[str, float]] = field(default_factory=list)  # values over time, with "pairs"

    def rounded(self) -> dict[str, int]:
        """The values as the engine takes them."""
        return {name: round(value) for name, value in self.values.items()}

    def save(self, folder: Path) -> None:
        """Write FILE."""
        content = {**vars(self), "plan": asdict(self.plan), "tuned": self.rounded()}
        atomic_write(folder / FILE, json.dumps(content, indent=1) + "\n")


def new_tuning(plan: Plan) -> Tuning:
    """Begin with the engine's own values; a `ValueError` names a parameter that does not exist."""
    known = search_parameters()
    for name in plan.parameters:
        if name not in known:
            raise ValueError(f"unknown search parameter {name!r}; there are {', '.join(known)}")
    return Tuning(plan, {name: float(known[name][0]) for name in plan.parameters})


def load_tuning(folder: Path, plan: Plan) -> Tuning:
    """Continue what `folder` holds, or begin; another plan in it is refused."""
    path = folder / FILE
    if not path.exists():
        return new_tuning(plan)
    content = json.loads(path.read_text())
    content["plan"]["parameters"] = tuple(content["plan"]["parameters"])
    stored = Plan(**content["plan"])
    if stored != plan:
        raise ValueError(f"{path} belongs to another plan ({stored}); choose another --out")
    return Tuning(plan, content["values"], content["played"], content["trail"])


def tune(
    tuning: Tuning,
    tensors: Any,
    folder: Path,
    threads: int = 1,
    report: Callable[[Tuning], None] = lambda tuning: None,
    stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Play until all pairs are played, or `stopping`.

    Args:
        tuning: Goes on from where it is.
        tensors: Of the network, in the order of `rookery.nets.model_arrays.NNUE_TENSORS`.
        folder: Gets FILE after every step.
        threads: Of the games; does not change the result.
        report: Called after every step.
        stopping: Asked after every step.
    """
    plan = tuning.plan
    seed = seed_of(plan.seed, "spsa", "games")
    match = NetworkMatch(tensors, tensors, seed, plan.nodes, threads=threads)
    every = max(1, plan.pairs // TRAIL)
    while tuning.played < plan.pairs and not stopping():
        count = min(plan.batch, plan.pairs - tuning.played)
        _step(tuning, match, count)
        if tuning.played // every > (tuning.played - count) // every:
            tuning.trail.append({"pairs": float(tuning.played), **tuning.values})
        tuning.save(folder)
        report(tuning)


def _step(tuning: Tuning, match: NetworkMatch, count: int) -> None:
    """One perturbation, its games, and the move towards the winner."""
    plan, known = tuning.plan, search_parameters()
    rng = np.random.default_rng(seed_of(plan.seed, "spsa", tuning.played))
    signs = rng.choice([-1.0, 1.0], size=len(plan.parameters))
    number, last = tuning.played + count, plan.pairs
    shift = PERTURBED * (last / number) ** GAMMA  # c_k, as a share of the range
    ahead = last * (1 + STABILITY)
    rate = plan.rate * (ahead / (number + STABILITY * last)) ** ALPHA
    rate *= (number / last) ** (2 * GAMMA)  # a_k / c_k^2

    sides: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for name, sign in zip(plan.parameters, signs, strict=True):
        _, least, most = known[name]
        for side, direction in zip(sides, (sign, -sign), strict=True):
            moved = tuning.values[name] + direction * shift * (most - least)
            # Rounded at random, so that small perturbations count on average.
            whole = math.floor(moved + rng.random())
            side[name] = min(max(whole, least), most)
    match.set_parameters(*sides)
    points = sum(white[0] + black[0] for white, black in match.run(tuning.played, count))
    for name, sign in zip(plan.parameters, signs, strict=True):
        _, least, most = known[name]
        value = tuning.values[name] + rate * shift * (most - least) * points * sign
        tuning.values[name] = min(max(float(value), float(least)), float(most))
    tuning.played = number


def compare(
    tensors: Any, values: Mapping[str, int], pairs: int, nodes: int, seed: int, threads: int
) -> EloEstimate:
    """The engine with these values against the engine as it is, in games of their own."""
    games = seed_of(seed, "spsa", "check")
    match = NetworkMatch(tensors, tensors, games, nodes, threads=threads)
    match.set_parameters(dict(values), {})
    points: Sequence[float] = [
        1.0 + (white[0] + black[0]) / 2.0 for white, black in match.run(0, pairs)
    ]
    return estimate_from_pairs(pentanomial_of(points))
