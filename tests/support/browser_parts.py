"""The web page in a real Chromium."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("selenium", reason="needs selenium: pip install -c constraints.txt '.[dev]'")

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from support.web_parts import server

CLEAR = "sessionStorage.clear()"
PATIENCE = 60.0  # seconds until a test gives up waiting


def open_browser(downloads: Path) -> webdriver.Chrome:
    """Return the Chromium of this process, as new, with a folder for its downloads.

    Starting and ending one takes seconds. Servers are told apart by their ports, for which a
    browser keeps separate storage; cookies are cleared.
    """
    driver = _chromium()
    driver.get("about:blank")
    for command, arguments in (
        ("Network.clearBrowserCookies", {}),
        ("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)}),
        ("Emulation.clearDeviceMetricsOverride", {}),
        ("Emulation.setEmulatedMedia", {"features": []}),
    ):
        driver.execute_cdp_cmd(command, arguments)
    driver.set_window_size(1280, 900)
    driver.get_log("browser")  # type: ignore[no-untyped-call]
    return driver


@functools.cache
def _chromium() -> webdriver.Chrome:
    """Start Chromium without a window; skips the test if there is none."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("needs Chromium: install Debian's chromium and chromium-driver")
    profile = tempfile.TemporaryDirectory(prefix="rookery-chromium-", ignore_cleanup_errors=True)
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in (
        "--headless=new",
        "--no-sandbox",  # tests may run as root
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--force-device-scale-factor=1",
        f"--user-data-dir={profile.name}",
    ):
        options.add_argument(argument)
    options.add_experimental_option("prefs", {"download.prompt_for_download": False})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chromium = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    atexit.register(profile.cleanup)
    atexit.register(chromium.quit)  # before the profile is removed
    return chromium


# Whether an element stays where it is for two frames: a click on one that moves is lost.
STILL = """
const [selector, done] = arguments;
const place = () => JSON.stringify(document.querySelector(selector)?.getBoundingClientRect());
const before = place();
requestAnimationFrame(() => requestAnimationFrame(() => done(place() === before)));
"""


class Page:
    """The page as a visitor uses it."""

    def __init__(self, driver: webdriver.Chrome, url: str) -> None:
        self.driver, self.url = driver, url

    def open(self, path: str = "") -> None:
        """Load the page as a new visitor and wait until it can be used."""
        self.driver.get("about:blank")
        self.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        self.open_tab(path)

    def open_tab(self, path: str = "") -> None:
        """Load the page as a known visitor in a new tab."""
        self.driver.get("about:blank")
        name = "Page.{}ScriptToEvaluateOnNewDocument"
        script = self.driver.execute_cdp_cmd(name.format("add"), {"source": CLEAR})
        self.driver.get(self.url + path)
        self.driver.execute_cdp_cmd(name.format("remove"), script)
        self.ready()

    def ready(self) -> None:
        """Wait until the page has loaded."""
        self.until(
            lambda: self.script("return document.documentElement.dataset.ready") == "true",
            "the page is ready",
        )

    def script(self, text: str, *arguments: object) -> Any:
        """Run JavaScript in the page."""
        return self.driver.execute_script(text, *arguments)

    def find(self, selector: str) -> WebElement:
        """Return the first element that matches."""
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        """Return all elements that match."""
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        """Return the text of the first element that matches."""
        return str(self.script("return document.querySelector(arguments[0]).textContent", selector))

    def texts(self, selector: str) -> list[str]:
        """Return the texts of all that match, read at once since the page may redraw them."""
        script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
        return list(self.script(script, selector))

    def click(self, selector: str) -> None:
        """Click the first element that matches, once it no longer moves."""
        self.until(
            lambda: self.driver.execute_async_script(STILL, selector), f"{selector} is still"
        )
        self.find(selector).click()

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait for a condition that must become true."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"never happened: {what}; {self.text('body')[:800]}"
            time.sleep(0.02)

    def moves(self) -> list[str]:
        """Return the moves of the list, in SAN."""
        return self.texts("#moves button")

    def wait_for_moves(self, count: int) -> None:
        """Wait until the list has so many moves."""
        self.until(lambda: len(self.moves()) == count, f"{count} moves; there are {self.moves()}")

    def new_game(
        self,
        player: str,
        color: str = "white",
        level: str = "",
        position: str = "",
        moves: int = 0,
        name: str = "",
    ) -> None:
        """Start a game through the dialog.

        Args:
            player: Id of the opponent.
            color: Of the visitor.
            level: Id of the opponent's level; "" leaves the default.
            position: A FEN or a PGN to start from; "" leaves the player's usual start.
            moves: Moves in the list when the game begins.
            name: Beginning of the opponent's name on the page, the id unless given.
        """
        self.click("#new-game")
        self.until(lambda: self.find("#setup").is_displayed(), "the dialog opens")
        self.click(f'#setup [value="{color}"]')
        self.script(
            "const s = document.querySelector('#seat-first [name=player]');"
            "s.value = arguments[0]; s.dispatchEvent(new Event('change'));"
            "if (arguments[1]) document.querySelector('#position').value = arguments[1];"
            "if (arguments[2])"
            " document.querySelector('#seat-first [name=level]').value = arguments[2]",
            player,
            position,
            level,
        )
        before = self.script("return sessionStorage.getItem('rookery-game')")
        self.click('#setup button[type="submit"]')
        self.until(
            lambda: (
                self.script("return sessionStorage.getItem('rookery-game')") != before
                and not self.find("#setup").is_displayed()
                and self.text("#bar-top .name").startswith(name or player)
                and len(self.moves()) == moves
            ),
            "the game begins",
        )

    # --- The board ---

    def point(self, square: str) -> tuple[int, int]:
        """Return the centre of a square, relative to that of the board."""
        size = self.find("#board cg-board").size["width"]
        column, row = "abcdefgh".index(square[0]), int(square[1]) - 1
        if "orientation-black" in str(self.find("#board").get_attribute("class")):
            column, row = 7 - column, 7 - row
        return round((column - 3.5) * size / 8), round((3.5 - row) * size / 8)

    def click_move(self, move: str) -> None:
        """Click on both squares of a move."""
        board = self.find("#board cg-board")
        actions = ActionChains(self.driver, duration=0)
        for square in (move[:2], move[2:4]):
            actions.move_to_element_with_offset(board, *self.point(square)).click()
        actions.perform()

    def drag_move(self, move: str) -> None:
        """Drag a piece from one square to another."""
        board = self.find("#board cg-board")
        actions = ActionChains(self.driver, duration=50)
        actions.move_to_element_with_offset(board, *self.point(move[:2])).click_and_hold()
        actions.move_to_element_with_offset(board, *self.point(move[2:4])).release()
        actions.perform()

    def placement(self) -> dict[str, str]:
        """Return the pieces as drawn: square -> "white knight"."""
        found = self.script(
            "return [...document.querySelectorAll('#board piece:not(.ghost):not(.fading)')]"
            ".filter(p => p.cgKey).map(p => [p.cgKey, p.cgPiece])"
        )
        return {square: piece for square, piece in found}

    def console(self) -> list[str]:
        """Return errors and warnings logged since the last call."""
        entries = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [f"{e['level']}: {e['message']}" for e in entries if e["level"] != "INFO"]


@contextmanager
def opened_page(runs: Path, downloads: Path, **options: Any) -> Iterator[Page]:
    """Open the page of a server for a folder of runs."""
    driver = open_browser(downloads)
    with server(runs, **options) as running:
        yield Page(driver, running.url)
        driver.get("about:blank")  # the page would go on asking a server that is gone
