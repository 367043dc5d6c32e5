"""The named recipes, of Rookery and of installed plug-ins; needs no extra."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from importlib.resources.abc import Traversable

from rookery.base.registry import LOG
from rookery.runs.algorithms import ALGORITHMS

NOT_MEASURED = "not yet measured"
SUFFIX = ".toml"


def _files() -> dict[str, Traversable]:
    """All recipes by name: of plug-ins, of `papers/` and our own; later ones win."""
    folder = resources.files("rookery.recipes")
    entries: list[Traversable] = []
    for algorithm in ALGORITHMS.values():
        try:
            entries += resources.files(algorithm.recipes).iterdir() if algorithm.recipes else ()
        except (ImportError, OSError) as error:  # a broken plug-in must not hide other recipes
            LOG.warning(f"recipes of algorithm {algorithm.name!r} cannot be listed: {error}")
    entries += [*(folder / "papers").iterdir(), *folder.iterdir()]
    return {e.name.removesuffix(SUFFIX): e for e in entries if e.name.endswith(SUFFIX)}


def recipe_names() -> list[str]:
    """Names of all recipes, in natural order (v2 before v10)."""
    return sorted(_files(), key=_natural)


def _natural(name: str) -> list[str | int]:
    """Sort key: text and numbers alternate."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def recipe_bytes(name: str) -> bytes:
    """Content of a recipe by its name."""
    return _files()[name].read_bytes()


def list_recipes() -> list[dict[str, str]]:
    """Name, algorithm, summary and result of every recipe."""
    defaults = {"algorithm": "", "summary": "", "result": NOT_MEASURED}
    rows = []
    for name in recipe_names():
        content = tomllib.loads(recipe_bytes(name).decode())
        shown = {key: str(content.get(key, default)) for key, default in defaults.items()}
        rows.append({"name": name, **shown})
    return rows
