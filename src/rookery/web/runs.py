"""What is shown of training runs: curves, results, ratings, games, checkpoints.

Runs are read from their folders, also while they go on: rows that were read stay in memory and
only new bytes of metrics.jsonl are read again. Curves are thinned out on their way to the page.
Everything here may wait for the disk and is called in a thread.
"""

from __future__ import annotations

import json
import os
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rookery.runs.live import read_live
from rookery.web.choices import START, checkpoint_steps, run_names, thinned

MOST_POINTS = 600  # of one curve
MOST_SERIES = 24
MOST_BYTES = 64 << 20  # of a records file; more than that is not read
CHUNK = 8 << 20
RECENT = 20  # rows whose results and endings are added up
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
LIVE_SECONDS = 60.0  # for how long boards count as current


class Growing:
    """A file of JSON lines that grows; only what is new is read."""

    def __init__(self, path: Path) -> None:
        """Nothing is read yet."""
        self._path = path
        self._offset = 0
        self._identity: tuple[int, int] | None = None
        self.rows: list[dict[str, Any]] = []

    def refresh(self) -> None:
        """Read what was added; begin again if the file was cut or replaced."""
        try:
            if self._path.is_symlink():
                return
            file = self._path.open("rb")
        except OSError:
            return
        with file:
            status = os.fstat(file.fileno())
            identity = (status.st_dev, status.st_ino)
            if identity != self._identity or status.st_size < self._offset:
                self._offset, self._identity, self.rows = 0, identity, []
            while self._offset < min(status.st_size, MOST_BYTES):
                file.seek(self._offset)
                data = file.read(CHUNK)
                end = data.rfind(b"\n") + 1
                if end == 0:
                    return
                self._offset += end
                self.rows += _rows(data[:end])


def _rows(data: bytes) -> list[dict[str, Any]]:
    found = []
    for line in data.split(b"\n"):
        try:
            row = json.loads(line) if line else None
        except ValueError:
            continue
        if isinstance(row, dict):
            found.append(row)
    return found


class Runs:
    """All runs in a folder."""

    def __init__(self, folder: Path) -> None:
        """Look into `folder`, usually `runs`."""
        self.folder = folder
        self._files: dict[Path, Growing] = {}
        self._games: dict[str, tuple[float, list[dict[str, Any]]]] = {}
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """Runs, the one worked on last first."""
        return run_names(self.folder)

    def overview(self) -> list[dict[str, Any]]:
        """One line for each run."""
        return [
            {"name": name, "recipe": self._recipe(name).get("name", "")} for name in self.names()
        ]

    def read(self, name: str) -> dict[str, Any]:
        """Everything shown of one run; `name` must be one of `names()`."""
        if name not in self.names():
            raise KeyError(name)
        folder = self.folder / name
        with self._lock:
            metrics = [r for r in self._growing(folder / "metrics.jsonl") if "iteration" in r]
            timing = list(self._growing(folder / "timing.jsonl"))
            games = self._sample_games(folder)
        live = self._live(folder)
        recent = metrics[-RECENT:]
        recipe = self._recipe(name)
        last = timing[-1] if timing else {}
        return {
            "name": name,
            "recipe": str(recipe.get("name", "")),
            "summary": str(recipe.get("summary", "")),
            "budget": str(_mapping(recipe.get("run")).get("budget", "")),
            "iteration": metrics[-1]["iteration"] if metrics else 0,
            "samples": metrics[-1].get("samples", 0) if metrics else 0,
            "games": metrics[-1].get("games", 0) if metrics else 0,
            "seconds": last.get("seconds", 0),
            "speed": last.get("samples_per_second"),
            "active": _locked(folder / "lock"),
            "series": series(metrics, timing),
            "results": _added(recent, "results"),
            "endings": _added(recent, "endings"),
            "ratings": ratings(folder),
            "checkpoints": thinned(checkpoint_steps(folder), 40),
            "hasModel": (folder / "model.safetensors").is_file(),
            "hasStart": (folder / START).is_file(),
            "live": live["boards"],
            "shownAt": live["time"],
            "sampleGames": games,
            "log": _tail(folder / "log.txt"),
        }

    def _growing(self, path: Path) -> list[dict[str, Any]]:
        file = self._files.setdefault(path, Growing(path))
        file.refresh()
        return file.rows

    def _recipe(self, name: str) -> dict[str, Any]:
        try:
            return tomllib.loads((self.folder / name / "recipe.toml").read_text("utf-8", "replace"))
        except (OSError, tomllib.TOMLDecodeError):
            return {}

    def _live(self, folder: Path) -> dict[str, Any]:
        live = read_live(folder)
        if live is None or time.time() - live["time"] > LIVE_SECONDS:
            return {"time": 0, "boards": []}
        return live

    def _sample_games(self, folder: Path) -> list[dict[str, Any]]:
        """The newest games of evaluations, read again when there are new ones."""
        games = folder / "games"
        try:
            changed = games.stat().st_mtime
        except OSError:
            return []
        known = self._games.get(folder.name)
        if known is None or known[0] != changed:
            known = (changed, read_sample_games(games))
            self._games[folder.name] = known
        return known[1]


def read_sample_games(folder: Path) -> list[dict[str, Any]]:
    """Games to show on small boards: placements (first FEN fields) and moves in SAN."""
    try:
        from rookery.report.read import read_games

        games = read_games(folder)
    except (ImportError, OSError, ValueError):  # without the training extra there are no runs
        return []
    return [
        {
            "title": f"{game.players[:60]}, {game.result}",
            "placements": game.placements,
            "moves": game.moves,
        }
        for game in games[:6]
    ]


def series(
    metrics: list[dict[str, Any]], timing: list[dict[str, Any]]
) -> dict[str, dict[str, list[float | None]]]:
    """Curves by group: iterations under "x", then each name.

    "losses", "measures" and "speed" as recorded; "results" are shares of the games in per cent.
    """
    return {
        "results": _curves([{**row, "_": _shares(row)} for row in metrics], "_"),
        "losses": _curves(metrics, "losses"),
        "measures": _curves(metrics, "values"),
        "speed": _curves([{**row, "_": row} for row in timing], "_", ("samples_per_second",)),
    }


def _curves(
    rows: list[dict[str, Any]], key: str, names: tuple[str, ...] = ()
) -> dict[str, list[float | None]]:
    chosen = _spread(rows)
    found = names or tuple(dict.fromkeys(n for row in chosen for n in _mapping(row.get(key))))
    curves: dict[str, list[float | None]] = {"x": [_number(row.get("iteration")) for row in chosen]}
    for name in found[:MOST_SERIES]:
        curves[str(name)[:60]] = [_number(_mapping(row.get(key)).get(name)) for row in chosen]
    return curves


def _shares(row: Mapping[str, Any]) -> dict[str, float]:
    """How the games of an iteration ended, in per cent; empty without games."""
    counts = {
        str(name): count
        for name, count in _mapping(row.get("results")).items()
        if isinstance(count, int) and count >= 0
    }
    total = sum(counts.values())
    return {name: 100.0 * count / total for name, count in counts.items()} if total else {}


def _spread(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if len(rows) <= MOST_POINTS:
        return rows
    last = len(rows) - 1
    return [rows[round(i * last / (MOST_POINTS - 1))] for i in range(MOST_POINTS)]


def ratings(folder: Path) -> list[dict[str, Any]]:
    """Evaluations, oldest first, with what the page shows of them."""
    try:
        content = json.loads((folder / "ratings.json").read_bytes()[:CHUNK])
    except (OSError, ValueError):
        return []
    rows = _mapping(content).get("evaluations", [])
    return [
        {key: row.get(key) for key in RATING_KEYS}
        for row in (rows if isinstance(rows, list) else [])[-200:]
        if isinstance(row, dict)
    ]


def _added(rows: list[dict[str, Any]], key: str) -> dict[str, int]:
    total: Counter[str] = Counter()
    for row in rows:
        for name, count in _mapping(row.get(key)).items():
            if isinstance(count, int):
                total[str(name)[:40]] += count
    return dict(total.most_common(12))


def _tail(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 4096))
            return file.read(4096).decode("utf-8", "replace").splitlines()[-12:]
    except OSError:
        return []


def _locked(path: Path) -> bool:
    """Whether a trainer holds the lock of a run; the lock itself is not touched.

    Trying to take it, even for an instant, could keep a trainer out that starts just then.
    """
    try:
        inode = path.stat().st_ino
        held = Path("/proc/locks").read_text()
    except OSError:
        return False
    return any(f":{inode} " in line and "FLOCK" in line for line in held.splitlines())


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None  # type: ignore[arg-type]
