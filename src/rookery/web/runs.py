"""Training runs as JSON for the page: curves, results, ratings, games, checkpoints.

Curves are thinned out. Everything here may block on the disk and is called in a thread.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rookery.rating.networks import run_ratings
from rookery.report.games import SampleGame, sample_games
from rookery.runs.graded import graded
from rookery.runs.live import read_live
from rookery.runs.nodes import read_nodes
from rookery.runs.reader import MODEL, RunReader, number
from rookery.training.ratings import has_elo
from rookery.web.choices import (
    START,
    checkpoint_steps,
    read_demo,
    run_choices,
    run_names,
    thinned,
)
from rookery.web.piece_worth import piece_worth

MOST_POINTS = 600  # per curve
MOST_SERIES = 24
MOST_RATINGS = 200  # the newest
LOG_LINES = 12
RECENT = 20  # iterations whose results and endings are summed
RATING_KEYS = (
    "iteration",
    "opponent",
    "games",
    "wins",
    "draws",
    "losses",
    "score",
    "elo",
    "elo_low",
    "elo_high",
)
# Recipes that learn from their own games alone, unless they begin with a given network.
SELF_TAUGHT = ("engine", "alphazero", "ppo", "tdleaf", "ddqn")
LIVE_SECONDS = 60.0  # how long boards count as current


class Runs:
    """All runs in a folder."""

    def __init__(self, folder: Path) -> None:
        """Read runs in `folder`, usually `runs`."""
        self.folder = folder
        self._readers: dict[str, RunReader] = {}
        self._games: dict[str, tuple[float, list[dict[str, Any]]]] = {}
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """List the runs, most recent first."""
        return run_names(self.folder)

    def overview(self) -> list[dict[str, Any]]:
        """Return name and recipe of each run."""
        return [
            {"name": name, "recipe": self._recipe(name).get("name", "")} for name in self.names()
        ]

    def read(self, name: str) -> dict[str, Any]:
        """Return everything about one run; `name` must be one of `names()`."""
        if name not in self.names():
            raise KeyError(name)
        folder = self.folder / name
        with self._lock:
            run = self._reader(name)
            metrics, timing = run.metrics(), run.timing()
            games = self._sample_games(run)
        live = self._live(folder)
        recent = metrics[-RECENT:]
        recipe = self._recipe(name)
        last = timing[-1] if timing else {}
        return {
            "name": name,
            "recipe": str(recipe.get("name", "")),
            "summary": str(recipe.get("summary", "")).rstrip("."),
            "selfTaught": recipe.get("name") in SELF_TAUGHT and not recipe.get("initial"),
            "budget": str(_mapping(recipe.get("run")).get("budget", "")),
            "iteration": metrics[-1]["iteration"] if metrics else 0,
            "samples": metrics[-1].get("samples", 0) if metrics else 0,
            "games": metrics[-1].get("games", 0) if metrics else 0,
            "seconds": last.get("seconds", 0),
            "speed": last.get("samples_per_second"),
            "active": run.is_active(),
            "series": series(metrics, timing),
            "results": _added(recent, "results"),
            "endings": _added(recent, "endings"),
            "ratings": [_rating_to_json(row) for row in run.evaluations()[-MOST_RATINGS:]],
            "checkpoints": thinned(checkpoint_steps(folder), 40),
            "hasModel": (folder / MODEL).is_file(),
            "hasStart": (folder / START).is_file(),
            "demo": read_demo(folder),
            "path": f"{folder.parent.name}/{name}",
            "worth": piece_worth(folder / MODEL),
            "strength": strength(folder, timing),
            "networks": networks(folder, timing),
            "live": live["boards"],
            "shownAt": live["time"],
            "sampleGames": games,
            "cluster": self._cluster(folder),
            "log": run.log_lines(LOG_LINES),
        }

    def _recipe(self, name: str) -> dict[str, Any]:
        try:
            return self._reader(name).recipe()
        except (OSError, ValueError):
            return {}

    def _reader(self, name: str) -> RunReader:
        return self._readers.setdefault(name, RunReader(self.folder / name))

    def _live(self, folder: Path) -> dict[str, Any]:
        live = read_live(folder)
        if live is None or time.time() - live["time"] > LIVE_SECONDS:
            return {"time": 0, "boards": []}
        return live

    def _cluster(self, folder: Path) -> dict[str, Any] | None:
        nodes = read_nodes(folder)
        fresh = nodes is not None and time.time() - nodes["time"] <= LIVE_SECONDS
        return nodes if fresh else None

    def _sample_games(self, run: RunReader) -> list[dict[str, Any]]:
        """Return sample games, cached until there are new ones."""
        try:
            changed = (run.path / "games").stat().st_mtime
            known = self._games.get(run.path.name)
            if known is None or known[0] != changed:
                known = (changed, [_game_to_json(game) for game in sample_games(run)])
                self._games[run.path.name] = known
        except OSError:
            return []
        return known[1]


def networks(run: Path, timing: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the networks of a run that can be played, newest first, with their ratings."""
    seconds = {row.get("iteration"): number(row.get("seconds")) for row in timing}
    newest = max(checkpoint_steps(run), default=max((key for key in seconds if key), default=None))
    found = []
    finished = (run / MODEL).is_file()
    for choice in run_choices(run):
        part = choice.id.rpartition("@")[2] if "@" in choice.id else ""
        if finished and part == str(newest):
            continue  # the same network as the newest
        step = newest if not part else int(part) if part.isdigit() else None
        found.append(
            {
                "id": choice.id,
                "newest": not part,
                "step": step,
                "seconds": seconds.get(step),
                "ending": bool(choice.start),
                "rating": None if choice.rating is None else choice.rating.to_json(),
            }
        )
    return found


def strength(run: Path, timing: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the measured ratings of a run over minutes of training, oldest first.

    If every game was won or lost, one end is known and no `elo`: it would follow from the number
    of games alone.
    """
    seconds = {row.get("iteration"): number(row.get("seconds")) for row in timing}
    found = []
    for step, rating in sorted(run_ratings(run).items()):
        when = seconds.get(step)
        if when is not None:
            row = {"minutes": round(when / 60, 2), **rating.to_json()}
            bounded = rating.low is not None and rating.high is not None
            found.append(row if bounded else {**row, "elo": None})
    return found


def _rating_to_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return an evaluation for the page; `positions` is null for a match of games."""
    known, found = has_elo(row), graded(row)
    shown = {key: row.get(key) if known or "elo" not in key else None for key in RATING_KEYS}
    if found is None:
        return {**shown, "positions": None}
    return {**shown, "score": found.share, "positions": {**vars(found), "text": str(found)}}


def _game_to_json(game: SampleGame) -> dict[str, Any]:
    return {
        "title": f"{game.players[:60]}, {game.result}",
        "placements": game.placements,
        "moves": game.moves,
    }


def series(
    metrics: list[dict[str, Any]], timing: list[dict[str, Any]]
) -> dict[str, dict[str, list[float | None]]]:
    """Return curves by group, with iterations under "x"; results are in per cent of the games."""
    return {
        "results": _curves([{**row, "_": _shares(row)} for row in metrics], "_"),
        "losses": _curves(metrics, "losses"),
        "measures": _curves(metrics, "values"),
        "speed": _curves([{**row, "_": row} for row in timing], "_", ("samples_per_second",)),
    }


def _curves(
    rows: list[dict[str, Any]], key: str, names: tuple[str, ...] = ()
) -> dict[str, list[float | None]]:
    chosen = thinned(rows, MOST_POINTS)
    found = names or tuple(dict.fromkeys(n for row in chosen for n in _mapping(row.get(key))))
    curves: dict[str, list[float | None]] = {"x": [number(row.get("iteration")) for row in chosen]}
    for name in found[:MOST_SERIES]:
        curves[str(name)[:60]] = [number(_mapping(row.get(key)).get(name)) for row in chosen]
    return curves


def _shares(row: Mapping[str, Any]) -> dict[str, float]:
    """Return the results of an iteration in per cent; empty without games."""
    counts = {
        str(name): count
        for name, count in _mapping(row.get("results")).items()
        if isinstance(count, int) and count >= 0
    }
    total = sum(counts.values())
    return {name: 100.0 * count / total for name, count in counts.items()} if total else {}


def _added(rows: list[dict[str, Any]], key: str) -> dict[str, int]:
    total: Counter[str] = Counter()
    for row in rows:
        for name, count in _mapping(row.get(key)).items():
            if isinstance(count, int):
                total[str(name)[:40]] += count
    return dict(total.most_common(12))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
