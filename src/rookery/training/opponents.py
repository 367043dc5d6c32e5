"""Evaluation of a run against any players, the setting `run.opponents`.

The model file of the checkpoint plays, as it would in `rookery arena`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rookery.arena.game import PlayedGame
from rookery.arena.match import MatchSettings, run_match
from rookery.arena.results import Tally
from rookery.players.registry import make_player
from rookery.training.folder import RunError
from rookery.training.recipe import RunSettings
from rookery.training.trainer import MatchScore, never


def play_opponents(
    model: Path,
    settings: RunSettings,
    seed: int,
    board: str,
    over: Callable[[], bool] = never,
) -> list[MatchScore]:
    """A match of `settings.opponent_games` games against each of `settings.opponents`.

    Once `over`, which is asked between them, no further one is played.
    """
    own = ",".join(part for part in (str(model), settings.play_as) if part)
    scores = []
    for opponent in settings.opponents:
        result = run_match(
            lambda: make_player(own),
            lambda name=opponent: make_player(name),  # type: ignore[misc]
            MatchSettings(games=settings.opponent_games, seed=seed, concurrency=1, board=board),
            names=(model.parent.name, opponent),
            on_game=lambda game: _refuse_own_fault(game, model),
        )
        white, black = (_counts(result.tally, side) for side in ("as_white", "as_black"))
        scores.append(MatchScore(opponent, white, black))
        if over():
            break
    return scores


def _refuse_own_fault(game: PlayedGame, model: Path) -> None:
    """Raise if the run's own player forfeited: a bug must not count as a loss."""
    own_is_white = game.index == 0
    faults = [fault for fault in (game.fault, game.other_fault) if fault is not None]
    own = next((fault for fault in faults if fault.white == own_is_white), None)
    if own is None or game.excused:
        return
    opponent = game.black if own_is_white else game.white
    raise RunError(
        f"the run's own player forfeited a game against {opponent!r} of run.opponents "
        f"({own.kind}: {own.evidence}), so the match was not counted; correct run.play_as, or go "
        f"on without it: rookery resume {model.parents[2]} --set 'run.opponents=[]'"
    )


def _counts(tally: Tally, side: str) -> tuple[int, int, int]:
    counts = getattr(tally, side)
    return counts["wins"], counts["draws"], counts["losses"]
