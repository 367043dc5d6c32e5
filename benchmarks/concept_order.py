"""Which concepts come first in PPO, AlphaZero and the engine, at equal compute?

    python benchmarks/concept_order.py runs/order --seeds 1,2,3 --svg docs/images/concept-order.svg

Trains each method with each seed on one core for so many seconds of processor time, with a
checkpoint every few seconds, and probes some checkpoints of all runs on the same positions. Prints,
as Markdown, what training has added to each concept: the score of the best layer minus that of the
best layer of an untrained network of the same shape (the engine's network grows on the way). Cells
are the mean over the seeds with the lowest and the highest. Runs that are there already are not
trained again; `--train` stops after the training.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rookery.nets.model_file import parse_model
from rookery.probes.activations import require_layers
from rookery.probes.concepts import find_concepts
from rookery.probes.study import Question, Study, ask, study, usable
from rookery.probes.subjects import Subject
from rookery.report.chart import WIDTH, heat_map
from rookery.runs.reader import MODEL

# Small first iterations, so that there is something to see early.
METHODS = {
    "ppo": [],
    # A rate of 0.01 kills most units of this network in the first iteration (docs/probes.md).
    "alphazero": ["selfplay.samples=4096", "learn.learning_rate=0.002", "learn.body_share=1.0"],
    "engine": ["play.first_positions=25000"],
}
TICKS = os.sysconf("SC_CLK_TCK")
CLEAR = 0.1  # gain in every run that counts
TIMES = "cpu.json"  # processor time of each checkpoint
STYLE = """
svg { background: #fff }
.title { font: 600 13px sans-serif; fill: #1d2126 }
.tick { font: 11px sans-serif; fill: #6b7280 }
.middle { text-anchor: middle } .end { text-anchor: end }
.cell { fill: #0072b2 }
.inside { font: 11px sans-serif; fill: #1d2126; text-anchor: middle }
.inside.strong { fill: #fff }
"""


def processor_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def train(method: str, run: Path, seconds: float, budget: str, seed: int) -> None:
    """Train until the processor time or the budget is used up; note the time of checkpoints."""
    settings = [
        "run.checkpoint_seconds=2",
        "run.keep_checkpoints=100000",
        "run.evaluations=0",
        *METHODS[method],
    ]
    rookery = str(Path(sys.executable).with_name("rookery"))
    command = [rookery, "train", method, "--run", str(run), "--json"]
    command += ["--budget", budget, "--seed", str(seed), "--workers", "1"]
    command += [word for setting in settings for word in ("--set", setting)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    rows: dict[int, float] = {}
    spent, stopping = 0.0, False
    while process.poll() is None:
        try:
            spent = processor_seconds(process.pid)
        except OSError:
            break
        folder = run / "checkpoints"
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        for name in sorted(names):
            if name.isdigit():
                rows.setdefault(int(name), spent)
        if spent > seconds and not stopping:
            process.send_signal(signal.SIGINT)
            stopping = True
        time.sleep(0.2)
    process.wait()
    (run / TIMES).write_text(json.dumps({"rows": sorted(rows.items()), "budget": budget}))


def subjects_at(run: Path, times: list[float]) -> list[Subject]:
    """The first network, and those nearest to these times."""
    known = json.loads((run / TIMES).read_text())["rows"]
    rows = [row for row in known if (run / "checkpoints" / f"{row[0]:08d}" / MODEL).is_file()]
    chosen = [rows[0]]
    for wanted in times:
        nearest = min(rows[1:], key=lambda row: abs(row[1] - wanted))
        if nearest in chosen or abs(nearest[1] - wanted) > 0.35 * wanted:
            raise SystemExit(f"{run} has no checkpoint of its own near {wanted:g} s: {rows}")
        chosen.append(nearest)
    subjects = []
    for step, seconds in chosen:
        path = run / "checkpoints" / f"{step:08d}" / MODEL
        network, _ = parse_model(path.read_bytes(), str(path))
        layers = require_layers(network, str(path))
        subjects.append(Subject(f"{seconds:.0f} s", layers, step, seconds))
    return subjects


@dataclass(frozen=True)
class Gains:
    """What training has added to the best layer's score in the runs of one method."""

    names: list[str]
    untrained: dict[str, float]  # score of the first shape with random weights
    added: dict[str, NDArray[np.float64]]  # [seeds, times]

    def order(self) -> list[str]:
        """Concepts by when all runs have gained `CLEAR`, then by the last mean."""
        return sorted(self.names, key=lambda name: (self.clear(name), -self.mean(name)[-1]))

    def mean(self, name: str) -> NDArray[np.float64]:
        """Mean over the seeds [times]."""
        return np.asarray(self.added[name].mean(axis=0))

    def clear(self, name: str) -> int:
        """The first time from which on every seed has gained `CLEAR`; the number of times: none."""
        enough = (self.added[name] >= CLEAR).all(axis=0)
        missing = np.flatnonzero(~enough)
        return int(missing[-1]) + 1 if len(missing) else 0


def gains_of(studies: list[Study]) -> Gains:
    """Compare the studies of some seeds, each with the same number of checkpoints."""
    names = list(dict.fromkeys(row.name for row in studies[0].findings))
    added = {}
    for name in names:
        rows = []
        for found in studies:
            steps = list(dict.fromkeys(row.checkpoint for row in found.findings))[1:]
            best = [found.compared(name, step) for step in steps]
            rows.append([row.score - row.untrained for row in best])
        added[name] = np.array(rows)
    first = studies[0]
    untrained = {
        name: first.compared(name, first.findings[0].checkpoint).untrained for name in names
    }
    return Gains(names, untrained, added)


def table(method: str, found: Gains, times: list[str]) -> str:
    """Markdown: the untrained score, the gains, and from when on a gain is clear in all runs."""
    lines = [
        f"| {method} | untrained | " + " | ".join(times) + " | clear from |",
        "|" + "---|" * (len(times) + 3),
    ]
    for name in found.order():
        cells = [
            f"{column.mean():+.2f} [{column.min():+.2f}, {column.max():+.2f}]"
            for column in found.added[name].T
        ]
        since = [*times, ""][found.clear(name)]
        lines.append(f"| {name} | {found.untrained[name]:.2f} | {' | '.join(cells)} | {since} |")
    return "\n".join(lines)


def picture(charts: list[str], rows: int) -> str:
    """The heat maps of all methods in one SVG file."""
    height = 62 + 20 * rows
    parts = [
        chart.replace("<svg ", f'<svg y="{place * height}" width="{WIDTH}" height="{height}" ', 1)
        for place, chart in enumerate(charts)
    ]
    size = f"0 0 {WIDTH} {height * len(charts)}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}">'
    return f"{head}<style>{STYLE}</style>{''.join(parts)}</svg>\n"


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=32, help="of processor time, each run")
    parser.add_argument("--budget", default="20m", help="of the clock, each")
    parser.add_argument("--times", default="8,15,30", help="seconds at which to probe")
    parser.add_argument("--positions", type=int, default=6000)
    parser.add_argument("--seeds", default="1,2,3", help="of the runs; the positions have seed 1")
    parser.add_argument("--train", action="store_true", help="train only")
    parser.add_argument("--svg", type=Path)
    return parser.parse_args()


def main() -> None:
    """Train, probe, print."""
    options = arguments()
    seeds = [int(word) for word in options.seeds.split(",")]
    runs = {name: [options.folder / f"{name}-{seed}" for seed in seeds] for name in METHODS}
    for place, seed in enumerate(seeds):
        for method in METHODS:
            if not (runs[method][place] / TIMES).is_file():
                train(method, runs[method][place], options.seconds, options.budget, seed)
    if options.train:
        return

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    concepts, _ = usable(find_concepts([]))
    question: Question = ask(concepts, options.positions, 1, say=say)
    times = [float(word) for word in options.times.split(",")]
    labels = [f"{seconds:g} s" for seconds in times]
    charts, rows = [], 0
    for method, folders in runs.items():
        found = gains_of([study(subjects_at(run, times), question, say) for run in folders])
        print(table(method, found, labels), end="\n\n", flush=True)
        order = found.order()
        names = [name.replace("_", " ") for name in order]
        title = f"{method}: score added by training, by seconds of one core, mean of {len(seeds)}"
        charts.append(heat_map(title, names, labels, [list(found.mean(name)) for name in order]))
        rows = max(rows, len(order))
    if options.svg:
        options.svg.write_text(picture(charts, rows), encoding="utf-8")


if __name__ == "__main__":
    main()
