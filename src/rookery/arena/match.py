"""A match of two players: colour-swapped pairs, side by side, resumable, reproducible.

Every game draws its randomness from (seed, pair, game, side), so results do not depend on how
many games run at once or on where a match was interrupted. Games run in threads: engines are
processes of their own and native players release the interpreter lock.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from rookery.arena.game import PlayedGame, play_game
from rookery.arena.limits import Adjudication, MatchLimits
from rookery.arena.load import LoadMonitor
from rookery.arena.native import native_bots, play_native
from rookery.arena.pgn import Journal, StoredGame, stored
from rookery.arena.results import Tally, describe, missing_games
from rookery.arena.sprt import Sprt
from rookery.data.openings import OpeningBook, load_openings, split_plies
from rookery.data.tablebases import Tablebases, find_tablebases
from rookery.engines.workers import run_workers
from rookery.players.base import Player, capabilities_of

PlayerFactory = Callable[[], Player]
"""Makes a player for one worker; called once a worker, so players need not be thread-safe."""


@dataclass(frozen=True)
class MatchSettings:
    """Everything about a match but its players.

    Fields:
        games: how many; two make a pair, an odd last one stays single.
        openings: `start`, `random:PLIES` or a file (`openings.load_openings`).
        seed: of openings and players.
        concurrency: games at the same time; 0 chooses by the number of cores.
        limits: clocks and limits a move.
        adjudication: when to end games early.
        sprt: stop as soon as this test is decided.
        pgn: journal; an existing one of the same match is continued.
        event: the PGN tag.
    """

    games: int = 100
    openings: str = "balanced:8"
    seed: int = 0
    concurrency: int = 0
    limits: MatchLimits = field(default_factory=MatchLimits)
    adjudication: Adjudication = field(default_factory=Adjudication)
    sprt: Sprt | None = None
    pgn: Path | None = None
    event: str = "Rookery match"

    def __post_init__(self) -> None:
        """Refuse impossible numbers."""
        if self.games < 0:
            raise ValueError(f"a match cannot have {self.games} games")
        if self.concurrency < 0:
            raise ValueError(f"concurrency {self.concurrency} is below 0")
        if self.seed < 0:
            raise ValueError(f"seed {self.seed} is below 0")

    def workers(self, players: Sequence[Player] = ()) -> int:
        """Games at the same time; timed games leave every player a core of its own.

        A player may be timed by itself (`stockfish,movetime=50ms`): see `Capabilities.timed`.
        """
        if self.concurrency:
            return self.concurrency
        cores = os.cpu_count() or 1
        limits = self.limits
        timed = limits.time_control is not None or limits.movetime is not None
        for player in players:
            own = capabilities_of(player).timed
            timed = timed or own is True
            timed = timed or (own is None and limits.depth is None and limits.nodes is None)
        return max(1, cores // 2) if timed else cores


@dataclass
class MatchResult:
    """A match as far as it went."""

    first: str
    second: str
    settings: MatchSettings
    tally: Tally
    seconds: float
    interrupted: bool = False
    resumed: int = 0  # games that had been played before
    recovered_bytes: int = 0  # torn bytes cut off the journal
    damaged_copy: Path | None = None  # where they were kept, if they were more than a torn game
    opening_count: int | None = None  # different openings available; None: unlimited

    def to_json(self) -> dict[str, object]:
        """The object that `rookery arena --json` prints."""
        summary = describe(self.first, self.second, self.tally, self.seconds, self.settings.sprt)
        summary |= {
            "seed": self.settings.seed,
            "openings": self.settings.openings,
            "opening_count": self.opening_count,
            "limits": self.settings.limits.describe(),
            "adjudication": self.settings.adjudication.describe(),
            "resumed": self.resumed,
            "interrupted": self.interrupted,
        }
        return summary


def game_rngs(seed: int, pair: int, index: int) -> tuple[np.random.Generator, np.random.Generator]:
    """Randomness of White and Black in one game of a match."""
    white, black = (
        np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(3, pair, index, side)))
        for side in range(2)
    )
    return white, black


def run_match(
    first: PlayerFactory,
    second: PlayerFactory,
    settings: MatchSettings,
    *,
    names: tuple[str, str],
    progress: Callable[[MatchResult], None] | None = None,
    on_game: Callable[[PlayedGame], None] | None = None,
) -> MatchResult:
    """Play a match.

    Args:
        first: makes the first player, whose point of view all results take.
        second: makes its opponent.
        settings: games, openings, limits.
        names: how both are called in PGN and results.
        progress: called after every game with the result so far.
        on_game: called with every game's record.
    """
    book = load_openings(settings.openings, settings.seed)
    match = _Match(first, second, settings, names, book)
    match.progress, match.on_game = progress, on_game
    return match.run()


class _Match:
    """The shared state of the workers; all of it is touched under `_lock` only."""

    def __init__(
        self,
        first: PlayerFactory,
        second: PlayerFactory,
        settings: MatchSettings,
        names: tuple[str, str],
        book: OpeningBook,
    ) -> None:
        self._factories = (first, second)
        self._settings = settings
        self._names = names
        self._book = book
        self._lock = threading.Lock()
        self._stop = threading.Event()  # no new moves: the question is answered
        self._abort = threading.Event()  # interrupted or broken: nothing counts any more
        self._errors: list[BaseException] = []
        self._pairs = 0  # finished ones at the last look
        self._started = time.monotonic()
        self._journal: Journal | None = None
        self._monitor: LoadMonitor | None = None
        self._result = MatchResult(*names, settings, Tally(), 0.0, opening_count=book.size)
        self._tasks: Iterator[tuple[int, int]] = iter(())
        self.progress: Callable[[MatchResult], None] | None = None
        self.on_game: Callable[[PlayedGame], None] | None = None

    def run(self) -> MatchResult:
        settings = self._settings
        played: list[StoredGame] = []
        if settings.pgn is not None:
            self._journal = Journal(settings.pgn, fingerprint(self._names, settings), self._tags())
            played = list(self._journal.games)
            self._result.recovered_bytes = self._journal.dropped_bytes
            self._result.damaged_copy = self._journal.damaged_copy
        try:
            for game in played:
                self._result.tally.add(game)
            self._result.resumed = len(played)
            tasks = missing_games(settings.games, played)
            self._tasks = iter(tasks)
            if tasks and not self._decided():
                samples = [factory() for factory in self._factories]
                bots = native_bots(samples, settings.adjudication)
                workers = settings.workers(samples)
                for player in samples:
                    player.close()
                if bots is not None:
                    self._play_native(bots, tasks)
                else:
                    self._play(min(workers, len(tasks)))
        finally:
            if self._journal is not None:
                with self._lock:
                    self._journal.close()
        self._result.seconds = time.monotonic() - self._started
        if self._errors:
            raise self._errors[0]
        return self._result

    def _play(self, workers: int) -> None:
        self._monitor = LoadMonitor()
        try:
            run_workers(self._work, workers, self._abort)
        except KeyboardInterrupt:
            self._result.interrupted = True
        finally:
            self._monitor.close()

    def _play_native(self, bots: tuple[str, str], tasks: list[tuple[int, int]]) -> None:
        """Both players live in the core: whole batches of games are one call."""
        try:
            cap = self._settings.adjudication.max_plies
            games = play_native(bots, self._names, tasks, self._book, self._settings.seed, cap)
            for record in games:
                self._store(record)
                if self._stop.is_set():
                    return
        except KeyboardInterrupt:
            self._result.interrupted = True

    def _work(self) -> None:
        players: list[Player] = []
        tables: Tablebases | None = None
        try:
            for factory in self._factories:
                players.append(factory())
            if self._settings.adjudication.tablebase:
                tables = find_tablebases()
            while not self._cancelled():
                with self._lock:
                    task = next(self._tasks, None)
                if task is None:
                    return
                record = self._play_one(players, tables, *task)
                if record is not None:
                    self._store(record)
        except BaseException as error:
            # The errors of a worker that was interrupted are of no interest.
            if not self._abort.is_set():
                self._errors.append(error)
            self._abort.set()
        finally:
            for player in players:
                player.close()
            if tables is not None:
                tables.close()

    def _play_one(
        self, players: list[Player], tables: Tablebases | None, pair: int, index: int
    ) -> PlayedGame | None:
        first, second = players
        white, black = (first, second) if index == 0 else (second, first)
        names = self._names if index == 0 else (self._names[1], self._names[0])
        return play_game(
            white,
            black,
            self._book.opening(pair),
            game_rngs(self._settings.seed, pair, index),
            limits=self._settings.limits,
            adjudication=self._settings.adjudication,
            tables=tables,
            pair=pair,
            index=index,
            names=names,
            overload=self._monitor.worst_delay if self._monitor else None,
            cancelled=self._cancelled,
        )

    def _cancelled(self) -> bool:
        return self._stop.is_set() or self._abort.is_set()

    def _store(self, record: PlayedGame) -> None:
        with self._lock:
            if self._abort.is_set():
                return  # its engines may have been killed by us
            if self._journal is not None:
                self._journal.append(record)
            self._result.tally.add(stored(record))
            self._result.seconds = time.monotonic() - self._started
            pairs = sum(self._result.tally.pentanomial)
            if pairs != self._pairs:  # the test is about pairs, and takes some milliseconds
                self._pairs = pairs
                if self._decided():
                    self._stop.set()
            if self.on_game is not None:
                self.on_game(record)
            if self.progress is not None:
                self.progress(self._result)

    def _decided(self) -> bool:
        sprt = self._settings.sprt
        if sprt is None:
            return False
        return sprt.decision(sprt.llr_of_pairs(self._result.tally.pentanomial)) != "continue"

    def _tags(self) -> dict[str, str]:
        settings = self._settings
        control = settings.limits.time_control
        return {
            "Event": settings.event,
            "Site": "local",
            "Date": datetime.date.today().strftime("%Y.%m.%d"),
            "TimeControl": str(control) if control else "-",
            "Limits": settings.limits.describe(),
            "Adjudication": settings.adjudication.describe(),
            "Seed": str(settings.seed),
        }


def fingerprint(names: tuple[str, str], settings: MatchSettings) -> str:
    """Identity of a match: what must be the same for its games to be added up.

    The number of games is not part of it, so a finished match can be made longer.
    """
    openings = settings.openings
    path, plies = split_plies(openings)
    if path.is_file():
        openings = hashlib.sha256(path.read_bytes()).hexdigest()
        openings += "" if plies is None else f":{plies}"
    text = json.dumps(
        [*names, openings, settings.seed, asdict(settings.limits), asdict(settings.adjudication)],
        sort_keys=True,
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]
