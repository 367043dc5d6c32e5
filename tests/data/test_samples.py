"""Samples: Parquet there and back, windows, and what `rookery data` makes of games and puzzles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from rookery import Game
from rookery._core import HashEvaluator, SelfPlay
from rookery.algorithms.supervised import SupervisedRecipe, SupervisedTrainer, split_by_game
from rookery.base.scales import value_of_score
from rookery.cli import main
from rookery.data.label_samples import policy_of
from rookery.data.samples import SampleBlock, SampleError, read_samples, write_samples
from rookery.learning.window import Sampler, SampleWindow
from rookery.training.trainer import Context
from support.needs import needs_stockfish

GAMES = """[Event "a"]
[Result "1-0"]
[WhiteElo "2000"]
[BlackElo "1900"]

1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0

[Event "weak"]
[Result "0-1"]
[WhiteElo "900"]
[BlackElo "1900"]

1. f3 e5 2. g4 Qh4# 0-1

[Event "unfinished"]
[Result "*"]

1. d4 *
"""
PUZZLES = (
    "PuzzleId,FEN,Moves,Rating,Themes\n"
    "a,5k2/5ppp/8/8/8/8/8/K2R4 b - - 0 1,f8g8 d1d8,800,mate mateIn1\n"
    "b,k7/8/1K6/8/8/8/8/6RR b - - 0 1,a8b8 h1h8,900,mateIn1\n"
    "c,6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1,d1d7 g8f8,900,endgame\n"
)


def block(observation: str = "tactical70", seed: int = 1, samples: int = 60) -> SampleBlock:
    play = SelfPlay(8, observation, seed, simulations=4, max_plies=20)
    play.run(HashEvaluator(), samples)
    return SampleBlock.from_selfplay(play.take_samples())


def assert_same(one: SampleBlock, other: SampleBlock) -> None:
    for name, column in vars(one).items():
        assert np.array_equal(column, getattr(other, name)), name


@pytest.mark.parametrize("observation", ["tactical70", "planes22"])
def test_samples_come_back_from_parquet(tmp_path: Path, observation: str) -> None:
    made = block(observation)
    path = tmp_path / "some" / "a.parquet"
    write_samples(path, made, observation)
    assert_same(made, read_samples(path, observation))
    table = pyarrow.parquet.read_table(path)  # any tool can read it
    row = table.slice(3, 1).to_pylist()[0]
    assert len(row["legal"]) == len(row["policy"]) == made.counts[3]
    assert sum(row["policy"]) == pytest.approx(1.0, abs=1e-5)
    write_samples(tmp_path / "some" / "b.parquet", made, observation)
    assert len(read_samples(path.parent, observation)) == 2 * len(made)
    with pytest.raises(SampleError, match="vector66"):
        read_samples(path, "vector66")


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SampleError, match="nor a folder"):
        read_samples(tmp_path, "tactical70")
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(SampleError, match="readable"):
        read_samples(broken, "tactical70")
    foreign = tmp_path / "foreign.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": [1]}), foreign)
    with pytest.raises(SampleError, match="metadata"):
        read_samples(foreign, "tactical70")


def test_a_window_forgets_the_oldest_and_is_restored(tmp_path: Path) -> None:
    window = SampleWindow(tmp_path, "tactical70", 3)
    blocks = [block(seed=seed) for seed in range(5)]
    for one in blocks:
        window.add(one, 150)
    sizes = [len(one) for one in blocks]
    kept = len(window.blocks)
    assert sum(sizes[-kept:]) >= 150 > sum(sizes[-kept + 1 :])
    other = SampleWindow(tmp_path, "tactical70", 3)
    other.restore(json.loads(json.dumps(window.state())))
    for ours, theirs in zip(window.blocks, other.blocks, strict=True):
        assert_same(ours, theirs)


def test_minibatches_hold_whole_samples_and_prefer_surprises() -> None:
    blocks = [block(seed=1), block(seed=2)]
    for one in blocks:
        one.surprise[:] = 0.0
        one.surprise[0] = 1.0
    drawn = Sampler(blocks, 0.5).draw(2000, np.random.default_rng(1))
    assert len(drawn) == 2000
    sums = np.add.reduceat(drawn.policy, drawn.offsets[:-1])
    np.testing.assert_allclose(sums, 1.0, atol=1e-4)
    share = float((drawn.surprise == 1.0).mean())
    assert 0.45 < share < 0.6  # half of the draws, and its even part
    even = Sampler(blocks, 0.0).draw(2000, np.random.default_rng(1))
    assert float((even.surprise == 1.0).mean()) < 0.1


def test_training_and_validation_share_no_game() -> None:
    made = block(samples=200)
    learnt, held = split_by_game(made, 0.3)
    assert held is not None
    assert not set(learnt.games) & set(held.games)
    assert len(learnt) + len(held) == len(made)
    assert split_by_game(made, 0.0)[1] is None


def run_data(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["data", *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_games_become_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pgn, out = tmp_path / "games.pgn", tmp_path / "out"
    pgn.write_text(GAMES)
    found = run_data(capsys, "pgn", str(pgn), "--out", str(out))
    assert (found["games"], found["skipped"], found["samples"]) == (2, 1, 11)
    made = read_samples(out, "tactical70")
    assert made.results.tolist() == [1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1]
    game = Game()
    first = made.legal[made.policy[: made.offsets[1]].argmax()]
    assert int(first) == game.action_of("e2e4")
    assert made.plies_left[:7].tolist() == [7, 6, 5, 4, 3, 2, 1]
    strong = run_data(capsys, "pgn", str(pgn), "--out", f"{out}2", "--least-elo", "1500")
    assert strong["games"] == 1
    assert main(["data", "pgn", str(pgn), "--out", str(out)]) == 1
    assert "has samples already" in capsys.readouterr().err
    assert main(["data", "pgn", str(tmp_path / "none.pgn"), "--out", f"{out}3"]) == 1
    assert "no such file" in capsys.readouterr().err


def test_puzzles_become_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    csv, out = tmp_path / "puzzles.csv", tmp_path / "out"
    csv.write_text(PUZZLES)
    found = run_data(capsys, "puzzles", str(csv), "--out", str(out))
    assert (found["puzzles"], found["samples"]) == (2, 2)
    assert read_samples(out, "tactical70").values.tolist() == [1.0, 1.0]
    everything = run_data(capsys, "puzzles", str(csv), "--themes", "", "--out", f"{out}2")
    assert everything["puzzles"] == 3


def test_scores_become_targets() -> None:
    assert value_of_score(0) == 0.0
    assert value_of_score(200) == -value_of_score(-200) == pytest.approx(0.2449, abs=1e-3)
    policy = policy_of({"e2e4": 30.0, "a2a3": 0.0}, temperature=0.3)
    assert policy["a2a3"] / policy["e2e4"] == pytest.approx(np.exp(-1.0))


@needs_stockfish
def test_an_engine_labels_positions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pgn = tmp_path / "games.pgn"
    pgn.write_text(GAMES)
    out = tmp_path / "out"
    options = ("--nodes", "200", "--count", "9", "--out")
    found = run_data(capsys, "label", str(pgn), *options, str(out))
    assert found["samples"] == 9
    made = read_samples(out, "tactical70")
    assert made.values[6] > 0.5  # White mates with the next move
    mate = made.legal[made.offsets[6] + made.policy[made.offsets[6] : made.offsets[7]].argmax()]
    position = Game()
    for move in ("e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6"):
        position.push(move)
    assert int(mate) == position.action_of("h5f7")
    played = run_data(capsys, "label", *options, f"{out}2")
    assert played["samples"] == 9


def test_supervised_learning_learns_and_resumes(tmp_path: Path) -> None:
    made = block(samples=400)
    # The move with the largest number is right and the mover wins: something to find out.
    for index in range(len(made)):
        part = slice(made.offsets[index], made.offsets[index + 1])
        made.policy[part] = made.legal[part] == made.legal[part].max()
    made.results[:] = made.values[:] = 1.0
    write_samples(tmp_path / "samples" / "a.parquet", made, "tactical70")

    def trainer() -> SupervisedTrainer:
        recipe = SupervisedRecipe.model_validate(
            {
                "algorithm": "supervised",
                "data": {"samples": str(tmp_path / "samples"), "steps": 5, "held_out": 0.2},
                "network": {"squares": {"width": 16, "key_width": 8}},
                "learn": {"minibatch": 64, "learning_rate": 1e-2, "schedule": "constant"},
                "evaluation": {"games": 2},
            }
        )
        return SupervisedTrainer(Context(recipe=recipe, folder=tmp_path))

    straight, first, second = trainer(), trainer(), trainer()
    rows = [straight.iterate() for _ in range(8)]
    assert rows[-1].losses["policy"] < 0.6 * rows[0].losses["policy"]
    # That the mover always wins is true of the games held out as well.
    assert rows[-1].values["held_out_value"] < rows[0].values["held_out_value"]
    for _ in range(4):
        first.iterate()
    second.load_state(first.state())
    later = [second.iterate() for _ in range(4)]
    assert [r.losses for r in later] == [r.losses for r in rows[4:]]
    [result] = second.evaluate(np.random.default_rng(1))
    assert sum(result.as_white) == 1


def test_missing_samples_say_what_to_do(tmp_path: Path) -> None:
    recipe = SupervisedRecipe.model_validate(
        {"algorithm": "supervised", "data": {"samples": str(tmp_path / "none")}}
    )
    with pytest.raises(SampleError, match="rookery data pgn"):
        SupervisedTrainer(Context(recipe=recipe, folder=tmp_path))
