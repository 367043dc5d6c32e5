"""Board colours, piece sets, sounds and draw offers in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("starlette", reason="needs the extra web")
pytest.importorskip("uvicorn", reason="needs the extra web")

from support.browser_parts import Page, opened_page

pytestmark = pytest.mark.usefixtures("no_console_errors")
PLAYED = "return (await import('/static/sounds.js')).sounds.played"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    runs, downloads = tmp_path_factory.mktemp("runs"), tmp_path_factory.mktemp("downloads")
    with opened_page(runs, downloads) as found:
        yield found


def prefer(page: Page, control: str, value: object) -> None:
    page.click("#preferences-button")
    page.until(lambda: page.find("#preferences").is_displayed(), "the dialog opens")
    page.script(
        "const c = document.getElementById(arguments[0]);"
        "if (c.type === 'checkbox') c.checked = arguments[1]; else c.value = arguments[1];"
        "c.dispatchEvent(new Event('change'))",
        control,
        value,
    )
    page.click("#preferences-close")


def look(page: Page) -> tuple[str, str]:
    """The board's background and the picture of a piece."""
    found = page.script(
        "const style = (s) => getComputedStyle(document.querySelector(s)).backgroundImage;"
        "return [style('#board cg-board'), style('#board piece.knight')]"
    )
    return str(found[0]), str(found[1])


def test_looks_are_chosen_and_kept(page: Page) -> None:
    page.open()
    before = look(page)
    prefer(page, "prefer-board", "green")
    prefer(page, "prefer-pieces", "letters")
    board, piece = look(page)
    assert board != before[0] and "conic-gradient" in board
    assert before[1] != "none" and piece == "none"
    page.open_tab()  # the same visitor comes again
    assert look(page) == (board, piece)
    prefer(page, "prefer-board", "brown")
    prefer(page, "prefer-pieces", "pictures")
    assert look(page) == before


def test_moves_sound_unless_turned_off(page: Page) -> None:
    page.open()
    prefer(page, "prefer-sound", True)
    page.new_game("greedy-safe")
    page.click_move("e2e4")
    page.wait_for_moves(2)
    page.until(lambda: page.script(PLAYED) == ["move", "move"], "both moves are heard")
    prefer(page, "prefer-sound", False)
    page.click_move("d2d4")
    page.wait_for_moves(4)
    assert page.script(PLAYED) == ["move", "move"]
    prefer(page, "prefer-sound", True)


def test_a_draw_is_offered_and_declined(page: Page) -> None:
    page.open()
    page.new_game("greedy-safe")
    page.click("#offer-draw")
    page.until(lambda: "declines the draw" in page.text("#notice"), "the answer is shown")
    assert page.find("#notice").get_attribute("class") == "calm", "it is no error"


def test_a_hint_is_seen_even_without_an_evaluation(page: Page) -> None:
    page.open()
    page.new_game("greedy", position="4k3/8/8/3q4/8/4N3/8/4K3 w - - 0 1")
    page.click("#hint")
    page.until(lambda: page.text("#notice") == "greedy would play Nxd5.", "the hint is shown")


def test_a_character_has_no_levels_to_choose_from(page: Page) -> None:
    page.open()
    page.click("#new-game")
    page.until(lambda: page.find("#setup").is_displayed(), "the dialog opens")
    level = page.find("#seat-first [name=level]")
    for player, chosen in (("character:pip", False), ("greedy", True)):
        page.script(
            "const s = document.querySelector('#seat-first [name=player]');"
            "s.value = arguments[0]; s.dispatchEvent(new Event('change'))",
            player,
        )
        assert level.is_displayed() is chosen
    page.click("#setup-cancel")
