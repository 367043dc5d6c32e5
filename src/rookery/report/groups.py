"""Groups of runs of one recipe that differ only in their seed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rookery.report.read import RunData
from rookery.runs.reader import number
from rookery.training.listing import recipe_names
from rookery.training.recipe import flatten, load_recipe

# Keys that do not change what a run learns.
NEUTRAL = {
    "name", "summary", "result", "run.seed", "run.workers", "run.checkpoint_seconds",
    "run.keep_checkpoints",
}  # fmt: skip


@dataclass(frozen=True)
class Group:
    """Runs with the same settings."""

    recipe: str
    changes: str  # to the recipe of that name, such as "ppo.value_clip=0"; "" if there are none
    runs: tuple[RunData, ...]

    @property
    def name(self) -> str:
        """Recipe and changes."""
        return f"{self.recipe} ({self.changes})" if self.changes else self.recipe

    @property
    def label(self) -> str:
        """A shorter name for charts: that of the run if a changed recipe has only one."""
        return self.runs[0].name if self.changes and len(self.runs) == 1 else self.name


def group_runs(runs: Sequence[RunData]) -> list[Group]:
    """All runs in groups, in order of appearance."""
    recipes: dict[str, dict[str, list[RunData]]] = {}
    for run in runs:
        alike = recipes.setdefault(str(run.recipe.get("name") or run.name), {})
        alike.setdefault(json.dumps(_settings(run.recipe), sort_keys=True), []).append(run)
    groups: list[Group] = []
    for recipe, alike in recipes.items():
        usual = _shipped(recipe) or _settings(max(alike.values(), key=len)[0].recipe)
        for members in alike.values():
            # Only keys of the run: a run of an older version lacks settings that came later.
            changes = [
                f"{key}={value_text(value)}"
                for key, value in _settings(members[0].recipe).items()
                if value != usual.get(key)
            ]
            groups.append(Group(recipe, ", ".join(changes), tuple(members)))
    return groups


def net_wins(row: dict[str, Any], side: str = "", games: float = 1000.0) -> float:
    """Wins minus losses of an evaluation, scaled to `games` games.

    `side` is "as_white", "as_black", or "" for both colours.
    """
    part = row.get(side) if side else row
    part = part if isinstance(part, dict) else {}
    wins, draws, losses = (number(part.get(key)) or 0.0 for key in ("wins", "draws", "losses"))
    played = number(part.get("games")) or wins + draws + losses
    return games * (wins - losses) / max(played, 1.0)


def _shipped(name: str) -> dict[str, Any]:
    """Settings of the shipped recipe of this name; empty if there is none."""
    if name not in recipe_names():
        return {}
    return _settings(flatten(load_recipe(name).model_dump(mode="json", exclude_none=True)))


def _settings(recipe: dict[str, Any]) -> dict[str, Any]:
    """The settings that matter, without the sizes of unused network families."""
    family = ["network", recipe.get("network.family")]

    def used(key: str) -> bool:
        parts = key.split(".")
        return len(parts) < 3 or parts[0] != "network" or parts[:2] == family

    return {key: value for key, value in recipe.items() if key not in NEUTRAL and used(key)}


def value_text(value: object) -> str:
    """A setting as text: strings unchanged, other values as JSON."""
    return value if isinstance(value, str) else json.dumps(value, default=str)
