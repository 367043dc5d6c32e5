"""The records of a run: metrics.jsonl, timing.jsonl, and what mirrors them.

metrics.jsonl holds what is equal for equal seeds; timing.jsonl holds what depends on the machine.
TensorBoard, and Weights & Biases if asked for, get the same numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rookery.runs.checkpoint import Counters
from rookery.runs.metrics import JsonLines, TensorBoard
from rookery.runs.tracking import Wandb
from rookery.training.trainer import Metrics


class Records:
    """The records that a session appends to."""

    def __init__(self, folder: Path) -> None:
        """Open the files of a run folder."""
        self.folder = folder
        self.metrics = JsonLines(folder / "metrics.jsonl")
        self.timing = JsonLines(folder / "timing.jsonl")
        self.mirrors: list[TensorBoard | Wandb] = []

    def cut(self, counters: Counters) -> int:
        """Drop what was appended after a checkpoint; the missing bytes of metrics.jsonl."""
        missing = self.metrics.cut(counters.metrics_bytes)
        self.timing.cut(counters.timing_bytes)
        return missing

    def mirror(self, first: int, settings: dict[str, Any], wandb: Wandb | None) -> None:
        """Begin to mirror the numbers from iteration `first` on."""
        self.mirrors = [TensorBoard(self.folder / "tensorboard", first)]
        if wandb is not None:
            self.mirrors.append(wandb)
        for mirror in self.mirrors:
            mirror.write_settings(settings)

    def add_iteration(
        self,
        counters: Counters,
        metrics: Metrics,
        seconds: float,
        elapsed: float,
        nodes: dict[str, float],
    ) -> None:
        """Append an iteration that took `seconds`, `elapsed` seconds after the run's begin.

        `nodes` are the figures of a cluster, if there is one.
        """
        row: dict[str, Any] = {
            "iteration": counters.iterations,
            "samples": counters.samples,
            "games": counters.games,
            "losses": dict(metrics.losses),
            "values": dict(metrics.values),
            "results": dict(metrics.results),
            "endings": dict(metrics.terminations),
        }
        self.metrics.append(row)
        clock = {
            "iteration": counters.iterations,
            "seconds": round(elapsed, 3),
            "iteration_seconds": round(seconds, 6),
            "samples_per_second": round(metrics.samples / max(seconds, 1e-9), 1),
            "games_per_second": round(metrics.games / max(seconds, 1e-9), 2),
            **{key: round(value, 6) for key, value in metrics.timing.items()},
            **nodes,
        }
        self.timing.append(clock)
        if not self.mirrors:
            return
        scalars = {f"losses/{key}": float(value) for key, value in metrics.losses.items()}
        scalars |= {f"values/{key}": float(value) for key, value in metrics.values.items()}
        scalars["speed/samples_per_second"] = clock["samples_per_second"]
        for key in ("results", "endings"):
            counts = row[key]
            total = max(1, sum(counts.values()))
            scalars |= {f"{key}/{name}": count / total for name, count in counts.items()}
        self._mirror(counters.iterations, scalars)

    def add_rating(self, step: int, row: dict[str, Any]) -> None:
        """Append a rating; its time is left out, which is not equal for equal seeds."""
        self.metrics.append({"evaluation": {k: v for k, v in row.items() if k != "seconds"}})
        if row["score"] is not None:  # nothing was played or graded
            self._mirror(step, {f"score/{row['opponent']}": float(row["score"])})

    def sync(self, counters: Counters) -> None:
        """Bring the files to the disk, and note their lengths for the next checkpoint."""
        counters.metrics_bytes = self.metrics.sync()
        counters.timing_bytes = self.timing.sync()

    def close(self) -> None:
        """Close files and mirrors."""
        self.metrics.close()
        self.timing.close()
        for mirror in self.mirrors:
            mirror.close()

    def _mirror(self, step: int, scalars: dict[str, float]) -> None:
        for mirror in self.mirrors:
            mirror.write(step, scalars)
