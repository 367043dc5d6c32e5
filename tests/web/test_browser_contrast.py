"""Contrast of all text in a real Chromium: at least 4.5 to 1, on every tab, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra web")
pytest.importorskip("uvicorn", reason="needs the extra web")

from support.browser_parts import Page, opened_page

LEAST = 4.5  # WCAG 2.2, level AA

# Every visible element with text of its own, its colour, and the colours of what lies behind it.
# Text over pictures (boards, graphs) is not judged by this; the page has none.
SCRIPT = """
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
function rgba(text) {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = text;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data].map((part) => part / 255);
}
function over(top, below) {
  const alpha = top[3];
  return [0, 1, 2].map((i) => alpha * top[i] + (1 - alpha) * below[i]).concat(1);
}
function ground(element) {
  const layers = [];
  for (let at = element; at; at = at.parentElement) {
    layers.push(rgba(getComputedStyle(at).backgroundColor));
    if (layers[layers.length - 1][3] === 1) break;
  }
  return layers.reverse().reduce((below, top) => over(top, below), [1, 1, 1, 1]);
}
function luminance(color) {
  const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const [r, g, b] = color.slice(0, 3).map(linear);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
const found = [];
for (const element of document.querySelectorAll("body *")) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const typed = element.matches("input, select, textarea");
  if (!(own || typed) || !element.checkVisibility({ visibilityProperty: true })) continue;
  if (element.closest(".visually-hidden, .skip, option, script")) continue;
  const behind = ground(element);
  const style = getComputedStyle(element);
  const color = over(rgba(style.color), behind);
  const [a, b] = [luminance(color), luminance(behind)].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  const name = `${element.tagName}#${element.id}.${element.className}`;
  const text = element.textContent.trim().slice(0, 30);
  if (ratio < arguments[0]) found.push(`${name} ${ratio.toFixed(2)}: ${text}`);
}
return found;
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    runs, downloads = tmp_path_factory.mktemp("runs"), tmp_path_factory.mktemp("downloads")
    run = runs / "first"
    run.mkdir()
    (run / "recipe.toml").write_text('name = "tiny"\n')
    (run / "metrics.jsonl").write_text(
        '{"iteration": 1, "samples": 2, "games": 3, "losses": {"value": 0.5},'
        ' "results": {"draws": 2, "white": 1}, "endings": {"stalemate": 1}}\n'
    )
    games: Path = tmp_path_factory.mktemp("games")
    with opened_page(runs, downloads, games=games) as found:
        yield found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_text_has_contrast(page: Page, theme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": theme}]
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    page.open()
    page.click_move("e2e4")
    page.wait_for_moves(2)
    assert page.script(SCRIPT, LEAST) == []
    page.script("document.querySelector('#notice').textContent = 'Something is wrong.'")
    for shown in ("#notice", "#away", "#unfinished"):
        page.script("document.querySelector(arguments[0]).hidden = false", shown)
    assert page.script(SCRIPT, LEAST) == []
    for button, close in (
        ("#new-game", "#setup-cancel"),
        ("#my-games", "#library-close"),
        ("#preferences-button", "#preferences-close"),
    ):
        page.script("document.querySelector(arguments[0]).click()", button)
        page.until(lambda: page.all("dialog[open]"), "the dialog opens")
        assert page.script(SCRIPT, LEAST) == []
        page.script("document.querySelector(arguments[0]).click()", close)
    page.open("#analyse")
    page.find("#analysis-text").send_keys("e4\n")
    page.until(lambda: page.all("#tree button"), "the move is made")
    page.script("document.querySelector('#review').hidden = false")
    page.script("document.querySelector('#insight').open = true")
    page.until(lambda: page.all("#insight-columns h3"), "a network is looked into")
    assert page.script(SCRIPT, LEAST) == []
    page.open("#blind")
    page.until(lambda: page.all("#blind-player option"), "opponents are offered")
    page.script("document.querySelector('#blind-new').requestSubmit()")
    page.until(lambda: "nine squares" in page.text("#blind-status"), "the game begins")
    assert page.script(SCRIPT, LEAST) == []
    page.open("#watch/first")
    page.until(lambda: page.all(".chart canvas"), "curves are drawn")
    assert page.script(SCRIPT, LEAST) == []
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


# Texts wider than their place: shortened ones, placeholders, chosen options, and a page that must
# be scrolled sideways.
CLIPPED = """
const found = document.documentElement.scrollWidth > innerWidth ? ["the page is too wide"] : [];
const pen = document.createElement("canvas").getContext("2d");
for (const element of document.querySelectorAll("body *")) {
  if (!element.checkVisibility()) continue;
  const style = getComputedStyle(element);
  if (style.textOverflow === "ellipsis" && element.scrollWidth > element.clientWidth)
    found.push(element.textContent);
  const text = element.matches("select")
    ? element.selectedOptions[0]?.textContent
    : element.matches("input") && element.placeholder;
  if (!text) continue;
  pen.font = style.font;
  const arrow = element.matches("select") ? 16 : 0;
  const padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
  if (pen.measureText(text).width > element.clientWidth - padding - arrow) found.push(text);
}
return found;
"""


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_nothing_is_clipped(page: Page, width: int, height: int) -> None:
    """On a desk and on a phone."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.open()
    assert page.script(CLIPPED) == []
    page.script("document.querySelector('#new-game').click()")
    page.until(lambda: page.all("dialog[open]"), "the dialog opens")
    page.script("document.querySelector('#start').open = true")
    assert page.script(CLIPPED) == []
    for tab in ("#analyse", "#blind", "#watch/first"):
        page.open(tab)
        page.until(lambda: page.all("main:not([hidden]) h2"), "the tab is shown")
        assert page.script(CLIPPED) == []
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
