"""What a report needs of a run, read from its folder; the run may be going on or damaged."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import chess
import chess.pgn

from rookery.runs.metrics import read_rows
from rookery.training.folder import RunError, RunFolder
from rookery.training.recipe import flatten, recipe_model

LARGEST_PGN = 1 << 20  # bytes of a file that are read
GAMES_PER_RUN = 6


@dataclass(frozen=True)
class SampleGame:
    """A game to step through: one placement (first field of a FEN) more than moves (SAN)."""

    title: str
    players: str
    result: str
    placements: list[str]
    moves: list[str]


@dataclass
class RunData:
    """One run: rows are those of metrics.jsonl, joined with timing.jsonl by iteration."""

    name: str
    recipe: dict[str, Any]  # flat, by dotted key
    rows: list[dict[str, Any]] = field(default_factory=list)
    evaluations: list[dict[str, Any]] = field(default_factory=list)
    games: list[SampleGame] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    colour: int = 0  # its number in charts

    @property
    def last(self) -> dict[str, Any]:
        """The newest row, empty if there is none."""
        return self.rows[-1] if self.rows else {}

    @property
    def seconds(self) -> float:
        """Time spent so far."""
        return number(self.last.get("seconds")) or 0.0

    def opponents(self) -> list[str]:
        """Against whom the run was evaluated, in order of appearance."""
        return list(dict.fromkeys(str(row.get("opponent")) for row in self.evaluations))

    def against(self, opponent: str) -> list[dict[str, Any]]:
        """Evaluations against one opponent, oldest first."""
        return [row for row in self.evaluations if row.get("opponent") == opponent]


def number(value: object) -> float | None:
    """A value as a number, None for anything else (booleans too)."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None  # type: ignore[arg-type]


def read_runs(paths: list[Path]) -> list[RunData]:
    """Read runs; those of equal name get their parent folders as well."""
    runs = [read_run(path) for path in paths]
    names = [run.name for run in runs]
    for run, path in zip(runs, paths, strict=True):
        if names.count(run.name) > 1:
            run.name = str(path)
    return runs


def read_run(path: Path) -> RunData:
    """Read one run."""
    folder = RunFolder.open(path)
    run = RunData(path.resolve().name, flatten(_present_names(folder.recipe_content())))
    clock = {row.get("iteration"): row for row in read_rows(path / "timing.jsonl")}
    for row in read_rows(path / "metrics.jsonl"):
        if "iteration" in row:
            run.rows.append({**clock.get(row["iteration"], {}), **row})
    run.evaluations = [row for row in folder.ratings() if number(row.get("games"))]
    if not run.rows and not run.evaluations:
        raise RunError(f"{path} has nothing to report yet; wait for its first iteration")
    run.games = list(read_games(path / "games"))
    log = path / "log.txt"
    if log.is_file():
        run.log = log.read_text("utf-8", "replace").splitlines()[-40:]
    return run


def _present_names(recipe: dict[str, Any]) -> dict[str, Any]:
    """A recipe of any age with the present names of its keys, if its algorithm is known here."""
    try:
        return recipe_model(recipe, "").present_names(recipe)
    except ValueError:
        return recipe


def read_games(folder: Path) -> list[SampleGame]:
    """The newest sample games, the newest first; what cannot be understood is left out.

    Games against opponents come before those of self-play, of which there are more.
    """
    found: list[SampleGame] = []
    files = sorted(folder.glob("*.pgn"), reverse=True)
    for path in sorted(files, key=lambda path: path.stem.endswith("-selfplay")):
        if len(found) >= GAMES_PER_RUN or path.is_symlink():
            break
        with path.open("rb") as file:
            text = io.StringIO(file.read(LARGEST_PGN).decode("utf-8", "replace"))
        while len(found) < GAMES_PER_RUN:
            game = chess.pgn.read_game(text)
            if game is None:
                break
            if not game.errors:
                found.append(_sample(game, path.stem))
    return found


def _sample(game: chess.pgn.Game, title: str) -> SampleGame:
    board = game.board()
    placements, moves = [board.board_fen()], []
    for move in game.mainline_moves():
        moves.append(board.san(move))
        board.push(move)
        placements.append(board.board_fen())
    headers = game.headers
    players = f"{headers.get('White', '?')} - {headers.get('Black', '?')}"
    return SampleGame(title, players, headers.get("Result", "*"), placements, moves)
