"""One run per seed: `rookery train --seeds`, which goes on where the same command was stopped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rookery.training import require_extra
from rookery.training.session import asked_recipe, resume, start

if TYPE_CHECKING:
    from rookery.training.folder import RunFolder
    from rookery.training.loop import Outcome
    from rookery.training.recipe import Recipe
    from rookery.training.view import View


def train_seed(
    recipe: str,
    folder: str,
    budget: str | None,
    seed: int,
    workers: int | None = None,
    settings: Sequence[str] = (),
    view: View | None = None,
    cluster: str | None = None,
) -> tuple[Outcome, bool]:
    """Start the run of a seed, or resume it; also whether it had finished before.

    The arguments are those of `start`. A run of another recipe, with other settings or of another
    seed is refused.
    """
    require_extra()
    from rookery.runs.reader import RECIPE
    from rookery.training.folder import RunError, RunFolder
    from rookery.training.recipe import differences

    if not (Path(folder) / RECIPE).exists():
        started = start(recipe, folder, budget, seed, workers, settings, view, cluster)
        return started, False
    run = RunFolder.open(Path(folder))
    _, asked = asked_recipe(recipe, settings, {"run.budget": budget, "run.seed": seed})
    old, new = (each.model_dump(mode="json", exclude_none=True) for each in (run.recipe(), asked))
    changed = "; ".join(differences(old, new))
    if changed:
        raise RunError(
            f"{folder} holds a run already, and not this one ({changed}); continue it with "
            f"'rookery resume {folder}', or choose another --run"
        )
    outcome = _finished(run, asked)
    if outcome is not None:
        return outcome, True
    settings = [*settings, f"run.seed={seed}"]
    return resume(folder, budget, workers, settings, view=view, cluster=cluster), False


def _finished(run: RunFolder, asked: Recipe) -> Outcome | None:
    """The outcome of a run that came to its end, None if there is more to do.

    The log tells, since a run may end before its budget, and be killed after it but before its
    last evaluation.
    """
    from rookery.runs.checkpoint import CheckpointError
    from rookery.training.budget import parse_budget
    from rookery.training.loop import Outcome

    log, steps = run.reader.log_lines(1), run.checkpoints.steps()
    if not steps or not log or " finished after " not in log[0]:
        return None
    try:
        newest = run.checkpoints.read(steps[-1])
    except CheckpointError:  # resuming says so, and falls back on an older one
        return None
    recipe, counters = run.recipe(), newest.counters
    budget = parse_budget(asked.run.budget)
    if budget != parse_budget(recipe.run.budget) and budget.progress(counters) < 1.0:
        return None
    return Outcome(
        run=str(run.path),
        recipe=recipe.name,
        seconds=round(counters.seconds, 3),
        iterations=counters.iterations,
        samples=counters.samples,
        games=counters.games,
        checkpoint=str(newest.path),
        finished=True,
        solved=parse_budget(recipe.run.budget).progress(counters) < 1.0,
        ratings=run.reader.evaluations(),
    )
