"""Packed samples, their files, and the games that they come from."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from rookery import Game
from rookery._core import (
    DataGenerator,
    NetworkMatch,
    first_bad_sample,
    pack_samples,
    sample_fens,
)
from rookery.nets.model_arrays import NNUE_TENSORS
from rookery.runs.positions import (
    PositionFormat,
    ShardError,
    fields,
    parse_shard,
    results,
    shard_bytes,
)
from rookery.runs.replay import Replay
from support.nnue_samples import material_weights, random_games, random_samples, random_weights


def tensors(weights: dict[str, Any]) -> Any:
    return tuple(weights[name] for name in NNUE_TENSORS)


def generator(**options: Any) -> DataGenerator:
    settings = {"seed": 5, "soft_nodes": 30, "adjudicate": False} | options
    return DataGenerator(tensors(random_weights(16)), **settings)


# --- Samples ---


def test_positions_survive_packing() -> None:
    special = [
        "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 20",
        "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 149 3000",
        "4k3/8/8/2pP4/8/8/8/4K3 w - c6 0 9",
        "8/8/8/4k3/8/8/8/4K2Q b - - 0 1",
    ]
    games = random_games(300) + [Game(fen) for fen in special]
    count = len(games)
    scores = list(range(-count // 2, count - count // 2))
    outcomes = [index % 3 - 1 for index in range(count)]
    samples = pack_samples(games, scores, outcomes, list(range(count)))
    assert samples.shape == (count, 32)
    assert sample_fens(samples) == [game.fen() for game in games]
    table = fields(samples)
    assert table["score"].tolist() == scores
    assert table["game"].tolist() == [index % 256 for index in range(count)]
    assert results(samples).tolist() == [(outcome + 1) / 2 for outcome in outcomes]
    assert first_bad_sample(samples) == count


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="Chess960"):
        pack_samples([Game(chess960=True, fen=Game().fen())], [0], [0], [0])
    with pytest.raises(ValueError, match="equally long"):
        pack_samples([Game()], [0, 1], [0], [0])
    with pytest.raises(ValueError, match="result 2"):
        pack_samples([Game()], [0], [2], [0])


def test_damaged_samples_are_noticed() -> None:
    sound = random_samples(10)
    for place, value in ((0, 0), (8, 0xFF), (26, 0xE0), (27, 200)):
        damaged = sound.copy()
        if place == 0:
            damaged[3, :8] = 0  # no pieces
        else:
            damaged[3, place] = value
        assert first_bad_sample(damaged) == 3, place
        with pytest.raises(ValueError, match="damaged"):
            sample_fens(damaged)


# --- Files ---


def test_a_shard_survives_writing_and_reading() -> None:
    samples = random_samples(50)
    data = shard_bytes(samples, 7)
    assert len(data) == 64 + 50 * 32
    again, generation = parse_shard(data, "it")
    assert np.array_equal(again, samples) and generation == 7


def test_every_damage_to_a_shard_is_noticed() -> None:
    data = shard_bytes(random_samples(20), 1)
    for place in [*range(0, 12), *range(16, 64, 5), *range(64, len(data), 97), len(data) - 1]:
        flipped = bytearray(data)
        flipped[place] ^= 0x10
        with pytest.raises(ShardError, match="it"):
            parse_shard(bytes(flipped), "it")
    for length in (0, 10, 63, 64, 65, len(data) - 1):
        with pytest.raises(ShardError):
            parse_shard(data[:length], "it")
    future = bytearray(data)
    future[8] = 2
    with pytest.raises(ShardError, match="format 2"):
        parse_shard(bytes(future), "it")


def test_bad_and_unknown_shards_are_set_aside(tmp_path: Path) -> None:
    told: list[str] = []
    shards = Replay(tmp_path, PositionFormat(), report=told.append)
    names = [shards.add(random_samples(5, seed), 1 + seed) for seed in range(3)]
    state = shards.state()
    shards.add(random_samples(5, 9), 4)  # after the checkpoint
    damaged = (tmp_path / names[1]).read_bytes()
    (tmp_path / names[1]).write_bytes(damaged[:-1])
    again = Replay(tmp_path, PositionFormat(), report=told.append)
    found = again.restore(state)
    assert list(found) == [names[0], names[2]] == again.names()
    assert again.quarantined == 2
    assert len(told) == 1 and names[1] in told[0]
    assert sorted(path.name for path in (tmp_path / "quarantine").iterdir()) == [
        names[1],
        "00000003.positions",
    ]


def test_dropped_shards_stay_while_a_checkpoint_names_them(tmp_path: Path) -> None:
    shards = Replay(tmp_path, PositionFormat(), keep_checkpoints=2)
    first = shards.add(random_samples(5), 1)
    second = shards.add(random_samples(5), 2)
    shards.state()
    shards.drop_before(2)
    assert shards.names() == [second]
    for _ in range(2):
        shards.state()
        assert (tmp_path / first).exists()
    shards.state()
    shards.state()
    assert not (tmp_path / first).exists() and (tmp_path / second).exists()


# --- Games ---


def test_games_follow_from_seed_and_number_alone() -> None:
    whole = generator(threads=2).run(0, 12)
    assert whole.games == 12
    parts = [generator(threads=1).run(first, 4) for first in (0, 4, 8)]
    assert np.array_equal(whole.samples, np.concatenate([part.samples for part in parts]))
    assert whole.nodes == sum(part.nodes for part in parts)
    other = generator(seed=6).run(0, 12)
    assert not np.array_equal(whole.samples[:50], other.samples[:50])


def test_samples_are_quiet_positions_of_finished_games() -> None:
    played = generator().run(0, 16)
    counts = played.white_wins + played.draws + played.black_wins
    assert counts + played.endings.get("ply_cap", 0) == played.games == 16
    assert sum(played.endings.values()) == 16
    assert played.endings["checkmate"] == played.white_wins + played.black_wins > 0
    table, fens = fields(played.samples), sample_fens(played.samples)
    white_result: dict[int, float] = {}
    for sample, fen, result in zip(table, fens, results(played.samples), strict=True):
        board = chess.Board(fen)
        assert board.is_valid() and not board.is_check()
        assert abs(int(sample["score"])) < 3000
        assert board.ply() >= 8
        points = float(result) if board.turn else 1 - float(result)
        assert white_result.setdefault(int(sample["game"]), points) == points
    assert len(white_result) > 10
    assert played.distinct_openings >= 15


def test_games_that_are_cut_off_teach_nothing() -> None:
    played = generator(max_plies=3).run(0, 5)
    assert played.endings == {"ply_cap": 5}
    assert len(played.samples) == 0 and played.draws == 0


def test_clear_games_are_adjudicated_unless_played_on() -> None:
    network = tensors(material_weights())
    for share, adjudicated in ((0.0, True), (1.0, False)):
        played = DataGenerator(
            network, seed=1, soft_nodes=50, adjudicate=True, play_on_share=share, max_plies=300
        ).run(0, 10)
        found = {"adjudicated_win", "adjudicated_draw"} & set(played.endings)
        assert bool(found) == adjudicated


def test_work_can_be_stopped() -> None:
    calls = iter(range(1000))
    played = generator().run(0, 100_000, stopping=lambda: next(calls) >= 5)
    assert 0 <= played.games < 100_000
    again = generator().run(0, played.games)
    assert np.array_equal(played.samples, again.samples)


def test_a_signal_ends_the_work_with_its_exception() -> None:
    class Interrupted(Exception):
        pass

    def interrupt(number: int, frame: Any) -> None:
        raise Interrupted

    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Interrupted):
            generator(threads=2).run(0, 10_000_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="random plies"):
        generator(random_plies=(9, 8))
    with pytest.raises(ValueError, match="at least 1"):
        generator(soft_nodes=0)
    broken = random_weights(16)
    broken["output_bias"][0] = np.nan
    with pytest.raises(ValueError, match="output_bias"):
        DataGenerator(tensors(broken), seed=1)


# --- Matches ---


def test_a_network_is_as_strong_as_itself() -> None:
    network = tensors(random_weights(16))
    for white, black in NetworkMatch(network, network, seed=3, nodes=40).run(0, 6):
        assert white[0] == -black[0]
        assert white[1] == black[1]  # the same game


def test_material_beats_a_random_mover() -> None:
    match = NetworkMatch(
        tensors(material_weights()), "random", seed=3, nodes=200, threads=2, adjudicate=False
    )
    games = [game for pair in match.run(0, 5) for game in pair]
    assert sum(result for result, _ in games) >= 8
    for _, moves in games:
        board = chess.Board()
        for move in moves:
            board.push_uci(move)  # raises if illegal


def test_giving_material_away_loses() -> None:
    good, bad = tensors(material_weights()), tensors(material_weights(sign=-1.0))
    points = [
        white[0] + black[0] for white, black in NetworkMatch(good, bad, seed=1, nodes=60).run(0, 5)
    ]
    assert sum(points) >= 8


def test_unknown_bots_are_named() -> None:
    with pytest.raises(ValueError, match="greedy-safe"):
        NetworkMatch(tensors(random_weights(16)), "greeedy", seed=1)
