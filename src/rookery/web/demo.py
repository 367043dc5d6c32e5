"""The demo: train an engine, measure it, play it.

    page opens on "Watch training" -> train for some minutes in a subprocess ->
    matches of the network before and after -> page opens on "Play" -> "Train on" on the page:
    as much training again, and the matches

Training uses an ordinary run folder, so that all other commands work with it afterwards.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rookery.base.user_folders import games_folder
from rookery.rating.networks import network_checksum
from rookery.runs.reader import RunReader
from rookery.web import child
from rookery.web.choices import DEMO, START
from rookery.web.serve import Running, open_page, start

GAMES = 40  # per match
NODES = 1000  # per move, for players that search
# Ten evaluations should take less than a tenth of a five-minute run.
SETTINGS = {"engine": ("evaluation.games=40",)}


@dataclass(frozen=True)
class DemoSettings:
    """The options of `rookery demo`."""

    recipe: str = "engine"
    budget: str = "5m"
    run: Path | None = None  # default: runs/demo, or with a number appended
    seed: int | None = None
    games: int = GAMES
    host: str = "127.0.0.1"
    port: int = 8000
    token: str = ""
    names: tuple[str, ...] = ()
    browser: bool = True
    json: bool = False  # train and measure, print one JSON object, serve no page


def run_demo(settings: DemoSettings) -> int:
    """Run the demo until Ctrl-C."""
    from rookery.training.folder import free_run_path

    run = settings.run or free_run_path(Path("runs"), "demo")
    note = f"Training: {settings.recipe}, {settings.budget}. Its progress appears below."
    first: dict[str, Any] = {"tab": "watch", "run": run.name, "note": note, "stage": "train"}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    more = threading.Event()  # set when the page asks for more training
    running = None if settings.json else _serve(settings, run, first, more)
    try:
        _train_and_measure(settings, run, first, running)
        while running is not None:
            running.wait(more)
            if not more.is_set():
                break
            first.update({"tab": "watch", "note": f"Training on, for {settings.budget}."})
            _train_and_measure(settings, run, first, running, again=True)
            more.clear()
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
    finally:
        if running is not None:
            running.stop()
    return 0


def _train_and_measure(
    settings: DemoSettings,
    run: Path,
    first: dict[str, Any],
    running: Running | None,
    again: bool = False,
) -> None:
    """Train, play the matches, and say on the page what they showed."""
    finished = train(settings, run, again)
    if not (run / "model.safetensors").is_file():
        raise ValueError(f"the training in {run} ended before it saved a network; see its output")
    first["stage"] = "measure"
    matches = measure(run, settings.games) if finished else []
    budget = str(RunReader(run).recipe()["run"]["budget"])  # of all sessions
    _report(run, matches, settings, budget)
    if running is not None:
        _invite(running, run, first, invitation(matches, budget), settings, browser=not again)


def _serve(
    settings: DemoSettings, run: Path, first: dict[str, Any], more: threading.Event
) -> Running:
    running = start(
        settings.host,
        settings.port,
        settings.token,
        runs=run.parent,
        first=first,
        names=settings.names,
        workers=1,  # training needs the cores
        games=games_folder(),
        more=more,
    )
    address = running.url + (f"?token={settings.token}" if settings.token else "")
    print(f"Watch the training at {address}#watch/{run.name}", flush=True)
    if settings.browser:
        open_page(running, f"#watch/{run.name}", settings.token)
    return running


def train(settings: DemoSettings, run: Path, again: bool = False) -> bool:
    """Train in a subprocess with its live display; returns whether it was not interrupted.

    `again` goes on with the run, for as much of the budget again.
    """
    if again:
        words = ["resume", str(run), "--budget", f"+{settings.budget}", "--workers", "0"]
    else:
        words = ["train", settings.recipe, "--run", str(run)]
        words += ["--budget", settings.budget, "--workers", "0"]
        for setting in SETTINGS.get(settings.recipe, ()):
            words += ["--set", setting]
        words += ["--seed", str(settings.seed)] if settings.seed is not None else []
    # With --json, standard output is only for the result.
    process = subprocess.Popen(child.command(words), stdout=sys.stderr if settings.json else None)
    try:
        interrupted = _wait(process, run)
    finally:
        if process.poll() is None:  # we are being terminated; the trainer saves first
            process.terminate()
            process.wait(60)
    keep_start(run)
    if process.returncode != 0:
        raise ValueError(f"training ended with status {process.returncode}; its output says why")
    return not interrupted


def _wait(process: subprocess.Popen[bytes], run: Path) -> bool:
    """Wait for the trainer; returns whether Ctrl-C (which it receives as well) ended it."""
    interrupted = False
    while process.poll() is None:
        try:
            keep_start(run)
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        except KeyboardInterrupt:
            interrupted = True
    return interrupted


def keep_start(run: Path) -> None:
    """Copy the untrained network before its checkpoint is deleted."""
    source = run / "checkpoints" / "00000000" / "model.safetensors"
    target = run / START
    if not target.exists() and source.is_file():
        temporary = run / f".{START}.tmp"
        with contextlib.suppress(OSError):  # deleted at this very moment
            shutil.copyfile(source, temporary)
            temporary.replace(target)


def measure(run: Path, games: int) -> list[dict[str, Any]]:
    """Play short matches before and after; returns results as in `rookery arena --json`."""
    after, before = str(run / "model.safetensors"), str(run / START)
    pairs = [("after", after, "random"), ("after", after, "greedy-safe")]
    if Path(before).is_file():
        pairs = [("before", before, "random"), ("before", before, "greedy-safe"), *pairs]
        pairs.append(("after", after, before))
    found = []
    for when, player, opponent in pairs:
        name = "its own start" if opponent == before else opponent
        print(f"measuring: the network {when} training against {name} ...", file=sys.stderr)
        result = match(player, opponent, games)
        found.append({**result, "when": when, "against": name})
    return found


def match(first: str, second: str, games: int) -> dict[str, Any]:
    """Play a match at a fixed number of nodes."""
    from rookery.arena.limits import MatchLimits
    from rookery.arena.match import MatchSettings, run_match
    from rookery.players.registry import make_player

    settings = MatchSettings(games=games, seed=1, limits=MatchLimits(nodes=NODES))
    result = run_match(
        lambda: make_player(_quoted(first)),
        lambda: make_player(_quoted(second)),
        settings,
        names=(first, second),
    )
    if result.interrupted:
        raise KeyboardInterrupt
    return dict(result.to_json())


def _quoted(player: str) -> str:
    return f'"{player}"' if "/" in player else player


def describe(matches: list[dict[str, Any]], budget: str) -> str:
    """Format all matches as a table, before and after training."""
    rows: dict[str, dict[str, str]] = {}
    for row in matches:
        text = f"{100 * row['score']:5.1f} %  +{row['wins']} ={row['draws']} -{row['losses']}"
        rows.setdefault(str(row["against"]), {})[row["when"]] = text
    lines = [f"{'score against':16}{'before training':24}after {budget}"]
    for against, found in rows.items():
        lines.append(f"{against:16}{found.get('before', ''):24}{found.get('after', '')}".rstrip())
    return "\n".join(lines)


def _report(run: Path, matches: list[dict[str, Any]], settings: DemoSettings, budget: str) -> None:
    content = {"run": str(run), "recipe": settings.recipe, "budget": budget}
    document = {**content, "nodes": NODES, "matches": matches}
    document["network"] = network_checksum(str(run))  # a run that trains on has another
    if settings.json:
        from rookery.base.json_output import write_json

        write_json(document)
        return
    if matches:
        print(describe(matches, budget))
    with contextlib.suppress(OSError):
        (run / DEMO).write_text(json.dumps(document, indent=1, default=str) + "\n")


def invitation(matches: list[dict[str, Any]], budget: str) -> str:
    """Return the note above the board."""
    before = {row["against"]: row["score"] for row in matches if row["when"] == "before"}
    scores = [
        f"{100 * row['score']:.0f} % against {row['against']}"
        + (f" (before: {100 * before[row['against']]:.0f} %)" if row["against"] in before else "")
        for row in matches
        if row["when"] == "after"
    ]
    return f"Trained for {budget}: {', '.join(scores)}. Play it!" if scores else ""


def _invite(
    running: Running,
    run: Path,
    first: dict[str, Any],
    note: str,
    settings: DemoSettings,
    browser: bool,
) -> None:
    """Offer the board; `browser` opens it."""
    time.sleep(2.1)  # until the page's list of players contains the run
    first.update({"tab": "play", "player": f"run:{run.name}", "color": "white", "note": note})
    first["stage"] = "done"
    address = running.url + (f"?token={settings.token}" if settings.token else "")
    print(f"Play it at {address}#play (Ctrl-C to quit; later: rookery play {run})", flush=True)
    if settings.browser and browser:
        open_page(running, "#play", settings.token)
