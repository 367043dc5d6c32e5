"""Do the pool's ratings agree with `rookery rate`? The last checkpoint of a few runs, both ways.

`rookery rate` plays only rungs, climbing from one to the next; the pool also plays checkpoints
against each other. Where results are not transitive the two may differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rookery.base.row_journal import RowJournal
from rookery.players.registry import make_player
from rookery.race.plan import Entrant, Race
from rookery.rating.batches import BatchFile
from rookery.rating.ladder import Climb, LadderSettings
from rookery.rating.rungs import Rung

WAY = "fixed"  # without a clock, so that both see the same player


@dataclass(frozen=True)
class Check:
    """A rating by `rookery rate`."""

    player: str
    way: str
    elo: float
    low: float
    high: float
    games: int


def read_checks(folder: Path) -> list[Check]:
    """The ratings so far."""
    return _journal(folder).rows


def check_some(
    race: Race,
    rungs: Mapping[str, float],
    count: int,
    games: int,
    stop: Callable[[], bool],
    report: Callable[[str], None],
) -> bool:
    """Rate the last checkpoints of `count` methods on the ladder; whether all were."""
    journal = _journal(race.folder)
    ladder = [Rung(player, elo, 0.0, False, False) for player, elo in rungs.items()]
    for entrant in _chosen(race, count):
        if not entrant.here or any(each.player == entrant.name for each in journal.rows):
            continue
        if stop():
            return False
        spec = race.player(entrant, WAY)
        batches = BatchFile(race.folder / "parts" / f"check-{entrant.name}.jsonl")
        settings = LadderSettings(games=games, openings=race.settings.openings, concurrency=1)
        climb = Climb(
            entrant.name,
            lambda spec=spec: make_player(spec),  # type: ignore[misc]
            ladder,
            lambda rung: lambda: make_player(rung),
            settings,
            batches=batches,
        )
        found = climb.run()
        played = sum(standing.games for standing in found.standings)
        check = Check(entrant.name, WAY, found.elo, found.low, found.high, played)
        content: dict[str, Any] = asdict(check)
        journal.append(content)
        report(f"check: {entrant.name} {found.elo:.0f} [{found.low:.0f}, {found.high:.0f}]")
    return True


def _chosen(race: Race, count: int) -> list[Entrant]:
    """The last checkpoints of the first methods, seed 1."""
    last = {each.method: each for each in race.entrants() if each.seed == 1}
    return list(last.values())[:count]


def _journal(folder: Path) -> RowJournal[Check]:
    return RowJournal(folder / "checks.jsonl", lambda row: Check(**row), "player", "a rating")
