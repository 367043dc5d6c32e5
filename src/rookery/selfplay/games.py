"""Sample games of self-play as PGN in a run's games/, for the newest iterations.

`games/00000012-selfplay.pgn` holds games that ended in iteration 12. A resumed run first removes
the files of iterations after its checkpoint (see `rookery.training.loop`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rookery.base.storage import atomic_write
from rookery.data.pgn import RESULTS, pgn_text
from rookery.runs.checkpoint import folder_name
from rookery.selfplay.trees import TreeGame

SUFFIX = "-selfplay.pgn"
CUT_OFF = "ply_cap"  # the ending of a game without a result


def game_pgn(game: TreeGame, run: str, iteration: int) -> str:
    """A finished game as PGN; one that was cut off has the result `*`."""
    cut_off = game.ending == CUT_OFF
    headers = {
        "Event": f"self-play of {run}, iteration {iteration}",
        "Site": "Rookery",
        "Round": str(game.number),
        "Termination": "unterminated" if cut_off else "normal",
        "Ending": game.ending,
    }
    result = "*" if cut_off else RESULTS[game.result]
    return pgn_text(game.moves, run, run, result, start=game.start, headers=headers)


def write_selfplay_games(
    folder: Path, iteration: int, games: Sequence[TreeGame], most: int, iterations: int
) -> None:
    """Write `most` of an iteration's games, evenly spread; keep those of the last `iterations`.

    `folder` is the run folder, whose name the players get; iterations count from 1.
    """
    place = folder / "games"
    if most and games:
        place.mkdir(exist_ok=True)
        chosen = np.unique(np.linspace(0, len(games) - 1, most).astype(int))
        texts = [game_pgn(games[index], folder.name, iteration) for index in chosen]
        path = place / f"{folder_name(iteration)}{SUFFIX}"
        atomic_write(path, "\n\n".join(texts) + "\n")
    if iteration > iterations:
        (place / f"{folder_name(iteration - iterations)}{SUFFIX}").unlink(missing_ok=True)
