"""What networks see, in a real Chromium: side by side, heat on the board, tree, a match."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("starlette", reason="needs the extra web")
pytest.importorskip("uvicorn", reason="needs the extra web")
pytest.importorskip("torch", reason="needs the extra train")

from selenium.webdriver.common.keys import Keys

from rookery.web.choices import shipped_engine
from support.browser_parts import Page, opened_page

pytestmark = pytest.mark.usefixtures("no_console_errors")

EVEN = "4k3/pppp4/8/8/8/8/4PPPP/4K3 w - - 0 1"
HANGING = "4k3/8/8/3q4/8/4N3/8/4K3 w - - 0 1"  # the knight can take the queen


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    runs, downloads = tmp_path_factory.mktemp("runs"), tmp_path_factory.mktemp("downloads")
    with opened_page(runs, downloads) as found:
        yield found


def look(page: Page, fen: str = HANGING) -> None:
    """Open the panel on a position, with two networks."""
    page.open("#analyse")
    page.script("localStorage.setItem('rookery-engine', '0')")
    page.open_tab("#analyse")
    page.click("#edit-position")
    page.script("document.querySelector('#editor-text').value = arguments[0]", fen)
    page.click("#editor-load")
    page.until(lambda: not page.find("#editor").is_displayed(), "the dialog closes")
    page.click("#insight summary")
    page.until(lambda: len(page.all("#insight-columns section")) == 2, "two networks are shown")


def coloured(page: Page, kind: str) -> int:
    """Count the squares of a colour; chessground hides those that it may use again."""
    script = (
        "return [...document.querySelectorAll(`#analysis-board square[class*=${arguments[0]}]`)]"
        ".filter(e => e.checkVisibility({ visibilityProperty: true })).length"
    )
    return int(page.script(script, kind))


def test_two_networks_side_by_side_with_heat_on_the_board(page: Page) -> None:
    look(page)
    first, second = page.texts("#insight-columns h3")
    assert first.startswith("alphazero") and second.startswith("ppo")
    assert page.text("#insight-columns section table td") == "Nxd5"
    page.until(lambda: coloured(page, "heat-5"), "the queen's square is hot")
    page.script("document.querySelector('[name=insight-shown][value=pieces]').click()")
    page.until(lambda: coloured(page, "worth-"), "pieces are coloured")
    page.until(lambda: not coloured(page, "heat-"), "no heat is left")
    page.click("#insight summary")
    page.until(lambda: not coloured(page, "worth-"), "closing clears it")


def test_the_search_tree_opens_and_its_lines_are_shown_on_the_board(page: Page) -> None:
    look(page, EVEN)
    page.script("document.querySelector('#insight-tree-show').click()")
    page.until(lambda: page.all("#insight-tree summary"), "the tree is there")
    page.script("document.querySelector('#insight-tree details').open = true")
    page.until(lambda: page.all("#insight-tree ul li"), "the next moves are there")
    page.script("document.querySelector('#insight-tree ul button').click()")
    page.until(lambda: len(page.all("#tree button")) == 2, "the line becomes a variation")


def test_a_click_lets_the_two_networks_play(page: Page) -> None:
    look(page)
    page.script("document.querySelector('#insight-match').click()")
    page.until(lambda: page.moves(), "they play")
    names = " ".join(page.texts(".bar .name"))
    assert "alphazero" in names and "ppo" in names


def test_from_a_game_to_the_mind_of_the_opponent(page: Page) -> None:
    page.open()
    page.new_game("ppo")
    page.script("document.querySelector('#look-inside').click()")
    page.until(lambda: page.texts("#insight-columns h3"), "the opponent's network is shown")
    assert page.texts("#insight-columns h3")[0].startswith("ppo")
    assert len(page.all("#insight-columns section")) == 1


def test_an_engine_without_a_policy_shows_its_pieces(page: Page) -> None:
    """Also for a character, which plays with the engine's network."""
    if shipped_engine() is None:
        pytest.skip("needs the shipped engine: src/rookery/networks/rookery.safetensors")
    page.open()
    page.script("localStorage.setItem('rookery-engine', '0')")
    page.new_game("character:otto", position=HANGING, name="Otto")
    page.script("document.querySelector('#look-inside').click()")
    page.until(lambda: page.texts("#insight-columns h3") == ["rookery"], "the engine's network")
    page.until(lambda: coloured(page, "worth-"), "pieces are coloured, since it has no policy")
    assert not page.find("[name=insight-shown][value=policy]").is_enabled()
    assert "queen d5+" in page.text("#insight-columns")
    page.script("document.querySelector('#insight-tree-show').click()")
    page.until(lambda: len(page.all("#insight-tree > li")) > 1, "the tree is there")
    facts = page.texts("#insight-tree > li span")
    assert all("for White" in text or " wins" in text for text in facts), facts
    assert not any(text.startswith("0 nodes") for text in facts), facts


def test_an_opponent_without_a_network_says_so(page: Page) -> None:
    page.open()
    page.new_game("random")
    page.script("document.querySelector('#look-inside').click()")
    page.until(lambda: "has no network" in page.text("#insight-note"), "others are shown instead")


def test_by_keyboard_alone(page: Page) -> None:
    """Panel, networks, what is coloured, tree and match, without a mouse."""
    look(page, EVEN)
    page.find("#insight summary").send_keys(Keys.ENTER)
    page.until(lambda: not page.find("#insight-columns").is_displayed(), "a key closes the panel")
    page.find("#insight summary").send_keys(Keys.ENTER)
    page.until(lambda: len(page.all("#insight-columns section")) == 2, "and opens it")
    page.find("#insight-2").send_keys("nothing")
    page.until(lambda: len(page.all("#insight-columns section")) == 1, "a network is left out")
    page.find("[name=insight-shown]:checked").send_keys(Keys.ARROW_DOWN)
    page.until(lambda: coloured(page, "worth-"), "an arrow key chooses what is coloured")
    page.find("#insight-tree-show").send_keys(Keys.ENTER)
    page.until(lambda: page.all("#insight-tree summary"), "the tree is there")
    page.find("#insight-tree summary").send_keys(Keys.ENTER)
    page.until(lambda: page.all("#insight-tree ul li"), "a key opens a move")
    page.find("#insight-tree summary button").send_keys(Keys.ENTER)
    page.until(lambda: len(page.all("#tree button")) == 1, "and puts it on the board")


def test_on_a_phone(phone: Page) -> None:
    look(phone, EVEN)
    phone.until(lambda: coloured(phone, "heat-"), "the board is coloured")
    phone.script("document.querySelector('#insight-tree-show').click()")
    phone.until(lambda: phone.all("#insight-tree summary"), "the tree is there")
    phone.script("document.querySelector('#insight-tree details').open = true")
    phone.until(lambda: phone.all("#insight-tree ul li"), "and opens")
