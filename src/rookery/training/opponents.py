"""Evaluation of a run against any players, the setting `run.opponents`.

The model file of the checkpoint plays, as it would in `rookery arena`.
"""

from __future__ import annotations

from pathlib import Path

from rookery.arena.match import MatchSettings, run_match
from rookery.arena.results import Tally
from rookery.players.registry import make_player
from rookery.training.recipe import RunSettings
from rookery.training.trainer import MatchScore


def play_opponents(model: Path, settings: RunSettings, seed: int, board: str) -> list[MatchScore]:
    """A match of `settings.opponent_games` games against each of `settings.opponents`."""
    own = ",".join(part for part in (str(model), settings.play_as) if part)
    scores = []
    for opponent in settings.opponents:
        result = run_match(
            lambda: make_player(own),
            lambda name=opponent: make_player(name),  # type: ignore[misc]
            MatchSettings(games=settings.opponent_games, seed=seed, concurrency=1, board=board),
            names=(model.parent.name, opponent),
        )
        white, black = (_counts(result.tally, side) for side in ("as_white", "as_black"))
        scores.append(MatchScore(opponent, white, black))
    return scores


def _counts(tally: Tally, side: str) -> tuple[int, int, int]:
    counts = getattr(tally, side)
    return counts["wins"], counts["draws"], counts["losses"]
