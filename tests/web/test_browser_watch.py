"""Watching training in a real Chromium: curves, games in progress, checkpoints to play."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.pgn
import pytest

pytest.importorskip("starlette", reason="needs the extra web")
pytest.importorskip("uvicorn", reason="needs the extra web")

from rookery._core import Game, play_random_plies
from rookery.runs.live import write_live
from rookery.runs.lock import FolderLock
from rookery.web.choices import NETWORKS
from support.browser_parts import Page, opened_page

pytestmark = pytest.mark.usefixtures("no_console_errors")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run as a trainer leaves it, with boards of this moment."""
    folder = tmp_path_factory.mktemp("runs")
    run = folder / "demo"
    (run / "games").mkdir(parents=True)
    (run / "recipe.toml").write_text('name = "engine"\n[run]\nbudget = "5m"\n')
    rows, clock = [], []
    for step in range(1, 121):
        share = step / 120
        rows.append(
            {
                "iteration": step,
                "samples": 4096 * step,
                "games": 40 * step,
                "losses": {"value": 0.9 * (1 - share) ** 2 + 0.2},
                "values": {"mean_plies": 120 - 60 * share, "<img src=x>": share},
                "results": {"white": 15, "draws": 12, "black": 13},
                "endings": {"checkmate": 28, "fifty_moves": 7, "stalemate": 5},
            }
        )
        clock.append({"iteration": step, "seconds": 2.0 * step, "samples_per_second": 9000 + step})
    (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (run / "timing.jsonl").write_text("".join(json.dumps(row) + "\n" for row in clock))
    evaluations = [
        {
            "iteration": 12 * part,
            "opponent": name,
            "games": 20,
            "wins": min(20, gain * part),
            "draws": 0,
            "losses": 20 - min(20, gain * part),
            "score": min(20, gain * part) / 20,
            "elo": 10.0 * part,
            "elo_low": 5.0 * part,
            "elo_high": 20.0 * part if part < 10 else 4000.0,  # without end
        }
        for part in range(1, 11)
        for name, gain in (("random", 3), ("greedy-safe", 2))
    ]
    (run / "ratings.json").write_text(json.dumps({"evaluations": evaluations}))
    (run / "games" / "00000012-random.pgn").write_text(
        '[White "<script>x</script>"]\n[Black "random"]\n[Result "1-0"]\n\n'
        "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n"
    )
    return folder


@pytest.fixture(scope="module")
def page(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rookery.web.choices.REFRESH_SECONDS", 0.0)  # new checkpoints show at once
        first = {"player": "greedy-safe", "color": "white"}
        with opened_page(runs, tmp_path_factory.mktemp("downloads"), first=first) as found:
            found.first = first  # type: ignore[attr-defined]
            yield found


# The longest vertical line of the chart's colour, in pixels.
TALLEST = """
const canvas = document.querySelector("#strength-chart canvas");
const { width, height } = canvas;
const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
let most = 0;
for (let x = 0; x < width; x++)
  for (let y = 0, run = 0; y < height; y++) {
    const [red, green, blue, alpha] = data.slice(4 * (y * width + x), 4 * (y * width + x) + 4);
    run = alpha > 100 && green > red + 30 && green > blue ? run + 1 : 0;
    most = Math.max(most, run);
  }
return most;
"""


def test_watching_a_run(page: Page, runs: Path) -> None:
    boards = []
    for number in range(6):
        game = Game()
        play_random_plies(game, 10, number)
        row = {"fen": game.fen(), "last": game.moves()[-1], "value": 0.1 * number}
        boards.append({**row, "title": f"game {number}"})
    pieces = sum(Game(str(board["fen"])).piece_count() for board in boards)
    assert write_live(runs / "demo", boards, every=0)
    page.open("#watch")
    page.until(lambda: len(page.all("#boards .small piece")) == pieces, "boards are shown")
    assert "game 5" in page.text("#boards")
    page.until(lambda: len(page.all("#curves .uplot canvas")) == 3, "the main curves are drawn")
    page.until(lambda: len(page.all("#more-curves .uplot canvas")) == 2, "and the others, folded")
    assert not page.find("#more-curves").is_displayed()
    assert "training makes this smaller" in page.text("#curves")
    page.until(lambda: page.all("#rating-chart .uplot canvas"), "scores are drawn")
    page.until(lambda: page.all("#strength-chart .uplot canvas"), "strength over minutes is drawn")
    page.until(lambda: page.script(TALLEST) > 20, "and its intervals as bars")
    assert "above +50" in page.text("#ratings") and "+90 [+45, +180]" in page.text("#ratings")
    assert "checkmate" in page.text("#endings") and "70 %" in page.text("#endings")
    assert "iteration 120" in page.text("#run-facts")
    # A move, seen without touching the page.
    board = chess.Board()
    board.push_uci("e2e4")
    write_live(runs / "demo", [{**boards[0], "fen": board.fen(), "last": "e2e4"}], every=0)
    page.until(lambda: len(page.all("#boards figure")) == 1, "the boards change")
    page.until(lambda: page.all("#boards square.last-move"), "the last move is marked")
    write_live(runs / "demo", boards, every=0)
    page.until(lambda: len(page.all("#boards figure")) == 6, "the boards change")
    # More training: the curves grow.
    with (runs / "demo" / "metrics.jsonl").open("a") as file:
        file.write(json.dumps({"iteration": 121, "games": 1, "samples": 2, "losses": {}}) + "\n")
    page.until(lambda: "iteration 121" in page.text("#run-facts"), "the run goes on")


def test_watching_a_trainer_at_work(page: Page, runs: Path) -> None:
    pytest.importorskip("torch")
    recipe = runs.parent / "small.toml"
    recipe.write_text(
        'algorithm = "ppo"\n[run]\nevaluations = 1\n[network.mlp]\nhidden = [8]\n'
        "[ppo]\ngames = 6\nplies = 8\n[evaluation]\ngames = 2\n"
    )
    command = [sys.executable, "-m", "rookery.cli", "train", str(recipe), "--budget", "100000it"]
    trainer = subprocess.Popen(
        [*command, "--run", str(runs / "real")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        page.until(lambda: (runs / "real" / "live.json").exists(), "the trainer shows its games")
        page.open("#watch/real")
        page.until(lambda: "training now" in page.text("#run-facts"), "the run is shown")
        page.until(lambda: len(page.all("#boards figure")) == 6, "its games are shown")
        assert page.text("#boards-title") == "Games being played now"
        before = page.text("#run-facts")
        page.until(lambda: page.text("#run-facts") != before, "the run goes on")
        os.killpg(trainer.pid, signal.SIGINT)
        assert trainer.wait(60) == 0
        page.until(lambda: "not training" in page.text("#run-facts"), "the run is over")
        page.until(lambda: page.all('#checkpoints [data-player="run:real"]'), "it can be played")
    finally:
        if trainer.poll() is None:
            trainer.kill()
        trainer.wait(20)
        page.driver.get("about:blank")  # it would go on asking for the run
        shutil.rmtree(runs / "real", ignore_errors=True)


def test_games_of_evaluations_are_replayed(page: Page, runs: Path) -> None:
    (runs / "demo" / "live.json").unlink(missing_ok=True)
    page.open("#watch/demo")
    page.until(lambda: len(page.all("#boards .small piece")) >= 31, "a game is shown")
    assert "<script>x</script>" in page.text("#boards figcaption")
    assert page.text("#boards-title") == "Games of the last evaluation"
    page.until(lambda: len(page.all("#boards .small piece")) == 31, "it is played to its end")
    frames = [chess.STARTING_BOARD_FEN, "8/8/8/8/8/8/8/K6k"]
    write_live(runs / "demo", [{"title": "one", "frames": frames}], every=0)
    page.until(lambda: page.text("#boards-title") == "Games just played", "a whole game is shown")
    page.until(lambda: len(page.all("#boards .small piece:not(.fading)")) == 2, "to its end")
    (runs / "demo" / "live.json").unlink()


def test_a_checkpoint_is_played_with_one_click(page: Page, runs: Path) -> None:
    torch = pytest.importorskip("torch")
    from rookery.nets import make_network
    from rookery.nets.model_file import save_model

    step = runs / "demo" / "checkpoints" / "00000012"
    step.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    save_model(
        step / "model.safetensors", make_network("mlp", "vector66", "az4672", {"hidden": [8]})
    )
    page.open("#watch/demo")
    page.until(lambda: page.all('#checkpoints [data-player="run:demo@12"]'), "it is offered")
    page.click('#checkpoints [data-player="run:demo@12"]')
    page.until(lambda: "after 12 iterations" in page.text("#bar-top .name"), "the game begins")
    page.click_move("e2e4")
    page.wait_for_moves(2)
    page.find("body").send_keys("\ue012")  # back to the position that it thought about
    page.until(lambda: "Prior" in page.texts("#notes thead th"), "its policy is shown")
    page.until(lambda: page.all("#board svg.cg-shapes line"), "arrows are drawn")


def test_what_happens_is_told_in_plain_words(page: Page, runs: Path) -> None:
    """Scores, what pieces are worth, and a new network that failed its test."""
    model = NETWORKS / "rookery.safetensors"
    if not model.is_file():
        pytest.skip("needs the shipped engine: src/rookery/networks/rookery.safetensors")
    run = runs / "words"
    (run / "checkpoints").mkdir(parents=True)
    (run / "recipe.toml").write_text('name = "engine"\nalgorithm = "engine"\n')
    (run / "metrics.jsonl").write_text('{"iteration": 9, "samples": 9, "games": 9}\n')
    shutil.copy(model, run / "model.safetensors")
    row = {"iteration": 9, "opponent": "greedy-safe", "games": 40, "score": 0.9}
    (run / "ratings.json").write_text(json.dumps({"evaluations": [row]}))
    (run / "log.txt").write_text(
        "generation 4: 61.0 % of 200 games against generation 3, +78 Elo\n"
        "generation 5: 48.5 % of 240 games against generation 4, -10 Elo; not published\n"
    )
    with FolderLock(run):
        page.open("#watch/words")
        page.until(lambda: "nobody shows it how to play" in page.text("#story"), "the story")
        story = page.text("#story-lines")
    assert "outgrown a player that never hangs a piece" in story
    assert re.search(r"It knows what pieces are worth: a queen [12]\.\d rooks, a rook ", story)
    assert (
        "Generation 5 scored 48.5 % in 240 games against generation 4: not clearly better" in story
    )
    # When the trainer has gone, the page says what is there and how to go on.
    page.until(lambda: "Nobody is training it now" in page.text("#story"), "the story of its end")
    story = page.text("#story-lines")
    assert "learnt from 9 positions" in story and "outgrown a player" in story
    assert "Generation 5" not in story
    assert page.text("#story-actions button") == "Beat it"
    assert "rookery resume" in page.text("#story-actions code")


def test_positions_of_an_ending_are_no_games(page: Page, runs: Path) -> None:
    """The story, the table and the chart; a failure is neither a draw nor half a point."""
    run = runs / "ending"
    run.mkdir()
    (run / "recipe.toml").write_text('name = "kpk"\nalgorithm = "endgame"\n')
    (run / "metrics.jsonl").write_text('{"iteration": 9, "samples": 9, "games": 0}\n')
    row = {
        "iteration": 9, "opponent": "perfect", "is_match": False, "games": 1200, "score": 0.95,
        "wins": 980, "draws": 160, "losses": 60, "elo": None,
        "as_white": {"wins": 980, "draws": 0, "losses": 20},
        "as_black": {"wins": 0, "draws": 160, "losses": 40},
    }  # fmt: skip
    king = {
        "iteration": 9, "opponent": "king", "games": 1000, "score": 0.5375, "elo": None,
        "as_white": {"wins": 75, "draws": 925, "losses": 0},
        "as_black": {"wins": 0, "draws": 0, "losses": 0},
    }  # fmt: skip
    (run / "ratings.json").write_text(json.dumps({"evaluations": [row, king]}))
    page.open("#watch/ending")
    page.until(lambda: "Against king it won" in page.text("#story-lines"), "the story")
    story, table = page.text("#story-lines"), page.text("#ratings")
    end = "won 980 of 1,000 positions and held 160 of 200 positions"
    assert f"Against perfect play it {end}." in story
    assert "Against king it won 75 of 1,000 positions." in story
    assert "games" not in story and "scores" not in story
    assert end in table and "95.0 %" in table and "7.5 %" in table
    for head in ("Drawn", "Lost", "Score", "Elo"):
        assert head not in table, head
    page.until(lambda: page.all("#rating-chart .uplot canvas"), "the shares are drawn")
    assert "Positions won or held" in page.text("#rating-chart")
    # A run that plays games has them again.
    page.open("#watch/demo")
    page.until(lambda: "Elo difference" in page.text("#ratings"), "games are games")
    assert "Positions" not in page.text("#ratings") + page.text("#rating-chart")


def test_the_demo_tells_its_end_by_itself(page: Page, runs: Path) -> None:
    """The open page goes from measuring to the outcome, and offers full strength."""
    model = NETWORKS / "rookery.safetensors"
    if not model.is_file():
        pytest.skip("needs the shipped engine: src/rookery/networks/rookery.safetensors")
    run = runs / "story"
    run.mkdir()
    (run / "recipe.toml").write_text('name = "engine"\nalgorithm = "engine"\n')
    (run / "metrics.jsonl").write_text('{"iteration": 9, "samples": 9, "games": 9}\n')
    (run / "timing.jsonl").write_text('{"iteration": 9, "seconds": 150.0}\n')
    (run / "checkpoints").mkdir()
    for name in ("model.safetensors", "start.safetensors"):
        shutil.copy(model, run / name)
    page.first.update({"run": "story", "stage": "train", "note": "Training."})  # type: ignore[attr-defined]
    page.open("#watch/story")
    page.until(lambda: "its network is being saved" in page.text("#story"), "training has ended")
    page.first["stage"] = "measure"  # type: ignore[attr-defined]
    page.until(lambda: "Now it is measured" in page.text("#story"), "it is being measured")
    assert not page.all("#story-actions button")
    match = {"games": 40, "wins": 30, "draws": 2, "losses": 8}
    matches = [
        {**match, "when": "before", "against": "greedy-safe", "score": 0.05},
        {**match, "when": "after", "against": "greedy-safe", "score": 0.775},
    ]
    demo = {"budget": "5m", "nodes": 1000, "matches": matches}
    (run / "demo.json").write_text(json.dumps(demo))
    page.first.update({"stage": "done", "note": "Trained. Play it!"})  # type: ignore[attr-defined]
    page.until(lambda: page.all("#story-actions button"), "the end is told without reloading")
    assert "78 % against greedy-safe (before training: 5 %)" in page.text("#story-lines")
    assert "rookery resume" in page.text("#story-actions code")
    assert page.text("#note") == "Trained. Play it!"
    assert page.texts("#checkpoints button")[-1] == "before training · not rated"
    page.click("#story-actions .primary")
    page.until(lambda: page.text("#bar-top .name").startswith("story: latest"), "the game begins")
    assert "full strength" in page.text("#bar-top .name")
