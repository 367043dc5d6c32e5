"""Where a person's own files live: games, kept apart from checkouts and run folders."""

from __future__ import annotations

import os
from pathlib import Path


def games_folder() -> Path:
    """The folder of a person's games: ROOKERY_GAMES, or `rookery/games` in the user's data."""
    chosen = os.environ.get("ROOKERY_GAMES")
    if chosen:
        return Path(chosen)
    user = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(user) / "rookery" / "games"


def make_private(folder: Path) -> None:
    """Create a folder that only its owner can read."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
