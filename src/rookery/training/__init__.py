"""Training runs: recipes, run folders, checkpoints, budgets, the loop and its display.

An algorithm sees only `rookery.training.trainer` (what it implements and what it is given) and
`rookery.training.recipe` (what its settings are made of); `docs/training.md` has an example.
`rookery.training.session` starts and resumes runs.
"""

from __future__ import annotations

import importlib

from rookery.base.extras import how_to_install


def require_extra(*packages: str) -> None:
    """Refuse to go on without packages of the extra `train`, saying how to get them."""
    for name in packages or ("pydantic", "torch", "safetensors"):
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise ImportError(
                f"this needs {error.name or name}; install it with: {how_to_install('train')}"
            ) from None
