"""What is checked before a session begins or resumes a run."""

from __future__ import annotations

import contextlib
import json

from rookery.runs.algorithms import ALGORITHMS
from rookery.runs.checkpoint import MODEL, Checkpoint
from rookery.runs.reader import RECIPE
from rookery.training.folder import RunError, RunFolder
from rookery.training.recipe import Recipe, RecipeError, differences


def check_opponents(recipe: Recipe) -> None:
    """Refuse opponents for a network that cannot play a game of chess from the start."""
    if recipe.run.opponents and not ALGORITHMS.find(recipe.algorithm).whole_games:
        raise RecipeError(
            f"run.opponents = {recipe.run.opponents!r} in recipe {recipe.name!r}: its algorithm "
            f"{recipe.algorithm!r} does not learn whole games of chess, so it can have no matches; "
            "leave the setting out, or empty it with --set 'run.opponents=[]'"
        )


def check_nothing_was_done(folder: RunFolder) -> None:
    """Refuse to begin in a folder whose run has worked but has lost its checkpoints."""
    path = folder.path
    done = len(folder.reader.metrics())
    if not done and not (path / MODEL).exists():
        return
    raise RunError(
        f"{path} has records of {done} iterations but no checkpoint to resume from; put its "
        f"{path / 'checkpoints'} back, or begin again in another folder: "
        f"rookery train {path / RECIPE} --run FOLDER"
    )


def check_recipe(recipe: Recipe, checkpoint: Checkpoint, accept_changes: bool) -> str:
    """The changes of the recipe since a checkpoint, as text; refused unless they are accepted."""
    old = checkpoint.recipe
    # Present names, and defaults for settings added since. A setting that was removed, or whose
    # meaning has changed, makes the old recipe invalid: compare it unchanged.
    with contextlib.suppress(ValueError):
        model = type(recipe)
        known = model.model_validate_json(json.dumps(model.present_names(old)))
        old = known.model_dump(mode="json", exclude_none=True)
    changed = "; ".join(differences(old, recipe.model_dump(mode="json", exclude_none=True)))
    if changed and not accept_changes:
        raise RunError(
            f"the recipe differs from that of checkpoint {checkpoint.path.name}: {changed}; undo "
            "the changes, or pass --accept-changes to continue with them"
        )
    return changed
