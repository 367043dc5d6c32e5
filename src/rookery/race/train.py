"""Training: one run after the other on one core, each with the same processor time.

A run is a recipe as it stands, but for what would be unfair: one worker, no evaluations, its time
counted by the processor. Labels and the network to begin with are made within that time. Whatever
is interrupted goes on where it stopped: labels after a batch, runs at their last checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rookery.data.label_samples import LabelSettings, Progress, write_labels
from rookery.data.sample_writer import SampleWriter
from rookery.engines.find import find_stockfish
from rookery.race.methods import Labels, Start
from rookery.race.plan import Race, RaceRun, Spent
from rookery.runs.reader import RECIPE
from rookery.training.budget import duration
from rookery.training.clocks import processor_seconds
from rookery.training.loop import Outcome
from rookery.training.session import resume, start
from rookery.training.view import View

BATCH = 4000  # positions labelled between two looks at the time
SMALL_BATCH = 200  # until the speed is known
LEAST = 1.0  # seconds that a run gets even if its parts took everything


class Stopped(Exception):
    """The race was asked to stop; everything is saved."""


def train_all(
    race: Race,
    methods: Sequence[str],
    stop: Callable[[], bool],
    report: Callable[[str], None],
    make_view: Callable[[], View],
    seeds: Sequence[int] = (),
) -> None:
    """Train every run of these methods and seeds that is not complete; raises `Stopped`."""
    for run in race.runs(methods):
        if run.spent().finished or (seeds and run.seed not in seeds):
            continue
        report(f"{run.name}: {duration(race.settings.budget)} of processor time")
        train_run(race, run, stop, report, make_view)


def train_run(
    race: Race,
    run: RaceRun,
    stop: Callable[[], bool],
    report: Callable[[str], None],
    make_view: Callable[[], View],
) -> None:
    """Train one run to its end; raises `Stopped`."""
    if stop():
        raise Stopped
    budget, method = race.settings.budget, run.method
    if method.labels is not None:
        _label(run, method.labels, method.labels.share * budget, stop, report)
    places = {"labels": str(run.labels), "start": str(run.start)}
    if method.start is not None:
        seconds = method.start.share * budget
        _begin_with(run, method.start, seconds, places, stop, make_view)
    before = run.spent().seconds
    left = max(LEAST, budget - before)
    milestones = [60 * point - before for point in race.settings.points()]
    kept = ["0it", *(duration(max(1e-3, seconds)) for seconds in milestones if seconds > 0)]
    settings = [setting.format(**places) for setting in method.settings]
    settings += [f"run.milestones={kept}", *race.settings.changes_of(method.name)]
    _session(method.recipe, run.folder, left, run.seed, settings, stop, make_view)
    run.write_spent(replace(run.spent(), finished=True))
    race.remember(race.complete())


def _session(
    recipe: str,
    folder: Path,
    seconds: float,
    seed: int,
    settings: Sequence[str],
    stop: Callable[[], bool],
    make_view: Callable[[], View],
) -> Outcome:
    """Begin or resume a run, to its end; raises `Stopped`."""
    if (folder / RECIPE).is_file():
        outcome = resume(str(folder), workers=1, view=make_view(), stop=stop)
    else:
        common = ["run.clock=processor", "run.evaluations=0"]
        outcome = start(
            recipe,
            str(folder),
            duration(seconds),
            seed,
            1,
            [*common, *settings],
            make_view(),
            stop=stop,
        )
    if not outcome.finished:
        raise Stopped
    return outcome


def _begin_with(
    run: RaceRun,
    first: Start,
    seconds: float,
    places: dict[str, str],
    stop: Callable[[], bool],
    make_view: Callable[[], View],
) -> None:
    """Train the network that a method begins with."""
    if run.spent().start_seconds:
        return
    settings = [setting.format(**places) for setting in first.settings]
    outcome = _session(first.recipe, run.start, seconds, run.seed, settings, stop, make_view)
    run.write_spent(replace(run.spent(), start_seconds=outcome.seconds))


def _label(
    run: RaceRun,
    labels: Labels,
    seconds: float,
    stop: Callable[[], bool],
    report: Callable[[str], None],
) -> None:
    """Label positions until the time is used up; raises `Stopped`."""
    spent = run.spent()
    if spent.label_seconds >= seconds or run.began():
        return
    command = find_stockfish()
    if command is None:
        raise ValueError(
            f"the method {run.method.name!r} needs labels by Stockfish, which is not installed; "
            "install it, or leave the method out with --methods"
        )
    settings = LabelSettings(nodes=labels.nodes, seed=run.seed)
    meaning = {"engine": "stockfish", "observation": labels.observation, **vars(settings)}
    while spent.label_seconds < seconds:
        if stop():
            raise Stopped
        began = processor_seconds()
        progress = Progress(run.labels, meaning)
        after = (progress.shards, progress.samples)
        writer = SampleWriter(run.labels, labels.observation, after=after)
        count = progress.samples + _batch(spent, seconds)
        write_labels([command], writer, count, settings, progress)
        took = processor_seconds() - began
        spent = Spent(progress.samples, spent.label_seconds + took)
        run.write_spent(spent)
        report(f"{run.name}: {spent.labels:,} labels, {duration(round(spent.label_seconds))}")


def _batch(spent: Spent, seconds: float) -> int:
    """How many positions to label next: no more than the time left is likely to allow."""
    if not spent.labels:
        return SMALL_BATCH
    speed = spent.labels / max(spent.label_seconds, 1e-9)
    return max(1, min(BATCH, round(speed * (seconds - spent.label_seconds))))
