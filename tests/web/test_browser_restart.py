"""The page in a real Chromium while its server goes away and comes back."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess.pgn
import pytest

pytest.importorskip("starlette", reason="needs the extra web")
pytest.importorskip("uvicorn", reason="needs the extra web")

from rookery.web.serve import Running, start
from support.browser_parts import Page, open_browser
from support.web_parts import choices_for_tests, make, server


class Site:
    """A server that can be stopped and started again on the same port."""

    def __init__(self, page: Page, running: Running, runs: Path) -> None:
        self.page, self.running, self.runs = page, running, runs
        self.port = int(running.url.rstrip("/").rpartition(":")[2])

    def stop(self) -> None:
        self.running.stop()

    def start(self, **options: Any) -> None:
        first = {"player": "greedy-safe", "color": "white"}
        options = {"runs": self.runs, "extra": choices_for_tests(), "make": make, **options}
        self.running = start(port=self.port, first=first, **options)
        assert self.running.url == self.page.url


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    driver = open_browser(tmp_path)
    with server(tmp_path, games=tmp_path / "games") as running:
        found = Site(Page(driver, running.url), running, tmp_path)
        yield found
        driver.get("about:blank")
        found.stop()


@pytest.mark.parametrize("keeps_files", [True, False])
def test_the_game_goes_on_with_the_next_server(
    site: Site, tmp_path: Path, keeps_files: bool
) -> None:
    """By the server's own file, or without one by the moves that the page has."""
    page = site.page
    page.open()
    page.click_move("e2e4")
    page.wait_for_moves(2)
    moves = page.moves()

    site.stop()
    page.until(lambda: page.find("#away").is_displayed(), "the page says that the server is away")
    assert page.moves() == moves and page.placement()["e4"] == "white pawn"
    page.click("#download")
    page.until(lambda: list(tmp_path.glob("*.pgn")), "the PGN is written without a server")
    (path,) = tmp_path.glob("*.pgn")
    game = chess.pgn.read_game(io.StringIO(path.read_text()))
    assert game is not None and len(list(game.mainline_moves())) == 2
    assert game.headers["Black"] == "greedy-safe"
    page.click_move("d2d4")  # cannot be played now, and is taken back on the board
    page.until(lambda: page.placement().get("d2") == "white pawn", "the move is taken back")

    page.click("#my-games")
    page.until(lambda: "the server is away" in page.text("#library-facts"), "in words")
    page.click("#library-close")
    page.click("#tab-watch")
    page.until(lambda: "the server is away" in page.text("#notice"), "also for what is not loaded")
    page.click("#tab-play")

    site.start(games=tmp_path / "games" if keeps_files else tmp_path / "others")
    page.until(lambda: not page.find("#away").is_displayed(), "the server is back")
    assert page.moves() == moves
    page.until(lambda: "your turn" in page.text("#status"), "the game goes on")
    page.click_move("d2d4")
    page.wait_for_moves(4)
    assert page.text("#bar-top .name") == "greedy-safe"


def test_my_games_survive_the_tab_and_the_server(site: Site, tmp_path: Path) -> None:
    page = site.page
    page.open()
    page.click_move("e2e4")
    page.wait_for_moves(2)
    moves = page.moves()
    site.stop()
    page.driver.get("about:blank")
    site.start(games=tmp_path / "games")
    page.open_tab()
    page.until(lambda: page.find("#unfinished").is_displayed(), "it offers to go on")
    assert page.moves() == [] and "greedy-safe, 1 move." in page.text("#unfinished span")
    page.console()
    page.click("#my-games")
    page.until(lambda: page.all("#library-games li"), "the game is listed")
    assert "not finished" in page.text("#library-games li")
    page.click("#library-games button.primary")
    page.until(lambda: page.moves() == moves, "the game is resumed")
    page.click("#resign")
    page.click("#resign")
    page.until(lambda: "White resigned" in page.text("#status"), "the game ends")
    page.click("#my-games")
    page.until(lambda: "White resigned" in page.text("#library-games"), "its end is listed")
    delete = "document.querySelectorAll('#library-games button')[1].click()"
    page.script(delete)
    assert "Really delete?" in page.text("#library-games")
    page.script(delete)
    page.until(lambda: not page.all("#library-games li"), "it is deleted")
    assert "There are no games yet" in page.text("#library-facts")
    page.click("#library-close")
    assert page.console() == []
