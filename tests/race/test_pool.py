"""The pool: pairings that tell most, ratings that are right, a journal that resumes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rookery.arena.elo import expected_score
from rookery.race.pool import (
    PairRow,
    PlayerShelf,
    Pool,
    PoolSettings,
    information_gain,
    pentanomials,
)
from rookery.rating.rating import Encounter, fit, rate

ANCHORS = {"low": 0.0, "middle": 700.0, "high": 1400.0}


class SimulatedPool(Pool):
    """Games are drawn from the true ratings instead of being played."""

    def __init__(self, true: dict[str, float], journal: Path, settings: PoolSettings) -> None:
        super().__init__("bare", {name: name for name in true}, ANCHORS, journal, settings)
        self.true = {**true, **ANCHORS}
        self.rng = np.random.default_rng(3)

    def _play(self, shelf: PlayerShelf, first: str, second: str, round: int) -> None:
        chance = expected_score(self.true[first] - self.true[second])
        points = [float(self.rng.random() < chance) for _ in range(2)]
        self._journal.append(
            {"first": first, "second": second, "round": round, "number": 0, "points": points,
             "reasons": ["checkmate"] * 2, "moves": [""] * 2, "faults": [0, 0]}
        )  # fmt: skip


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> SimulatedPool:
    rng = np.random.default_rng(1)
    true = {f"p{number:02d}": float(elo) for number, elo in enumerate(rng.uniform(-100, 1500, 30))}
    journal = tmp_path_factory.mktemp("pool") / "pool.jsonl"
    pool = SimulatedPool(true, journal, PoolSettings(games=60, width=150))
    assert pool.play(lambda: False, lambda text: None)
    return pool


def test_ratings_are_the_true_ones_within_their_intervals(simulated: SimulatedPool) -> None:
    ratings = simulated.ratings()
    found = [ratings[name] for name in simulated.players]
    errors = [rating.elo - simulated.true[rating.name] for rating in found]
    inside = [r.low <= simulated.true[r.name] <= r.high for r in found]
    assert np.mean(inside) >= 0.85
    assert float(np.sqrt(np.mean(np.square(errors)))) < 75
    assert abs(np.mean(errors)) < 30  # the rungs hold the whole pool


def test_players_meet_those_of_their_strength(simulated: SimulatedPool) -> None:
    gaps = [abs(simulated.true[row.first] - simulated.true[row.second]) for row in simulated.rows]
    assert np.median(gaps[len(gaps) // 2 :]) < 250  # all against all would have about 500
    assert not any({row.first, row.second} <= set(ANCHORS) for row in simulated.rows)


def test_everybody_has_a_narrow_interval_or_all_games(simulated: SimulatedPool) -> None:
    for name, rating in simulated.ratings().items():
        if name not in ANCHORS:
            assert rating.high - rating.low < 170 or rating.games >= 60


def test_a_pair_of_games_lowers_the_variances_as_foretold() -> None:
    players = ["a", "b", "c"]
    games = [Encounter("a", "low", 6, 1, 3), Encounter("b", "low", 2, 0, 2)]
    before = fit(games, ANCHORS, players=players, spread=400.0)
    gain = information_gain(before)
    a, b = before.names.index("a"), before.names.index("b")
    # Results as expected leave the ratings where they are and add the information alone.
    points = 2 * expected_score(float(before.elos[a] - before.elos[b]))
    more = [*games, Encounter("a", "b", points, 0, 2 - points)]
    after = fit(more, ANCHORS, players=players, spread=400.0, virtual_draws=1e-9)
    fresh = fit(games, ANCHORS, players=players, spread=400.0, virtual_draws=1e-9)
    lowered = np.trace(fresh.covariance) - np.trace(after.covariance)
    scale = (400 / np.log(10)) ** 2
    assert lowered / scale == pytest.approx(gain[a, b], rel=0.03)


def test_a_prior_gives_players_without_games_a_rating() -> None:
    found = fit([], {"low": 100.0, "high": 300.0}, players=["new"], spread=250.0)
    place = found.names.index("new")
    assert found.elos[place] == pytest.approx(200.0)
    assert found.covariance[place, place] == pytest.approx(250.0**2)
    with pytest.raises(ValueError, match="no chain of games joins new"):
        fit([], {"low": 0.0}, players=["new"])


def test_fit_and_rate_agree() -> None:
    games = [Encounter("a", "low", 6, 1, 3), Encounter("b", "a", 2, 0, 2)]
    found, ratings = fit(games, ANCHORS), rate(games, ANCHORS)
    for name, elo in zip(found.names, found.elos, strict=True):
        assert ratings[name].elo == pytest.approx(elo)


def test_pentanomials_are_counted_from_the_first_group() -> None:
    def row(first: str, second: str, *points: float) -> PairRow:
        return PairRow(first, second, 1, 0, points, (), (), (0, 0))

    rows = [row("a1", "b1", 1.0, 0.5), row("b2", "a1", 1.0, 1.0), row("a1", "a2", 1.0, 1.0),
            row("a2", "b1", 1.0), row("x", "a1", 0.0, 0.0)]  # fmt: skip
    found = pentanomials(rows, lambda name: name[0] if name[0] in "ab" else "")
    assert found == {("a", "b"): [1, 0, 0, 1, 0]}
