"""The recipes that have a name: those of Rookery and of installed algorithms; needs no extra."""

from __future__ import annotations

import tomllib
from importlib import resources
from importlib.resources.abc import Traversable

from rookery.base.registry import LOG
from rookery.runs.algorithms import ALGORITHMS

NOT_MEASURED = "not yet measured"
SUFFIX = ".toml"


def _files() -> dict[str, Traversable]:
    """All recipes by name: our own, those in `papers/` that reproduce one, and of plug-ins."""
    folder = resources.files("rookery.recipes")
    entries: list[Traversable] = []
    for algorithm in ALGORITHMS.values():
        try:
            entries += resources.files(algorithm.recipes).iterdir() if algorithm.recipes else ()
        except (ImportError, OSError) as error:  # a faulty plug-in does not hide other recipes
            LOG.warning(f"recipes of algorithm {algorithm.name!r} cannot be listed: {error}")
    entries += [*(folder / "papers").iterdir(), *folder.iterdir()]  # the last of a name counts
    return {e.name.removesuffix(SUFFIX): e for e in entries if e.name.endswith(SUFFIX)}


def recipe_names() -> list[str]:
    """Names of all recipes, numbers in them sorted as numbers (v2 before v10)."""
    return sorted(_files(), key=_natural)


def recipe_bytes(name: str) -> bytes:
    """Content of a recipe by its name."""
    return _files()[name].read_bytes()


def list_recipes() -> list[dict[str, str]]:
    """Name, algorithm, summary and result of every recipe."""
    rows = []
    for name in recipe_names():
        content = tomllib.loads(recipe_bytes(name).decode())
        rows.append(
            {
                "name": name,
                "algorithm": str(content.get("algorithm", "")),
                "summary": str(content.get("summary", "")),
                "result": str(content.get("result", NOT_MEASURED)),
            }
        )
    return rows


def _natural(name: str) -> list[tuple[int, str]]:
    """Sort key: runs of digits compare as numbers."""
    words, digits = [], ""
    for character in f"{name}\0":
        if character.isdigit():
            digits += character
            continue
        if digits:
            words.append((int(digits), ""))
            digits = ""
        words.append((-1, character))
    return words
