"""Games over the websocket: rules, turns, take-backs, clocks, searches, PGN."""

from __future__ import annotations

import functools
import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from rookery._core import Game
from rookery.data.notation import read_move
from rookery.data.pgn import pgn_game
from rookery.nets import make_network
from rookery.nets.model_file import describe, save_model
from rookery.players.base import Decision, Limits
from rookery.players.levels import level_parameters
from rookery.players.offered_levels import AS_MADE, TREE_SEARCH
from rookery.players.thinking import Line, Thought
from rookery.rating.networks import known_rungs
from rookery.web.choices import Choices, run_choices
from rookery.web.games.clock import Clock
from rookery.web.games.records import destinations, game_of_pgn, in_words
from rookery.web.games.rooms import Rooms
from rookery.web.games.shelf import Shelf
from rookery.web.games.thinking import Search, Searches, Wish, thought_of
from rookery.web.serve import Running
from rookery.web.transport.quota import Clamps, Quotas
from support.thinkers import CountingThinker
from support.web_parts import Client, Seat, eventually, server


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with server(tmp_path_factory.mktemp("runs")) as found:
        yield found


@pytest.fixture
def client(running: Running) -> Client:
    visitor = Client(running)
    visitor.hello()
    return visitor


def pgn_of(client: Client, seat: Seat) -> chess.pgn.Game:
    text = client.ask("GET", f"/api/games/{seat.game}/pgn")[2].decode()
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None and not game.errors
    return game


# --- Moves ---


def test_a_move_is_answered(client: Client) -> None:
    seat = client.play(player="greedy", color="white")
    state = seat.state()
    assert state["turn"] == "white" and state["people"] == ["white"]
    assert sorted(state["dests"]["e2"]) == ["e3", "e4"]
    seat.move("e2e4")
    after = seat.until(2)
    assert seat.entries[0]["uci"] == "e2e4"
    assert seat.entries[0]["san"] == "e4"
    assert after["turn"] == "white" and after["dests"]
    assert any(m.get("said") == "White: pawn e4" for m in seat.messages)


def test_black_waits_for_the_player(client: Client) -> None:
    seat = client.play(player="random", color="black")
    state = seat.until(1)
    assert state["turn"] == "black" and state["people"] == ["black"]


@pytest.mark.parametrize("move", ["e2e5", "e7e5", "Nf6", "", "e2", "x" * 5000, "0000", "e2e4q"])
def test_illegal_moves_are_refused(client: Client, move: str) -> None:
    seat = client.play(player="random", color="white")
    before = seat.state()
    seat.move(move)
    assert seat.error()
    assert seat.state()["fen"] == before["fen"]


def test_moves_for_another_position_or_out_of_turn_are_refused(client: Client) -> None:
    seat = client.play(player="slow", color="white")
    seat.state()
    seat.send({"type": "move", "move": "e2e4", "ply": 4})
    assert "changed" in seat.error()
    seat.move("e2e4")
    seat.state(lambda s: s["thinking"])
    seat.move("d2d4")
    assert "not your turn" in seat.error()
    seat.close()


def test_scripted_game_to_mate(client: Client) -> None:
    seat = client.play(player="knights", color="white")
    seat.state()
    for number, move in enumerate(["e4", "Bc4", "Qh5", "Qxf7#"]):
        seat.move(move)
        last = seat.until(2 * number + 2 if number < 3 else 7)
    assert last["result"] == "1-0" and last["reason"] == "checkmate"
    game = pgn_of(client, seat)
    assert [move.uci() for move in game.mainline_moves()] == [e["uci"] for e in seat.entries]
    assert game.headers["Result"] == "1-0" and game.headers["White"] == "You"
    seat.move("e2e4")
    assert "over" in seat.error()


def test_take_back_goes_to_the_persons_last_turn(client: Client) -> None:
    seat = client.play(player="knights", color="white")
    assert not seat.state()["canTakeBack"]
    seat.move("e4")
    assert seat.until(2)["canTakeBack"]
    seat.send({"type": "takeback"})
    state = seat.state(lambda s: s["base"] == 0)
    assert state["entries"] == [] and state["fen"] == chess.STARTING_FEN
    seat.send({"type": "takeback"})
    assert "no move" in seat.error()


def test_take_back_while_the_player_thinks(client: Client) -> None:
    seat = client.play(player="slow", color="white")
    seat.state()
    begun = CountingThinker.begun
    seat.move("e4")
    seat.state(lambda s: s["thinking"])
    eventually(lambda: CountingThinker.begun == begun + 1, "search begins")
    seat.send({"type": "takeback"})
    state = seat.state(lambda s: s["base"] == 0 and not s["thinking"])
    assert state["entries"] == []
    eventually(lambda: CountingThinker.ended == CountingThinker.begun, "search ends")
    seat.close()


def test_take_back_after_mate_reopens_the_game(client: Client) -> None:
    fen = "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1"
    seat = client.play(player="random", color="white", fen=fen)
    seat.state()
    seat.move("Qg7#")
    assert seat.state(lambda s: s["result"] != "*")["result"] == "1-0"
    seat.send({"type": "takeback"})
    assert seat.state(lambda s: s["base"] == 0)["result"] == "*"


def test_resigning(client: Client) -> None:
    seat = client.play(player="random", color="black")
    seat.until(1)
    seat.send({"type": "resign"})
    state = seat.state(lambda s: s["result"] != "*")
    assert state["result"] == "1-0" and state["reason"] == "Black resigned"
    assert pgn_of(client, seat).headers["Termination"] == "Black resigned"


def test_draw_claims(client: Client) -> None:
    seat = client.play(player="knights", color="white")
    seat.state()
    seat.send({"type": "claim"})
    assert "no draw to claim" in seat.error()
    for number, move in enumerate(["Nf3", "Ng1", "Nf3", "Ng1"]):
        seat.move(move)
        state = seat.until(2 * number + 2)
    assert state["canClaim"]
    seat.send({"type": "claim"})
    assert seat.state(lambda s: s["result"] != "*")["result"] == "1/2-1/2"


def test_both_sides_and_promotions(client: Client) -> None:
    seat = client.play(color="both", fen="7k/P7/8/8/8/8/7P/7K w - - 0 1")
    state = seat.state()
    assert state["people"] == ["white", "black"] and state["dests"]["a7"] == ["a8"]
    seat.move("a8=N")
    assert seat.state(lambda s: len(seat.entries) == 1)["fen"].startswith("N6k/")
    seat.move("Kg7")
    seat.state(lambda s: len(seat.entries) == 2)
    seat.send({"type": "takeback"})
    seat.state(lambda s: s["base"] == 0)
    assert len(seat.entries) == 1


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"fen": "nonsense"}, "FEN"),
        ({"fen": "8/8/8/8/8/8/8/8 w - - 0 1"}, "king"),
        ({"fen": "x" * 200}, "120 characters"),
        ({"fen": "k7/8/8/8/8/8/8/K6r w - - 0 1 " + " " * 100}, "120 characters"),
        ({"fen": "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"}, "over"),
        ({"fen": 5}, "must be a string"),
        ({"pgn": "1. e4 e4"}, "illegal"),
        ({"pgn": ["1. e4"]}, "must be a string"),
        ({"color": "green"}, "color"),
        ({"level": "99"}, "no level"),
        ({"color": "watch", "white": "random"}, "unknown player"),
    ],
)
def test_wrong_wishes_are_explained(client: Client, wishes: dict[str, Any], words: str) -> None:
    status, _, content = client.ask("POST", "/api/games", {"player": "random", **wishes})
    assert status == 400 and words in json.loads(content)["error"]


def test_a_game_goes_on_from_pgn(client: Client) -> None:
    seat = client.play(player="random", color="white", pgn="1. e4 {good} (1. d4) e5 2. Nf3 Nc6 *")
    state = seat.state()
    assert [entry["san"] for entry in state["entries"]] == ["e4", "e5", "Nf3", "Nc6"]
    assert state["turn"] == "white" and state["canTakeBack"]


# --- Players that think ---


def test_thoughts_arrive_and_moving_now_ends_them(client: Client) -> None:
    seat = client.play(player="slow", color="white", level="absurd")
    seat.state()
    seat.move("e4")
    told = seat.wait(lambda m: m["type"] == "thought")
    assert told["lines"][0]["value"] == -0.25  # of Black, seen by White
    assert told["lines"][0]["centipawns"] == -80
    assert told["lines"][0]["wdl"] == [250, 250, 500]
    assert told["notes"][0]["visits"] == 100 and told["notes"][0]["san"]
    assert CountingThinker.limits is not None
    assert CountingThinker.limits.movetime == 30.0 and CountingThinker.limits.simulations == 100_000
    seat.send({"type": "now"})
    seat.until(2)
    assert seat.entries[1]["value"] == -0.25
    seat.close()


def test_closing_the_tab_cancels_the_search(client: Client) -> None:
    seat = client.play(player="slow", color="black", level="absurd")
    seat.wait(lambda m: m["type"] == "thought")
    assert CountingThinker.begun > CountingThinker.ended
    seat.close()
    eventually(lambda: CountingThinker.ended == CountingThinker.begun, "search ends", 5.0)
    # Whoever comes back finds the game, and the player thinking again.
    again = Seat(client, seat.game)
    assert again.state()["turn"] == "white"
    again.wait(lambda m: m["type"] == "thought")
    again.close()
    eventually(lambda: CountingThinker.ended == CountingThinker.begun, "search ends", 5.0)


def test_ending_the_server_ends_searches(tmp_path: Path) -> None:
    with server(tmp_path) as short_lived:
        client = Client(short_lived)
        client.hello()
        seat = client.play(player="slow", color="black", level="absurd")
        seat.wait(lambda m: m["type"] == "thought")
        assert CountingThinker.begun > CountingThinker.ended
    assert CountingThinker.begun == CountingThinker.ended


def test_waiting_searches_are_cancelled_before_they_begin(tmp_path: Path) -> None:
    with server(tmp_path, workers=1) as one_worker:
        client = Client(one_worker)
        client.hello()
        begun = CountingThinker.begun
        seats = [client.play(player="slow", color="black", level="absurd") for _ in range(6)]
        for seat in seats:
            seat.state(lambda s: s["thinking"])
        for seat in reversed(seats):  # the first is the one whose search is running
            seat.close()
        eventually(lambda: CountingThinker.ended == begun + 1, "the first search ends", 5.0)
    assert CountingThinker.begun == begun + 1


def test_hint(client: Client) -> None:
    seat = client.play(player="greedy-safe", color="white", fen="k7/8/K7/8/8/8/8/7R w - - 0 1")
    seat.state()
    seat.send({"type": "hint"})
    assert seat.wait(lambda m: m["type"] == "hint")["san"] == "Rh8#"
    assert not seat.entries


@pytest.mark.parametrize("player", ["broken", "illegal"])
def test_a_player_that_fails_is_reported(client: Client, player: str) -> None:
    seat = client.play(player=player, color="white")
    seat.state()
    seat.move("e4")
    state = seat.state(lambda s: bool(s["trouble"]))
    assert "could not move" in state["trouble"] and state["result"] == "*"
    seat.send({"type": "takeback"})
    assert not seat.state(lambda s: s["base"] == 0)["trouble"]


def test_two_players_are_watched_and_paused(client: Client) -> None:
    seat = client.play(color="watch", white="random", black="greedy")
    assert seat.state()["people"] == []
    seat.state(lambda s: len(seat.entries) >= 3)
    seat.send({"type": "pause", "paused": True})
    seat.state(lambda s: s["paused"] and not s["thinking"])
    seat.send({"type": "move", "move": "e2e4", "ply": len(seat.entries)})
    assert "not your turn" in seat.error()
    count = len(seat.entries)
    seat.send({"type": "pause", "paused": False})
    seat.state(lambda s: len(seat.entries) > count)
    seat.close()


# --- Clocks ---


def test_clock_counts_only_whose_turn_it_is() -> None:
    now = [0.0]
    clock = Clock(60, 2, lambda: now[0])
    now[0] = 100
    assert clock.running is None and clock.left(True) == 60
    clock.press(True)  # White's first move starts Black's clock
    now[0] = 110
    assert clock.left(True) == 60 and clock.left(False) == 50
    clock.press(False)
    assert clock.left(False) == 52 and clock.running is True
    now[0] = 175
    assert clock.left(True) == -5
    clock.pause()
    now[0] = 500
    assert clock.left(True) == -5


def test_the_flag_falls(client: Client) -> None:
    seat = client.play(player="knights", color="white", seconds=1)
    clock = seat.state()["clock"]
    assert (clock["white"], clock["black"], clock["running"]) == (1.0, 1.0, "")
    seat.move("e4")
    seat.until(2)
    state = seat.state(lambda s: s["result"] != "*")
    assert state["result"] == "0-1" and state["reason"] == "White's time is up"
    assert pgn_of(client, seat).headers["TimeControl"] == "1+0"


def test_a_searching_player_keeps_its_clock(client: Client) -> None:
    seat = client.play(player="slow", color="white", seconds=30, level="absurd")
    seat.state()
    seat.move("e4")
    seat.until(2)
    assert CountingThinker.limits is not None and CountingThinker.limits.movetime is not None
    assert CountingThinker.limits.movetime <= 1.0
    seat.close()


def test_two_players_have_a_pace(client: Client) -> None:
    seat = client.play(color="watch", white="greedy", black="random")
    assert seat.state()["pace"] == 0.4
    seat.send({"type": "pace", "seconds": 0})
    seat.state(lambda state: state["pace"] == 0.0)
    seat.until(10)
    seat.send({"type": "pace", "seconds": 1e9})
    seat.state(lambda state: state["pace"] == 30.0)
    seat.send({"type": "pace", "seconds": "fast"})
    while "number of seconds" not in str(seat.receive()):
        pass
    seat.close()


def test_a_chess960_position_is_refused_in_words(client: Client) -> None:
    fen = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"
    status, _, content = client.ask("POST", "/api/games", {"color": "both", "fen": fen})
    assert status == 400 and b"Chess960 position; the page plays standard chess" in content


def test_who_moves_instead_of_a_network_is_named(client: Client) -> None:
    rook = "8/8/8/4k3/8/8/8/R3K3 w - - 0 1"
    seat = client.play(player="kqk", color="black", fen=rook)
    seat.until(1)
    assert seat.entries[0]["by"] == "greedy-safe, since kqk does not know KRvK"
    seat.close()


# --- Records ---


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_pgn_round_trip(seed: int) -> None:
    from rookery._core import play_random_plies

    game = Game()
    play_random_plies(game, 60, seed)
    text = str(pgn_game(game.moves(), "a", 'b "quoted" \\ <i>', "*", start=game.start_fen))
    again = game_of_pgn(text)
    assert again.moves() == game.moves() and again.fen() == game.fen()


def test_moves_as_people_write_them() -> None:
    board = chess.Board()
    assert read_move(board, " nf3 ") == "g1f3"
    assert read_move(board, "E2E4") == "e2e4"
    castle = chess.Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert read_move(castle, "0-0") == "e1g1" and read_move(castle, "o-o-o") == "e1c1"
    with pytest.raises(ValueError, match="more than one"):
        read_move(chess.Board("k7/8/8/8/8/8/8/K2R3R w - - 0 1"), "Re1")


def test_moves_in_words() -> None:
    board = chess.Board("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3")
    assert in_words(board, chess.Move.from_uci("e5f6")) == "pawn takes f6 en passant"
    castle = chess.Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert in_words(castle, chess.Move.from_uci("e1c1")) == "castles queenside"
    promotion = chess.Board("7k/P7/8/8/8/8/8/7K w - - 0 1")
    words = in_words(promotion, chess.Move.from_uci("a7a8q"))
    assert words == "pawn a8, promotes to queen, check"


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
WISHES = st.sampled_from(
    ["color", "player", "level", "fen", "pgn", "seconds", "increment", "white", "black"]
)


@functools.cache
def rooms() -> Rooms:
    return Rooms(Choices(Path("nowhere")), Searches(Shelf(), 1), Clamps(), Quotas())


@settings(max_examples=300)
@given(st.dictionaries(WISHES, JSON_VALUES | st.sampled_from(["random", "watch", "both", "1"])))
def test_no_wish_breaks_anything(wishes: dict[str, Any]) -> None:
    try:
        table = rooms().open("me", wishes)
    except ValueError:
        return
    json.dumps(table.state(), allow_nan=False)


def test_names_tell_the_level(client: Client) -> None:
    seat = client.play(player="greedy", level="2", color="white")
    assert seat.state()["black"] == "greedy, every fifth move at random"


# --- Players and their levels ---


def run_with(folder: Path, algorithm: str, *network: Any) -> Path:
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "recipe.toml").write_text(f"algorithm = '{algorithm}'\n")
    made = make_network(*network)
    save_model(folder / "model.safetensors", made, describe(made, {"algorithm": algorithm}))
    return folder


def test_networks_of_runs_are_offered_as_they_play(tmp_path: Path) -> None:
    squares = ("squares", "tactical70", "az4672", {"width": 8, "key_width": 4})
    tree = run_choices(run_with(tmp_path / "az", "alphazero", *squares))[0]
    assert tree.spec.endswith(",simulations=400")  # without it the policy would play alone
    assert tree.level("4").wishes == {"simulations": 400}
    nnue = ("nnue", "nnue768", "none", {"hidden": 16})
    engine = run_choices(run_with(tmp_path / "engine", "engine", *nnue))[0]
    assert engine.level("9").settings == {"UCI_LimitStrength": "false", "Level": "9"}
    leaf = run_choices(run_with(tmp_path / "leaf", "tdleaf", *nnue))[0]
    assert leaf.level("9").settings["Level"] == "9"
    giraffe = ("giraffe", "giraffe363", "none", {"width": 8})
    searches = run_choices(run_with(tmp_path / "giraffe", "tdleaf", *giraffe))[0]
    assert searches.levels == engine.levels
    policy = run_choices(run_with(tmp_path / "ppo", "ppo", *squares))[0]
    assert [level.id for level in policy.levels.levels] == ["1", "2", "3"]
    (tmp_path / "ppo" / "model.safetensors").write_bytes(b"damaged")
    assert run_choices(tmp_path / "ppo") == [policy]  # still named; what is wrong shows in play


def test_only_measured_ratings_are_shown(tmp_path: Path) -> None:
    """Neither a level nor a checkpoint has an Elo unless this very network was measured."""
    nnue = ("nnue", "nnue768", "none", {"hidden": 16})
    run = run_with(tmp_path / "engine", "engine", *nnue)
    for step in (10, 20):
        (run / "checkpoints" / f"{step:08d}").mkdir()
        shutil.copy(run / "model.safetensors", run / "checkpoints" / f"{step:08d}")
    assert all(choice.title.endswith("(not rated)") for choice in run_choices(run))
    assert not any("Elo" in level.title for level in run_choices(run)[0].levels.levels)
    assert run_choices(run)[0].level(run_choices(run)[0].levels.default).title.startswith("full")
    match = {"opponent": "greedy-safe", "games": 100, "elo": 50.0, "elo_low": 0.0, "elo_high": 100}
    lost = {"opponent": "random", "games": 100, "elo": -900.0, "elo_low": -4000, "elo_high": -600}
    (run / "ratings.json").write_text(
        json.dumps({"evaluations": [{**match, "iteration": 10}, {**lost, "iteration": 20}]})
    )
    by_id = {choice.id: choice for choice in run_choices(run)}
    rung = known_rungs()["greedy-safe"].elo
    rating = by_id["run:engine@10"].rating
    assert rating is not None and rating.elo == rung + 50 and rating.low is not None
    assert by_id["run:engine@10"].title.endswith(f"(about {rung + 50:.0f} Elo)")
    assert "below" in by_id["run:engine@20"].title
    won = {**lost, "opponent": "random", "elo": 900.0, "elo_low": 600.0, "elo_high": 4000}
    lost["opponent"] = "greedy-safe"
    rows = [{**won, "iteration": 20}, {**lost, "iteration": 20}]
    (run / "ratings.json").write_text(json.dumps({"evaluations": rows}))
    both = {choice.id: choice for choice in run_choices(run)}["run:engine@20"].rating
    assert both is not None and both.elo is None and re.fullmatch(r"\d+ to \d+ Elo", str(both))
    engine = Choices(tmp_path).get("rookery")
    assert engine.level("9").title == f"level 9 of 20 (about {level_parameters(9).elo} Elo)"


def test_the_network_before_training_is_offered_once(tmp_path: Path) -> None:
    """As `rookery demo` keeps it, which also measures it; not as checkpoint 0 without a rating."""
    run = run_with(tmp_path / "demo", "engine", "nnue", "nnue768", "none", {"hidden": 16})
    for step in (0, 1):
        (run / "checkpoints" / f"{step:08d}").mkdir()
        shutil.copy(run / "model.safetensors", run / "checkpoints" / f"{step:08d}")
    titles = [choice.title for choice in run_choices(run)]
    assert titles[1:] == [
        "demo: after 1 iteration (not rated)", "demo: before training (not rated)",
    ]  # fmt: skip
    shutil.copy(run / "model.safetensors", run / "start.safetensors")
    match = {"when": "before", "against": "greedy-safe", "games": 40}
    match |= {"elo": -300.0, "elo_low": -400.0, "elo_high": -200.0}
    (run / "demo.json").write_text(json.dumps({"matches": [match]}))
    found = {choice.id: choice for choice in run_choices(run)}
    assert list(found) == ["run:demo", "run:demo@1", "run:demo@start"]
    assert found["run:demo@start"].title.startswith("demo: before training (about ")


def test_a_network_that_knows_an_ending_starts_there(tmp_path: Path) -> None:
    sizes = {"endings": ["KRvK"], "hidden": 8, "width": 8, "moves": 23, "goal": "mate"}
    run = run_with(tmp_path / "rooks", "endgame", "endgame", "planes12", "az4672", sizes)
    (choice,) = run_choices(run)
    assert Game(choice.start).material() == "KRvK" and choice.title == "rooks: latest network"
    choices = Choices(tmp_path)
    assert Game(choices.get("kpk-mate").start).material() == "KPvK"
    assert choices.get("greedy").start == ""
    table = Rooms(choices, Searches(Shelf(), 1), Clamps(), Quotas()).open("me", {"player": "kqk"})
    assert table.game.material() == "KQvK"


def test_a_player_given_in_words_plays_as_given(tmp_path: Path) -> None:
    choices = Choices(tmp_path, "rookery,network=material,level=2")
    choice = choices.get("given")
    level = choice.level(choice.levels.default)
    assert level.settings == AS_MADE
    told: list[Thought] = []
    with_level = {"UCI_LimitStrength": "false", "Level": "0"}
    shelf = Shelf()
    nodes = []
    # The shelf lends the same player for both: what the first wanted must not stay.
    for settings_of in (with_level, level.settings):
        limits = Limits(nodes=5000)
        wish = Wish(choice.spec, "game", Game(), limits, seed=1, settings=settings_of)
        nodes.append(Search(wish, shelf, told.append).run().details["nodes"])
    shelf.close()
    assert nodes == [5000, level_parameters(2).nodes]


def test_other_lines_stay_when_the_best_changes() -> None:
    lines = (Line(("e2e4",), 0.2), Line(("d2d4",), 0.1), Line(("c2c4",), 0.0))
    latest = Thought(lines, depth=5)
    decision = Decision("d2d4", 0.3, ("d2d4", "d7d5"), details={"centipawns": 40, "depth": 6})
    final = thought_of(decision, latest)
    assert final is not None and final.depth == 6
    assert [line.moves[0] for line in final.lines] == ["d2d4", "e2e4", "c2c4"]
    assert thought_of(Decision("e2e4", 0.2), latest) is latest
    alone = thought_of(decision, None)
    assert alone is not None and [line.centipawns for line in alone.lines] == [40]


def test_a_king_may_castle_onto_its_rook(client: Client) -> None:
    castling = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    found = destinations(Game(castling))
    assert {"g1", "h1", "c1", "a1"} <= set(found["e1"])
    without = destinations(Game("r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1"))
    assert not {"g1", "h1", "c1", "a1"} & set(without["e1"])
    rook = destinations(Game("3k4/8/8/8/8/8/8/4R1K1 w - - 0 1"))  # a rook's e1-c1 is no castling
    assert "c1" in rook["e1"] and rook["e1"].count("a1") == 1
    seat = client.play(color="both", fen=castling)
    seat.state()
    seat.move("e1h1")
    seat.until(1)
    assert seat.entries[-1]["san"] == "O-O"


def test_tree_searchers_have_levels_of_simulations() -> None:
    choices = Choices(Path("nowhere"))
    assert choices.get("alphazero").levels == TREE_SEARCH
    assert choices.get("greedy").levels != TREE_SEARCH
