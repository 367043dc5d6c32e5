"""The published double DQN: network, agent, PGN, report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from rookery import Game
from rookery._core import encode_batch
from rookery.cli import main
from rookery.encodings import OBSERVATIONS
from rookery.nets import make_network
from rookery.nets.value_evaluator import conv_evaluator, value_evaluator
from rookery.papers.inman2022.agent import Memory, read_games
from rookery.papers.inman2022.pies import slices
from rookery.papers.inman2022.recipe import DataSettings
from rookery.papers.inman2022.report import (
    OPPONENTS,
    SETTINGS,
    figure,
    interval,
    result_text,
    study,
)
from rookery.players.registry import make_player
from rookery.players.spec import SpecError
from rookery.report.groups import group_runs
from rookery.report.read import RunData
from rookery.training.recipe import RecipeError, flatten, load_recipe
from rookery.training.session import resume, start
from support.nnue_samples import random_games
from support.paths import PROJECT
from support.runs import QuietView, final_state

PGN = '[Event "x"]\n[Result "1-0"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n\n'
TINY = [
    "run.evaluations=1",
    "network.width=16",
    "agent.max_plies=20",
    "agent.memory=50",
    "agent.minibatch=8",
    "agent.copy_every=2",
    "evaluation.games=2",
    "evaluation.depth=1",
    'evaluation.opponents=["random"]',
]


@pytest.mark.parametrize("observation", ["planes12", "planes14"])
@pytest.mark.parametrize("norm", [True, False])
def test_the_core_agrees_with_torch(observation: str, norm: bool) -> None:
    generator = torch.Generator().manual_seed(1)
    sizes = {"norm": norm, "width": 40}
    network = make_network("boardconv", observation, "none", sizes, generator)
    games = random_games(21)
    planes = np.zeros((len(games), *OBSERVATIONS[observation].shape), dtype=np.float32)
    encode_batch(games, observation, planes)
    inputs = torch.from_numpy(planes)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=generator))
        network.train().raw(inputs)  # moves the statistics of the normalisation
        network.eval()
        values, raw = network.values(inputs).numpy(), network.raw(inputs).numpy()
    assert value_evaluator(network).values(games) == pytest.approx(values, abs=1e-5)
    unbounded = conv_evaluator(network, bounded=False).values(games)
    assert unbounded == pytest.approx(raw * 100 / 800, abs=1e-5)
    assert values.std() > 1e-3


def test_the_network_has_the_published_layers() -> None:
    network = make_network("boardconv", "planes12", "none", {"norm": False})
    shapes = [tuple(p.shape) for p in network.parameters() if p.dim() > 1]
    assert shapes == [
        (16, 12, 3, 3), (16, 16, 3, 3), (16, 16, 3, 3),
        (384, 1024), (384, 384), (384, 384), (1, 384),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="planes of 8x8"):
        make_network("boardconv", "vector66", "none")


def test_the_memory_keeps_the_newest_moves() -> None:
    memory = Memory(5, (1, 1))
    planes = np.arange(5, dtype=np.uint8).reshape(5, 1, 1)
    memory.add(planes, np.arange(4, dtype=np.float32), ended=True)
    memory.add(planes, np.arange(4, dtype=np.float32), ended=False)
    assert memory.before.ravel().tolist() == [3, 0, 1, 2, 3]
    assert memory.after.ravel().tolist() == [4, 1, 2, 3, 4]
    assert memory.rewards.tolist() == [3, 0, 1, 2, 3]
    assert memory.ended.tolist() == [True, False, False, False, False]


@pytest.mark.parametrize("source", ["self-play", "games", "both"])
def test_a_resumed_run_agrees(tmp_path: Path, source: str) -> None:
    pgn = tmp_path / "games.pgn"
    pgn.write_text(3 * PGN)
    settings = [*TINY, f"agent.source={source}", f'data.pgn=["{pgn}"]']
    straight, split = tmp_path / "straight", tmp_path / "split"
    start("ddqn-paper", str(straight), "5it", 1, None, settings, QuietView())
    start("ddqn-paper", str(split), "3it", 1, None, settings, QuietView())
    resume(str(split), "5it", view=QuietView())
    if source != "both":  # whose halves depend on the budget
        assert final_state(straight) == final_state(split)
    player = make_player(f"{straight},depth=1")
    assert player.choose(Game(), np.random.default_rng(1)).move in Game().legal_moves()
    with pytest.raises(SpecError, match="at most 8"):
        make_player(f"{straight},depth=9")


# --- Games from PGN ---


def test_unusable_games_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(PGN + '[Event "bad"]\n\n1. e4 e5 2. Ke3 *\n\n' + PGN)
    lines: list[str] = []
    games = read_games(DataSettings(pgn=[str(path)]), lines.append)
    assert [len(game) for game in games] == [7, 7]
    assert len(read_games(DataSettings(pgn=[str(path)], games=1), lines.append)) == 1
    assert [line[line.index(":") :] for line in lines] == [
        ": 2; unusable and left out: 1",
        ": 1; unusable and left out: 0",
    ]


def test_files_without_games_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RecipeError, match=r"agent\.source=games needs games"):
        load_recipe("ddqn-paper", {"agent.source": "games"})
    path = tmp_path / "empty.pgn"
    path.write_text('[Event "bad"]\n\n1. Qe7 *\n')
    for name, reason in ((str(path), "no game of standard chess"), ("nowhere.pgn", "no such file")):
        words = ["--set", "agent.source=games", "--set", f'data.pgn=["{name}"]']
        run = ["--run", str(tmp_path / "run"), "--budget", "1it"]
        assert main(["train", "ddqn-paper", *run, *words]) != 0
        assert reason in capsys.readouterr().err


# --- The report ---


def test_intervals_and_texts() -> None:
    low, high = interval(0.2, 20)  # the paper's best chart: 4 of 20 games
    assert (low, high) == pytest.approx((0.081, 0.416), abs=1e-3)
    assert result_text((1, 1, 2)) == "25/25/50 % of 4, wins 5 to 70 %"
    assert result_text((0, 0, 0)) == "-"


def test_pies_have_a_slice_for_each_result() -> None:
    assert ["<path" in each for each in slices(0, 0, (2, 1, 1))] == [True] * 3
    assert ["<circle" in each for each in slices(0, 0, (0, 0, 5))] == [True]
    assert all(sum(each.published) == 100 for each in SETTINGS if each.published)


def test_the_report_puts_our_pies_beside_those_of_the_paper() -> None:
    def run(seed: int, gamma: float, results: tuple[int, int, int]) -> RunData:
        recipe = flatten(load_recipe("ddqn-paper", {"agent.gamma": gamma}).model_dump())
        counts = dict(zip(("wins", "draws", "losses"), results, strict=True))
        rows = [{"iteration": 5, "opponent": name, **counts} for name in OPPONENTS]
        return RunData(f"run{seed}", recipe, evaluations=rows)

    runs = [run(1, 0.25, (1, 0, 3)), run(2, 0.25, (0, 2, 2)), run(3, 0.5, (4, 0, 0))]
    section = study(group_runs(runs), [])
    assert section.count("20 / 10 / 70 %") == 1  # the paper's chart of gamma 1/4 with norm
    assert section.count(">12 / 25 / 62 %<") == 3  # both seeds, against each opponent
    assert section.count("no chart") == 1 and section.count(">100 / 0 / 0 %<") == 3
    assert study(group_runs([run(1, 0.3, (1, 1, 1))]), []) == ""


def test_the_figure_of_the_docs_is_that_of_the_results() -> None:
    from ddqn_pies import read_table

    table = read_table((PROJECT / "docs/results.md").read_text())
    shapes = figure(table).partition(">")[2]  # the file has a style of its own
    assert shapes in (PROJECT / "docs/images/ddqn-pies.svg").read_text()
