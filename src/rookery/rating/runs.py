"""Ratings of training runs: every checkpoint as a player, and `ratings.json` in the folder."""

from __future__ import annotations

from pathlib import Path

from rookery.players.spec import PlayerSpec, parse_spec
from rookery.rating.networks import network_checksum
from rookery.runs.reader import read_ratings, write_ratings


def checkpoint_players(player: str) -> list[str]:
    """One player per checkpoint of a run folder, oldest first; other players unchanged."""
    spec = parse_spec(player)
    folder = Path(spec.name) / "checkpoints"
    if not folder.is_dir():
        if Path(spec.name).is_dir():
            raise ValueError(f"{spec.name!r} is not a run folder: it has no 'checkpoints' in it")
        return [player]
    steps = sorted((p for p in folder.iterdir() if p.name.isdigit()), key=lambda p: int(p.name))
    if not steps:
        raise ValueError(f"{str(folder)!r} holds no checkpoint yet")
    return [str(PlayerSpec(str(step), spec.options)) for step in steps]


def record_rating(player: str, rating: dict[str, object]) -> None:
    """Store a rating in the run folder of the player; does nothing for other players."""
    folder = _run_folder(Path(parse_spec(player).name))
    if folder is None:
        return
    # A run that trains on soon has another network.
    checksum = network_checksum(parse_spec(player).name)
    rating = {**rating, "network": checksum} if checksum else rating
    known = read_ratings(folder)
    kept = [entry for entry in known.get("ladder", []) if entry["player"] != rating["player"]]
    write_ratings(folder, {**known, "ladder": [*kept, rating]})


def _run_folder(path: Path) -> Path | None:
    """The run folder of a run or of one of its checkpoints; None for anything else."""
    if not path.exists():
        return None  # the name of a player, such as greedy
    path = path.resolve()
    if (path / "checkpoints").is_dir():
        return path
    return path.parent.parent if path.parent.name == "checkpoints" else None
