"""A run's numbers for Weights & Biases, offline: nothing leaves the machine until `wandb sync`."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rookery.base.extras import how_to_install

FOLDER = "wandb"  # in the run folder


class Wandb:
    """Mirrors a run; trouble is logged once and never stops the run."""

    def __init__(self, run: Path, log: Callable[[str], None]) -> None:
        """Begin, or go on with, the offline record of a run folder."""
        self._log = log
        self._run: Any = None
        try:
            import wandb
        except ImportError:
            raise ImportError(
                f"run.track is 'wandb', which is missing: {how_to_install('track')}"
            ) from None
        settings = wandb.Settings(silent=True, disable_git=True, disable_code=True, console="off")
        with self._guarded():
            self._run = wandb.init(
                mode="offline",
                dir=str(run),
                id=run.resolve().name,  # the same after a resume
                name=run.name,
                project="rookery",
                settings=settings,
            )

    def write_settings(self, settings: Mapping[str, Any]) -> None:
        """Store the recipe, flat by dotted key."""
        with self._guarded():
            if self._run is not None:
                self._run.config.update(dict(settings), allow_val_change=True)

    def write(self, step: int, scalars: Mapping[str, float]) -> None:
        """Add scalars of one step."""
        with self._guarded():
            if self._run is not None:
                known = {tag: value for tag, value in scalars.items() if math.isfinite(value)}
                self._run.log({"iteration": step, **known})

    def close(self) -> None:
        """End the record; later calls do nothing."""
        run, self._run = self._run, None
        if run is not None:
            with self._guarded():
                run.finish()

    @contextlib.contextmanager
    def _guarded(self) -> Any:
        try:
            yield
        except Exception as error:  # of a package that is not ours
            words = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            self._log(f"tracking by wandb has stopped: {words}")
            self._run = None
