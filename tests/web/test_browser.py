"""The web page in a real Chromium: a whole game by mouse, screens small and dark."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator

import chess
import chess.pgn
import pytest

pytest.importorskip("starlette", reason="needs the extra web")
pytest.importorskip("uvicorn", reason="needs the extra web")

from rookery._core import Game
from rookery.web.choices import shipped_engine
from support.browser_parts import Page, opened_page
from support.scripted import Replies
from support.web_parts import PLAYERS

pytestmark = pytest.mark.usefixtures("no_console_errors")

# White castles, captures en passant and promotes to a knight; mate by that knight is not needed.
GAME = [
    ("e2e4", "g8f6"),
    ("e4e5", "d7d5"),
    ("e5d6", "c7c5"),  # en passant
    ("g1f3", "b8c6"),
    ("f1c4", "h7h6"),
    ("e1g1", "a7a6"),  # castles
    ("d6e7", "a6a5"),
    ("e7f8n", "h6h5"),  # takes, and promotes to a knight
    ("f8h7", "h5h4"),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    replies = [reply for _, reply in GAME]
    PLAYERS["test:scripted"] = lambda: Replies(replies, 0.2)
    downloads, runs = tmp_path_factory.mktemp("downloads"), tmp_path_factory.mktemp("runs")
    first = {"player": "scripted", "color": "white"}
    with opened_page(runs, downloads, first=first) as found:
        found.downloads = downloads  # type: ignore[attr-defined]
        found.first = first  # type: ignore[attr-defined]
        yield found


def test_whole_game_by_mouse(page: Page) -> None:
    page.open()
    for number, (move, _) in enumerate(GAME):
        # Every other move is dragged, the others are clicked.
        (page.drag_move if number % 2 else page.click_move)(move)
        if len(move) == 5:
            page.until(lambda: page.find("#promotion").is_displayed(), "promotion is offered")
            page.click(f'#promotion [data-piece="{move[4]}"]')
        page.wait_for_moves(2 * number + 2)
    assert page.moves()[4] == "exd6" and page.moves()[10] == "O-O"
    assert page.moves()[14] == "exf8=N"
    board = chess.Board()
    for pair in GAME:
        for move in pair:
            board.push_uci(move)
    names = {
        square: f"{chess.COLOR_NAMES[piece.color]} {chess.piece_name(piece.piece_type)}"
        for square, piece in ((chess.square_name(s), p) for s, p in board.piece_map().items())
    }
    page.until(lambda: page.placement() == names, "the board shows the position")

    # Take back the last pair, then resign.
    page.click("#take-back")
    page.wait_for_moves(2 * len(GAME) - 2)
    page.click("#resign")
    assert page.text("#resign") == "Really resign?" and "your turn" in page.text("#status")
    page.click("#resign")
    page.until(lambda: "White resigned" in page.text("#status"), "the game ends")
    page.click("#download")
    files = page.downloads  # type: ignore[attr-defined]
    page.until(lambda: list(files.glob("*.pgn")), "the PGN arrives")
    (path,) = files.glob("*.pgn")
    game = chess.pgn.read_game(io.StringIO(path.read_text(encoding="utf-8")))
    assert game is not None and not game.errors
    played = [move for pair in GAME[:-1] for move in pair]
    assert [move.uci() for move in game.mainline_moves()] == played
    assert game.headers["Result"] == "0-1"
    assert game.headers["Black"] == "scripted"
    path.unlink()

    # Once more, with colours exchanged.
    page.click("#again")
    page.until(lambda: page.text("#bar-top .name") == "scripted" and not page.moves()[1:], "again")
    page.until(lambda: "orientation-black" in str(page.find("#board").get_attribute("class")), "")
    assert not page.find("#again").is_displayed() and page.text("#resign") == "Resign"


def test_names_are_shown_as_text(page: Page) -> None:
    page.first["note"] = "a <b>note</b>"  # type: ignore[attr-defined]
    page.open()
    del page.first["note"]  # type: ignore[attr-defined]
    page.new_game("knights")
    assert "<script>alert(1)</script>" in page.text("#bar-top .name")
    assert page.text("#note") == "a <b>note</b>"
    assert not page.all("#play script, #setup script, #watch img, #watch script")


def test_castling_onto_the_rook_and_material(page: Page) -> None:
    page.open()
    page.new_game("random", position="r3k2r/8/8/8/8/8/8/RQ2K2R w KQkq - 0 1")
    assert page.text("#bar-bottom .material").endswith("+9")
    assert page.text("#bar-top .material") == ""
    page.drag_move("e1h1")
    page.until(lambda: page.moves()[:1] == ["O-O"], "the king castles")
    page.until(lambda: page.placement().get("f1") == "white rook", "and its rook moves")


def test_legal_destinations_and_illegal_drags(page: Page) -> None:
    page.open()
    page.click_move("e2e2")  # selects
    page.drag_move("e2e5")  # is not legal, and changes nothing
    page.click_move("g1f3")
    page.wait_for_moves(2)
    assert page.moves()[0] == "Nf3"


def test_promotion_can_be_cancelled(page: Page) -> None:
    page.open()
    page.new_game("random", position="k7/7P/8/8/8/8/8/K7 w - - 0 1")
    page.drag_move("h7h8")
    page.until(lambda: page.find("#promotion").is_displayed(), "promotion is offered")
    page.find("#promotion button").send_keys("\ue00c")  # Escape
    page.until(lambda: not page.find("#promotion").is_displayed(), "the offer goes away")
    assert page.moves() == []
    page.until(lambda: page.placement().get("h7") == "white pawn", "the pawn is back")


def test_premove_is_played_when_its_time_comes(page: Page) -> None:
    page.open()
    page.new_game("slow", level="absurd")  # thinks for longer than any drag takes
    page.click_move("e2e4")
    page.until(lambda: len(page.moves()) == 1, "the move is made")
    page.drag_move("d2d4")
    page.until(lambda: page.all("#board square.current-premove"), "the premove is marked")
    page.until(lambda: page.find("#now").is_displayed(), "the player thinks")
    page.click("#now")
    page.until(lambda: len(page.moves()) >= 3 and page.moves()[2] == "d4", "the premove is made")
    page.click("#take-back")


def test_what_the_engine_thinks(page: Page) -> None:
    page.open()
    page.new_game("slow")
    page.click_move("e2e4")
    page.until(lambda: len(page.all("#notes tbody tr")) == 5, "moves are listed")
    assert page.texts("#notes thead th") == ["Move", "Visits", "Prior", "Value for White"]
    assert "depth" in page.text("#thought-facts") and "nodes" in page.text("#thought-facts")
    page.until(lambda: page.all("#board svg.cg-shapes line"), "arrows are drawn")
    assert "score 38 %" in str(page.find("#value").get_attribute("aria-label"))
    assert page.find("#wdl").is_displayed()
    page.click("#arrows")
    page.until(lambda: not page.all("#board svg.cg-shapes line"), "arrows are gone")
    page.click("#take-back")
    page.wait_for_moves(0)


def test_in_a_serious_game_thoughts_wait_for_its_end(page: Page) -> None:
    page.open()
    page.new_game("slow")
    page.click("#thoughts-shown")
    page.click_move("e2e4")
    page.until(lambda: "thinks" in page.text("#status"), "the opponent thinks")
    time.sleep(0.5)  # its thoughts have arrived
    assert page.text("#thought-facts") == "A serious game: you see it when the game is over."
    assert not page.all("#notes tbody tr") and not page.all("#board svg.cg-shapes line")
    assert page.find("#value").get_attribute("aria-label") == "Value unknown"
    page.open_tab()  # the browser remembers it
    page.new_game("slow")
    assert not page.find("#thoughts-shown").is_selected()
    page.click("#hint")  # what is asked for is shown
    page.until(lambda: "Hint from" in page.text("#thought-facts"), "a hint is shown")
    page.click_move("e2e4")
    page.until(lambda: "A serious game" in page.text("#thought-facts"), "nothing else is")
    page.click("#resign")
    page.click("#resign")
    page.until(lambda: page.text("#status").startswith("0-1"), "the game is over")
    page.find("body").send_keys("\ue012")  # back to the position of the hint
    page.until(lambda: "depth" in page.text("#thought-facts"), "and everything can be seen")
    page.click("#thoughts-shown")


def test_keyboard_and_screen_reader(page: Page) -> None:
    page.open()
    entry = page.find("#move-text")
    entry.send_keys("nf3\n")
    page.wait_for_moves(2)
    assert page.text("#said").startswith("Black: ")
    assert "knight f3" in page.text("#board-words")
    page.find("body").send_keys("\ue012")  # left arrow
    page.until(lambda: page.all('#moves button[aria-current="true"]'), "a move is marked")
    assert page.texts('#moves button[aria-current="true"]') == ["Nf3"]
    page.find("body").send_keys("\ue011")  # Home
    page.until(lambda: not page.all('#moves button[aria-current="true"]'), "the start is shown")
    page.find("body").send_keys("f")
    page.until(
        lambda: "orientation-black" in str(page.find("#board").get_attribute("class")), "flipped"
    )
    page.find("body").send_keys("\ue010")  # End
    entry.send_keys("zz\n")
    page.until(lambda: "not a legal move" in page.text("#notice"), "the error is shown")
    unnamed = page.script(
        "return [...document.querySelectorAll('button, input, select, textarea')].filter(e =>"
        "e.offsetParent && !e.textContent.trim() && !e.labels?.length && !e.ariaLabel).length"
    )
    assert unnamed == 0


def test_reload_finds_the_game_again(page: Page) -> None:
    page.open()
    page.click_move("e2e4")
    page.wait_for_moves(2)
    moves = page.moves()
    page.driver.refresh()
    page.ready()
    page.wait_for_moves(2)
    assert page.moves() == moves


def test_the_pgn_is_copied(page: Page) -> None:
    page.open()
    page.click_move("e2e4")
    page.wait_for_moves(2)
    permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
    page.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": permissions})
    page.click("#copy")
    page.until(lambda: page.text("#copy") == "Copied", "the PGN is copied")
    text = page.driver.execute_async_script(
        "navigator.clipboard.readText().then(arguments[arguments.length - 1])"
    )
    assert "1. e4 Nf6 *" in text


def test_new_game_dialog(page: Page) -> None:
    page.open()
    page.click("#new-game")
    page.until(lambda: page.find("#setup").is_displayed(), "the dialog opens")
    page.click('#setup [value="black"]')
    page.script("document.querySelector('#seat-first [name=player]').value = 'greedy-safe'")
    page.script(
        "document.querySelector('#seat-first [name=player]').dispatchEvent(new Event('change'))"
    )
    page.script("document.querySelector('#setup [name=seconds]').value = '300'")
    page.script("document.querySelector('#seat-first [name=level]').value = '2'")
    page.script("return fetch('/api/players').then((answer) => answer.text())")
    page.click('#setup button[type="submit"]')
    name = "greedy-safe, every fifth move at random"
    page.until(lambda: page.text("#bar-top .name") == name, "the game begins")
    page.until(lambda: len(page.moves()) == 1, "White moves")
    assert page.find("#bar-bottom .clock").is_displayed()
    assert "orientation-black" in str(page.find("#board").get_attribute("class"))
    page.click("#new-game")
    page.find("#setup details summary").click()
    page.script(
        "const s = document.querySelector('#preset'); s.selectedIndex = 1;"
        "s.dispatchEvent(new Event('change'))"
    )
    fen = page.script("return document.querySelector('#position').value")
    assert Game(fen).material() == "KPvK"
    page.find("#position").send_keys("nonsense")
    page.click('#setup button[type="submit"]')
    page.until(lambda: page.text("#setup-error"), "the error is shown in the dialog")
    page.click("#setup-cancel")
    allowed = [entry for entry in page.console() if "400" not in entry]  # the refused position
    assert allowed == []


def test_two_players_are_watched(page: Page) -> None:
    page.open()
    page.click("#new-game")
    page.click('#setup [value="watch"]')
    page.script(
        "for (const [seat, id] of [['first', 'greedy'], ['second', 'random']]) {"
        "const s = document.querySelector(`#seat-${seat} [name=player]`);"
        "s.value = id; s.dispatchEvent(new Event('change')); }"
    )
    page.click('#setup button[type="submit"]')
    page.until(lambda: len(page.moves()) >= 2, "both have moved")
    page.script(
        "const s = document.querySelector('#pace'); s.value = '5';"
        "s.dispatchEvent(new Event('change'))"
    )
    page.click("#pause")
    page.until(lambda: page.text("#status") == "Paused", "paused")
    assert not page.find("#resign").is_displayed()


def test_looking_back_says_how_to_return(page: Page) -> None:
    page.open()
    page.click_move("e2e4")
    page.wait_for_moves(2)
    page.click("#previous")
    page.until(lambda: page.text("#status").startswith("Looking back: after 1 of 2"), "it says so")
    assert "End returns" in page.text("#status")
    page.find("body").send_keys("\ue010")  # End
    page.until(lambda: "your turn" in page.text("#status"), "and that key returns")


def test_a_mate_fills_the_bar(page: Page) -> None:
    page.open()
    page.new_game("random", position="6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1")
    board = page.find("#board").rect
    page.click_move("d1d8")
    page.until(lambda: page.text("#status") == "1-0: checkmate", "White mates")
    style = page.find("#value .white-part").get_attribute("style")
    assert "100%" in str(style)
    assert page.find("#value").get_attribute("aria-label") == "The game is over: 1-0"
    page.find("#move-text")
    page.script("document.querySelector('#notice').hidden = false")
    assert page.find("#board").rect == board, "messages do not push the board"
    page.script("document.querySelector('#notice').hidden = true")


def test_the_shipped_engine(page: Page) -> None:
    if shipped_engine() is None:
        pytest.skip("needs the shipped engine: src/rookery/networks/rookery.safetensors")
    page.open()
    opening = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 Nf6 5. d3 d6 6. O-O O-O"
    page.new_game("rookery", level="second", position=opening, moves=12)
    page.click_move("f1e1")
    page.until(lambda: page.all("#board svg.cg-shapes line"), "its best move is drawn")
    page.until(lambda: "nodes" in page.text("#thought-facts"), "it tells how much it has seen")
    page.wait_for_moves(14)
    page.click("#hint")
    page.until(lambda: page.text("#said").startswith("Hint: "), "it gives a hint")
    page.until(lambda: len(page.texts("#lines li")) == 3, "three lines are shown")


def test_phone_and_dark(phone: Page) -> None:
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    phone.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    try:
        phone.open()
        assert phone.find("#board").size["width"] > 300
        if shipped_engine() is not None:
            phone.new_game("rookery", level="9")
        phone.click_move("e2e4")
        phone.wait_for_moves(2)
        ground = phone.script("return getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(29, 31, 33)"
        phone.click("#theme")
        ground = phone.script("return getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(246, 243, 236)"
        phone.script("localStorage.clear()")
    finally:
        phone.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
