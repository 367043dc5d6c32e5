"""The measuring commands, as a user runs them."""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from rookery.cli import main
from rookery.players.mcts import MctsSettings
from rookery.players.registry import KINDS
from support.needs import needs_stockfish, needs_tables
from support.paths import SUPPORT


def bad_engine(mode: str) -> str:
    """Return the player spec of an engine that starts but misbehaves."""
    return f"uci,command={sys.executable} -E -u {SUPPORT / 'bad_engine.py'} {mode}"


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]


def test_arena_keys(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "arena", "random", "greedy", "--games", "20", "--seed", "1")
    keys = "first second games wins draws losses score elo elo_low elo_high los pentanomial "
    keys += "seconds faults as_white as_black"
    assert set(keys.split()) <= set(found)
    assert found["games"] == 20 and found["faults"] == {"first": 0, "second": 0}
    for side in ("as_white", "as_black"):
        assert sum(found[side].values()) == 10  # type: ignore[attr-defined]
    again = run_json(capsys, "arena", "random", "greedy", "--games", "20", "--seed", "1")
    same = set(found) - {"seconds"}
    assert {k: found[k] for k in same} == {k: again[k] for k in same}


@needs_stockfish
def test_stockfish_beats_random_100_of_100(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "arena", "stockfish,depth=1", "random", "--games", "100")
    assert found["wins"] == 100
    assert found["as_white"]["wins"] == found["as_black"]["wins"] == 50  # type: ignore[index]
    assert found["elo"] > 500 and found["unbounded"] == "above"  # type: ignore[operator]


def test_human_readable_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arena", "greedy-safe", "random", "--games", "10"]) == 0
    captured = capsys.readouterr()
    assert "+10 =0 -0" in captured.out and "no bound" in captured.out


def test_a_missing_engine_loses_every_game_by_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "arena", "uci,command=/no/such/engine", "random", "--games", "4")
    assert found["losses"] == 4 and found["faults"] == {"first": 4, "second": 0}
    assert found["fault_kinds"]["first"] == {"missing": 4}  # type: ignore[index]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["arena", "randon", "random"], "did you mean 'random'"),
        (["arena", "random", "random", "--tc", "fast"], "time control 'fast'"),
        (["arena", "random", "random", "--games", "-3"], "--games is -3"),
        (["arena", "random", "random", "--openings", "none.epd"], "no such file"),
        (["arena", "random", "random", "--sprt", "5", "0"], "ELO0 < ELO1"),
        (["arena", "random", "random", "--nodes", "0"], "--nodes is 0"),
        (["arena", "random", "random", "--resign", "3"], "--resign is 3"),
        (["rate"], "name a player"),
        (["rate", "grdy"], "did you mean 'greedy'"),
        (["suite", "random", "none.epd"], "no such file"),
        (["puzzles", "random", "none.csv"], "no such file"),
        (["puzzles", "random", "none.csv", "--tc", "1"], "no clock"),
        (["endgame", "KXK", "random"], "not two kings"),
    ],
)
def test_errors_are_one_line(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 1
    error = capsys.readouterr().err.strip()
    assert message in error and "\n" not in error


def test_players_command_lists_all_players(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "players")
    names = {row["name"] for row in found["players"]}  # type: ignore[attr-defined]
    assert {"random", "greedy", "greedy-safe", "stockfish", "sunfish", "tablebase"} <= names
    assert main(["players"]) == 0
    text = capsys.readouterr().out
    assert "random=" in text and "a run such as runs/ppo" in text
    assert "depth" in next(row for row in found["networks"] if "engine" in row["name"])["options"]  # type: ignore[attr-defined]


def test_listed_options_of_tree_searches_match_the_search() -> None:
    for name in ("ppo", "alphazero", "pepper"):
        listed = {option.name for option in KINDS[name].options}
        # `stop_early` is for the commands that ask for a whole search.
        assert listed == {field.name for field in fields(MctsSettings)} - {"stop_early"}


def test_suite_and_puzzles(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    epd = tmp_path / "one.epd"
    epd.write_text('6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - bm Rd8#; id "mate";\n')
    found = run_json(capsys, "suite", "greedy-safe", str(epd))
    assert (found["total"], found["solved"], found["rate"]) == (1, 1, 1.0)
    csv = tmp_path / "one.csv"
    csv.write_text("FEN,Moves,Rating\n5rk1/5ppp/8/8/8/8/5PPP/3R2K1 b - - 0 1,f8b8 d1d8 b8d8,700\n")
    found = run_json(capsys, "puzzles", "random", str(csv))
    assert found["total"] == 1 and "0600-0799" in found["bands"]  # type: ignore[operator]


@needs_tables
@pytest.mark.slow
def test_endgame_keys(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "endgame", "KPK", "tablebase", "--positions", "80")
    keys = "ending against positions won_positions won win_rate drawn_positions won_from_drawn"
    assert set(keys.split()) <= set(found)
    assert found["ending"] == "KPK" and found["against"] == "perfect" and found["positions"] == 80
    assert found["won"] == found["won_positions"]
    for level in found["levels"].values():  # type: ignore[attr-defined]
        assert {"won_positions", "won", "win_rate", "mean_moves"} <= set(level)
    paper = ["--level", "all", "--positions", "300", "--goal", "promotion"]
    found = run_json(capsys, "endgame", "KPK", "tablebase", *paper)
    assert found["positions"] == 300
    assert found["won_share"] == pytest.approx(0.726, abs=0.08)  # of the whole board 0.765
    held = run_json(capsys, "endgame", "KPK", "tablebase", "--positions", "40", "--side", "defend")
    assert held["drawn_held"] == held["drawn_positions"]
    against = run_json(
        capsys, "endgame", "KQK", "greedy-safe", "--against", "random", "--positions", "10"
    )
    assert against["method"] == "play out" and against["goal"] == "mate"


@needs_tables
@pytest.mark.slow
def test_every_kpk_position_is_won_by_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "endgame", "KPK", "tablebase", "--positions", "all")
    # Over the whole board, White to move: 124,960 won, counted from the Gaviota table.
    assert found["positions"] == 163_328
    assert found["won"] == found["won_positions"] == 124_960
    assert found["drawn_positions"] == 38_368 and found["won_from_drawn"] == 0
    assert found["moves_kept_win"] == 1.0


@needs_stockfish
def test_rate_keys(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "rate", "random", "--games", "24", "--width", "500")
    assert {"player", "elo", "elo_low", "elo_high", "opponents", "scale"} <= set(found)
    assert found["elo_low"] <= found["elo"] <= found["elo_high"]  # type: ignore[operator]
    for row in found["opponents"]:  # type: ignore[attr-defined]
        assert {"name", "elo", "games", "score", "load_dependent"} <= set(row)
    ladder = run_json(capsys, "rate", "--ladder")
    assert len(ladder["rungs"]) >= 14  # type: ignore[arg-type]


def test_rate_starts_at_the_given_rung(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "rate", "random", "--games", "8", "--start", "greedy-safe")
    assert [row["name"] for row in found["opponents"]] == ["greedy-safe"]  # type: ignore[attr-defined]
    assert main(["rate", "random", "--start", "greedy-sage"]) == 1
    assert "not a rung of the ladder; there are random, " in capsys.readouterr().err


def test_rate_checks_all_players_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rookery.commands import rate

    def never(*_: object) -> None:
        raise AssertionError("a game was played")

    monkeypatch.setattr(rate, "rate_one", never)
    assert main(["rate", "random", "grdy"]) == 1
    assert "did you mean 'greedy'" in capsys.readouterr().err


def test_rate_prints_each_result_when_it_is_ready(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rookery.commands import rate
    from rookery.rating.ladder import LadderSettings, PlayerRating

    printed = []

    def quick(args: object, player: str, pool: object) -> dict[str, object]:
        printed.append(capsys.readouterr().out)
        settings = LadderSettings()
        rating = PlayerRating(player, 1000.0, 900.0, 1100.0, [], True, "", settings, 1.0)
        return rating.to_json()

    monkeypatch.setattr(rate, "rate_one", quick)
    assert main(["rate", "random", "greedy", "greedy-safe"]) == 0
    assert printed[0] == "" and printed[1].startswith("random: 1000 Elo")
    assert printed[2].startswith("greedy: 1000 Elo")
    assert capsys.readouterr().out.startswith("greedy-safe: 1000 Elo")
    printed.clear()
    found = run_json(capsys, "rate", "random", "greedy")
    assert printed == ["", ""]
    assert [row["player"] for row in found["ratings"]] == ["random", "greedy"]  # type: ignore[attr-defined]


def test_help_of_rate_names_rungs_only(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["rate", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "random, greedy-safe," in text and "greedy," not in text.replace("greedy-safe,", "")


@needs_tables
def test_endgame_of_a_defender(capsys: pytest.CaptureFixture[str]) -> None:
    def defend(ending: str, player: str, *words: str) -> dict[str, object]:
        return run_json(
            capsys, "endgame", ending, player, "--positions", "60", "--side", "defend", *words
        )

    keys = {"won_positions", "won", "win_rate", "drawn_positions", "drawn_held", "hold_rate"}
    for words in ((), ("--against", "greedy-safe")):
        held = defend("KPK", "tablebase", *words)
        assert keys <= set(held) and held["faults"] == held["opponent_faults"] == 0
        assert held["drawn_held"] == held["drawn_positions"]
        assert (held["won_positions"], held["won"], held["win_rate"]) == (0, 0, None)
        levels = held["levels"]
        assert levels and all(keys <= set(level) for level in levels.values())  # type: ignore[attr-defined]
    # A fault of the player fails the position, one of the opponent excludes it.
    broken = bad_engine("illegal")
    failed = defend("KPK", broken)
    assert failed["drawn_held"] == 0 and failed["faults"] == failed["drawn_positions"] > 0  # type: ignore[operator]
    excused = defend("KPK", "tablebase", "--against", broken)
    assert excused["drawn_positions"] == 0 and excused["faults"] == 0
    assert excused["opponent_faults"] == failed["faults"]
    assert "illegal" in excused["fault_example"]  # type: ignore[operator]
    attacked = run_json(capsys, "endgame", "KPK", broken, "--positions", "20")
    assert attacked["positions"] == attacked["faults"] == 20 and attacked["won"] == 0
    assert main(["endgame", "KPK", broken, "--positions", "5"]) == 0
    assert "fault of the player" in capsys.readouterr().out


@needs_tables
def test_a_defender_may_win(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(
        capsys, "endgame", "KvKQ", "tablebase", "--positions", "20", "--side", "defend"
    )
    assert found["won"] == found["won_positions"] > 10  # type: ignore[operator]
    assert found["win_rate"] == 1.0


def test_a_game_that_neither_player_can_start_is_void(capsys: pytest.CaptureFixture[str]) -> None:
    broken = "uci,command=/no/such/engine"
    assert main(["arena", broken, broken, "--games", "2"]) == 0
    captured = capsys.readouterr()
    assert "2 games are void" in captured.err and "own fault" not in captured.err
    assert "both players failed to start" in captured.out
