"""Climbing the ladder: play rungs until a player is bracketed from both sides, then measure.

First a search for the place (a few games a rung, up or down in growing steps, then by halves),
then the rest of the games against the rungs that tell most: those it scores nearest to 50 %
against, alternating between one it beats and one that beats it. All games count in the fit, with
the rungs held at their ratings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rookery.arena.elo import UNBOUNDED_ELO, estimate_from_games, expected_score
from rookery.arena.limits import MatchLimits
from rookery.arena.match import MatchSettings, PlayerFactory, run_match
from rookery.rating.batches import BatchFile, BatchKey, BatchResult
from rookery.rating.rating import Encounter, rate
from rookery.rating.rungs import SOURCE, Rung

PROBE_GAMES = 8  # games a rung while searching
ROUND_GAMES = 16  # games a rung while measuring
BEYOND_GAMES = 64  # games against the first or last rung that settle that a player is beyond it


@dataclass(frozen=True)
class LadderSettings:
    """How a player is rated.

    Fields:
        games: at most this many.
        width: stop once the 95 % interval is at most this wide (and both sides are bracketed).
        openings: drawn once a pair of games.
        seed: of openings and players.
        concurrency: games at once; 0 chooses by the number of cores.
        limits: of players that have none of their own.
        start: player of the rung to begin with; the middle of the cheap ones by default.
    """

    games: int = 400
    width: float = 90.0
    openings: str = "random:6"
    seed: int = 0
    concurrency: int = 0
    limits: MatchLimits = field(default_factory=MatchLimits)
    start: str = "stockfish,depth=1,random=0.25"

    def describe(self) -> str:
        """One line for reports."""
        return f"openings {self.openings}, limits {self.limits.describe()}, seed {self.seed}"


@dataclass
class Standing:
    """The games against one rung so far."""

    rung: Rung
    wins: int = 0
    draws: int = 0
    losses: int = 0
    faults: int = 0  # games the rated player lost by its own fault

    @property
    def games(self) -> int:
        """Games that count."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Points a game of the rated player; one half before the first game."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.5


@dataclass
class PlayerRating:
    """Where a player stands, and how that is known."""

    player: str
    elo: float
    low: float
    high: float
    standings: list[Standing]
    bracketed: bool  # a rung took half the points or more, and one at most as strong half or less
    unbounded: str  # "", "above" (it scored over half everywhere) or "below" (under half)
    conditions: str  # openings, limits, seed
    seconds: float

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
            "conditions": self.conditions,
            "scale": SOURCE,
            "anchors_played": [rung.player for rung in anchors],
            "seconds": round(self.seconds, 1),
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
    ) -> None:
        """Prepare to rate `player` on `rungs` (itself left out, weakest first).

        Batches of games found in `batches` are not played again; new ones are added to it.
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
        self._batches = batches
        self._started = time.monotonic()
        self._round = 0

    def run(self) -> PlayerRating:
        """Search, then measure."""
        self._search()
        while not self._finished():
            self._play(self._most_telling(), ROUND_GAMES)
        return self.rating()

    def rating(self) -> PlayerRating:
        """The fit to all games so far."""
        played = [s for s in self._standings if s.games]
        encounters = [
            Encounter(self._player, _opponent(s), s.wins, s.draws, s.losses) for s in played
        ]
        if not encounters:
            raise ValueError(f"{self._player!r} has no game that counts; see the faults")
        table = rate(encounters, {_opponent(s): s.rung.elo for s in played})
        found = table[self._player]
        elo, low, high = found.elo, found.low, found.high
        unbounded = self._unbounded()
        if unbounded:
            # Beyond the rungs played the curve is only extrapolated: that end is left open, and
            # the other is what the games against the outermost rung prove.
            end = played[-1 if unbounded == "above" else 0]
            match = estimate_from_games(end.wins, end.draws, end.losses)
            if unbounded == "above":
                low = end.rung.elo + match.elo_low
                elo = max(elo, low)
                high = elo + UNBOUNDED_ELO
            else:
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
            self._settings.describe(),
            time.monotonic() - self._started,
        )

    # Searching

    def _search(self) -> None:
        """Gallop from the start until the score turns, then halve the gap."""
        last = len(self._standings) - 1
        index = self._start
        beaten, lost = -1, last + 1  # highest rung beaten, lowest rung lost to
        step = 1
        while lost - beaten > 1 and self._games() < self._settings.games:
            self._play(self._standings[index], PROBE_GAMES)
            if self._standings[index].score > 0.5:
                beaten = max(beaten, index)
                index = min(index + step, lost - 1) if lost > last else (beaten + lost) // 2
            else:
                lost = min(lost, index)
                index = max(index - step, beaten + 1) if beaten < 0 else (beaten + lost) // 2
            step *= 2

    # Measuring

    def _most_telling(self) -> Standing:
        """The rung whose next games narrow the interval most, from alternating sides.

        The information of a game is p (1 - p). Rungs that depend on load count half: they are
        used where nothing else is near.
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
        if self._games() >= self._settings.games:
            return True
        rating = self.rating()
        if rating.unbounded:
            # Beyond the ladder more games only repeat that; before its end the search continues.
            end = self._standings[-1 if rating.unbounded == "above" else 0]
            return end.games >= BEYOND_GAMES
        return rating.bracketed and rating.high - rating.low <= self._settings.width

    def _bracketed(self) -> bool:
        """Whether it scored half or more against a rung, and half or less against one above."""
        over = [s.rung.elo for s in self._standings if s.games and s.score >= 0.5]
        under = [s.rung.elo for s in self._standings if s.games and s.score <= 0.5]
        return bool(over and under) and min(over) <= max(under)

    def _unbounded(self) -> str:
        """On which side no rung stopped it."""
        scores = [s.score for s in self._standings if s.games]
        if min(scores) > 0.5:
            return "above"
        return "below" if max(scores) < 0.5 else ""

    def _games(self) -> int:
        return sum(s.games for s in self._standings)

    def _play(self, standing: Standing, games: int) -> None:
        """Add games against one rung; each batch has openings of its own."""
        settings = self._settings
        rung = standing.rung
        played = standing.games
        limits = settings.limits
        if rung.load_dependent and limits.movetime is None and settings.concurrency == 0:
            concurrency = 1  # an otherwise idle machine while a timed rung thinks
        else:
            concurrency = settings.concurrency
        games = min(games, max(2, settings.games - self._games()))
        match = MatchSettings(
            games=games + games % 2,
            openings=settings.openings,
            seed=settings.seed + 7919 * played + 104729 * self._standings.index(standing),
            concurrency=concurrency,
            limits=limits,
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
        if self._progress is not None:
            self._progress(self.rating())

    def _match(self, rung: Rung, settings: MatchSettings) -> BatchResult:
        """Play a batch; an interruption goes up, and its games are lost."""
        result = run_match(
            self._factory,
            self._make_opponent(rung.player),
            settings,
            names=(self._player, rung.player),
        )
        if result.interrupted:
            raise KeyboardInterrupt
        tally = result.tally
        if tally.games == 0:
            raise ValueError(
                f"no game of {self._player!r} against {rung.player!r} counts: "
                f"{', '.join(tally.reasons) or 'none was played'}"
            )
        return BatchResult(
            tally.count("wins"),
            tally.count("draws"),
            tally.count("losses"),
            tally.faults["first"].total(),
        )


def _start(rungs: Sequence[Rung], standings: Sequence[Standing], wanted: str) -> int:
    """Which standing to begin with: the rung wanted or, if that is the player, the nearest."""
    elo = next((rung.elo for rung in rungs if rung.player == wanted), None)
    if elo is None:
        return (len(standings) - 1) // 3
    return min(range(len(standings)), key=lambda index: abs(standings[index].rung.elo - elo))


def _opponent(standing: Standing) -> str:
    """Name of a rung in the fit; never equal to the rated player's."""
    return f"rung {standing.rung.player}"
