"""Games of self-play as PGN in a run's games/: some of each iteration, those of the newest ones.

`games/00000012-selfplay.pgn` holds games that ended in iteration 12. A resumed run removes files
of iterations that it plays again (see `rookery.training.loop`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import chess
import chess.pgn
import numpy as np

from rookery._core import SelfPlayGame
from rookery.base.storage import atomic_write
from rookery.runs.checkpoint import folder_name

SUFFIX = "-selfplay.pgn"
RESULTS = {1: "1-0", 0: "1/2-1/2", -1: "0-1"}
CUT_OFF = "ply_cap"  # ending of a game that was not played to its end


def game_pgn(game: SelfPlayGame, run: str, iteration: int) -> str:
    """A game as PGN; one that was cut off has the result `*`."""
    record = chess.pgn.Game()
    record.headers["Event"] = f"self-play of {run}, iteration {iteration}"
    record.headers["Site"] = "Rookery"
    record.headers["Round"] = str(game.number)
    record.headers["White"] = record.headers["Black"] = run
    cut_off = game.ending == CUT_OFF
    record.headers["Result"] = "*" if cut_off else RESULTS[game.result]
    record.headers["Termination"] = "unterminated" if cut_off else "normal"
    record.headers["Ending"] = game.ending
    if game.start != chess.STARTING_FEN:
        record.setup(game.start)
    node: chess.pgn.GameNode = record
    for move in game.moves:
        node = node.add_variation(chess.Move.from_uci(move))
    return str(record)


def write_selfplay_games(
    folder: Path, iteration: int, games: Sequence[SelfPlayGame], most: int, iterations: int
) -> None:
    """Write at most `most` games of an iteration; forget those before the newest `iterations`.

    Args:
        folder: The run folder; its name is the players'.
        iteration: In which the games ended, from 1.
        games: Those written are evenly chosen.
        most: Of an iteration; 0 writes nothing.
        iterations: Of which games are kept.
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
