"""Training runs: recipes, run folders, checkpoints, budgets, the loop and its display.

An algorithm uses only `rookery.training.trainer` (its interface) and `rookery.training.recipe`
(its settings); `docs/training.md` has an example. `rookery.training.session` starts and resumes
runs.
"""

from __future__ import annotations

import importlib

from rookery.base.extras import how_to_install


def require_extra(*packages: str) -> None:
    """Raise an `ImportError` that says how to install missing packages of the extra `train`."""
    for name in packages or ("pydantic", "torch", "safetensors"):
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise ImportError(
                f"this needs {error.name or name}; install it with: {how_to_install('train')}"
            ) from None
