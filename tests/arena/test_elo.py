"""Elo, SPRT and ratings against published figures and against their own definitions."""

from __future__ import annotations

import json
import math

import pytest

from rookery.arena.elo import (
    UNBOUNDED_ELO,
    elo_of_score,
    estimate_from_games,
    estimate_from_pairs,
    expected_score,
    pentanomial_of,
)
from rookery.arena.sprt import Sprt
from rookery.rating.rating import Encounter, rate


def test_score_and_elo_are_inverse() -> None:
    for elo in (-1500.0, -200.0, 0.0, 35.0, 400.0, 1234.0):
        assert elo_of_score(expected_score(elo)) == pytest.approx(elo, abs=1e-6)
    assert expected_score(400) == pytest.approx(10 / 11)
    assert elo_of_score(1.0) == UNBOUNDED_ELO and elo_of_score(0.0) == -UNBOUNDED_ELO
    with pytest.raises(ValueError, match="outside"):
        elo_of_score(1.5)


# Published by fastchess (app/tests/elo_test.cpp): wins, draws, losses -> normalised Elo, its
# error, likelihood of superiority; the second also logistic Elo and error.
@pytest.mark.parametrize(
    ("wins", "draws", "losses", "normalized", "error", "los"),
    [
        (76, 123, 89, -20.76, 40.13, 0.1553),
        (136, 111, 96, 49.77, 36.77, 0.9960),
        (34, 0, 356, -508.44, 34.48, 0.0),
    ],
)
def test_published_trinomial(
    wins: int, draws: int, losses: int, normalized: float, error: float, los: float
) -> None:
    estimate = estimate_from_games(wins, draws, losses)
    assert estimate.normalized_elo == pytest.approx(normalized, abs=0.01)
    assert estimate.normalized_error == pytest.approx(error, abs=0.01)
    assert estimate.los == pytest.approx(los, abs=1e-4)


def test_published_logistic_elo_of_games() -> None:
    estimate = estimate_from_games(136, 111, 96)
    assert estimate.elo == pytest.approx(40.70, abs=0.01)
    # fastchess maps the normal interval of the score (+-30.43); Wilson's is a shade narrower.
    assert (estimate.elo_high - estimate.elo_low) / 2 == pytest.approx(30.43, rel=0.02)


# The same source; its six counts split one point into win+loss and draw+draw.
@pytest.mark.parametrize(
    ("pairs", "normalized", "normalized_error", "elo", "error", "los"),
    [
        ((34, 54, 63, 64, 75), 57.94, 28.28, 55.58, 27.65, 1.0),
        ((332, 433, 498, 333, 334), -9.17, 10.96, -8.64, 10.33, 0.0505),
        ((7895, 8757, 5685, 568, 9999), -19.01, 2.65, -21.04, 2.95, 0.0),
    ],
)
def test_published_pentanomial(
    pairs: tuple[int, ...],
    normalized: float,
    normalized_error: float,
    elo: float,
    error: float,
    los: float,
) -> None:
    estimate = estimate_from_pairs(pairs)
    assert estimate.normalized_elo == pytest.approx(normalized, abs=0.01)
    assert estimate.normalized_error == pytest.approx(normalized_error, abs=0.01)
    assert estimate.elo == pytest.approx(elo, abs=0.01)
    assert (estimate.elo_high - estimate.elo_low) / 2 == pytest.approx(error, rel=0.01)
    assert estimate.los == pytest.approx(los, abs=1e-4)


@pytest.mark.parametrize(
    "pairs",
    [(0, 0, 0, 0, 0), (0, 0, 0, 0, 1), (0, 0, 0, 0, 50), (50, 0, 0, 0, 0), (0, 0, 50, 0, 0)],
)
def test_extremes_are_finite_and_ordered(pairs: tuple[int, ...]) -> None:
    estimate = estimate_from_pairs(pairs)
    assert all(
        math.isfinite(value) for value in vars(estimate).values() if isinstance(value, float)
    )
    assert estimate.elo_low <= estimate.elo <= estimate.elo_high
    assert 0.0 <= estimate.los <= 1.0
    json.loads(json.dumps(vars(estimate), allow_nan=False))


def test_clean_sweep_says_more_with_more_games() -> None:
    few, many = estimate_from_pairs((0, 0, 0, 0, 5)), estimate_from_pairs((0, 0, 0, 0, 50))
    assert few.unbounded == many.unbounded == "above"
    assert 0 < few.elo_low < many.elo_low
    assert few.elo < many.elo
    assert few.los < many.los
    mirrored = estimate_from_pairs((50, 0, 0, 0, 0))
    assert mirrored.elo_high == pytest.approx(-many.elo_low)


def test_pairs_tell_more_than_games_when_openings_decide() -> None:
    # Every pair is split one win each: as games 50 % +- a lot, as pairs no spread at all.
    by_pairs = estimate_from_pairs((0, 2, 96, 2, 0))
    by_games = estimate_from_games(98, 4, 98)
    assert by_pairs.elo_high - by_pairs.elo_low < (by_games.elo_high - by_games.elo_low) / 4


def test_pentanomial_counts() -> None:
    assert pentanomial_of([0, 0.5, 1, 1.5, 2, 2]) == [1, 1, 1, 1, 2]
    with pytest.raises(ValueError, match=r"2\.5"):
        pentanomial_of([2.5])


# The figure 379/10170/21828/10640/343 -> 2.946 is given without its hypotheses. They were found by
# trying 19 pairs in common use with both models: normalised Elo 0 against 2 (alpha = beta = 0.05)
# gives 2.9455 and is the only one within 0.06 (next: normalised 0 against 4 with 3.018, logistic 0
# against 1 with 2.877). That is an inference from the number, not read in a source.
def test_llr_of_the_published_match() -> None:
    pairs = (379, 10170, 21828, 10640, 343)
    sprt = Sprt(0, 2, alpha=0.05, beta=0.05, model="normalized")
    assert sprt.llr_of_pairs(pairs) == pytest.approx(2.946, abs=1e-3)
    assert sprt.upper == pytest.approx(2.944, abs=1e-3)
    assert sprt.decision(sprt.llr_of_pairs(pairs)) == "elo1"
    for elo0, elo1, model in [(0, 4, "normalized"), (0, 1, "logistic"), (0, 2, "logistic")]:
        assert abs(Sprt(elo0, elo1, model=model).llr_of_pairs(pairs) - 2.946) > 0.06


# Published by fastchess (app/tests/sprt_test.cpp), to two decimals. Two cases of that file are NOT
# reproduced, both one-sided and normalised [0, 5]: 16,700 draws (published 2.97, here -3.45) and
# 104 pairs won 2-0 (published 2.94, here 2.09); see test_llr_of_one_sided_results_is_finite.
@pytest.mark.parametrize(
    ("wins", "losses", "draws", "elo0", "elo1", "model", "llr"),
    [
        (36433, 36027, 68692, 0, 2, "normalized", 0.92),
        (10871, 10650, 20431, -1.75, 0.25, "normalized", 2.30),
        (21404, 21184, 40708, 0.5, 2.5, "logistic", -1.57),
        (57433, 57030, 106593, 0, 2, "logistic", -2.59),
    ],
)
def test_published_llr_of_games(
    wins: int, losses: int, draws: int, elo0: float, elo1: float, model: str, llr: float
) -> None:
    assert Sprt(elo0, elo1, model=model).llr_of_games(wins, draws, losses) == pytest.approx(
        llr, abs=0.006
    )


@pytest.mark.parametrize(
    ("pairs", "elo0", "elo1", "model", "llr"),
    [
        ((365, 16618, 36229, 16974, 390), 0, 2, "normalized", 2.25),
        ((127, 4883, 10712, 5150, 104), -1.75, 0.25, "normalized", 3.01),
        ((223, 9863, 21279, 10037, 246), 0.5, 2.5, "logistic", -3.07),
        ((871, 26175, 55983, 26678, 821), 0, 2, "logistic", -4.98),
    ],
)
def test_published_llr_of_pairs(
    pairs: tuple[int, ...], elo0: float, elo1: float, model: str, llr: float
) -> None:
    assert Sprt(elo0, elo1, model=model).llr_of_pairs(pairs) == pytest.approx(llr, abs=0.006)


def test_llr_of_one_sided_results_is_finite() -> None:
    for model in ("logistic", "normalized"):
        sprt = Sprt(0, 5, model=model)
        assert sprt.llr_of_games(0, 0, 0) == 0.0
        assert sprt.llr_of_pairs((0, 0, 0, 0, 104)) > 0
        assert sprt.llr_of_pairs((104, 0, 0, 0, 0)) < 0
        assert math.isfinite(sprt.llr_of_games(0, 1000, 0))
    # By hand, as fastchess publishes another value here: the likeliest worlds have wins and
    # losses only, (1 + t)/2 of them won, so that 104 pairs weigh 104 log(1 + t) with
    # t = 5 sqrt(2) ln(10) / 800.
    t = 5 * math.sqrt(2) * math.log(10) / 800
    assert Sprt(0, 5).llr_of_pairs((0, 0, 0, 0, 104)) == pytest.approx(
        104 * math.log(1 + t), rel=0.01
    )
    # Draws only: equality explains them perfectly, while under Elo 5 a share t^2 (per game) must be
    # wins, so that n draws weigh about -n t^2 against it. A general solver gave -3.45 as well.
    t = 5 * math.log(10) / 800
    assert Sprt(0, 5).llr_of_games(0, 16700, 0) == pytest.approx(-16700 * t * t, abs=0.05)


def test_invalid_sprt_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="ELO0 < ELO1"):
        Sprt(5, 0)
    with pytest.raises(ValueError, match="unknown SPRT model"):
        Sprt(0, 5, model="bayes")
    with pytest.raises(ValueError, match="5 counts"):
        Sprt(0, 5).llr_of_pairs((1, 2, 3))


def _games(first: str, second: str, difference: float, games: float = 1e5) -> Encounter:
    points = expected_score(difference) * games
    draws = min(points, games - points) * 0.5
    return Encounter(first, second, points - draws / 2, draws, games - points - draws / 2)


def test_ratings_recover_the_truth() -> None:
    truth = {"a": 0.0, "b": 150.0, "c": 420.0, "d": 600.0}
    encounters = [
        _games(x, y, truth[x] - truth[y]) for x, y in [("a", "b"), ("c", "b"), ("c", "d")]
    ]
    table = rate(encounters, {"b": 1150.0})
    for name, elo in truth.items():
        assert table[name].elo == pytest.approx(elo + 1000, abs=0.2)
        assert table[name].low <= table[name].elo <= table[name].high
    assert table["b"].anchor and table["b"].low == table["b"].high == 1150.0
    assert list(table) == ["d", "c", "b", "a"]


def test_interval_of_two_players_equals_the_match_error() -> None:
    table = rate([Encounter("x", "y", 60, 0, 40)], {"y": 0.0}, virtual_draws=1e-9)
    match = estimate_from_games(60, 0, 40)
    assert table["x"].elo == pytest.approx(match.elo, abs=0.01)
    assert table["x"].high - table["x"].low == pytest.approx(
        match.elo_high - match.elo_low, rel=0.03
    )


def test_virtual_draws_do_not_squeeze_the_ladder() -> None:
    # Rungs 800 apart, 20 games each: at 0.2 virtual draws a rung the top sinks, at 0.01 it stays.
    chain = [_games(f"p{i + 1}", f"p{i}", 800, games=20) for i in range(3)]
    gentle = rate(chain, {"p0": 0.0})["p3"].elo
    heavy = rate(chain, {"p0": 0.0}, virtual_draws=0.2)["p3"].elo
    assert gentle == pytest.approx(2400, abs=20)
    assert heavy < gentle - 150


def test_clean_sweep_is_finite() -> None:
    table = rate([Encounter("x", "y", 30, 0, 0)], {"y": 500.0})
    assert 800 < table["x"].elo < 3000
    assert math.isfinite(table["x"].low) and math.isfinite(table["x"].high)
    lost = rate([Encounter("y", "x", 30, 0, 0)], {"y": 500.0})
    assert -2000 < lost["x"].elo < 200


def test_unconnected_players_are_named() -> None:
    with pytest.raises(ValueError, match="no chain of games joins p, q"):
        rate([Encounter("a", "b", 1, 0, 1), Encounter("p", "q", 1, 0, 1)], {"a": 0.0})
    with pytest.raises(ValueError, match="at least one anchor"):
        rate([Encounter("a", "b", 1, 0, 1)], {})


def test_agreement_by_chance_is_no_certainty() -> None:
    def width(pairs: tuple[int, ...]) -> float:
        estimate = estimate_from_pairs(pairs)
        return estimate.elo_high - estimate.elo_low

    # One deviating pair must not make the estimate more certain.
    assert width((0, 0, 0, 49, 1)) >= width((0, 0, 0, 50, 0)) > 10
    assert width((0, 0, 1, 49, 0)) > 0.97 * width((0, 0, 0, 50, 0))  # nearer to one half
    assert width((0, 1, 98, 1, 0)) >= width((0, 0, 100, 0, 0)) > 3
    for two in ((0, 0, 0, 1, 1), (0, 0, 0, 2, 0), (0, 0, 0, 0, 2)):
        assert 0.6 < estimate_from_pairs(two).los < 0.97
    # Wherever there is a spread the virtual pair has no weight at all.
    spread = estimate_from_pairs((3, 10, 20, 15, 4))
    mean = (0.25 * 10 + 0.5 * 20 + 0.75 * 15 + 4) / 52
    variance = sum(n * (s / 4 - mean) ** 2 for s, n in enumerate((3, 10, 20, 15, 4))) / 52
    expected = (mean - 0.5) / math.sqrt(2 * variance) * 800 / math.log(10)
    assert spread.normalized_elo == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("elo1", [200.0, 235.0, 240.0, 400.0, 1000.0])
def test_far_hypotheses_can_be_tested(elo1: float) -> None:
    for pairs in ((0, 0, 0, 0, 1), (1, 0, 0, 0, 0), (0, 0, 1, 0, 0), (3, 10, 20, 15, 4)):
        llr = Sprt(0, elo1).llr_of_pairs(pairs)
        assert math.isfinite(llr)
        # Mirrored: the same test from the other player's side.
        assert Sprt(-elo1, 0).llr_of_pairs(pairs[::-1]) == pytest.approx(-llr, abs=1e-6)
    assert Sprt(0, elo1).llr_of_pairs((0, 0, 0, 0, 1)) > 0
    assert Sprt(0, elo1).llr_of_pairs((0, 0, 5, 0, 0)) < 0


def test_llr_of_wins_only_far_away() -> None:
    # Two outcomes, as in test_llr_of_one_sided_results_is_finite, but without its approximation for
    # small t: of the share w of wins the distance is (2 w - 1) / (2 sqrt(w (1 - w))) = t.
    t = 240 * math.sqrt(2) * math.log(10) / 800
    wins = (1 + t / math.sqrt(1 + t * t)) / 2
    assert Sprt(0, 240).llr_of_pairs((0, 0, 0, 0, 104)) == pytest.approx(
        104 * math.log(wins / 0.5), rel=0.01
    )
