"""The population: rounds, who copies whom, and the files that remember it.

FOLDER/population.json   settings, and of each round and member: origin, settings, score
FOLDER/round-R/member-N/ the members as run folders, after the last round
FOLDER/best.toml         the best member as a plain recipe

Everything is determined by the seed: random choices belong to (seed, round, member), and a round is
complete before the next one begins. A tuning that was interrupted continues with the round that it
was in.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rookery.base.messages import unpack
from rookery.base.storage import atomic_write
from rookery.cluster.jobs import Job
from rookery.runs.state import seed_of
from rookery.training.recipe import Recipe, dump_recipe, flatten, load_recipe, read_recipe, resolve
from rookery.tuning.member import job, objective, unpack_run
from rookery.tuning.ranges import Range

POPULATION = "population.json"
BEST = "best.toml"
REPLACED = 0.25  # share of the members that copy another one after a round


@dataclass
class Round:
    """What a member did in a round."""

    member: int
    origin: int  # the member that it continues
    settings: dict[str, Any]  # of the ranges
    score: float | None = None
    seconds: float = field(default=0.0, compare=False)  # of processor time


@dataclass
class Population:
    """All members and their history."""

    recipe: str  # TOML of the recipe that all members share
    name: str
    ranges: list[Range]
    size: int
    iterations: int  # of each member
    every: int  # iterations of a round
    seed: int
    objective: str = "score"
    rounds: list[list[Round]] = field(default_factory=list)

    @property
    def total_rounds(self) -> int:
        """Rounds until the end."""
        return math.ceil(self.iterations / self.every)

    @property
    def seconds(self) -> float:
        """Processor time of all complete rounds of all members."""
        return sum(each.seconds for round_ in self.rounds for each in round_)

    def rng(self, *names: str | int) -> np.random.Generator:
        """A random stream of its own for every choice."""
        return np.random.default_rng(seed_of(self.seed, "tune", *names))

    # --- Choices ---

    def next_round(self) -> list[Round]:
        """Who continues whom with which settings."""
        if not self.rounds:
            return [self._first(member) for member in range(self.size)]
        number, before = len(self.rounds), self.rounds[-1]
        ranked = sorted(before, key=lambda each: (-_known(each.score), each.member))
        count = max(1, round(REPLACED * self.size)) if self.size > 1 else 0
        best, worst = ranked[:count], {each.member for each in ranked[self.size - count :]}
        chosen = []
        for each in before:
            if each.member not in worst or each.member in {b.member for b in best}:
                chosen.append(Round(each.member, each.member, dict(each.settings)))
                continue
            rng = self.rng("exploit", number, each.member)
            donor = best[int(rng.integers(len(best)))]
            settings = {one.key: one.perturb(donor.settings[one.key], rng) for one in self.ranges}
            chosen.append(Round(each.member, donor.member, settings))
        return chosen

    def _first(self, member: int) -> Round:
        """Member 0 begins with the recipe as it is, the others anywhere."""
        flat = flatten(self._resolved({}).model_dump(mode="json"))
        rng = self.rng("first", member)
        settings = {
            one.key: flat[one.key] if member == 0 else one.sample(rng) for one in self.ranges
        }
        return Round(member, member, settings)

    def _resolved(self, settings: Mapping[str, Any]) -> Recipe:
        import tomllib

        return resolve(self.name, tomllib.loads(self.recipe), settings)

    def member_settings(self, round_: Round, root: int) -> dict[str, Any]:
        """All changes to the recipe for a member's round; `root` is where its chain began."""
        return {
            **round_.settings,
            "run.seed": seed_of(self.seed, "member", root) % (1 << 31),
            "run.budget": f"{self.iterations}it",
            "run.evaluations": self.total_rounds,
            "run.workers": 1,
        }

    # --- History ---

    def chain(self, member: int, rounds: int | None = None) -> list[Round]:
        """The rounds that made a member what it is, oldest first."""
        found: list[Round] = []
        for round_ in reversed(self.rounds[: len(self.rounds) if rounds is None else rounds]):
            found.append(round_[member])
            member = round_[member].origin
        return found[::-1]

    def root(self, member: int, rounds: int | None = None) -> int:
        """The member with which a member's chain began."""
        chain = self.chain(member, rounds)
        return chain[0].member if chain else member

    def best(self) -> Round:
        """The best member of the last complete round."""
        return max(self.rounds[-1], key=lambda each: (_known(each.score), -each.member))

    def best_recipe(self) -> Recipe:
        """The best member as a plain recipe: one run whose settings change."""
        chain = self.chain(self.best().member)
        changes = []
        for number, (before, after) in enumerate(pairwise(chain), 1):
            changed = {k: v for k, v in after.settings.items() if before.settings[k] != v}
            if changed:
                texts = "; ".join(f"{key}={json.dumps(value)}" for key, value in changed.items())
                changes.append(f"{number * self.every}it: {texts}")
        settings = self.member_settings(chain[0], chain[0].member)
        return self._resolved({**settings, "run.changes": changes, "name": f"{self.name}-tuned"})

    # --- Files ---

    def save(self, folder: Path) -> None:
        """Write population.json."""
        content = {
            **{key: value for key, value in vars(self).items() if key not in ("ranges", "rounds")},
            "ranges": [one.to_json() for one in self.ranges],
            "rounds": [[asdict(each) for each in round_] for round_ in self.rounds],
        }
        atomic_write(folder / POPULATION, json.dumps(content, indent=1, allow_nan=False) + "\n")

    @classmethod
    def load(cls, folder: Path) -> Population:
        """Read population.json."""
        try:
            content = json.loads((folder / POPULATION).read_text())
            ranges = [
                Range(**{**one, "choices": tuple(one["choices"])}) for one in content.pop("ranges")
            ]
            rounds = [[Round(**each) for each in one] for one in content.pop("rounds")]
            return cls(**content, ranges=ranges, rounds=rounds)
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{folder} is not a population: {error}") from None


def _known(score: float | None) -> float:
    return float("-inf") if score is None or math.isnan(score) else score


def member_folder(folder: Path, round_: int, member: int) -> Path:
    """Where a member's run is after a round, counted from 1."""
    return folder / f"round-{round_}" / f"member-{member}"


Mapped = Callable[[Iterable[Job]], Iterator[bytes]]  # such as `Pool.map`


def train(
    population: Population,
    folder: Path,
    run: Mapped,
    progress: Callable[[str], object] = lambda text: None,
) -> Population:
    """Do all rounds that are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    population.save(folder)
    while len(population.rounds) < population.total_rounds:
        number = len(population.rounds)
        chosen = population.next_round()
        until = min((number + 1) * population.every, population.iterations)
        results = run(_jobs(population, folder, chosen, number, until))
        shutil.rmtree(folder / f"round-{number + 1}", ignore_errors=True)  # one that was given up
        for round_, data in zip(chosen, results, strict=True):
            place = member_folder(folder, number + 1, round_.member)
            result = unpack(data)
            unpack_run(result["files"], place)
            round_.seconds = round(result["seconds"], 1)
            score = objective(place, population.objective)
            round_.score = score if math.isfinite(score) else None
            progress(f"round {number + 1}, member {round_.member}: {_text(round_)}")
        population.rounds.append(chosen)
        population.save(folder)
        shutil.rmtree(folder / f"round-{number}", ignore_errors=True)
        copies = [f"{e.member} from {e.origin}" for e in chosen if e.origin != e.member]
        copied = f"; copied: {', '.join(copies)}" if copies else ""
        best = population.best()
        progress(f"round {number + 1}/{population.total_rounds}: best {_text(best)}{copied}")
    atomic_write(folder / BEST, dump_recipe(population.best_recipe()))
    return population


def _jobs(
    population: Population, folder: Path, chosen: Sequence[Round], number: int, until: int
) -> Iterator[Job]:
    for round_ in chosen:
        source = member_folder(folder, number, round_.origin) if number else None
        settings = population.member_settings(round_, population.root(round_.origin))
        label = f"{population.name}/round {number + 1}/member {round_.member}"
        yield job(label, population.recipe, settings, until, source)


def _text(round_: Round) -> str:
    settings = ", ".join(f"{key}={value}" for key, value in round_.settings.items())
    score = "no score" if round_.score is None else f"{round_.score:.4g}"
    return f"{score} with {settings}"


def new_population(
    source: str,
    settings: Mapping[str, Any],
    ranges: list[Range],
    size: int,
    iterations: int,
    every: int,
    seed: int,
    objective: str,
) -> Population:
    """A population of a recipe, by its name or file."""
    name, _ = read_recipe(source)
    recipe = dump_recipe(load_recipe(source, settings))
    return Population(recipe, name, ranges, size, iterations, every, seed, objective)
