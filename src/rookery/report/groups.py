"""Runs of one recipe that differ in nothing but their seed belong together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rookery.report.read import RunData
from rookery.runs.reader import number
from rookery.training.listing import recipe_names
from rookery.training.recipe import flatten, load_recipe

# What does not change what a run learns.
NEUTRAL = (
    "name",
    "summary",
    "result",
    "run.seed",
    "run.workers",
    "run.checkpoint_seconds",
    "run.keep_checkpoints",
)


@dataclass(frozen=True)
class Group:
    """Runs with the same settings; `changes` tells them from the recipe of that name."""

    recipe: str
    changes: str  # such as "ppo.value_clip=0"; "" for the recipe as it is
    runs: tuple[RunData, ...]

    @property
    def name(self) -> str:
        """Recipe and changes."""
        return f"{self.recipe} ({self.changes})" if self.changes else self.recipe

    @property
    def label(self) -> str:
        """The same for a chart, where there is no room for a list of changes."""
        alone = self.changes and len(self.runs) == 1
        return self.runs[0].name if alone else self.name


def group_runs(runs: Sequence[RunData]) -> list[Group]:
    """All runs in groups, in order of appearance."""
    groups: list[Group] = []
    for recipe in dict.fromkeys(_recipe(run) for run in runs):
        alike: dict[str, list[RunData]] = {}
        for run in runs:
            if _recipe(run) == recipe:
                alike.setdefault(json.dumps(_settings(run.recipe), sort_keys=True), []).append(run)
        usual = _shipped(recipe) or _settings(max(alike.values(), key=len)[0].recipe)
        for members in alike.values():
            changes = _changes(usual, _settings(members[0].recipe))
            groups.append(Group(recipe, changes, tuple(members)))
    return groups


def _changes(usual: dict[str, Any], settings: dict[str, Any]) -> str:
    # A run of an older version lacks settings that came later.
    shown = (key for key in settings if settings[key] != usual.get(key))
    return ", ".join(f"{key}={_text(settings.get(key))}" for key in shown)


def net_wins(row: dict[str, Any], side: str = "", games: float = 1000.0) -> float:
    """Wins minus losses of an evaluation, scaled to so many games.

    Args:
        row: The evaluation.
        side: "as_white", "as_black", or "" for both colours.
        games: That the difference is scaled to.
    """
    part = row.get(side) if side else row
    part = part if isinstance(part, dict) else {}
    wins, draws, losses = (number(part.get(key)) or 0.0 for key in ("wins", "draws", "losses"))
    played = number(part.get("games")) or wins + draws + losses
    return games * (wins - losses) / max(played, 1.0)


def _recipe(run: RunData) -> str:
    return str(run.recipe.get("name") or run.name)


def _shipped(name: str) -> dict[str, Any]:
    """Settings of the recipe that ships under a name; empty if there is none."""
    if name not in recipe_names():
        return {}
    return _settings(flatten(load_recipe(name).model_dump(mode="json", exclude_none=True)))


def _settings(recipe: dict[str, Any]) -> dict[str, Any]:
    """What a run learns by; sizes of network families that it does not use are left out."""
    family = f"network.{recipe.get('network.family')}."
    unused = {
        key
        for key in recipe
        if key.startswith("network.") and key.count(".") > 1 and not key.startswith(family)
    }
    return {key: value for key, value in recipe.items() if key not in unused.union(NEUTRAL)}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
