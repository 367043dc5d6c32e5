"""Analysis and review in a real Chromium: by mouse, by keyboard alone, on a phone."""

from __future__ import annotations

import io
from collections.abc import Iterator

import chess.pgn
import pytest

pytest.importorskip("starlette", reason="needs the extra web")
pytest.importorskip("uvicorn", reason="needs the extra web")

from selenium.webdriver.common.keys import Keys

from rookery.web.choices import shipped_engine
from support.browser_parts import Page, opened_page

pytestmark = pytest.mark.usefixtures("no_console_errors")

GAME = """[White "A"]
[Black "B"]
[Result "0-1"]

1. e4 e5 2. Nf3 Nc6 3. Bc4 {the Italian} Nd4 (3... Bc5 4. c3 (4. b4)) 4. Nxe5 Qg5 5. Nxf7 Qxg2
6. Rf1 Qxe4+ 7. Be2 Nf3# 0-1
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    if shipped_engine() is None:
        pytest.skip("needs the shipped engine: src/rookery/networks/rookery.safetensors")
    runs, downloads = tmp_path_factory.mktemp("runs"), tmp_path_factory.mktemp("downloads")
    with pytest.MonkeyPatch.context() as patch, opened_page(runs, downloads) as found:
        # The blunders of these games are plain: they need no long search.
        patch.setattr("rookery.web.analyse.board.NODES", 10_000)
        patch.setattr("rookery.web.analyse.board.SECOND_NODES", 20_000)
        yield found


def load(page: Page, text: str) -> None:
    """Load a game into the analysis board."""
    page.click("#edit-position")
    page.script("document.querySelector('#editor-text').value = arguments[0]", text)
    page.click("#editor-load")


def open_game(page: Page) -> None:
    """Load the game into a new analysis board."""
    page.open("#analyse")
    page.script("localStorage.removeItem('rookery-engine')")
    load(page, GAME)
    page.until(lambda: page.text("#analysis-title") == "A – B, 0-1", "the game is loaded")  # noqa: RUF001
    page.until(lambda: not page.find("#editor").is_displayed(), "the dialog closes")


def review(page: Page) -> None:
    page.script("document.querySelector('#start-review').click()")
    page.until(lambda: page.text("#accuracy").startswith("Accuracy"), "the review is complete")


def shown(page: Page) -> str:
    """The move whose position is on show."""
    found = page.texts('#tree button[aria-current="true"]')
    return found[0] if found else ""


def test_a_reviewed_game_teaches(page: Page) -> None:
    open_game(page)
    assert "the Italian" in page.text("#tree") and len(page.all("#tree .line .line")) == 2
    review(page)
    errors = page.texts("#errors li")
    found = [text.startswith("5. Nxf7 ?? blunder") for text in errors]
    assert any(found), errors
    blunder = f"#errors li:nth-child({found.index(True) + 1})"  # 4. Nxe5 is almost one, too
    assert page.all("#graph svg polygon") and page.all("#graph circle.blunder")
    assert "??" in page.text("#tree button.blunder")
    page.click(f"{blunder} button")
    page.until(lambda: shown(page) == "Nxf7??", "a click shows the position")
    before = len(page.all("#tree button"))
    page.click(f"{blunder} .better")
    page.until(
        lambda: len(page.all("#tree button")) > before, "the better line becomes a variation"
    )
    page.script("document.querySelector(arguments[0]).click()", f"{blunder} button:last-child")
    page.until(lambda: "your turn" in page.text("#status"), "one click plays from there")
    page.until(lambda: page.placement().get("e5") == "white knight", "the position is there")
    assert page.moves() == []
    assert page.find("#play").is_displayed()


def test_buttons_stay_where_they_are_while_the_engine_thinks(page: Page) -> None:
    page.open("#analyse")
    top = "return document.querySelector('#tree-promote').getBoundingClientRect().top"
    page.until(lambda: len(page.all("#engine-list li")) == 2, "two lines")
    full = page.script(top)
    empty = page.script(f"document.querySelector('#engine-list').replaceChildren(); {top}")
    assert empty == full, "room for the lines is kept while there are none"
    page.until(lambda: len(page.all("#engine-list li")) == 2, "two lines again")
    assert page.script(top) == full


def test_free_moves_make_variations(page: Page) -> None:
    page.open("#analyse")
    for move in ("e2e4", "e7e5", "g1f3"):
        page.until(lambda: page.all("#analysis-board piece"), "the board is drawn")
        click_move(page, move)
        expected = {"e2e4": "e4", "e7e5": "e5", "g1f3": "Nf3"}[move]
        page.until(lambda expected=expected: shown(page) == expected, expected)
    assert not page.find("#tree-promote").is_enabled(), "it is the main line already"
    page.click("#analysis-previous")
    page.until(lambda: shown(page) == "e5", "back by one")
    click_move(page, "f2f4")
    page.until(lambda: shown(page) == "f4", "another move is a variation")
    assert page.texts("#tree .line .line button") == ["f4"]
    page.click("#tree-promote")
    page.until(lambda: page.texts("#tree .line .line button") == ["Nf3"], "it is the main line now")
    page.click("#tree-delete")
    page.until(lambda: shown(page) == "e5" and "f4" not in page.text("#tree"), "and is deleted")
    # The engine's lines can be pointed at and clicked.
    page.until(lambda: len(page.all("#engine-list li")) == 2, "two lines")
    page.script(
        "const s = document.querySelector('#engine-lines'); s.value = '4';"
        "s.dispatchEvent(new Event('change'))"
    )
    page.until(lambda: len(page.all("#engine-list li")) == 4, "four lines")
    third = "#engine-list li:first-child button:nth-of-type(3)"
    page.until(lambda: page.all(third), "a line of three moves")
    page.script("document.querySelector('#engine-list button').focus()")
    page.until(lambda: page.find("#preview").is_displayed(), "a small board shows the position")
    page.script("document.querySelector(arguments[0]).click()", third)
    page.until(lambda: len(page.all("#tree button")) >= 5, "the line is taken into the tree")
    page.click("#engine-on")
    page.until(lambda: "serious" in page.text("#engine-facts"), "the engine is hidden")
    page.until(lambda: not page.all("#engine-list li"), "and its lines")
    page.click("#engine-on")


def test_clocks_in_comments_are_not_shown(page: Page) -> None:
    """Games of lichess.org have one after every move; they stay in the copied game."""
    page.open("#analyse")
    page.script("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    load(page, "1. e4 {[%clk 0:05:00]} e5 {[%clk 0:04:58] quick} 2. Nf3 {[%eval 0.3]} *")
    page.until(lambda: len(page.all("#tree button")) == 3, "the game is loaded")
    assert page.texts("#tree .comment") == ["quick"]
    assert page.texts("#tree .number") == ["1.", "2."]
    page.click("#analysis-copy")
    page.until(lambda: page.script("return window.copied"), "it is copied")
    assert "{[%clk 0:04:58] quick}" in str(page.script("return window.copied"))


def test_a_game_is_copied_as_it_came(page: Page) -> None:
    """Names, result, comments, signs and variations."""
    page.open("#analyse")
    page.script("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    text = (
        '[White "A"]\n[Black "B"]\n[Result "0-1"]\n\n'
        "{before it all} 1. f3? {weak} e5 (1... d5! 2. e3) 2. g4?? Qh4# 0-1"
    )
    load(page, text)
    page.until(lambda: page.text("#analysis-title") == "A – B, 0-1", "the game is loaded")  # noqa: RUF001
    page.click("#analysis-copy")
    page.until(lambda: page.script("return window.copied"), "it is copied")
    first, again = (
        chess.pgn.read_game(io.StringIO(found)) for found in (text, page.script("return copied"))
    )
    assert first is not None and again is not None
    for name in ("White", "Black", "Result"):
        assert again.headers[name] == first.headers[name]
    exported = chess.pgn.StringExporter(headers=False)
    assert again.accept(exported) == first.accept(chess.pgn.StringExporter(headers=False))


def click_move(page: Page, move: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    page.until(lambda: page.find("#analyse").get_attribute("data-live") == "true", "it is live")
    board = page.find("#analysis-board cg-board")
    size = board.size["width"]
    actions = ActionChains(page.driver, duration=0)
    for square in (move[:2], move[2:]):
        column, row = "abcdefgh".index(square[0]), int(square[1]) - 1
        offset = round((column - 3.5) * size / 8), round((3.5 - row) * size / 8)
        actions.move_to_element_with_offset(board, *offset).click()
    actions.perform()


def test_a_position_is_set_up(page: Page) -> None:
    page.open("#analyse")
    page.click("#edit-position")
    page.click("#editor-clear")
    page.click("#editor-use")
    page.until(lambda: "king" in page.text("#editor-error"), "an impossible position is refused")
    page.console()  # the refusal is a status 400
    page.script("document.querySelector('#editor-text').value = '8/8/8/4k3/8/8/8/3QK3 w - - 0 1'")
    page.click("#editor-load")
    page.until(lambda: page.text("#analysis-words").startswith("White: king e1, queen d1"), "used")


def test_by_keyboard_alone(page: Page) -> None:
    """From playing over resigning and the review to a look at an error, without a mouse."""
    page.open()
    body = page.find("body")
    page.find("#move-text").send_keys("e4\n")
    page.wait_for_moves(2)
    page.find("#resign").send_keys(Keys.ENTER)
    page.find("#resign").send_keys(Keys.ENTER)
    page.until(lambda: "White resigned" in page.text("#status"), "the game ends")
    page.find("#review-game").send_keys(Keys.ENTER)
    page.until(lambda: page.text("#accuracy").startswith("Accuracy"), "it is reviewed")
    assert page.text("#analysis-title") == "You – greedy-safe, 0-1"  # noqa: RUF001
    page.find("#analysis-text").send_keys("d4\n")
    page.until(lambda: shown(page) == "d4", "a move is typed")
    body.send_keys(Keys.ARROW_LEFT)
    page.until(lambda: shown(page) != "d4", "keys step through the moves")
    page.find("#tab-analyse").send_keys(Keys.ARROW_LEFT)
    page.until(lambda: page.find("#play").is_displayed(), "keys change the tab")


def test_a_tab_begins_at_its_top(phone: Page) -> None:
    phone.open("#analyse")
    assert phone.script("return scrollY") == 0, "the header is seen"
    phone.click("#tab-play")
    phone.click_move("e2e4")
    phone.wait_for_moves(2)
    phone.script("scrollTo(0, 9999)")
    phone.script("document.querySelector('#review-game').click()")
    phone.until(lambda: phone.find("#analyse").is_displayed(), "the tab is shown")
    assert phone.script("return scrollY") == 0


def test_on_a_phone(phone: Page) -> None:
    open_game(phone)
    review(phone)
    assert phone.find("#analysis-board").size["width"] > 300
    phone.script("document.querySelector('#errors button').click()")
    phone.until(lambda: shown(phone), "an error is shown")
