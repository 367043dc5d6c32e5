"""Matches: reproducible, paired, resumable wherever they were killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import chess.pgn
import numpy as np
import pytest

from rookery._core import Game
from rookery.arena.game import game_rngs, play_game
from rookery.arena.limits import (
    Adjudication,
    MatchLimits,
)
from rookery.arena.match import MatchResult, MatchSettings, run_match
from rookery.arena.pgn import Journal, PgnError, read_games
from rookery.data.openings import Opening
from rookery.players.base import Decision, Limits
from rookery.players.bots import RandomPlayer
from rookery.players.mixed import MixedPlayer
from rookery.players.programs.uci_engine import UciPlayer, UciSettings
from rookery.players.registry import make_player
from support.scripted import Scripted


def match(first: str, second: str, **settings: object) -> MatchResult:
    return run_match(
        lambda: make_player(first),
        lambda: make_player(second),
        MatchSettings(**settings),  # type: ignore[arg-type]
        names=(first, second),
    )


def games_in(path: Path) -> list[chess.pgn.Game]:
    found = []
    with path.open() as stream:
        while (game := chess.pgn.read_game(stream)) is not None:
            assert not game.errors
            found.append(game)
    return found


def results_of(path: Path) -> dict[str, tuple[str, list[str]]]:
    return {
        game.headers["Round"]: (
            game.headers["Result"],
            [move.uci() for move in game.mainline_moves()],
        )
        for game in games_in(path)
    }


def test_random_against_random_is_even() -> None:
    result = match("random", "random", games=1000, seed=1)
    summary = result.to_json()
    assert summary["games"] == 1000
    assert summary["wins"] + summary["draws"] + summary["losses"] == 1000  # type: ignore[operator]
    assert sum(summary["pentanomial"]) == 500  # type: ignore[call-overload]
    assert summary["elo_low"] <= 0 <= summary["elo_high"]  # type: ignore[operator]
    assert summary["duplicates"] == 0
    json.dumps(summary, allow_nan=False)


def test_greedy_safe_beats_random_with_both_colours() -> None:
    result = match("greedy-safe", "random", games=100)
    assert result.tally.count("wins") == 100
    assert result.tally.as_white["wins"] == result.tally.as_black["wins"] == 50


@pytest.mark.parametrize("players", [("random", "greedy"), ("random,claims=true", "greedy")])
def test_results_depend_on_the_seed_only(players: tuple[str, str], tmp_path: Path) -> None:
    # The second pair is not native: it runs in threads, whose number must not matter.
    found = []
    for name, concurrency, seed in (("a", 1, 5), ("b", 3, 5), ("c", 1, 6)):
        path = tmp_path / f"{name}.pgn"
        match(*players, games=12, seed=seed, concurrency=concurrency, pgn=path)
        found.append(results_of(path))
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_pairs_share_their_opening_with_colours_swapped(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    match("random,claims=true", "greedy", games=10, openings="random:6", pgn=path)
    by_round = {game.headers["Round"]: game for game in games_in(path)}
    for pair in range(1, 6):
        one, two = by_round[f"{pair}.1"], by_round[f"{pair}.2"]
        assert [*one.mainline_moves()][:6] == [*two.mainline_moves()][:6]
        assert one.headers["White"] == two.headers["Black"] == "random,claims=true"
        assert one.headers["Black"] == two.headers["White"] == "greedy"


def test_pgn_says_why_each_game_ended(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    result = match("random", "greedy", games=20, pgn=path)
    games = games_in(path)
    assert len(games) == 20
    for game in games:
        assert game.headers["Reason"]
        assert game.headers["Termination"] == "normal"
        board = game.end().board()
        outcome = board.outcome(claim_draw=False)
        if outcome is not None:
            assert outcome.result() == game.headers["Result"]
            assert outcome.termination.name.lower() == game.headers["Reason"]
        else:
            assert board.is_repetition(3) or board.is_fifty_moves()
            assert game.headers["Result"] == "1/2-1/2"
    assert sum(result.tally.reasons.values()) == 20


def test_duplicate_games_are_counted() -> None:
    result = run_match(
        Scripted, Scripted, MatchSettings(games=8, openings="start"), names=("a", "b")
    )
    # Each colour assignment repeats one game four times.
    assert result.tally.duplicates == 6


def test_odd_number_of_games() -> None:
    result = match("random", "greedy", games=7)
    assert result.tally.games == 7
    assert sum(result.tally.pentanomial) == 3


def test_a_match_continues_and_can_be_made_longer(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    whole = tmp_path / "whole.pgn"
    match("random", "greedy", games=30, seed=3, pgn=whole)
    match("random", "greedy", games=9, seed=3, pgn=path)
    result = match("random", "greedy", games=30, seed=3, pgn=path)
    assert result.resumed == 9 and result.tally.games == 30
    assert results_of(path) == results_of(whole)


def test_a_torn_last_game_is_replayed(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    match("random", "greedy", games=6, pgn=path)
    whole = path.read_bytes()
    expected = results_of(path)
    starts = [i for i in range(len(whole)) if whole.startswith(b"[Event ", i)]
    for cut in (len(whole) - 1, starts[-1] + 8, starts[-1] + 200, starts[3] + 5, 40):
        path.write_bytes(whole[:cut])
        if cut == 40:
            # Not even the name of the match is left: this might be any file.
            with pytest.raises(PgnError, match="another match"):
                match("random", "greedy", games=6, pgn=path)
            continue
        result = match("random", "greedy", games=6, pgn=path)
        assert result.recovered_bytes > 0
        assert results_of(path) == expected


def test_damage_in_the_middle_keeps_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    match("random", "greedy", games=6, pgn=path)
    expected = results_of(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x15
    path.write_bytes(data)
    match("random", "greedy", games=6, pgn=path)
    assert results_of(path) == expected
    assert (tmp_path / "games.pgn.damaged").exists()


def test_the_file_of_another_match_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    match("random", "greedy", games=2, seed=1, pgn=path)
    before = path.read_bytes()
    with pytest.raises(PgnError, match="other players, openings, limits or seed"):
        match("random", "greedy", games=2, seed=2, pgn=path)
    path.write_text("shopping list: milk, eggs\n")
    with pytest.raises(PgnError, match="another match"):
        match("random", "greedy", games=2, seed=1, pgn=path)
    assert path.read_text() == "shopping list: milk, eggs\n"
    path.write_bytes(before)


def test_two_matches_cannot_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"

    def second_match() -> RandomPlayer:
        with pytest.raises(PgnError, match="in use"):
            match("random", "greedy", games=2, pgn=path)
        return RandomPlayer(claims=True)

    run_match(
        second_match,
        lambda: make_player("greedy"),
        MatchSettings(games=2, pgn=path),
        names=("x", "y"),
    )
    assert len(games_in(path)) == 2


@pytest.mark.slow
def test_a_match_killed_twenty_times_keeps_its_games(tmp_path: Path) -> None:
    """SIGKILL at random moments; every resumption keeps all games, and the plan is met."""
    path = tmp_path / "games.pgn"
    command = [sys.executable, "-m", "rookery.cli", "arena", "random,claims=true", "greedy"]
    command += ["--games", "1500", "--pgn", str(path), "--seed", "4", "--json"]
    rng = random.Random(2)
    counts = [0]
    for _ in range(20):
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        before = path.stat().st_size if path.exists() else 0
        # Past the start-up, so that kills fall among the games.
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and process.poll() is None:
            if path.exists() and path.stat().st_size > before:
                break
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.25))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        text = path.read_text()
        whole = [game for _, game, _ in read_games(text)]
        # All is whole but perhaps the last: a kill can stop even a single write at a page's end.
        assert text.count("[Event ") - len(whole) in (0, 1)
        assert len({(game.pair, game.index) for game in whole}) == len(whole) >= counts[-1]
        counts.append(len(whole))
    assert counts[-1] > counts[1] > 0
    planned = counts[-1] + 10 - counts[-1] % 2
    command[command.index("1500")] = str(planned)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    summary = json.loads(done.stdout)
    assert summary["games"] == planned == len(results_of(path))
    assert summary["resumed"] == counts[-1]
    assert sum(summary["pentanomial"]) == planned // 2


def test_sprt_stops_early() -> None:
    from rookery.arena.sprt import Sprt

    result = match("greedy-safe", "random", games=2000, sprt=Sprt(0, 50))
    summary = result.to_json()
    assert summary["games"] < 1000  # type: ignore[operator]
    assert summary["sprt"]["decision"] == "elo1"  # type: ignore[index]


def test_an_error_in_a_player_is_its_own_fault() -> None:
    class Broken(Scripted):
        def choose(
            self, game: Game, rng: np.random.Generator, limits: Limits | None = None
        ) -> Decision:
            raise RuntimeError("no idea")

    result = run_match(
        Broken, Scripted, MatchSettings(games=4, openings="start"), names=("broken", "ok")
    )
    assert result.tally.faults["first"]["error"] == 4
    assert result.tally.count("losses") == 4


def test_invalid_settings_are_refused() -> None:
    for wrong in ({"games": -1}, {"concurrency": -2}, {"seed": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong.keys())).rstrip("s")):
            MatchSettings(**wrong)  # type: ignore[arg-type]


def test_timed_players_get_fewer_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rookery.arena.match.os.cpu_count", lambda: 8)

    def workers(limits: MatchLimits, **own: float) -> int:
        player = UciPlayer("x", UciSettings(["engine"], **own))  # type: ignore[arg-type]
        settings = MatchSettings(limits=limits)
        mixed = MixedPlayer(player, 0.5)
        assert settings.workers([player]) == settings.workers([Scripted(), mixed])
        return settings.workers([player])

    assert workers(MatchLimits(), movetime=0.05) == 4
    assert workers(MatchLimits(), depth=1) == workers(MatchLimits(), nodes=10) == 8
    assert workers(MatchLimits()) == 4  # it gets a tenth of a second
    assert workers(MatchLimits(nodes=10)) == 8
    assert workers(MatchLimits(movetime=1.0), depth=1) == 4
    assert MatchSettings().workers([Scripted()]) == 8
    assert MatchSettings(concurrency=3).workers([Scripted()]) == 3


def test_a_closed_journal_accepts_no_more_games(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "games.pgn", "match", {})
    record = play_game(
        Scripted(),
        Scripted(),
        Opening(),
        game_rngs(0, 0, 0),
        adjudication=Adjudication(max_plies=4),
    )
    assert record is not None
    journal.append(record)
    journal.close()
    journal.close()
    with pytest.raises(ValueError, match="closed"):
        journal.append(record)
    assert len(games_in(tmp_path / "games.pgn")) == 1


def test_a_foreign_game_is_not_cut_off_silently(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    match("random", "greedy", games=4, pgn=path)
    before = path.read_bytes()
    foreign = b'[Event "Casual game"]\n[White "me"]\n\n1. e4 e5 *\n\n'
    path.write_bytes(before + foreign)
    result = match("random", "greedy", games=4, pgn=path)
    assert path.read_bytes() == before and result.resumed == 4
    assert result.damaged_copy is not None and result.damaged_copy.read_bytes() == foreign
    # A torn game of the match itself needs no copy.
    result.damaged_copy.unlink()
    path.write_bytes(before[:-30])
    result = match("random", "greedy", games=4, pgn=path)
    assert result.damaged_copy is None and result.recovered_bytes > 0


# As version 0.1.0 wrote it: quotes escaped, comments without spaces.
OLD_GAME = """\
[Event "Rookery match"]
[Site "?"]
[Date "????.??.??"]
[Round "3.2"]
[White "uci,cmd=\\"a b\\""]
[Black "greedy"]
[Result "0-1"]
[Opening "random 1 plies"]
[Match "m"]
[PlyCount "3"]
[Termination "rules infraction"]
[Reason "forfeit: White illegal"]
[Fault "white illegal: played \\"e2e5\\""]
[LineHash "e1f42e5c165567ca"]
[Seconds "0.500"]

1. e4 e5 {0.10} 2. Nf3 {-0.10}
{forfeit: White illegal crc 46339fbb} 0-1

"""


def test_a_journal_of_the_old_writer_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(OLD_GAME)
    journal = Journal(path, "m", {})
    journal.close()
    (game,) = journal.games
    assert journal.dropped_bytes == 0 and path.read_text() == OLD_GAME
    assert (game.pair, game.index, game.result, game.plies) == (2, 1, "0-1", 3)
    assert (game.fault_white, game.fault_kind) == (True, "illegal")
    assert game.reason == "forfeit: White illegal"
