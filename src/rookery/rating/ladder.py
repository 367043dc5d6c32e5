"""Climbing the ladder: play rungs until a player is bracketed from both sides, then measure.

First an exponential and then a binary search over the rungs, a few games each. The remaining games
are played against the most informative rungs, those with an expected score near 50 %, alternating
between a weaker and a stronger one. The fit uses all games and keeps the rungs' ratings fixed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rookery._core import STANDARD_BOARD
from rookery.arena.elo import UNBOUNDED_ELO, estimate_from_games, expected_score
from rookery.arena.limits import MatchLimits
from rookery.arena.match import MatchSettings, PlayerFactory, run_match
from rookery.cluster.pool import Pool
from rookery.rating.batches import BatchFile, BatchKey, BatchResult
from rookery.rating.rating import Encounter, rate
from rookery.rating.rungs import SOURCE, Rung

PROBE_GAMES = 8  # per rung while searching
ROUND_GAMES = 16  # per rung while measuring
BATCH_SECONDS = 60.0  # that a batch may take of a slow player's time, expecting ...
GAME_MOVES = 60  # ... so many moves a game
BEYOND_GAMES = 64  # against the first or last rung, before a player counts as outside the ladder


@dataclass(frozen=True)
class LadderSettings:
    """How a player is rated."""

    games: int = 400  # at most
    width: float = 90.0  # stop when bracketed and the 95 % interval is at most this wide
    openings: str = "random:6"  # one per pair of games
    seed: int = 0  # of openings and players
    concurrency: int = 0  # parallel games; 0: chosen by the number of cores
    limits: MatchLimits = field(default_factory=MatchLimits)  # for players without their own
    start: str = "stockfish,depth=1,random=0.25"  # first rung; by default a cheap one
    board: str = STANDARD_BOARD
    scale: str = SOURCE  # what ratings are relative to
    seconds: float | None = None  # begin no batch of games that would end later
    expected_seconds: float = 0.0  # a move of the rated player; slow ones play smaller batches

    def describe(self) -> str:
        """One line for reports."""
        board = "" if self.board == STANDARD_BOARD else f" on {self.board}"
        return f"openings {self.openings}{board}, limits {self.limits.describe()}, seed {self.seed}"


@dataclass
class Standing:
    """The games against one rung so far."""

    rung: Rung
    wins: int = 0
    draws: int = 0
    losses: int = 0
    faults: int = 0  # games forfeited by the rated player

    @property
    def games(self) -> int:
        """Counted games."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Points per game of the rated player; 0.5 before the first game."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.5


@dataclass
class PlayerRating:
    """A player's rating, and the games behind it."""

    player: str
    elo: float
    low: float
    high: float
    standings: list[Standing]
    bracketed: bool  # see `Climb._bracketed`
    unbounded: str  # "above": over 50 % against every rung played, "below": under 50 %, or ""
    settings: LadderSettings
    seconds: float
    out_of_time: bool = False  # whether `settings.seconds` ended the rating

    def to_json(self) -> dict[str, object]:
        """The object of `rookery rate --json`."""
        played = [s for s in self.standings if s.games]
        anchors = [s.rung for s in played if s.rung.published]
        return {
            "player": self.player,
            "elo": round(self.elo, 1),
            "elo_low": round(self.low, 1),
            "elo_high": round(self.high, 1),
            "games": sum(s.games for s in played),
            "faults": sum(s.faults for s in played),
            "bracketed": self.bracketed,
            "unbounded": self.unbounded,
            "opponents": [
                {
                    "name": s.rung.player,
                    "elo": round(s.rung.elo, 1),
                    "elo_error": round(s.rung.error, 1),
                    "games": s.games,
                    "score": round(s.score, 4),
                    "wins": s.wins,
                    "draws": s.draws,
                    "losses": s.losses,
                    "published": s.rung.published,
                    "load_dependent": s.rung.load_dependent,
                }
                for s in sorted(played, key=lambda s: s.rung.elo)
            ],
            "conditions": self.settings.describe(),
            "board": self.settings.board,
            "scale": self.settings.scale,
            "anchors_played": [rung.player for rung in anchors],
            "seconds": round(self.seconds, 1),
            "out_of_time": self.out_of_time,
        }


class Climb:
    """The rating of one player."""

    def __init__(
        self,
        player: str,
        factory: PlayerFactory,
        rungs: Sequence[Rung],
        make_opponent: Callable[[str], PlayerFactory],
        settings: LadderSettings,
        progress: Callable[[PlayerRating], None] | None = None,
        batches: BatchFile | None = None,
        pool: Pool | None = None,
        spec: str = "",
    ) -> None:
        """Prepare to rate `player` on the other `rungs`; finished games are kept in `batches`.

        With a `pool`, games against rungs that no clock decides are played on a cluster, by the
        player that `spec` describes.
        """
        ordered = sorted(rungs, key=lambda rung: rung.elo)
        self._standings = [Standing(rung) for rung in ordered if rung.player != player]
        if not self._standings:
            raise ValueError("the ladder has no rung to play against")
        self._start = _start(ordered, self._standings, settings.start)
        self._player = player
        self._factory = factory
        self._make_opponent = make_opponent
        self._settings = settings
        self._progress = progress
        self._batches, self._pool, self._spec = batches, pool, spec or player
        self._started = time.monotonic()
        self._longest = 0.0  # seconds of a batch
        self._round = 0

    def run(self) -> PlayerRating:
        """Search, then measure."""
        self._search()
        while not self._finished():
            self._play(self._most_informative(), ROUND_GAMES)
        return self.rating()

    def rating(self) -> PlayerRating:
        """The fit to all games so far."""
        played = [s for s in self._standings if s.games]
        encounters = [
            Encounter(self._player, _opponent(s), s.wins, s.draws, s.losses) for s in played
        ]
        if not encounters:
            raise ValueError(f"{self._player!r} has no counted game; see the faults")
        found = rate(encounters, {_opponent(s): s.rung.elo for s in played})[self._player]
        elo, low, high = found.elo, found.low, found.high
        unbounded = self._unbounded()
        # Beyond the rungs played the curve is an extrapolation: that end is left open, and the
        # other end follows from the games against the outermost rung.
        end = played[0 if unbounded == "below" else -1]
        match = estimate_from_games(end.wins, end.draws, end.losses)
        if unbounded == "above":
            low = end.rung.elo + match.elo_low
            elo = max(elo, low)
            high = elo + UNBOUNDED_ELO
        elif unbounded == "below":
            high = end.rung.elo + match.elo_high
            elo = min(elo, high)
            low = elo - UNBOUNDED_ELO
        return PlayerRating(
            self._player,
            elo,
            low,
            high,
            self._standings,
            self._bracketed(),
            unbounded,
            self._settings,
            time.monotonic() - self._started,
            self._out_of_time(),
        )

    def _search(self) -> None:
        """Double the step until the score crosses 50 %, then bisect."""
        last = len(self._standings) - 1
        index = self._start
        beaten, lost = -1, last + 1  # highest rung beaten, lowest rung lost to
        step = 1
        while lost - beaten > 1 and not self._exhausted():
            self._play(self._standings[index], PROBE_GAMES)
            if self._standings[index].score > 0.5:
                beaten = max(beaten, index)
                index = min(index + step, lost - 1) if lost > last else (beaten + lost) // 2
            else:
                lost = min(lost, index)
                index = max(index - step, beaten + 1) if beaten < 0 else (beaten + lost) // 2
            step *= 2

    def _most_informative(self) -> Standing:
        """The rung whose games narrow the interval most, weaker and stronger ones in turn.

        The information of a game is p (1 - p). Rungs that depend on load count half.
        """
        elo = self.rating().elo
        below = [s for s in self._standings if s.rung.elo <= elo]
        above = [s for s in self._standings if s.rung.elo > elo]
        self._round += 1
        sides = (below, above) if self._round % 2 else (above, below)
        side = sides[0] or sides[1]

        def information(standing: Standing) -> float:
            p = expected_score(elo - standing.rung.elo)
            return p * (1 - p) * (0.5 if standing.rung.load_dependent else 1.0)

        return max(side, key=information)

    def _finished(self) -> bool:
        if self._exhausted():
            return True
        rating = self.rating()
        if rating.unbounded:
            # Outside the ladder more games add nothing; otherwise keep moving to its end.
            end = self._standings[-1 if rating.unbounded == "above" else 0]
            return end.games >= BEYOND_GAMES
        return rating.bracketed and rating.high - rating.low <= self._settings.width

    def _bracketed(self) -> bool:
        """Whether it scored at least 50 % against a rung and at most 50 % against one as strong."""
        over = [s.rung.elo for s in self._standings if s.games and s.score >= 0.5]
        under = [s.rung.elo for s in self._standings if s.games and s.score <= 0.5]
        return bool(over and under) and min(over) <= max(under)

    def _unbounded(self) -> str:
        """On which side of all rungs played the player is, if it is."""
        scores = [s.score for s in self._standings if s.games]
        if min(scores) > 0.5:
            return "above"
        return "below" if max(scores) < 0.5 else ""

    def _games(self) -> int:
        return sum(s.games for s in self._standings)

    def _exhausted(self) -> bool:
        return self._games() >= self._settings.games or self._out_of_time()

    def _out_of_time(self) -> bool:
        """Whether a batch as long as the longest so far would end too late."""
        limit = self._settings.seconds
        if limit is None or self._games() == 0:
            return False
        return time.monotonic() - self._started + self._longest > limit

    def _batch(self, games: int) -> int:
        """The size of a batch: less than `games` for a slow player, and even.

        It depends on the settings alone, so that a resumed rating finds its batches again.
        """
        expected = GAME_MOVES * self._settings.expected_seconds
        if expected > 0:
            games = min(games, max(2, 2 * round(BATCH_SECONDS / expected / 2)))
        return min(games, max(2, self._settings.games - self._games()))

    def _play(self, standing: Standing, games: int) -> None:
        """Play a batch against one rung, with different openings each time."""
        settings, rung = self._settings, standing.rung
        timed = rung.load_dependent and settings.limits.movetime is None
        games = self._batch(games)
        began = time.monotonic()
        match = MatchSettings(
            games=games + games % 2,
            openings=settings.openings,
            board=settings.board,
            seed=settings.seed + 7919 * standing.games + 104729 * self._standings.index(standing),
            # A timed rung needs an otherwise idle machine.
            concurrency=settings.concurrency or (1 if timed else 0),
            limits=settings.limits,
        )
        key = BatchKey(self._player, rung.player, match.games, match.seed, settings.describe())
        result = self._batches.find(key) if self._batches is not None else None
        if result is None:
            result = self._match(rung, match)
            if self._batches is not None:
                self._batches.add(key, result)
        standing.wins += result.wins
        standing.draws += result.draws
        standing.losses += result.losses
        standing.faults += result.faults
        self._longest = max(self._longest, time.monotonic() - began)
        if self._progress is not None:
            self._progress(self.rating())

    def _match(self, rung: Rung, settings: MatchSettings) -> BatchResult:
        """Play a batch; an interrupted one is not counted."""
        result = run_match(
            self._factory,
            self._make_opponent(rung.player),
            settings,
            names=(self._player, rung.player),
            pool=None if rung.load_dependent else self._pool,
            specs=(self._spec, rung.player),
        )
        if result.interrupted:
            raise KeyboardInterrupt
        tally = result.tally
        if tally.games == 0:
            raise ValueError(
                f"no game of {self._player!r} against {rung.player!r} was counted: "
                f"{', '.join(tally.reasons) or 'none was played'}"
            )
        return BatchResult(
            tally.count("wins"),
            tally.count("draws"),
            tally.count("losses"),
            tally.faults["first"].total(),
        )


def _start(rungs: Sequence[Rung], standings: Sequence[Standing], wanted: str) -> int:
    """Index of the rung to begin with; of the nearest one if the player itself is that rung."""
    elo = next((rung.elo for rung in rungs if rung.player == wanted), None)
    if elo is None:
        return (len(standings) - 1) // 3
    return min(range(len(standings)), key=lambda index: abs(standings[index].rung.elo - elo))


def _opponent(standing: Standing) -> str:
    """Name of a rung in the fit, distinct from the rated player's."""
    return f"rung {standing.rung.player}"
