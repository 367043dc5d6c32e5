"""Starting and resuming runs: `rookery train` and `rookery resume`.

Heavy packages are imported in the functions, after checking that the extra is installed.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rookery.training import require_extra

if TYPE_CHECKING:
    from rookery.training.loop import Outcome
    from rookery.training.recipe import Recipe
    from rookery.training.view import View

RUNS = Path("runs")


def start(
    recipe: str,
    folder: str | None = None,
    budget: str | None = None,
    seed: int | None = None,
    workers: int | None = None,
    settings: Sequence[str] = (),
    view: View | None = None,
    cluster: str | None = None,
    until: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Run a recipe in a new folder.

    Args:
        recipe: Name of a recipe, or path of a TOML file.
        folder: The run folder; `runs/NAME` (or `runs/NAME-2`, ...) if None.
        budget: Total length of the run, such as "30m" or "1000it".
        seed: Replaces the recipe's.
        workers: Cores to use; 0 means all.
        settings: Changes to the recipe as "key=value".
        view: Shows progress; chosen to fit standard error if None.
        cluster: Ray cluster that plays the games: "auto", "local" or "HOST:PORT".
        until: Stop after so many iterations, for a later `resume`.
        stop: Stop once it returns true; asked between iterations, and during long ones.
    """
    require_extra()
    from rookery.training.folder import RunFolder, free_run_path
    from rookery.training.loop import run_session
    from rookery.training.resources import worker_count
    from rookery.training.start_checks import check_opponents
    from rookery.training.view import make_view

    given = {"run.budget": budget, "run.seed": seed, "run.workers": workers}
    name, resolved = asked_recipe(recipe, settings, {**given, "run.cluster": cluster})
    check_opponents(resolved)
    worker_count(resolved.run.workers)
    path = Path(folder) if folder is not None else free_run_path(RUNS, name)
    run = RunFolder.create(path, resolved)
    try:
        return run_session(run, resolved, view or make_view(), until=until, stop=stop)
    except BaseException:
        # Remove the folder of a run that could not begin.
        if not run.checkpoints.steps():
            shutil.rmtree(path, ignore_errors=True)
        raise


def resume(
    folder: str | None = None,
    budget: str | None = None,
    workers: int | None = None,
    settings: Sequence[str] = (),
    accept_changes: bool = False,
    view: View | None = None,
    cluster: str | None = None,
    until: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Resume a run from its newest intact checkpoint.

    Args:
        folder: The run folder; the most recently active one in runs/ if None.
        budget: A new total ("3h"), or an addition ("+1h"); the run's own if None.
        workers: Cores to use; 0 means all.
        settings: Changes to the recipe as "key=value"; need `accept_changes`.
        accept_changes: Resume although the recipe differs from that of the checkpoint.
        view: Shows progress; chosen to fit standard error if None.
        cluster: Ray cluster that plays the games; "" for this machine, None as before.
        until: Stop after so many iterations of the run.
        stop: Stop once it returns true.
    """
    require_extra()
    from rookery.training.budget import parse_budget
    from rookery.training.folder import RunFolder, newest_run
    from rookery.training.loop import run_session
    from rookery.training.recipe import parse_changes, recipe_model
    from rookery.training.start_checks import check_opponents
    from rookery.training.view import make_view

    if budget is not None:
        parse_budget(budget)
    run = RunFolder.open(Path(folder) if folder is not None else newest_run(RUNS))
    changes = parse_changes(settings, recipe_model(run.reader.recipe(), str(run.path)))
    changes |= _given({"run.workers": workers, "run.cluster": cluster})
    recipe = run.recipe(changes)
    check_opponents(recipe)
    return run_session(run, recipe, view or make_view(), budget or "", accept_changes, until, stop)


def asked_recipe(
    source: str, settings: Sequence[str], options: dict[str, Any]
) -> tuple[str, Recipe]:
    """A recipe's name, and the recipe with `settings` and the options that are not None."""
    from rookery.training.recipe import parse_changes, read_recipe, recipe_model, resolve

    name, content = read_recipe(source)
    changes = parse_changes(settings, recipe_model(content, name)) | _given(options)
    return name, resolve(name, content, changes)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None}
