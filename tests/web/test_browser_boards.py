"""Boards of other sizes in a real Chromium: drawn in their size, played from both sides."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium.webdriver.common.actions.action_builder import ActionBuilder

pytest.importorskip("starlette", reason="needs the extra web")
pytest.importorskip("uvicorn", reason="needs the extra web")

from rookery._core import Game, find_board
from support.browser_parts import Page, opened_page

pytestmark = pytest.mark.usefixtures("no_console_errors")

GARDNER = find_board("gardner").start


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    downloads, runs = tmp_path_factory.mktemp("downloads"), tmp_path_factory.mktemp("runs")
    first = {"player": "greedy", "color": "white", "position": GARDNER}
    with opened_page(runs, downloads, first=first) as found:
        yield found


def place(page: Page, square: str) -> tuple[int, int]:
    """The middle of a square in the window; of chessground's 8x8 some may lie outside."""
    x, y = page.point(square)
    left, top = page.script(
        "const box = document.querySelector('#board cg-board').getBoundingClientRect();"
        "return [box.x + box.width / 2, box.y + box.height / 2]"
    )
    return round(left + x), round(top + y)


def visible(page: Page, square: str) -> bool:
    """Whether the middle of a square is on show."""
    return bool(
        page.script(
            "const at = document.elementFromPoint(...arguments);"
            "return at !== null && at.closest('cg-board') !== null",
            *place(page, square),
        )
    )


def click_move(page: Page, move: str) -> None:
    """Click on both squares of a move."""
    actions = ActionBuilder(page.driver, duration=0)
    for square in (move[:2], move[2:4]):
        actions.pointer_action.move_to_location(*place(page, square)).click()
    actions.perform()


def test_the_page_begins_with_the_board_it_was_given(page: Page) -> None:
    page.open()
    page.until(lambda: page.placement().get("e5") == "black king", "gardner is shown")
    assert len(page.placement()) == 20
    assert visible(page, "e5") and not visible(page, "f1") and not visible(page, "a6")
    frame = page.find("#board-frame").size
    assert abs(frame["width"] - frame["height"]) <= 1
    click_move(page, "b2b3")
    page.wait_for_moves(2)


def test_black_sees_the_same_board(page: Page) -> None:
    page.open()
    fen = "k3/4/4/4/KR2 b - - 0 1"  # 4x5
    page.new_game("greedy", color="black", position=fen)
    page.until(
        lambda: page.placement() == {"a5": "black king", "a1": "white king", "b1": "white rook"},
        "4x5 is shown",
    )
    assert visible(page, "a5") and visible(page, "d1") and not visible(page, "e1")
    click_move(page, "a5a4")
    page.wait_for_moves(2)


def test_a_pawn_promotes_on_the_last_rank_of_its_board(page: Page) -> None:
    page.open()
    page.new_game("random", position="k5/5P/6/6/6/K5 w - - 0 1")  # losalamos
    click_move(page, "f5f6")
    page.until(lambda: page.find("#promotion").is_displayed(), "promotion is offered")
    letters = [button.get_attribute("data-piece") for button in page.all("#promotion button")]
    assert letters == list("qrn")  # no bishops there
    page.click('#promotion [data-piece="r"]')
    page.until(lambda: page.moves()[:1] == ["f6=R+"], "the move is made")
    assert Game("k5/5P/6/6/6/K5 w - - 0 1").san("f5f6r") == "f6=R+"
