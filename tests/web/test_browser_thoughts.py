"""What real players think, as the page shows it in a real Chromium: Q values, visits and priors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("starlette", reason="needs the extra web")
pytest.importorskip("uvicorn", reason="needs the extra web")
pytest.importorskip("torch", reason="needs the extra train")

import torch

from rookery.nets import make_network
from rookery.nets.model_file import describe, save_model
from support.browser_parts import Page, opened_page

pytestmark = pytest.mark.usefixtures("no_console_errors")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A server with a run of AlphaZero whose network knows nothing."""
    runs = tmp_path_factory.mktemp("runs")
    step = runs / "az" / "checkpoints" / "00000001"
    step.mkdir(parents=True)
    (runs / "az" / "recipe.toml").write_text('name = "alphazero"\nalgorithm = "alphazero"\n')
    torch.set_num_threads(1)
    sizes = {"width": 16, "key_width": 8}
    network = make_network(
        "squares", "tactical70", "az4672", sizes, torch.Generator().manual_seed(1)
    )
    info = describe(network, {"algorithm": "alphazero"})
    save_model(step / "model.safetensors", network, info)
    with opened_page(runs, tmp_path_factory.mktemp("downloads")) as found:
        yield found


def test_the_endgame_network_tells_its_q_values(page: Page) -> None:
    page.open()
    # A player of one ending starts there, without a position being asked for, and moves first.
    page.new_game("kqk", "black", moves=1)
    assert len(page.placement()) == 3
    page.find("body").send_keys("\ue012")  # back to the position that it thought about
    page.until(lambda: "Value for White" in page.texts("#notes thead th"), "Q values are shown")
    words = page.texts("#notes tbody tr td:last-child")
    assert any(text.startswith("wins in ") for text in words), words
    page.until(lambda: page.all("#board svg.cg-shapes line"), "arrows are drawn")


def test_a_tree_search_tells_visits_and_priors(page: Page) -> None:
    page.open()
    page.new_game("run:az@1", level="3", name="az")
    page.click_move("e2e4")
    page.wait_for_moves(2)
    page.find("body").send_keys("\ue012")
    page.until(lambda: "Visits" in page.texts("#notes thead th"), "visits are shown")
    assert page.texts("#notes thead th")[:3] == ["Move", "Visits", "Prior"]
    visits = [int(text.replace(",", "")) for text in page.texts("#notes tbody tr td:nth-child(2)")]
    assert visits == sorted(visits, reverse=True) and 50 <= sum(visits) <= 100
    page.until(lambda: len(page.all("#board svg.cg-shapes line")) >= 2, "arrows are drawn")
