"""Take the screenshots of the documentation: `python benchmarks/screenshots.py docs/images RUN`.

`play.png` shows a game against the shipped engine, `review.png` the review of a game, `insight.png`
what two networks see, `watch.png` the training of the run folder RUN (left out without one).
Needs Chromium and pillow (`make setup packages`).
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.browser_parts import Page, opened_page

OPENING = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 Nf6 5. d3 d6 6. O-O O-O"
LOOKED_AT = "r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2PP1N2/PP3PPP/RNBQ1RK1 w - - 0 7"
REVIEWED = """[White "Maria"]
[Black "Tom"]
[Result "0-1"]

1. e4 e5 2. Nf3 Nc6 3. Bc4 {the Italian game} Nd4 (3... Bc5 4. c3) 4. Nxe5 Qg5 5. Nxf7 Qxg2
6. Rf1 Qxe4+ 7. Be2 Nf3# 0-1
"""
SETTLING_SECONDS = 0.5  # until animations end
REPLAY_SECONDS = 3.0  # until replayed games show some moves
COLOURS = 128  # enough for the page, and keeps the files small


def save(page: Page, path: Path) -> None:
    """Save a screenshot as a small PNG file."""
    time.sleep(SETTLING_SECONDS)
    page.driver.save_screenshot(str(path))
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(COLOURS)
    small.save(path, optimize=True)


def show_game(page: Page) -> None:
    """Play a move against the shipped engine and ask for a hint to show its lines."""
    page.driver.set_window_size(1280, 1050)
    page.open()
    page.new_game("rookery", level="second", position=OPENING, moves=12)
    page.click_move("f1e1")
    page.wait_for_moves(14)
    page.click("#hint")
    page.until(lambda: len(page.texts("#lines li")) == 3, "three lines are shown")


def load(page: Page, text: str) -> None:
    """Put a FEN or PGN on the analysis board."""
    page.click("#edit-position")
    page.script("document.querySelector('#editor-text').value = arguments[0]", text)
    page.click("#editor-load")
    page.until(lambda: not page.find("#editor").is_displayed(), "it is loaded")


def show_review(page: Page) -> None:
    """Review a short game and show one of its blunders."""
    page.driver.set_window_size(1280, 1250)
    page.open("#analyse")
    load(page, REVIEWED)
    page.click("#start-review")
    page.until(lambda: page.text("#accuracy").startswith("Accuracy"), "the review is complete")
    page.click("#errors li.blunder button")
    page.until(lambda: page.all("#engine-list li"), "the engine thinks")
    time.sleep(REPLAY_SECONDS)


def show_insight(page: Page) -> None:
    """What two networks see in a position, the squares that the first wants coloured."""
    page.driver.set_window_size(1280, 1150)
    page.open("#analyse")
    page.script("localStorage.setItem('rookery-engine', '0')")
    page.open_tab("#analyse")
    load(page, LOOKED_AT)
    page.click("#insight summary")
    page.until(lambda: len(page.all("#insight-columns section")) >= 2, "networks are there")
    for number, network in enumerate(("alphazero", "ppo", ""), 1):  # whatever has been trained here
        page.script(
            "const s = document.getElementById(arguments[0]); s.value = arguments[1];"
            "s.dispatchEvent(new Event('change'))",
            f"insight-{number}",
            network,
        )
    page.script("document.querySelector('[name=insight-shown][value=policy]').checked = true")
    page.until(
        lambda: page.texts("#insight-columns h3") == ["alphazero", "ppo"], "two networks are shown"
    )
    page.script("document.querySelector('[name=insight-shown][value=policy]').click()")


def show_run(page: Page, name: str) -> None:
    """Watch a run with its games and curves."""
    page.driver.set_window_size(1280, 1500)
    page.open(f"#watch/{name}")
    page.until(lambda: page.all("#curves .uplot canvas"), "curves are drawn")
    page.until(lambda: page.all("#boards .small piece"), "games are shown")
    time.sleep(REPLAY_SECONDS)


def main() -> None:
    """Write the images."""
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    images, run = Path(sys.argv[1]), Path(sys.argv[-1]).resolve()
    images.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as downloads,
        opened_page(run.parent, Path(downloads)) as page,
    ):
        show_game(page)
        save(page, images / "play.png")
        show_review(page)
        save(page, images / "review.png")
        show_insight(page)
        save(page, images / "insight.png")
        if len(sys.argv) == 3:
            show_run(page, run.name)
            save(page, images / "watch.png")


if __name__ == "__main__":
    main()
