"""A real Chromium for the tests, and the few things that they do with it."""

from __future__ import annotations

import os
import shutil
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

IMAGES = "ROOKERY_SCREENSHOTS"  # environment variable: the folder that screenshots go to
LONGEST = 60.0  # seconds until something that must happen counts as missing


def open_browser(downloads: Path) -> webdriver.Chrome:
    """Start Chromium without a window; skips the test if there is none."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("needs Chromium: apt-get install chromium chromium-driver")
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
        f"--user-data-dir={downloads / 'profile'}",
    ):
        options.add_argument(argument)
    options.add_experimental_option(
        "prefs",
        {"download.default_directory": str(downloads), "download.prompt_for_download": False},
    )
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(driver)
    return webdriver.Chrome(options=options, service=service)


class Page:
    """The page as a person uses it."""

    def __init__(self, driver: webdriver.Chrome, url: str) -> None:
        self.driver, self.url = driver, url

    def open(self, path: str = "") -> None:
        """Load the page as a new visitor and wait until it can be used."""
        self.driver.get("about:blank")
        self.driver.delete_all_cookies()
        self.driver.get(self.url + path)
        self.script("sessionStorage.clear()")
        self.driver.refresh()
        self.ready()

    def ready(self) -> None:
        self.until(
            lambda: self.script("return document.documentElement.dataset.ready") == "true",
            "the page is ready",
        )

    def script(self, text: str, *arguments: object) -> Any:
        return self.driver.execute_script(text, *arguments)  # type: ignore[no-untyped-call]

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        return str(self.script("return document.querySelector(arguments[0]).textContent", selector))

    def texts(self, selector: str) -> list[str]:
        """Texts of all that fit, in one look: the page may redraw them at any time."""
        script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
        return list(self.script(script, selector))

    def click(self, selector: str) -> None:
        self.find(selector).click()

    def until(self, condition: Callable[[], object], what: str) -> None:
        end = time.monotonic() + LONGEST
        while not condition():
            assert time.monotonic() < end, f"never happened: {what}; {self.text('body')[:800]}"
            time.sleep(0.02)

    def moves(self) -> list[str]:
        """The moves in the list, in SAN."""
        return self.texts("#moves button")

    def wait_for_moves(self, count: int) -> None:
        self.until(lambda: len(self.moves()) == count, f"{count} moves; there are {self.moves()}")

    # --- The board ---

    def point(self, square: str) -> tuple[int, int]:
        """The middle of a square, relative to the middle of the board."""
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
        """What stands where, as drawn: square -> "white knight"."""
        found = self.script(
            "return [...document.querySelectorAll('#board piece:not(.ghost):not(.fading)')]"
            ".filter(p => p.cgKey).map(p => [p.cgKey, p.cgPiece])"
        )
        return {square: piece for square, piece in found}

    # --- Evidence ---

    def console(self) -> list[str]:
        """Errors and warnings on the console since the last look."""
        entries = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [f"{e['level']}: {e['message']}" for e in entries if e["level"] != "INFO"]

    def picture(self, name: str) -> None:
        """Keep a screenshot if somebody asked for them."""
        folder = os.environ.get(IMAGES)
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            path = Path(folder) / f"{name}.png"
            time.sleep(0.5)  # pieces come to rest
            self.driver.save_screenshot(str(path))
            shrink(path)


def shrink(path: Path) -> None:
    """Make a screenshot smaller: a page has few colours."""
    image = pytest.importorskip("PIL.Image", reason="screenshots need pillow")
    with image.open(path) as picture:
        small = picture.convert("RGB").quantize(128)
    small.save(path, optimize=True)


@contextmanager
def opened_page(runs: Path, downloads: Path, **options: Any) -> Iterator[Page]:
    """The page of a server for a folder of runs, in a browser of its own."""
    driver = open_browser(downloads)
    try:
        with server(runs, **options) as running:
            driver.set_window_size(1280, 900)
            yield Page(driver, running.url)
    finally:
        driver.quit()
