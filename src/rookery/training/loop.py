"""The training loop: iterate, record, save, evaluate, stop.

    begin or resume -> [ evaluate if due -> iterate -> record -> checkpoint if due ] until the
    budget is used up or the run is asked to stop -> checkpoint

A crash loses at most `run.checkpoint_seconds` of work, or one iteration if that is longer. Saving
and evaluating leave torch's global random stream as it was (`fork_rng`), so that a run does not
depend on how often it is saved.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from rookery.base.registry import load
from rookery.base.storage import atomic_write, explain
from rookery.nets.model_file import describe, model_bytes
from rookery.runs.algorithms import ALGORITHMS
from rookery.runs.checkpoint import MODEL, Counters, folder_name
from rookery.runs.lock import FolderLock
from rookery.runs.nodes import nodes_text, nodes_timing
from rookery.runs.state import State, seed_of
from rookery.runs.tracking import Wandb
from rookery.training.budget import duration, parse_budget
from rookery.training.clocks import CLOCKS
from rookery.training.evaluation_time import EvaluationTime
from rookery.training.folder import RunError, RunFolder
from rookery.training.memory import keep_freed_memory
from rookery.training.opponents import play_opponents
from rookery.training.ratings import rating_row, rating_text
from rookery.training.recipe import Recipe, flatten, planned_changes, recipe_at
from rookery.training.records import Records
from rookery.training.resources import device_for, open_pool, worker_count
from rookery.training.signals import StopRequest
from rookery.training.start_checks import check_nothing_was_done, check_recipe
from rookery.training.trainer import Abandoned, Context, Trainer
from rookery.training.view import ReadView, Snapshot, View

LONG_ITERATION = 60.0  # seconds
OVERRUN = 1.1  # a long iteration is given up when the time of the budget is exceeded by a tenth
TORCH_STREAM = "rookery.torch"  # torch's global random stream, saved for trainers that use it


class DivergedError(RunError):
    """A loss or a weight is not finite."""


@dataclass(frozen=True)
class Outcome:
    """How a session ended; the numbers are of the whole run."""

    run: str
    recipe: str
    seconds: float
    iterations: int
    samples: int
    games: int
    checkpoint: str
    finished: bool  # the budget is used up or the task solved; otherwise the run was stopped
    solved: bool  # nothing is left to do, whatever the budget
    ratings: list[dict[str, Any]]


def run_session(
    folder: RunFolder,
    recipe: Recipe,
    view: View,
    budget: str = "",
    accept_changes: bool = False,
    until: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Begin a run, or resume its newest intact checkpoint; see `rookery.training.session`.

    `until` ends the session after so many iterations of the run, as if it had been stopped there;
    `stop` ends it once it returns true.
    """
    view = ReadView(view)
    with _explaining(folder), FolderLock(folder.path), StopRequest(view.message) as asked:
        folder.prepare()
        folder.listener = view.message
        session = _Session(folder, recipe, view, lambda: asked.requested or view.unread or stop())
        session.until = until
        try:
            session.restore(accept_changes, budget)
            return session.run()
        finally:
            session.close()


@contextlib.contextmanager
def _explaining(folder: RunFolder) -> Iterator[None]:
    """Turn file errors into one line that says which checkpoint is intact and how to resume."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # one of our messages, such as for missing data
            raise
        steps = folder.checkpoints.steps()
        kept = f"checkpoint {folder_name(steps[-1])} is intact" if steps else "nothing was saved"
        raise RunError(
            f"{explain(error)}; {kept}; then continue with 'rookery resume {folder.path}'"
        ) from error


class _Session:
    """A run while this process works on it."""

    def __init__(
        self, folder: RunFolder, recipe: Recipe, view: View, stopping: Callable[[], bool]
    ) -> None:
        import torch

        self.folder, self.recipe, self.view, self.stopping = folder, recipe, view, stopping
        self.content = recipe.model_dump(mode="json", exclude_none=True)
        self.records = Records(folder.path)
        self.counters = Counters()
        self.budget = parse_budget(recipe.run.budget)
        self.milestones = [parse_budget(text) for text in recipe.run.milestones]
        self.clock = CLOCKS[recipe.run.clock]
        self.saved = -1  # step of the newest checkpoint
        self.last_save = time.monotonic()
        self.last_iteration = 0.0  # seconds
        self.warned = False
        self.until: int | None = None
        self.ratings: list[dict[str, Any]] = []
        workers = worker_count(recipe.run.workers)
        torch.set_num_threads(workers)
        keep_freed_memory()
        torch.manual_seed(seed_of(recipe.run.seed, TORCH_STREAM))
        self.pool = open_pool(recipe, folder)
        self.context: Context[Any] = Context(
            recipe,
            folder.path,
            workers,
            device_for(recipe),
            stopping=self._must_give_up,
            pool=self.pool,
            log=folder.log,
        )
        self.planned = planned_changes(recipe)
        try:
            for iteration in self.planned:
                recipe_at(recipe, iteration)  # fail now rather than then
            self.trainer = self._make_trainer()
        except BaseException:
            if self.pool is not None:
                self.pool.close()
            raise

    def _make_trainer(self) -> Trainer:
        """A trainer with the recipe as it is at this iteration."""
        if self.planned:
            self.context.recipe = recipe_at(self.recipe, self.counters.iterations)
        trainer: Trainer = load(ALGORITHMS.find(self.recipe.algorithm).trainer)(self.context)
        return trainer

    # --- Beginning ---

    def restore(self, accept_changes: bool, budget: str) -> None:
        """Restore the newest intact checkpoint, or begin."""
        found = self.folder.checkpoints.newest()
        if found is not None:
            checkpoint, state = found
            changed = check_recipe(self.recipe, checkpoint, accept_changes)
            self.counters = checkpoint.counters
            self.saved = checkpoint.step
            if self.planned:
                self.trainer.close()
                self.trainer = self._make_trainer()
            self._load(state)
            if changed:
                self.folder.log(f"the recipe changes after {checkpoint.path.name}: {changed}")
        else:
            check_nothing_was_done(self.folder)
        self._drop_lost_records()
        self.started = self.clock() - self.counters.seconds
        self.evaluation_time = EvaluationTime(self.recipe.run.evaluation_share)
        self.evaluated_step = -1
        if budget:
            self.budget = parse_budget(budget, self.counters)
            run = self.recipe.run.model_copy(update={"budget": str(self.budget)})
            self.recipe = self.recipe.model_copy(update={"run": run})
        self.content = self.recipe.model_dump(mode="json", exclude_none=True)
        if self.folder.reader.recipe() != self.content:
            self.folder.write_recipe(self.recipe)
        if found is not None and any(
            checkpoint.recipe["run"][key] != self.content["run"][key]
            for key in ("budget", "evaluations")
        ):
            # The evaluations are due at other times: those already passed count as done.
            self.counters.evaluated = self._evaluations_due()
        self._update_context()
        tracked = self.recipe.run.track == "wandb"
        wandb = Wandb(self.folder.path, self.folder.log) if tracked else None
        self.records.mirror(self.counters.iterations + 1, flatten(self.content), wandb)
        self.view.start(self.folder.path, self.recipe, self.budget)
        if found is None:
            self.folder.log(f"begins: {self.recipe.name}, seed {self.recipe.run.seed}")
            self._save(milestone=self._reaches_milestone())
        else:
            self.folder.log(
                f"resumes from checkpoint {folder_name(self.saved)} with budget {self.budget}"
            )
            if self.trainer.solved:
                self.folder.log("nothing is left to do, whatever the budget")
            elif self.progress() >= 1.0:
                self.folder.log("the budget is used up; for more, pass --budget +1h")

    def _load(self, state: State) -> None:
        import torch

        stream = state.tensors.pop(TORCH_STREAM, None)
        try:
            self.trainer.load_state(state)
        except (ValueError, RuntimeError) as error:
            raise RunError(
                f"checkpoint {folder_name(self.saved)} does not fit the recipe, or another version "
                f"of Rookery made it: {error}; undo the changes, or begin a new run"
            ) from error
        if stream is not None:
            torch.set_rng_state(stream)

    def _drop_lost_records(self) -> None:
        """Drop the records made after the checkpoint: that work will be done again."""
        missing = self.records.cut(self.counters)
        if missing:
            self.folder.log(f"metrics.jsonl has lost {missing} bytes; continuing without them")
        step, rounds = self.counters.iterations, self.counters.rounds
        rows = self.folder.ratings()
        self.ratings = [row for row in rows if row.get("round", 0) <= rounds]
        if rows != self.ratings:
            self.folder.write_ratings(self.ratings)
        for file in (self.folder.path / "games").glob("*.pgn"):
            number = file.stem.partition("-")[0]
            if number.isdigit() and int(number) > step:
                file.unlink()

    # --- Running ---

    def run(self) -> Outcome:
        """Iterate until done; then save."""
        while True:
            self._evaluate_if_due()
            finished = self.progress() >= 1.0
            if finished or self.stopping() or self.counters.iterations == self.until:
                break
            try:
                self._iterate()
            except Abandoned:
                self._return_to_checkpoint()
                continue
            milestone = self._reaches_milestone()
            if milestone or self._save_is_due():
                self._save(milestone)
            if self.counters.iterations in self.planned:
                self._change()
        if self.saved != self.counters.iterations:
            self._save()
        self._publish()
        how = "finished" if finished else "stopped"
        self.folder.log(
            f"{how} after {self.counters.iterations} iterations, {duration(self.counters.seconds)}"
        )
        return self._outcome(finished)

    def progress(self) -> float:
        """Share of the budget used, [0, 1]."""
        self.counters.seconds = self.clock() - self.started
        return 1.0 if self.trainer.solved else self.budget.progress(self.counters)

    def _must_give_up(self) -> bool:
        """Whether the current iteration should be given up; only if nothing else would be lost."""
        if self.saved != self.counters.iterations:
            return False  # it is a short one: `_save_is_due` saves before long ones
        return self.stopping() or (
            self.budget.seconds is not None
            and self.clock() - self.started > OVERRUN * self.budget.seconds
        )

    def _return_to_checkpoint(self) -> None:
        """Undo an iteration that was given up: a new trainer in the state that was saved."""
        self.folder.log(f"iteration {self.counters.iterations + 1} was given up")
        self.trainer.close()
        self.trainer = self._make_trainer()
        found = self.folder.checkpoints.newest()
        if found is None or found[0].step != self.saved:
            raise RunError(f"checkpoint {folder_name(self.saved)} of {self.folder.path} is gone")
        self._load(found[1])
        self._drop_lost_records()

    def _change(self) -> None:
        """Continue with other settings, as if the run had been resumed with them."""
        import torch

        with torch.random.fork_rng(devices=[]):
            state = self.trainer.state()
        state.tensors[TORCH_STREAM] = torch.get_rng_state()
        self.trainer.close()
        self.trainer = self._make_trainer()
        self._load(state)
        what = ", ".join(f"{k}={v}" for k, v in self.planned[self.counters.iterations].items())
        self.folder.log(f"the settings change after {self.counters.iterations} iterations: {what}")

    def _iterate(self) -> None:
        self._update_context()
        began = time.monotonic()
        metrics = self.trainer.iterate()
        seconds = time.monotonic() - began
        counters = self.counters
        for name, loss in metrics.losses.items():
            if not math.isfinite(loss):
                raise self._diverged(f"the loss {name!r} is {loss} in iteration", 1)
        counters.iterations += 1
        counters.samples += metrics.samples
        counters.games += metrics.games
        elapsed = self.clock() - self.started
        nodes = {} if self.pool is None else nodes_timing(self.pool.status)
        self.records.add_iteration(counters, metrics, seconds, elapsed, nodes)
        self.last_iteration = seconds
        if seconds > LONG_ITERATION and not self.warned:
            self.warned = True
            self.folder.log(
                f"an iteration takes {seconds:.0f} s, which a crash would lose; "
                "smaller iterations are safer"
            )
        self.view.update(
            Snapshot(
                replace(counters, seconds=elapsed),
                self.budget,
                metrics,
                seconds,
                rating_text(self.ratings),
                "" if self.pool is None else nodes_text(self.pool.status),
            )
        )

    def _update_context(self) -> None:
        self.context.progress = self.progress()
        self.context.iteration = self.counters.iterations
        self.context.samples = self.counters.samples
        self.context.games = self.counters.games

    def _save_is_due(self) -> bool:
        """Whether the work since the last checkpoint would be too much after one more iteration."""
        work = time.monotonic() - self.last_save
        return work + self.last_iteration >= self.recipe.run.checkpoint_seconds

    def _reaches_milestone(self) -> bool:
        """Whether a milestone has been reached since the last call; it is then counted."""
        self.progress()  # sets the time of the counters
        before = self.counters.milestones
        self.counters.milestones = sum(
            milestone.progress(self.counters) >= 1.0 for milestone in self.milestones
        )
        return self.counters.milestones > before

    def _save(self, milestone: bool = False) -> None:
        import torch

        with torch.random.fork_rng(devices=[]):
            state = self.trainer.state()
        state.tensors[TORCH_STREAM] = torch.get_rng_state()
        self._sync_records()
        try:
            model = self._model_file()
            self.folder.checkpoints.save(state, model, self.counters, self.content, milestone)
        except ValueError as error:
            raise self._diverged(f"{error}, after iteration", 0) from None
        self.saved = self.counters.iterations
        self.last_save = time.monotonic()
        self.folder.checkpoints.thin(self.recipe.run.keep_checkpoints)

    def _sync_records(self) -> None:
        self.records.sync(self.counters)
        self.counters.seconds = self.clock() - self.started

    def _model_file(self) -> bytes:
        import torch

        names = ("iterations", "samples", "games", "seconds")
        totals = {name: getattr(self.counters, name) for name in names}
        with torch.random.fork_rng(devices=[]):
            model = self.trainer.model()
            return model_bytes(model, describe(model, self.content, totals, self.ratings))

    def _diverged(self, what: str, ahead: int) -> DivergedError:
        step = self.counters.iterations + ahead
        message = (
            f"{what} {step}, which was discarded; the last good state is checkpoint "
            f"{folder_name(self.saved)}; continue from it with other settings: "
            f"rookery resume {self.folder.path} --set KEY=VALUE --accept-changes"
        )
        self.folder.log(message)
        return DivergedError(message)

    # --- Evaluating ---

    def _evaluations_due(self) -> int:
        """How many evaluations are due by now."""
        # The small number undoes rounding: after 3 of 10 iterations, 3 of 10 are due, and the
        # first, of the untrained network.
        equal_parts = self.recipe.run.evaluations
        return math.floor(self.progress() * equal_parts + 1e-9) + 1 if equal_parts else 0

    def _evaluate_if_due(self) -> None:
        due = self._evaluations_due()
        if due <= self.counters.evaluated or self._has_no_time_to_evaluate():
            return
        if self.stopping() and self.progress() < 1.0:
            return  # the resumed run begins with it
        began = self.clock()
        if self.saved != self.counters.iterations:
            self._save(milestone=True)
        if self.evaluated_step != self.counters.iterations:  # else the first was also the last
            try:
                self._evaluate()
            except Abandoned:
                self.folder.log("the evaluation was given up")
                return
        self.evaluated_step = self.counters.iterations
        self.counters.evaluated = due
        self._sync_records()
        self.folder.checkpoints.amend(self.saved, self.counters, milestone=True)
        self._publish()
        self.last_save = time.monotonic()
        self.evaluation_time.add(self.clock() - began)

    def _has_no_time_to_evaluate(self) -> bool:
        """Whether an evaluation would take too long; never the first and the last one."""
        if self.progress() >= 1.0 or not self.counters.evaluated:
            return False
        return self.evaluation_time.is_too_short(self.budget.seconds)

    def _evaluate(self) -> None:
        import torch

        step, run = self.counters.iterations, self.recipe.run
        is_last = self.progress() >= 1.0
        end = self.clock() + self.evaluation_time.left(self.budget.seconds, is_last)

        def over() -> bool:
            if self.stopping():
                raise Abandoned
            return self.clock() >= end

        self.context.evaluation_is_over = over
        with torch.random.fork_rng(devices=[]):
            scores = [*self.trainer.evaluate(self.context.generator("evaluation", step))]
            if run.opponents:
                model = self.folder.path / "checkpoints" / folder_name(self.saved) / MODEL
                scores += play_opponents(
                    model, run, self.context.seed("opponents", step), self.recipe.board, over
                )
        if not scores:
            return
        self.counters.rounds += 1
        for score in scores:
            row = rating_row(score, self.counters)
            self.ratings.append(row)
            self.records.add_rating(step, row)
            if score.games:
                name = "".join(c if c.isalnum() else "-" for c in score.opponent)
                self.folder.save_games(f"{folder_name(step)}-{name}", score.games)
            self.folder.log(f"after {step} iterations: {rating_text([row])}")
        self.folder.write_ratings(self.ratings)

    def _publish(self) -> None:
        """Write the run's model file with the ratings so far."""
        atomic_write(self.folder.path / MODEL, self._model_file())

    def _outcome(self, finished: bool) -> Outcome:
        counters = self.counters
        return Outcome(
            run=str(self.folder.path),
            recipe=self.recipe.name,
            seconds=round(counters.seconds, 3),
            iterations=counters.iterations,
            samples=counters.samples,
            games=counters.games,
            checkpoint=str(self.folder.path / "checkpoints" / folder_name(self.saved)),
            finished=finished,
            solved=self.trainer.solved,
            ratings=self.ratings,
        )

    def close(self) -> None:
        """Close trainer, files and display."""
        try:
            self.trainer.close()
        finally:
            if self.pool is not None:
                self.pool.close()
            self.records.close()
            self.view.close()
