"""Characters, their pace, and offers of draws."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("starlette", reason="needs the extra web")
pytest.importorskip("uvicorn", reason="needs the extra web")

from rookery.players.characters import CHARACTERS
from rookery.players.levels import is_calibrated
from rookery.web.choices import shipped_engine
from rookery.web.games import draws
from rookery.web.games.clock import Clock
from rookery.web.games.records import Entry
from rookery.web.games.seats import calm_seconds
from rookery.web.serve import Running
from support.web_parts import Client, server

QUEEN_EN_PRISE = "4k3/8/8/3q4/8/4N3/8/4K3 w - - 0 1"
QUEEN_UP = "4k3/pppppppp/8/8/8/8/PPPPPPPP/3QK3 w - - 0 1"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with server(tmp_path_factory.mktemp("runs")) as found:
        yield found


@pytest.fixture
def client(running: Running) -> Client:
    found = Client(running)
    found.hello()
    return found


def entries(values: list[float | None]) -> list[Entry]:
    return [Entry("e2e4", "e4", "", False, value) for value in values]


def test_characters_climb_from_a_beginner_to_the_engine() -> None:
    ratings = [person.elo for person in CHARACTERS]
    assert ratings == sorted(set(ratings)) and ratings[0] <= 400 and ratings[-1] >= 2500
    assert len({person.id for person in CHARACTERS}) == len(CHARACTERS)


def test_a_character_plays_under_its_name(client: Client) -> None:
    engine = shipped_engine()
    if engine is None or not is_calibrated(engine.read_bytes()):
        pytest.skip("needs the shipped engine: src/rookery/networks/rookery.safetensors")
    listed = {player["id"]: player for player in client.hello()["players"]}
    for person in CHARACTERS:
        assert listed[person.id]["group"] == "Characters"
        assert f"about {person.elo} Elo" in listed[person.id]["title"]
    seat = client.play(player="character:pip", color="white", calm=1)
    assert seat.state()["black"].startswith("Pip (about ")
    seat.move("e2e4")
    seat.until(2)
    seat.close()


def test_a_beginner_leaves_hints_to_the_engine(client: Client) -> None:
    if shipped_engine() is None:
        pytest.skip("needs the shipped engine: src/rookery/networks/rookery.safetensors")
    seat = client.play(player="character:pip", fen=QUEEN_EN_PRISE, seconds=3)  # 0.1 s a move
    seat.send({"type": "hint"})
    hint = seat.wait(lambda m: m["type"] == "hint")
    assert (hint["who"], hint["san"]) == ("rookery", "Nxd5")
    seat.close()


def test_a_calm_player_leaves_itself_time() -> None:
    level = CHARACTERS[0].levels.levels[0]
    low, high = level.seconds
    for _ in range(20):
        assert low <= calm_seconds(level, None, True) <= high
        assert calm_seconds(level, Clock(6.0, 0.0), True) <= 0.1


def test_who_is_not_better_accepts() -> None:
    level = [0.0] * draws.EARLIEST_ACCEPTED
    for last, accepted in ((-0.5, True), (0.01, True), (0.3, False), (None, False)):
        assert draws.accepts(entries([*level, 0.0, last]), True, False) is accepted
    assert not draws.accepts(entries([0.0, 0.0]), True, False)  # too early


def test_a_long_level_game_is_offered_as_a_draw() -> None:
    plies = draws.EARLIEST_OFFER
    assert draws.offers(entries([None, 0.0] * (plies // 2)), True, False)
    assert not draws.offers(entries([None, 0.1] * (plies // 2)), True, False)
    assert not draws.offers(entries([None, 0.0] * (plies // 4)), True, False)


def test_offers_over_the_socket(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    seat = client.play(player="greedy-safe", color="white")
    seat.send({"type": "draw"})
    assert "declines" in seat.wait(lambda m: m["type"] == "declined")["text"]
    seat.close()
    if shipped_engine() is None:
        pytest.skip("needs the shipped engine: src/rookery/networks/rookery.safetensors")
    monkeypatch.setattr(draws, "EARLIEST_ACCEPTED", 1)
    seat = client.play(player="rookery", level="5", color="white", fen=QUEEN_UP)
    seat.move("d1c1")
    seat.until(2)
    seat.send({"type": "draw"})
    end = seat.state(lambda s: s["result"] != "*")
    assert (end["result"], end["reason"]) == ("1/2-1/2", "draw by agreement")
    seat.close()
