"""The rating ladder: rungs, climbing, checkpoints."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from rookery.arena.elo import expected_score
from rookery.arena.limits import MatchLimits
from rookery.players.bots import RandomPlayer
from rookery.rating.ladder import Climb, LadderSettings, PlayerRating
from rookery.rating.ladders import find_ladder
from rookery.rating.outside import (
    PUBLISHED,
    outside_rungs,
    rate_outside,
    seconds_of,
    stated_seconds,
    why_not,
)
from rookery.rating.rating import Encounter
from rookery.rating.rungs import (
    ANCHORS,
    Rung,
    calibration_pairs,
    load_conditions,
    load_encounters,
    rungs_from,
    save_encounters,
)
from rookery.rating.runs import checkpoint_players, record_rating
from rookery.training.folder import RunFolder

LADDER = [Rung(f"rung{i}", 400.0 * i, 0.0, i == 3, i % 2 == 1) for i in range(8)]


def flip_coins(true_elo: float, monkeypatch: pytest.MonkeyPatch, rungs: list[Rung]) -> None:
    """Replace matches by coin flips of the right probability."""
    from rookery.arena.match import MatchResult, MatchSettings
    from rookery.arena.pgn import StoredGame
    from rookery.arena.results import Tally
    from rookery.rating import ladder as module

    rng = np.random.default_rng(1)
    by_name = {rung.player: rung.elo for rung in rungs}

    def fake(
        first: object,
        second: object,
        match: MatchSettings,
        names: tuple[str, str],
        **cluster: object,
    ) -> MatchResult:
        tally = Tally()
        for number in range(match.games):
            won = rng.random() < expected_score(true_elo - by_name[names[1]])
            white = won == (number % 2 == 0)
            tally.add(
                StoredGame(
                    pair=number // 2,
                    index=number % 2,
                    result="1-0" if white else "0-1",
                    reason="coin",
                    fault_white=None,
                    fault_kind="",
                    void=False,
                    line_hash=number,
                    plies=1,
                    seconds=0.0,
                )
            )
        return MatchResult(*names, match, tally, 0.0)

    monkeypatch.setattr(module, "run_match", fake)


def climb(
    true_elo: float, monkeypatch: pytest.MonkeyPatch, rungs: list[Rung], **settings: float
) -> PlayerRating:
    """Climb with matches replaced by coin flips."""
    flip_coins(true_elo, monkeypatch, rungs)
    return Climb(
        "player",
        RandomPlayer,  # never asked: the matches are made up
        rungs,
        lambda name: RandomPlayer,
        LadderSettings(**settings),  # type: ignore[arg-type]
    ).run()


@pytest.mark.parametrize("true_elo", [-100.0, 150.0, 1000.0, 1730.0, 2750.0, 3100.0])
def test_climbing_finds_the_place(true_elo: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rating = climb(true_elo, monkeypatch, LADDER, games=400, width=90)
    assert rating.low - 40 <= true_elo <= rating.high + 40
    assert rating.bracketed == (0 < true_elo < 2800)
    assert rating.unbounded == ("below" if true_elo < 0 else "above" if true_elo > 2800 else "")
    if 0 < true_elo < 2800:
        assert rating.high - rating.low <= 100
        below = [s for s in rating.standings if s.games and s.rung.elo <= true_elo]
        above = [s for s in rating.standings if s.games and s.rung.elo > true_elo]
        assert below and above
    summary = rating.to_json()
    assert json.loads(json.dumps(summary, allow_nan=False))["player"] == "player"
    assert sum(row["games"] for row in summary["opponents"]) == summary["games"] <= 402  # type: ignore[attr-defined]


def test_fixed_rungs_are_preferred_to_timed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    rungs = [Rung("timed", 1000, 0, True, True), Rung("fixed", 1010, 0, False, False)]
    rungs += [Rung("low", 600, 0, False, False), Rung("high", 1400, 0, False, False)]
    rating = climb(1005.0, monkeypatch, rungs, games=300, width=10)
    games = {s.rung.player: s.games for s in rating.standings}
    assert games["fixed"] > 3 * games["timed"]


def test_a_player_does_not_meet_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    rungs = [*LADDER, Rung("player", 900.0, 0, False, False)]
    rating = climb(900.0, monkeypatch, rungs, games=60)
    assert all(s.rung.player != "player" for s in rating.standings)


def test_shipped_ladder_is_ordered_and_anchored() -> None:
    rungs = find_ladder("standard").rungs()
    assert [rung.elo for rung in rungs] == sorted(rung.elo for rung in rungs)
    known = {rung.player: rung for rung in rungs}
    for player, elo in ANCHORS.items():
        assert known[player].elo == elo and known[player].published
        assert known[player].load_dependent  # Skill Level needs time, and time depends on load
    assert ANCHORS["stockfish,skill=0,movetime=0.05"] == 1320
    for player, rung in known.items():
        assert rung.load_dependent == ("movetime" in player)
        assert math.isfinite(rung.elo) and math.isfinite(rung.error)


def test_calibration_joins_every_rung_to_an_anchor() -> None:
    pairs = calibration_pairs()
    assert len(set(pairs)) == len(pairs)
    encounters = [Encounter(a, b, 7, 2, 3) for a, b in pairs]
    rungs = {rung.player for rung in rungs_from(encounters)}
    assert {"random", "greedy-safe", "stockfish,depth=1", "stockfish,nodes=100000"} <= rungs
    for share in ("0.75", "0.5", "0.25"):
        assert f"stockfish,depth=1,random={share}" in rungs


@pytest.mark.parametrize("board", ["4x4", "4x5", "gardner", "losalamos"])
def test_other_boards_have_a_ladder_relative_to_greedy_safe(board: str) -> None:
    ladder = find_ladder(board)
    rungs = {rung.player: rung for rung in ladder.rungs()}
    assert set(rungs) == {player for pair in ladder.pairs for player in pair}
    assert rungs["greedy-safe"].elo == 0 and rungs["greedy-safe"].published
    assert [rung.player for rung in rungs.values() if rung.published] == ["greedy-safe"]
    assert rungs["random"].elo < rungs["greedy-safe,random=0.5"].elo < 0
    assert not any(rung.load_dependent for rung in rungs.values())
    assert board in ladder.scale and "greedy-safe" in ladder.scale


def test_a_ladder_of_another_board_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "games.json"
    save_encounters([Encounter("greedy-safe", "random", 3, 2, 1)], "here", path, "gardner")
    assert [rung.player for rung in find_ladder("5x5", path).rungs()] == ["random", "greedy-safe"]
    for board in ("standard", "4x4"):
        with pytest.raises(ValueError, match=f"of the board gardner, not of {board}"):
            find_ladder(board, path).rungs()


def test_calibration_file_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "games.json"
    encounters = [Encounter("a", "b", 1, 2, 3), Encounter("c", "b", 0, 0, 9)]
    save_encounters(encounters, "here", path)
    assert load_encounters(path) == encounters
    assert load_encounters(tmp_path / "none.json") == []


def test_checkpoints_of_a_run(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "az"
    for step in (100, 20, 3):
        (run / "checkpoints" / str(step)).mkdir(parents=True)
    players = checkpoint_players(f"{run},simulations=50")
    assert [Path(p.split(",")[0]).name for p in players] == ["3", "20", "100"]
    assert all(p.endswith(",simulations=50") for p in players)
    assert checkpoint_players("random") == ["random"]
    record_rating(players[0], {"player": players[0], "elo": 1.0})
    record_rating(players[0], {"player": players[0], "elo": 2.0})
    record_rating(str(run), {"player": str(run), "elo": 3.0})
    record_rating("random", {"player": "random", "elo": 4.0})
    stored = json.loads((run / "ratings.json").read_text())["ladder"]
    assert [entry["elo"] for entry in stored] == [2.0, 3.0]
    assert (run / "ratings.json").stat().st_mode & 0o777 == 0o644
    (tmp_path / "empty" / "checkpoints").mkdir(parents=True)
    with pytest.raises(ValueError, match="no checkpoint"):
        checkpoint_players(str(tmp_path / "empty"))


@pytest.mark.parametrize(("true_elo", "side"), [(9000.0, "above"), (-9000.0, "below")])
def test_far_beyond_the_ladder(true_elo: float, side: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from rookery.rating.report import report

    rating = climb(true_elo, monkeypatch, LADDER, games=400, width=90)
    summary = rating.to_json()
    assert summary["bracketed"] is False and summary["unbounded"] == side
    assert summary["games"] < 200  # type: ignore[operator]  # no need for all of them
    open_end = summary["elo_high"] if side == "above" else summary["elo_low"]
    assert abs(open_end - summary["elo"]) == pytest.approx(4000, abs=1)  # type: ignore[operator]
    end = LADDER[-1 if side == "above" else 0].elo
    bound = summary["elo_low"] if side == "above" else summary["elo_high"]
    assert bound > end if side == "above" else bound < end  # type: ignore[operator]
    assert f"{side} {bound:.0f} Elo" in report(summary).splitlines()[0]


def test_ratings_keep_what_training_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"
    (run / "checkpoints" / "7").mkdir(parents=True)
    (run / "ratings.json").write_text('{"evaluations": [{"games": 4}]}')
    record_rating(str(run / "checkpoints" / "7"), {"player": "x", "elo": 1.0})
    stored = json.loads((run / "ratings.json").read_text())
    assert stored == {"evaluations": [{"games": 4}], "ladder": [{"player": "x", "elo": 1.0}]}
    # And the other way round.
    RunFolder(run).write_ratings([{"games": 6}])
    assert RunFolder(run).ratings() == [{"games": 6}]
    assert json.loads((run / "ratings.json").read_text())["ladder"] == stored["ladder"]
    # A player's name is no path, wherever one happens to be.
    before = (run / "ratings.json").read_bytes()
    for folder in (run, run / "checkpoints", run / "checkpoints" / "7"):
        monkeypatch.chdir(folder)
        record_rating("greedy", {"player": "greedy", "elo": 4.0})
    assert (run / "ratings.json").read_bytes() == before
    assert not list(tmp_path.rglob("checkpoints/**/ratings.json"))


def test_calibration_remembers_older_conditions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rookery.cli import main

    monkeypatch.setattr(
        "rookery.rating.ladders.calibration_pairs",
        lambda: [("random", "greedy"), ("greedy", "random")],
    )
    path = tmp_path / "games.json"
    save_encounters([Encounter("random", "greedy", 4, 0, 0)], "on the moon", path)
    for _ in range(2):
        assert main(["rate", "--calibrate", str(path), "--games", "4"]) == 0
        assert load_conditions(path).startswith("on the moon; later pairs: openings random:6")
        assert load_conditions(path).count("later pairs") == 1
    assert len(load_encounters(path)) == 2


def test_the_time_limit_ends_a_rating(monkeypatch: pytest.MonkeyPatch) -> None:
    from rookery.rating import ladder as module

    moments = iter(range(0, 10**6, 10))  # each look at the clock is ten seconds later
    monkeypatch.setattr(module.time, "monotonic", lambda: float(next(moments)))
    rating = climb(1500.0, monkeypatch, LADDER, games=400, width=1.0, seconds=600.0)
    assert rating.out_of_time and rating.to_json()["out_of_time"] is True
    assert 0 < sum(standing.games for standing in rating.standings) < 400
    # Even a limit that is over before the first game leaves a rating.
    assert climb(1500.0, monkeypatch, LADDER, games=400, seconds=1.0).out_of_time


def test_slow_players_play_smaller_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"games": 40, "width": 1.0}
    slow = climb(1500.0, monkeypatch, LADDER, expected_seconds=1.0, **settings)
    fast = climb(1500.0, monkeypatch, LADDER, expected_seconds=0.01, **settings)
    assert min(s.games for s in slow.standings if s.games) == 2
    assert min(s.games for s in fast.standings if s.games) == 8


def test_the_outside_scale_has_its_own_rungs_and_result(monkeypatch: pytest.MonkeyPatch) -> None:
    from rookery.rating.report import report

    inside = climb(2300.0, monkeypatch, LADDER, games=400, width=90)
    assert why_not(inside) == ""
    rungs = outside_rungs("player", 0.1)
    assert [rung.elo for rung in rungs] == sorted(elo for elo, _ in PUBLISHED.values())
    flip_coins(2700.0, monkeypatch, rungs)  # on this scale the same player is stronger
    found = rate_outside(
        "player", RandomPlayer, rungs, lambda _: RandomPlayer, inside, limit=None
    ).to_json()
    assert found["elo_low"] < 2700 < found["elo_high"] and found["bracketed"]
    assert abs(found["elo"] - inside.elo) > 200
    names = [row["name"] for row in found["opponents"]]
    assert "phalanx,movetime=0.1" in names and "rung5" not in names
    text = report({**inside.to_json(), "outside": found})
    assert f"outside: {found['elo']:.0f} Elo" in text


def test_who_gets_an_outside_rating(monkeypatch: pytest.MonkeyPatch) -> None:
    weak = climb(500.0, monkeypatch, LADDER, games=400, width=90)
    assert "too weak" in why_not(weak)
    # An engine does not play itself.
    assert "gnuchess" not in {rung.player.split(",")[0] for rung in outside_rungs("gnuchess", 1)}


def test_the_time_of_the_outside_rungs_is_the_players() -> None:
    assert stated_seconds("rookery", MatchLimits()) is None
    assert seconds_of("rookery", MatchLimits()) == 0.1
    assert seconds_of("rookery,movetime=50ms", MatchLimits()) == 0.05
    assert seconds_of("rookery,movetime=50ms", MatchLimits(movetime=1.0)) == 1.0
