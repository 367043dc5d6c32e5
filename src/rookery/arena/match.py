"""A match between two players in colour-swapped pairs: concurrent, resumable, reproducible.

The random streams of a game depend only on (seed, pair, game, side), so results do not depend on
the number of games at once or on interruptions. Games run in threads: engines are separate
processes, and native players release the interpreter lock.
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

from rookery._core import STANDARD_BOARD
from rookery.arena.game import PlayedGame, game_rngs, play_game
from rookery.arena.limits import Adjudication, MatchLimits
from rookery.arena.load import LoadMonitor
from rookery.arena.native import native_bots, play_native
from rookery.arena.pgn import Journal, StoredGame, stored
from rookery.arena.remote import play_remote, refuse_timed
from rookery.arena.results import Tally, describe, missing_games
from rookery.arena.sprt import Sprt
from rookery.cluster.pool import Pool
from rookery.data.openings import OpeningBook, load_openings, split_plies
from rookery.data.tablebases import Tablebases, find_tablebases
from rookery.engines.workers import run_workers
from rookery.players.base import Player, capabilities_of, require_board

PlayerFactory = Callable[[], Player]  # called once per worker: players need not be thread-safe


@dataclass(frozen=True)
class MatchSettings:
    """Everything about a match except its players."""

    games: int = 100  # two make a pair; an odd last one stays single
    openings: str = "balanced:8"  # see `openings.load_openings`
    board: str = STANDARD_BOARD
    seed: int = 0
    concurrency: int = 0  # games at once; 0: by the number of cores
    limits: MatchLimits = field(default_factory=MatchLimits)
    adjudication: Adjudication = field(default_factory=Adjudication)
    sprt: Sprt | None = None  # stop once this test is decided
    pgn: Path | None = None  # journal; an existing one of the same match is resumed
    event: str = "Rookery match"  # PGN tag

    def __post_init__(self) -> None:
        """Reject negative numbers."""
        for name in ("games", "concurrency", "seed"):
            if vars(self)[name] < 0:
                raise ValueError(f"{name} is {vars(self)[name]}; it must be 0 or more")

    def workers(self, players: Sequence[Player] = ()) -> int:
        """Return the number of games at once; timed games get one core per player.

        A player may have its own time limit (`stockfish,movetime=50ms`, `Capabilities.timed`).
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
    """The result of a match so far."""

    first: str
    second: str
    settings: MatchSettings
    tally: Tally
    seconds: float
    interrupted: bool = False
    resumed: int = 0  # games read from the journal
    recovered_bytes: int = 0  # damaged bytes cut off the journal
    damaged_copy: Path | None = None  # their copy, if they were more than an incomplete game
    opening_count: int | None = None  # distinct openings available; None: unlimited

    def to_json(self) -> dict[str, object]:
        """Return the object that `rookery arena --json` prints."""
        found = describe(self.first, self.second, self.tally, self.seconds, self.settings.sprt)
        return found | {
            "seed": self.settings.seed,
            "openings": self.settings.openings,
            "board": self.settings.board,
            "opening_count": self.opening_count,
            "limits": self.settings.limits.describe(),
            "adjudication": self.settings.adjudication.describe(),
            "resumed": self.resumed,
            "interrupted": self.interrupted,
        }


def run_match(
    first: PlayerFactory,
    second: PlayerFactory,
    settings: MatchSettings,
    *,
    names: tuple[str, str],
    progress: Callable[[MatchResult], None] | None = None,
    on_game: Callable[[PlayedGame], None] | None = None,
    pool: Pool | None = None,
    specs: tuple[str, str] | None = None,
) -> MatchResult:
    """Play a match; results are those of the first player.

    `progress` is called after every game with the result so far, `on_game` with its record. With a
    `pool` the games are played on a cluster by the players that `specs` describe.
    """
    book = load_openings(settings.openings, settings.seed, board=settings.board)
    cluster = (pool, specs or names) if pool is not None else None
    return _Match((first, second), settings, names, book, progress, on_game, cluster).run()


@dataclass
class _Match:
    """The shared state of the workers, accessed only under `_lock`."""

    _factories: tuple[PlayerFactory, PlayerFactory]
    _settings: MatchSettings
    _names: tuple[str, str]
    _book: OpeningBook
    _progress: Callable[[MatchResult], None] | None
    _on_game: Callable[[PlayedGame], None] | None
    _cluster: tuple[Pool, tuple[str, str]] | None = None  # with the players' specifications

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._stop = threading.Event()  # the SPRT is decided
        self._abort = threading.Event()  # interrupted or failed: nothing counts any more
        self._errors: list[BaseException] = []
        self._pairs = 0  # finished pairs when the SPRT was last computed
        self._started = time.monotonic()
        self._journal: Journal | None = None
        self._monitor: LoadMonitor | None = None
        size = self._book.size
        self._result = MatchResult(*self._names, self._settings, Tally(), 0.0, opening_count=size)
        self._tasks: Iterator[tuple[int, int]] = iter(())

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
                for name, player in zip(self._names, samples, strict=True):
                    require_board(name, capabilities_of(player).boards, settings.board)
                bots = native_bots(samples, settings.adjudication)
                workers = settings.workers(samples)
                if self._cluster is not None and bots is None:
                    refuse_timed(samples, self._names, settings.limits)
                for player in samples:
                    player.close()
                if bots is not None:
                    self._play_native(bots, tasks)
                elif self._cluster is not None:
                    pool, specs = self._cluster
                    self._take(play_remote(pool, specs, self._names, tasks, self._book, settings))
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
        """Play batches of games in the core, where both players live."""
        cap = self._settings.adjudication.max_plies
        self._take(play_native(bots, self._names, tasks, self._book, self._settings.seed, cap))

    def _take(self, games: Iterator[PlayedGame]) -> None:
        """Store games as they come, until the SPRT is decided."""
        try:
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
            if not self._abort.is_set():  # ignore errors of interrupted workers
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
                return  # we may have killed its engines
            if self._journal is not None:
                self._journal.append(record)
            self._result.tally.add(stored(record))
            self._result.seconds = time.monotonic() - self._started
            pairs = sum(self._result.tally.pentanomial)
            if pairs != self._pairs:  # computing the SPRT takes milliseconds
                self._pairs = pairs
                if self._decided():
                    self._stop.set()
            if self._on_game is not None:
                self._on_game(record)
            if self._progress is not None:
                self._progress(self._result)

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
    """Hash what must agree for games to belong to one match.

    The number of games is left out, so that a finished match can be extended.
    """
    openings = settings.openings
    path, plies = split_plies(openings)
    if path.is_file():
        openings = hashlib.sha256(path.read_bytes()).hexdigest()
        openings += "" if plies is None else f":{plies}"
    if settings.board != STANDARD_BOARD:
        openings += f" on {settings.board}"
    text = json.dumps(
        [*names, openings, settings.seed, asdict(settings.limits), asdict(settings.adjudication)],
        sort_keys=True,
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]
