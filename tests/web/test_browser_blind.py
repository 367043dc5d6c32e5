"""Blind chess in a real Chromium: by mouse to the captured king, by keyboard alone, on a phone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("starlette", reason="needs the extra web")
pytest.importorskip("uvicorn", reason="needs the extra web")

from selenium.webdriver.common.keys import Keys

from rookery.web import blind
from support.browser_parts import Page, opened_page

pytestmark = pytest.mark.usefixtures("no_console_errors")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A server whose opponent "random" always passes, so that every game is known."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(blind.OPPONENTS, "random", ("passing: a test", "passing"))
        runs, downloads = tmp_path_factory.mktemp("runs"), tmp_path_factory.mktemp("downloads")
        with opened_page(runs, downloads) as found:
            yield found


def begin(page: Page, color: str = "white") -> None:
    page.open("#blind")
    page.until(lambda: page.all('#blind-player [value="random"]'), "opponents are offered")
    page.script(
        "document.querySelector('#blind-player').value = 'random';"
        "document.querySelector('#blind-color').value = arguments[0]",
        color,
    )
    page.script("document.querySelector('#blind-new').requestSubmit()")
    wait_for(page, "sense")


def wait_for(page: Page, phase: str) -> None:
    words = {"sense": "nine squares", "move": "Now move", "over": "You "}[phase]
    page.until(lambda: words in page.text("#blind-status"), f"the phase {phase}")


def click_square(page: Page, square: str) -> None:
    page.click(f'#blind-board [data-square="{square}"]')


def turn(page: Page, sense: str, move: str) -> None:
    """Sense and move by clicks on the board."""
    click_square(page, sense)
    wait_for(page, "move")
    assert len(page.all("#blind-board .window")) == 9
    click_square(page, move[:2])
    page.until(lambda: page.all("#blind-board .target"), "destinations are shown")
    click_square(page, move[2:])


def squares(page: Page, selector: str) -> set[str]:
    script = (
        "return [...document.querySelectorAll(arguments[0])].map("
        "e => e.closest('[data-square]').dataset.square)"
    )
    return set(page.script(script, selector))


def test_a_game_to_the_captured_king(page: Page) -> None:
    begin(page)
    assert squares(page, "#blind-board .chosen") == set()
    assert "e4" in squares(page, "#blind-board .fog")
    turn(page, "e7", "e2e4")
    wait_for(page, "sense")
    turn(page, "e7", "d1h5")
    wait_for(page, "sense")
    assert "possible boards" in page.text("#blind-count")
    turn(page, "f7", "h5f7")
    wait_for(page, "sense")
    assert "captured on f7" in page.text("#blind-told")
    turn(page, "e7", "f7e8")
    wait_for(page, "over")
    assert page.text("#blind-status") == "You won: the king was captured."
    page.until(lambda: page.find("#blind-end").is_displayed(), "the whole game is shown")
    assert len(page.all("#blind-viewer .blind-board")) == 3
    page.script(
        "const s = document.querySelector('#blind-viewer input');"
        "s.value = 2; s.dispatchEvent(new Event('input'))"
    )
    page.until(lambda: page.text("#blind-viewer p").startswith("3. White"), "a turn is chosen")
    assert page.all("#blind-viewer .heat")
    # Black, who never looks, no longer knows where the pawn is; White knows its own pieces.
    boards = "#blind-viewer section:nth-child({}) .blind-board "
    assert "e4" not in squares(page, boards.format(1) + ".fog")
    assert "e4" in squares(page, boards.format(3) + ".fog")


def test_keyboard_alone(page: Page) -> None:
    begin(page, "black")
    field = page.find("#blind-text")
    field.send_keys("e2", Keys.ENTER)
    wait_for(page, "move")
    field.send_keys("e7e5", Keys.ENTER)
    wait_for(page, "sense")
    page.script("document.querySelector('#blind-board [tabindex=\"0\"]').focus()")
    focused = page.driver.switch_to.active_element
    focused.send_keys(Keys.ARROW_UP)  # Black's own view: up is towards White
    page.driver.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
    assert page.script("return document.activeElement.dataset.square") == "f3"
    assert len(page.all("#blind-board .aim")) == 9
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    wait_for(page, "move")
    page.find("#blind-pass").send_keys(Keys.ENTER)
    wait_for(page, "sense")
    page.find("#blind-resign").send_keys(Keys.ENTER)
    wait_for(page, "over")
    assert page.text("#blind-status") == "You lost: resignation."


@pytest.mark.parametrize(("color", "corner"), [("white", "a1"), ("black", "h8")])
def test_the_board_has_coordinates(page: Page, color: str, corner: str) -> None:
    """On each side, since squares are typed; the corner is at the lower left."""
    begin(page, color)
    files, ranks = (page.texts(f"#blind-{name} span") for name in ("files", "ranks"))
    assert (files[0] + ranks[-1], len(files), len(ranks)) == (corner, 8, 8)
    middle = "const r = document.querySelector(arguments[0]).getBoundingClientRect(); return "
    square = f'[data-square="{corner}"]'
    for mark, axis in (("files", "x + r.width / 2"), ("ranks", "y + r.height / 2")):
        child = "first" if mark == "files" else "last"
        beside = page.script(f"{middle}r.{axis}", f"#blind-{mark} span:{child}-child")
        assert abs(beside - page.script(f"{middle}r.{axis}", f"#blind-board {square}")) < 2


def test_a_phone_shows_the_whole_board(phone: Page) -> None:
    begin(phone)
    turn(phone, "e7", "g1f3")
    wait_for(phone, "sense")
