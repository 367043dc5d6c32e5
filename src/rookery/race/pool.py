"""One pool of games for each way of playing: all checkpoints and fixed rungs of the ladder.

Who meets whom is chosen where it tells most. With expected score p and the covariance C of all
ratings, w games between i and j have the information w p (1 - p), and lower the sum of all
variances by w p (1 - p) |C (e_i - e_j)|^2 / (1 + w p (1 - p) V), where V is the variance of their
difference. Each round takes the pairs that lower it most: close ratings, wide intervals, and rungs
where a whole group of players hangs on few games against them. A player is done when its interval
is narrow or it has played its games. The final ratings are one maximum-likelihood fit with the
rungs held at their ratings; nothing but the journal of games is stored.
"""

from __future__ import annotations

import zlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rookery._core import Game
from rookery.arena.elo import ELO_PER_NATURAL_UNIT, pentanomial_of
from rookery.arena.game import PlayedGame
from rookery.arena.match import MatchSettings, run_match
from rookery.base.closing import Closing
from rookery.base.row_journal import RowJournal
from rookery.players.base import Capabilities, Decision, Limits, Player, capabilities_of
from rookery.players.registry import make_player
from rookery.race.plan import Entrant, Race
from rookery.rating.rating import Encounter, Fit, Rating, fit, rate

ROUND = 12  # pairs chosen by one fit
SPREAD = 800.0  # Elo; how far players without games are expected from the rungs' mean
GAMES = {"bare": 80, "fixed": 60, "timed": 16}  # of each checkpoint, about, by way
EVERY = {"bare": 1, "fixed": 1, "timed": 2}  # checkpoint of a run that takes part, by way
OPEN_PLAYERS = 32  # kept in memory: loading one takes as long as a quick game


@dataclass(frozen=True)
class PoolSettings:
    """How much is played."""

    games: int = 60  # of each checkpoint, about
    width: float = 120.0  # Elo; an interval as narrow as this is enough
    openings: str = "random:6"  # one for each pair of games


@dataclass(frozen=True)
class PairRow:
    """Two games from one opening with colours swapped, as the journal keeps them."""

    first: str
    second: str
    round: int  # the pairs of one round were chosen together
    number: int  # how many pairs these two had played before
    points: tuple[float, ...]  # of the first player; a void game is left out
    reasons: tuple[str, ...]
    moves: tuple[str, ...]  # UCI, from the start position, joined by spaces
    faults: tuple[int, int]  # forfeits of the first and the second player

    @classmethod
    def parse(cls, content: Any) -> PairRow:
        """From an object of the journal."""
        lists = {key: tuple(content[key]) for key in ("points", "reasons", "moves", "faults")}
        return cls(**{**content, **lists})


class Pool:
    """The games of one way of playing."""

    def __init__(
        self,
        way: str,
        players: Mapping[str, str],
        anchors: Mapping[str, float],
        journal: Path,
        settings: PoolSettings,
        absent: frozenset[str] = frozenset(),
    ) -> None:
        """Read the journal.

        Args:
            way: Name of the way, part of the seeds.
            players: Specifications of the checkpoints by name.
            anchors: Ratings of the rungs by specification.
            journal: File of the pairs, kept from earlier sessions.
            settings: How much to play.
            absent: Players whose networks are elsewhere: their games count, and they play no more.
        """
        self.way, self.players, self.anchors, self.settings = way, players, anchors, settings
        self.absent = absent
        self._journal = RowJournal(journal, PairRow.parse, "first", "a pair of games")
        self._open = len(players)  # who needed more games at the last look

    @property
    def rows(self) -> list[PairRow]:
        """The pairs between players of this pool; others are of networks that are gone."""
        known = {*self.players, *self.anchors}
        return [row for row in self._journal.rows if {row.first, row.second} <= known]

    def ratings(self) -> dict[str, Rating]:
        """The fit to all games, of the players that games join to a rung."""
        joined = self._joined(self.rows)
        found = [each for each in _encounters(self.rows) if each.first in joined]
        return rate(found, self.anchors) if found else {}

    def _joined(self, rows: Sequence[PairRow]) -> set[str]:
        """The rungs, and the players that a chain of games joins to one."""
        joined = set(self.anchors)
        while more := {
            name
            for row in rows
            for name in (row.first, row.second)
            if name not in joined and {row.first, row.second} & joined
        }:
            joined |= more
        return joined

    def play(self, stop: Callable[[], bool], report: Callable[[str], None]) -> bool:
        """Play until everybody is done or `stop`; whether everybody is."""
        with PlayerShelf(OPEN_PLAYERS) as shelf:
            pairs, number = self._rest_of_round()
            while pairs or (pairs := self.next_round(self.rows)):
                for first, second in pairs:
                    if stop():
                        return False
                    self._play(shelf, first, second, number)
                pairs, number = [], number + 1
                games = sum(len(row.points) for row in self.rows)
                report(f"{self.way}: {games} games, {self._open} of {len(self.players)} to go")
        return True

    def _rest_of_round(self) -> tuple[list[tuple[str, str]], int]:
        """Pairs that an interrupted session chose and did not play, and the number of the round."""
        rows = self.rows
        number = max((row.round for row in rows), default=0)
        played = {(row.first, row.second) for row in rows if row.round == number}
        chosen = self.next_round([row for row in rows if row.round < number]) if rows else []
        rest = [pair for pair in chosen if pair not in played]
        return rest, number if rest else number + 1

    def unfinished(self, rows: Sequence[PairRow], found: Fit) -> set[str]:
        """The players that need more games than those of `rows`, to which `found` is the fit."""
        played: Counter[str] = Counter()
        for row in rows:
            played.update({row.first: 2, row.second: 2})
        z = NormalDist().inv_cdf(0.975)
        wide = {
            name
            for name, variance in zip(found.names, np.diagonal(found.covariance), strict=True)
            if 2 * z * float(np.sqrt(variance)) > self.settings.width
        }
        few = {name for name in self.players if played[name] < self.settings.games}
        # Without a chain of games to a rung there is no rating, however many games there are.
        return wide & (few | set(self.players) - self._joined(rows)) - self.absent

    def next_round(self, rows: Sequence[PairRow]) -> list[tuple[str, str]]:
        """The most informative pairs after those of `rows`; empty when everybody is done."""
        found = fit(_encounters(rows), self.anchors, players=self.players, spread=SPREAD)
        unfinished = self.unfinished(rows, found)
        self._open = len(unfinished)
        if not unfinished:
            return []
        gain = information_gain(found)
        wanted = np.array([name in unfinished for name in found.names])
        gain[~(wanted[:, None] | wanted[None, :])] = 0.0
        away = np.array([name in self.absent for name in found.names])
        gain[away, :] = gain[:, away] = 0.0
        gain = np.triu(gain, 1)
        chosen: list[tuple[str, str]] = []
        while len(chosen) < ROUND and gain.max() > 0:
            i, j = np.unravel_index(int(gain.argmax()), gain.shape)
            chosen.append((found.names[i], found.names[j]))
            for used in (i, j):
                gain[used, :] = gain[:, used] = 0.0
        return chosen

    def _play(self, shelf: PlayerShelf, first: str, second: str, round: int) -> None:
        """Play a pair and store it."""
        number = sum({row.first, row.second} == {first, second} for row in self._journal.rows)
        games: list[PlayedGame] = []
        specs = [self.players.get(name, name) for name in (first, second)]
        result = run_match(
            lambda: shelf.lend(specs[0]),
            lambda: shelf.lend(specs[1]),
            MatchSettings(
                games=2,
                openings=self.settings.openings,
                seed=zlib.crc32(f"{self.way} {first} {second} {number}".encode()),
                concurrency=1,
            ),
            names=(first, second),
            on_game=games.append,
        )
        if result.interrupted:
            raise KeyboardInterrupt
        counted = [game for game in games if not game.void]
        self._journal.append(
            {
                "first": first,
                "second": second,
                "round": round,
                "number": number,
                "points": [game.first_points for game in counted],
                "reasons": [game.reason for game in counted],
                "moves": [" ".join(game.moves) for game in counted],
                "faults": [result.tally.faults[side].total() for side in ("first", "second")],
            }
        )


def information_gain(found: Fit) -> NDArray[np.float64]:
    """How much a pair of games between any two players lowers the sum of all variances [N, N]."""
    natural = found.elos / ELO_PER_NATURAL_UNIT
    covariance = found.covariance / ELO_PER_NATURAL_UNIT**2
    expected = 1 / (1 + np.exp(natural[None, :] - natural[:, None]))
    information = 2 * expected * (1 - expected)
    lowered = covariance @ covariance
    return np.asarray(
        information * differences(lowered) / (1 + information * differences(covariance))
    )


def differences(products: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of scalar products [N, N] of vectors, the squared lengths of their differences [N, N]."""
    own = np.diagonal(products)
    return np.asarray(own[:, None] + own[None, :] - 2 * products)


def _encounters(rows: Iterable[PairRow]) -> list[Encounter]:
    found = []
    for row in rows:
        wins, draws, losses = (row.points.count(points) for points in (1.0, 0.5, 0.0))
        found.append(Encounter(row.first, row.second, wins, draws, losses))
    return found


def pentanomials(
    rows: Iterable[PairRow], side: Callable[[str], str]
) -> dict[tuple[str, str], list[int]]:
    """Complete pairs by points (0, 1/2, 1, 3/2, 2) of the first of two groups.

    `side` is the group of a player, "" for one that does not matter.
    """
    points: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        groups, total = (side(row.first), side(row.second)), sum(row.points)
        if len(row.points) < 2 or "" in groups or groups[0] == groups[1]:
            continue
        if groups[0] > groups[1]:
            groups, total = (groups[1], groups[0]), 2 - total
        points.setdefault(groups, []).append(total)
    return {groups: pentanomial_of(found) for groups, found in sorted(points.items())}


class PlayerShelf(Closing):
    """Players that stay open between matches, the longest unused closed first."""

    def __init__(self, size: int) -> None:
        """Keep at most `size` players."""
        self._size = size
        self._players: OrderedDict[str, Player] = OrderedDict()

    def lend(self, spec: str) -> Player:
        """The player of a specification; closing it leaves it on the shelf."""
        if spec not in self._players:
            while len(self._players) >= self._size:
                self._players.popitem(last=False)[1].close()
            self._players[spec] = make_player(spec)
        self._players.move_to_end(spec)
        return LentPlayer(self._players[spec])

    def close(self) -> None:
        """Close all players."""
        while self._players:
            self._players.popitem()[1].close()


class LentPlayer:
    """A player that somebody else closes."""

    def __init__(self, player: Player) -> None:
        """Pass everything on to `player`, but for `close`."""
        self._player, self.name = player, player.name

    @property
    def capabilities(self) -> Capabilities:
        """Those of the player."""
        return capabilities_of(self._player)

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Ask the player."""
        return self._player.choose(game, rng, limits)

    def new_game(self) -> None:
        """Tell the player."""
        self._player.new_game()

    def close(self) -> None:
        """Do nothing."""


def race_pool(
    race: Race, way: str, anchors: Mapping[str, float], settings: PoolSettings
) -> tuple[Pool, dict[str, Entrant]]:
    """The pool of a way of playing, and its checkpoints by name.

    Games by the clock take long, so only every second checkpoint takes part in them, counted from
    the last one of each run.
    """
    runs: dict[tuple[str, int], list[Entrant]] = {}
    for entrant in race.entrants():
        runs.setdefault((entrant.method, entrant.seed), []).append(entrant)
    chosen = [each for run in runs.values() for each in run[::-1][:: EVERY[way]]]
    players = {each.name: race.player(each, way) for each in chosen}
    journal = race.folder / f"pool-{way}.jsonl"
    absent = frozenset(each.name for each in chosen if not each.here)
    pool = Pool(way, players, anchors, journal, settings, absent)
    return pool, {each.name: each for each in chosen}
