"""The result of a match: counts, Elo with its interval, faults and duplicates."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from rookery.arena.elo import EloEstimate, estimate_from_games, estimate_from_pairs
from rookery.arena.pgn import StoredGame
from rookery.arena.sprt import Sprt

_FIRST_POINTS = {("1-0", 0): 1.0, ("0-1", 0): 0.0, ("1-0", 1): 0.0, ("0-1", 1): 1.0}


def first_points(game: StoredGame) -> float:
    """Return the first player's points in a game that counts."""
    return _FIRST_POINTS.get((game.result, game.index), 0.5)


@dataclass
class Tally:
    """Running totals of a match from the first player's point of view."""

    as_white: Counter[str] = field(default_factory=Counter)  # wins, draws, losses
    as_black: Counter[str] = field(default_factory=Counter)
    faults: dict[str, Counter[str]] = field(
        default_factory=lambda: {"first": Counter(), "second": Counter()}
    )
    reasons: Counter[str] = field(default_factory=Counter)
    void: int = 0
    duplicates: int = 0
    plies: int = 0
    _lines: set[tuple[int, int]] = field(default_factory=set)
    _halves: dict[int, float] = field(
        default_factory=dict
    )  # points in the first game of unfinished pairs
    _pairs: list[int] = field(default_factory=lambda: [0] * 5)  # finished pairs by half points

    def add(self, game: StoredGame) -> None:
        """Count one game."""
        if game.fault_white is not None:
            by_first = game.fault_white == (game.index == 0)
            self.faults["first" if by_first else "second"][game.fault_kind] += 1
            if game.other_kind:
                self.faults["second" if by_first else "first"][game.other_kind] += 1
        self.reasons[game.reason] += 1
        self.plies += game.plies
        if game.void:
            self.void += 1
            return
        # A duplicate has the same moves and colours. Forfeits do not count: a player that never
        # starts ends every game in its opening.
        line = (game.line_hash, game.index)
        if game.fault_white is None:
            self.duplicates += line in self._lines
            self._lines.add(line)
        points = first_points(game)
        side = self.as_white if game.index == 0 else self.as_black
        side[{1.0: "wins", 0.5: "draws", 0.0: "losses"}[points]] += 1
        if game.pair in self._halves:
            self._pairs[round(2 * (self._halves.pop(game.pair) + points))] += 1
        else:
            self._halves[game.pair] = points

    def count(self, key: str) -> int:
        """Return the wins, draws or losses with both colours."""
        return self.as_white[key] + self.as_black[key]

    @property
    def games(self) -> int:
        """Games that count."""
        return self.as_white.total() + self.as_black.total()

    @property
    def pentanomial(self) -> list[int]:
        """Finished pairs by points of the first player: 0, 1/2, 1, 3/2, 2."""
        return list(self._pairs)

    @property
    def unpaired_games(self) -> int:
        """Games that count whose partner is missing, void or unfinished."""
        return len(self._halves)

    def estimate(self) -> EloEstimate:
        """Estimate from pairs, or from single games while no pair is finished."""
        if any(self._pairs):
            return estimate_from_pairs(self.pentanomial)
        return estimate_from_games(self.count("wins"), self.count("draws"), self.count("losses"))


def describe(
    first: str, second: str, tally: Tally, seconds: float, sprt: Sprt | None = None
) -> dict[str, object]:
    """Return the part of the `rookery arena` JSON object that depends only on the games."""
    estimate = tally.estimate()
    count = tally.games
    points = tally.count("wins") + tally.count("draws") / 2
    summary: dict[str, object] = {
        "first": first,
        "second": second,
        "games": count,
        "wins": tally.count("wins"),
        "draws": tally.count("draws"),
        "losses": tally.count("losses"),
        "score": points / count if count else 0.5,
        "elo": round(estimate.elo, 2),
        "elo_low": round(estimate.elo_low, 2),
        "elo_high": round(estimate.elo_high, 2),
        "unbounded": estimate.unbounded,
        "normalized_elo": round(estimate.normalized_elo, 2),
        "los": round(estimate.los, 6),
        "pentanomial": tally.pentanomial,
        "unpaired_games": tally.unpaired_games,
        "seconds": round(seconds, 3),
        "faults": {side: found.total() for side, found in tally.faults.items()},
        "fault_kinds": {side: dict(found) for side, found in tally.faults.items()},
        "void": tally.void,
        "duplicates": tally.duplicates,
        "as_white": {key: tally.as_white[key] for key in ("wins", "draws", "losses")},
        "as_black": {key: tally.as_black[key] for key in ("wins", "draws", "losses")},
        "reasons": dict(tally.reasons.most_common()),
        "mean_plies": round(tally.plies / max(1, count + tally.void), 1),
    }
    if sprt is not None:
        llr = sprt.llr_of_pairs(tally.pentanomial)
        summary["sprt"] = {
            "elo0": sprt.elo0,
            "elo1": sprt.elo1,
            "model": sprt.model,
            "llr": round(llr, 4),
            "lower": round(sprt.lower, 4),
            "upper": round(sprt.upper, 4),
            "decision": sprt.decision(llr),
        }
    return summary


def missing_games(planned: int, games: Sequence[StoredGame]) -> list[tuple[int, int]]:
    """Return (pair, index) of the planned games that have not been played, in order."""
    played: defaultdict[int, set[int]] = defaultdict(set)
    for game in games:
        played[game.pair].add(game.index)
    return [(n // 2, n % 2) for n in range(planned) if n % 2 not in played[n // 2]]
