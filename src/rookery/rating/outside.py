"""The outside scale: independent engines at the ratings that others published for them.

The ladder of `rookery.rating.rungs` is Stockfish, weakened: one engine and one family of mistakes.
These rungs are other programs, at full strength and equal time, whose ratings are those of CCRL's
lists of computer chess (40 moves in 15 minutes, or Blitz). The two scales need not agree;
docs/measuring.md says why, and neither is corrected by the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rookery._core import STANDARD_BOARD
from rookery.arena.limits import MatchLimits
from rookery.arena.match import PlayerFactory
from rookery.players.spec import PlayerSpec, parse_spec, seconds
from rookery.rating.batches import BatchFile
from rookery.rating.ladder import Climb, PlayerRating
from rookery.rating.pace import Stopwatch
from rookery.rating.rungs import Rung

SOURCE = "ratings published by CCRL (40/15 or Blitz), for other hardware and longer games"
# Rating and half the range of the published ones. Fairy-Max is listed as Micro-Max 4.8, of which
# it is the general form.
PUBLISHED: Mapping[str, tuple[float, float]] = {
    "hoichess": (1795, 0),
    "fairymax": (1860, 0),
    "phalanx": (2632, 23),
    "gnuchess": (2824, 0),
    "stockfish": (3550, 50),
}
SECONDS = 0.1  # a move of the rungs, if neither the match nor the player says otherwise
SLOW = 0.5  # seconds a move, from which few games fit into the time of a rating
FAR = 400.0  # Elo below the weakest rung from which a player would only lose
# These engines are late now and then. That is counted and reported, and loses no game: it would
# say nothing about how well the player plays.
MARGIN = 1.0


@dataclass(frozen=True)
class OutsideRating:
    """A rating on the outside scale, with the time that both sides took over their moves."""

    rating: PlayerRating
    seconds_a_move: float  # that the rungs were given
    times: Mapping[str, Mapping[str, float]]  # by player

    def to_json(self) -> dict[str, Any]:
        """The object under `outside` of `rookery rate --json`."""
        found = self.rating.to_json()
        kept = ("elo", "elo_low", "elo_high", "games", "faults", "bracketed", "unbounded")
        return {
            **{key: found[key] for key in kept},
            "opponents": found["opponents"],
            "conditions": found["conditions"],
            "scale": found["scale"],
            "movetime": self.seconds_a_move,
            "times": {name: dict(row) for name, row in self.times.items()},
            "seconds": found["seconds"],
        }


def stated_seconds(player: str, limits: MatchLimits) -> float | None:
    """The time a move that the match or the player itself states; None: neither does."""
    if limits.movetime is not None:
        return limits.movetime
    own = parse_spec(player).options.get("movetime")
    return None if own is None else seconds(own)


def seconds_of(player: str, limits: MatchLimits) -> float:
    """The time a move of the rungs: the player's, if that is known."""
    return stated_seconds(player, limits) or SECONDS


def slow_start(movetime: float | None) -> str:
    """The rung in the middle of the ladder at which slow players begin; "" for others."""
    return "stockfish,nodes=1000" if (movetime or 0.0) >= SLOW else ""


def outside_rungs(player: str, movetime: float) -> list[Rung]:
    """The rungs for a player, weakest first; not the engine that is rated itself."""
    own = parse_spec(player).name
    return [
        Rung(str(PlayerSpec(name, {"movetime": f"{movetime:g}"})), elo, error, True, True)
        for name, (elo, error) in PUBLISHED.items()
        if name != own
    ]


def why_not(rating: PlayerRating) -> str:
    """Why a player gets no outside rating, "" if it gets one."""
    if rating.settings.board != STANDARD_BOARD:
        return "the engines of the outside scale play on the standard board alone"
    weakest = min(elo for elo, _ in PUBLISHED.values())
    if max(rating.elo, rating.high) < weakest - FAR or rating.unbounded == "below":
        return f"too weak: its rating is more than {FAR:.0f} Elo below the weakest engine's"
    return ""


def rate_outside(
    player: str,
    factory: PlayerFactory,
    rungs: list[Rung],
    make_opponent: Callable[[str], PlayerFactory],
    inside: PlayerRating,
    limit: float | None,
    progress: Callable[[PlayerRating], None] | None = None,
    batches: BatchFile | None = None,
) -> OutsideRating:
    """Rate a player, beginning at the rung nearest to its rating `inside`.

    `limit` is the time in seconds after which no batch of games should end; None: no limit.
    """
    watch = Stopwatch()
    movetime = seconds(parse_spec(rungs[0].player).options["movetime"])
    start = min(rungs, key=lambda rung: abs(rung.elo - inside.elo))
    settings = replace(
        inside.settings,
        limits=replace(inside.settings.limits, margin=MARGIN),
        start=start.player,
        seconds=limit,
        expected_seconds=2 * movetime,  # the rungs think as long as the player
        scale=SOURCE,
    )
    climb = Climb(
        player,
        watch.timed(player, factory),
        rungs,
        lambda opponent: watch.timed(opponent, make_opponent(opponent)),
        settings,
        progress,
        batches,
    )
    return OutsideRating(climb.run(), movetime, watch.summary())
