"""Which concepts come first in PPO, AlphaZero and the engine, at equal compute?

    python benchmarks/concept_order.py runs/order --seconds 75 --svg docs/images/concept-order.svg

Trains each method on one core for so many seconds of processor time, with a checkpoint every few
seconds, and probes some checkpoints of all methods on the same positions. Prints, as Markdown, what
training has added to each concept: the score of the best layer minus that of the best layer before
training. Runs that are there already are not trained again.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

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
    "alphazero": ["selfplay.samples=4096"],
    "engine": ["play.first_positions=25000"],
}
TICKS = os.sysconf("SC_CLK_TCK")
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
        if nearest not in chosen and abs(nearest[1] - wanted) <= 0.35 * wanted:
            chosen.append(nearest)
    subjects = []
    for step, seconds in chosen:
        path = run / "checkpoints" / f"{step:08d}" / MODEL
        network, _ = parse_model(path.read_bytes(), str(path))
        layers = require_layers(network, str(path))
        subjects.append(Subject(f"{seconds:.0f} s", layers, step, seconds))
    return subjects


def gains(found: Study) -> dict[str, list[float]]:
    """What training has added to the best layer's score, by concept and checkpoint."""
    steps = list(dict.fromkeys(row.checkpoint for row in found.findings))
    names = dict.fromkeys(row.name for row in found.findings)
    scores = {name: [found.best(name, step).score for step in steps] for name in names}
    return {name: [score - row[0] for score in row] for name, row in scores.items()}


def table(method: str, found: Study, times: list[str]) -> str:
    """Markdown: the first score and the gains, concepts that gain most on top."""
    rows = gains(found)
    first = found.findings[0].checkpoint
    lines = [
        f"| {method} | before training | " + " | ".join(times[1:]) + " |",
        "|" + "---|" * (len(times) + 1),
    ]
    for name in sorted(rows, key=lambda name: -rows[name][-1]):
        begin = found.best(name, first).score
        later = " | ".join(f"{gain:+.2f}" for gain in rows[name][1:])
        lines.append(f"| {name} | {begin:.2f} | {later} |")
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


def main() -> None:
    """Train, probe, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=75, help="of processor time, each")
    parser.add_argument("--budget", default="20m", help="of the clock, each")
    parser.add_argument("--times", default="10,20,40,75", help="seconds at which to probe")
    parser.add_argument("--positions", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--svg", type=Path)
    options = parser.parse_args()
    runs = {name: options.folder / f"{name}-{options.seed}" for name in METHODS}
    for method, run in runs.items():
        if not (run / TIMES).is_file():
            train(method, run, options.seconds, options.budget, options.seed)

    def say(text: str) -> None:
        print(text, file=sys.stderr)

    concepts, _ = usable(find_concepts([]))
    question: Question = ask(concepts, options.positions, options.seed, say=say)
    charts, rows = [], 0
    for method, run in runs.items():
        subjects = subjects_at(run, [float(word) for word in options.times.split(",")])
        found = study(subjects, question, say)
        times = [subject.name for subject in subjects]
        print(table(method, found, times), end="\n\n", flush=True)
        added = gains(found)
        order = sorted(added, key=lambda name: -added[name][-1])
        labels = [name.replace("_", " ") for name in order]
        title = f"{method}: score added since the start, by seconds of one core"
        charts.append(heat_map(title, labels, times, [added[name] for name in order]))
        rows = max(rows, len(order))
    if options.svg:
        options.svg.write_text(picture(charts, rows), encoding="utf-8")


if __name__ == "__main__":
    main()
