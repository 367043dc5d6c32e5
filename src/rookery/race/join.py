"""Join races: runs trained and games played on other machines count as if they were from here.

Only the small files of a race travel (its settings, entrants, costs and journals), not the
networks; what a network elsewhere has not played it plays there. Ratings are comparable because
every pool holds the same rungs at their ratings.
"""

from __future__ import annotations

from pathlib import Path

from rookery.base.storage import atomic_write
from rookery.race.methods import WAYS
from rookery.race.plan import Entrant, Race

JOURNALS = (*(f"pool-{way}.jsonl" for way in WAYS), "skills.jsonl", "checks.jsonl")


def join(folder: Path, other: Path) -> list[str]:
    """Add the complete runs of another race, and their games; the names of the new runs.

    Raises:
        ValueError: The conditions differ, or a run is complete there and another one here.
    """
    theirs = Race.open(other)
    ours = Race.open(folder, theirs.settings)
    mine = ours.entrants()
    added: dict[str, list[Entrant]] = {}
    for entrant in theirs.complete():
        added.setdefault(entrant.run, []).append(entrant)
    for name in {entrant.run for entrant in mine} & set(added):
        here = {entrant.name for entrant in mine if entrant.run == name}
        if here != {entrant.name for entrant in added.pop(name)}:
            raise ValueError(f"{name} is in {folder} and in {other} with other networks; keep one")
    places = {run.name: run for run in ours.runs()}
    for run in theirs.runs():
        if run.name in added:
            places[run.name].write_spent(run.spent())
    rows = [each for each in mine if places[each.run].spent().finished]
    rows += [each for found in added.values() for each in found]
    ours.remember(rows)
    for name in JOURNALS:
        _append(folder / name, other / name)
    return sorted(added)


def _append(ours: Path, theirs: Path) -> None:
    """Add the lines of another journal that ours does not have."""
    if not theirs.exists():
        return
    before = ours.read_text().splitlines() if ours.exists() else []
    present = set(before)
    more = [line for line in theirs.read_text().splitlines() if line not in present]
    if more:
        atomic_write(ours, "\n".join([*before, *more]) + "\n")
