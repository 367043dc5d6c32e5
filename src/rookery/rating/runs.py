"""Ratings of training runs: every checkpoint as a player, and `ratings.json` in the folder."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from rookery.players.spec import PlayerSpec, parse_spec

RATINGS = "ratings.json"


def checkpoint_players(player: str) -> list[str]:
    """A run folder (with options) as one player a checkpoint, oldest first; others unchanged."""
    spec = parse_spec(player)
    folder = Path(spec.name) / "checkpoints"
    if not folder.is_dir():
        if Path(spec.name).is_dir():
            raise ValueError(f"{spec.name!r} is no run folder: it has no 'checkpoints' in it")
        return [player]
    steps = sorted((p for p in folder.iterdir() if p.is_dir()), key=lambda p: _number(p.name))
    if not steps:
        raise ValueError(f"{str(folder)!r} holds no checkpoint yet")
    return [str(PlayerSpec(str(step), spec.options)) for step in steps]


def _number(name: str) -> tuple[int, str]:
    digits = "".join(ch for ch in name if ch.isdigit())
    return (int(digits) if digits else 0, name)


def record_rating(player: str, rating: dict[str, object]) -> None:
    """Keep a rating in the run folder that the player came from; others are not kept."""
    folder = _run_folder(Path(parse_spec(player).name))
    if folder is None:
        return
    path = folder / RATINGS
    known = json.loads(path.read_text()) if path.is_file() else {}
    # Training keeps its own evaluations in the same file, under a key of its own.
    document = known if isinstance(known, dict) else {"ladder": known}
    kept = [entry for entry in document.get("ladder", []) if entry["player"] != rating["player"]]
    data = json.dumps({**document, "ladder": [*kept, rating]}, indent=2)
    # Written beside it, synced and renamed, so that a crash leaves the old or the new file.
    with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".tmp", delete=False) as stream:
        stream.write(data + "\n")
        stream.flush()
        os.fchmod(stream.fileno(), 0o644)  # as any other file; temporary ones are private
        os.fsync(stream.fileno())
    os.replace(stream.name, path)


def _run_folder(path: Path) -> Path | None:
    """The run folder of a run or of one of its checkpoints; None for anything else."""
    if not path.exists():
        return None  # the name of a player, such as greedy
    path = path.resolve()
    if (path / "checkpoints").is_dir():
        return path
    return path.parent.parent if path.parent.name == "checkpoints" else None
