"""What a network can do early: questions with exact answers, asked at every checkpoint.

| skill | question |
|---|---|
| `mates` | mate in one, of 100 positions of bot games |
| `tactics` | the one move that wins two pawns or more, of 100 such positions |
| `endings` | a move that keeps the tablebase's result in king and pawn against king, of 100 |
| `kqk`, `kqk-search` | mate with king and queen against the longest defence, of 20 positions |

The first three are EPD files beside this module, which `benchmarks/race_positions.py` made; they
need no tables. The longest defence is the player `kqk`, whose moves are exact (docs/results.md).
All but the last are asked of the network alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from rookery._core import Game, random_position
from rookery.arena.game import game_rngs, play_game
from rookery.arena.limits import Adjudication
from rookery.base.row_journal import RowJournal
from rookery.data.openings import Opening
from rookery.exams.suites import SuitePosition, read_suite, run_suite
from rookery.players.base import Limits, Player
from rookery.players.registry import make_player
from rookery.race.methods import WAYS
from rookery.race.plan import Entrant, Race

KQK_POSITIONS = 20
KQK_PLIES = 100  # after which the position counts as not won
COST_POSITIONS = 12
MATES = "mates"
ENDINGS = "endings"
TACTICS = "tactics"


@dataclass(frozen=True)
class Skill:
    """A question; `ask` returns how many of how many were right."""

    name: str
    title: str
    way: str
    ask: Callable[[Player], tuple[int, int]]


@dataclass(frozen=True)
class SkillRow:
    """An answer of a checkpoint: a share, or the cost of a move (`cost-WAY`)."""

    player: str
    skill: str
    solved: float  # or seconds of processor time a move
    total: float  # or evaluations a move

    @classmethod
    def parse(cls, content: Any) -> SkillRow:
        """From an object of the journal."""
        return cls(**content)


def positions(name: str) -> list[SuitePosition]:
    """The positions of a skill."""
    with resources.as_file(resources.files("rookery.race") / "positions" / f"{name}.epd") as path:
        return read_suite(path)


def chance(name: str) -> float:
    """The share that a random mover solves."""
    shares = [len(each.best) / Game(each.fen).legal_count() for each in positions(name)]
    return float(np.mean(shares))


def _suite(name: str) -> Callable[[Player], tuple[int, int]]:
    def ask(player: Player) -> tuple[int, int]:
        answers = run_suite(lambda: player, positions(name), Limits())
        return sum(answer.solved for answer in answers), len(answers)

    return ask


def _kqk(player: Player) -> tuple[int, int]:
    """Games from positions of KQK against the longest defence."""
    defender, won = make_player("kqk"), 0
    rules = Adjudication(max_plies=KQK_PLIES)
    for number in range(KQK_POSITIONS):
        opening = Opening(random_position("KQvK", number, "white"))
        game = play_game(player, defender, opening, game_rngs(1, number, 0), adjudication=rules)
        won += game is not None and game.result == "1-0" and game.fault is None
    defender.close()
    return won, KQK_POSITIONS


SKILLS = (
    Skill(MATES, "Mate in one", "bare", _suite(MATES)),
    Skill(TACTICS, "The move that wins material", "bare", _suite(TACTICS)),
    Skill(ENDINGS, "King and pawn: the result is kept", "bare", _suite(ENDINGS)),
    Skill("kqk", "King and queen: mate, no search", "bare", _kqk),
    Skill("kqk-search", "King and queen: mate, with search", "fixed", _kqk),
)


def ask_all(race: Race, stop: Callable[[], bool], report: Callable[[str], None]) -> bool:
    """Ask every checkpoint what has not been asked yet; whether all was asked."""
    journal = skill_journal(race.folder)
    asked = {(row.player, row.skill) for row in journal.rows}
    for entrant in filter(lambda each: each.here, race.entrants()):
        for skill in SKILLS:
            if (entrant.name, skill.name) in asked:
                continue
            if stop():
                return False
            player = make_player(race.player(entrant, skill.way))
            solved, total = skill.ask(player)
            player.close()
            _store(journal, entrant, skill.name, solved, total)
        report(f"skills: {entrant.name}")
    return _measure_costs(race, journal, stop)


def skill_journal(folder: Path) -> RowJournal[SkillRow]:
    """The answers so far."""
    return RowJournal(folder / "skills.jsonl", SkillRow.parse, "player", "an answer")


def _measure_costs(race: Race, journal: RowJournal[SkillRow], stop: Callable[[], bool]) -> bool:
    """What a move of each run's newest checkpoint costs; whether all was measured."""
    newest = {(each.method, each.seed): each for each in race.entrants() if each.here}
    asked = {(row.player, row.skill) for row in journal.rows}
    for entrant in newest.values():
        for way in WAYS:
            if (entrant.name, f"cost-{way}") in asked:
                continue
            if stop():
                return False
            player = make_player(race.player(entrant, way))
            _store(journal, entrant, f"cost-{way}", *cost_of(player))
            player.close()
    return True


def cost_of(player: Player) -> tuple[float, float]:
    """Seconds of processor time and evaluations of a move, on average over a few positions."""
    games = [Game(each.fen) for each in positions(TACTICS)[:COST_POSITIONS]]
    rng = np.random.default_rng(1)
    player.choose(games[0], rng)  # memory is allocated at the first move
    began, evaluations = time.process_time(), 0
    for game in games:
        player.new_game()
        details = player.choose(game, rng).details
        counts = (details.get(key) for key in ("simulations", "leaves", "nodes"))
        evaluations += next((count for count in counts if isinstance(count, int)), 1)
    return (time.process_time() - began) / len(games), evaluations / len(games)


def _store(
    journal: RowJournal[SkillRow], entrant: Entrant, skill: str, solved: float, total: float
) -> None:
    journal.append({"player": entrant.name, "skill": skill, "solved": solved, "total": total})
