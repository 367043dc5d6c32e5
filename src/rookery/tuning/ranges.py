"""Ranges of settings: `key=LOW..HIGH`, `key=LOW..HIGH:log` or `key=A|B|C`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rookery.training.recipe import Recipe, RecipeError, flatten, parse_changes

FACTORS = (0.8, 1.25)  # of a perturbation
RESAMPLED = 0.25  # share of perturbations that draw from the whole range instead


@dataclass(frozen=True)
class Range:
    """The values that a key may take."""

    key: str
    low: float = 0.0
    high: float = 0.0
    logarithmic: bool = False
    whole: bool = False  # integers only
    choices: tuple[Any, ...] = ()  # instead of low and high, in an order that means something

    def sample(self, rng: np.random.Generator) -> Any:
        """Any value."""
        if self.choices:
            return self.choices[int(rng.integers(len(self.choices)))]
        if self.logarithmic:
            low, high = math.log(self.low), math.log(self.high)
            return self._fit(math.exp(rng.uniform(low, high)))
        return self._fit(rng.uniform(self.low, self.high))

    def perturb(self, value: Any, rng: np.random.Generator) -> Any:
        """A value near another one, or any."""
        if rng.random() < RESAMPLED:
            return self.sample(rng)
        up = bool(rng.integers(2))
        if self.choices:
            place = self.choices.index(value) if value in self.choices else 0
            return self.choices[min(max(place + (1 if up else -1), 0), len(self.choices) - 1)]
        return self._fit(float(value) * FACTORS[up])

    def _fit(self, value: float) -> Any:
        value = min(max(value, self.low), self.high)
        # Few digits: a recipe that a person reads, and that is written and read back exactly.
        return round(value) if self.whole else float(f"{value:.4g}")

    def to_json(self) -> dict[str, Any]:
        """For population.json."""
        return {**vars(self), "choices": list(self.choices)}


def parse_ranges(texts: Sequence[str], recipe: Recipe) -> list[Range]:
    """Read `--set-range` options; a `RecipeError` names the fault."""
    return [_parse(text, recipe) for text in texts]


def _parse(text: str, recipe: Recipe) -> Range:
    key, equals, values = text.partition("=")
    if not equals:
        raise RecipeError(f"--set-range {text!r} is not of the form key=LOW..HIGH or key=A|B|C")
    parts = values.split("|") if "|" in values else values.partition(":")[0].split("..")
    # Each value must be one that the recipe takes.
    read = [parse_changes([f"{key}={part}"], type(recipe)) for part in parts]
    [key] = read[0]
    found = [each[key] for each in read]
    if key.startswith("run."):
        raise RecipeError(f"--set-range {text!r}: keys of [run] are the same for all members")
    if "|" in values:
        return Range(key, choices=tuple(found))
    kind = values.partition(":")[2]
    numbers = all(isinstance(each, int | float) for each in found)
    if len(found) != 2 or not numbers or not found[0] < found[1] or kind not in ("", "log"):
        raise RecipeError(f"--set-range {text!r} is not of the form key=LOW..HIGH or ...:log")
    if kind == "log" and found[0] <= 0:
        raise RecipeError(f"--set-range {text!r}: a logarithmic range begins above 0")
    # 1..10 of a key that takes fractions means fractions.
    default = flatten(recipe.model_dump(mode="json")).get(key)
    whole = isinstance(default, int) and not isinstance(default, bool)
    return Range(key, float(found[0]), float(found[1]), kind == "log", whole)
