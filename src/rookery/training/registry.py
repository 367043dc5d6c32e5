"""The algorithms that recipes can name, each loaded only when it is used."""

from __future__ import annotations

import difflib
import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rookery.training.trainer import Algorithm

# Name in recipes -> module whose ALGORITHM describes it.
_MODULES: dict[str, str] = {
    "alphazero": "rookery.algorithms.alphazero",
    "engine": "rookery.algorithms.engine",
    "ppo": "rookery.algorithms.ppo",
    "supervised": "rookery.algorithms.supervised",
    "tdleaf": "rookery.algorithms.tdleaf",
    "dqn": "rookery.papers.kanis2016.dqn",
    "endgame": "rookery.algorithms.endgame",
}


def register(name: str, module: str) -> None:
    """Add an algorithm of one's own: `module` has an attribute ALGORITHM."""
    _MODULES[name] = module


def algorithm_names() -> list[str]:
    """All names that `algorithm` knows."""
    return sorted(_MODULES)


def algorithm(name: str) -> Algorithm:
    """Load an algorithm by its name."""
    from rookery.training.trainer import Algorithm

    if name not in _MODULES:
        near = difflib.get_close_matches(name, _MODULES, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(algorithm_names())}"
        raise ValueError(f"unknown algorithm {name!r}; {hint}")
    found = importlib.import_module(_MODULES[name]).ALGORITHM
    if not isinstance(found, Algorithm):
        raise TypeError(f"{_MODULES[name]}.ALGORITHM is not a rookery.training.trainer.Algorithm")
    return found
