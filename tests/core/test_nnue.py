"""The network of the engine: quantised integers against floats, and files that are refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rookery._core import Game, NetworkError, NnueNetwork, play_random_plies
from rookery.nets.evaluator import read_model
from rookery.nets.model_arrays import parse_arrays
from rookery.nets.model_file import ModelFileError
from rookery.players.alphabeta import AlphaBetaPlayer, read_network
from rookery.players.registry import make_player

Tensors = dict[str, NDArray[np.float32]]
NAMES = ("feature_weights", "feature_bias", "output_weights", "output_bias")
HIDDEN, BUCKETS = 32, 8


def tensors(seed: int = 0, hidden: int = HIDDEN) -> Tensors:
    rng = np.random.default_rng(seed)
    return {
        "feature_weights": rng.normal(0, 0.12, (768, hidden)).astype(np.float32),
        "feature_bias": rng.normal(0.3, 0.2, hidden).astype(np.float32),
        "output_weights": rng.normal(0, 0.4, (BUCKETS, 2 * hidden)).astype(np.float32),
        "output_bias": rng.normal(0, 0.1, BUCKETS).astype(np.float32),
    }


def network(values: Tensors) -> NnueNetwork:
    return NnueNetwork(*(values[name] for name in NAMES))


def float_value(values: Tensors, game: Game) -> float:
    """The network in double precision, from the public features."""
    halves = []
    for active in game.nnue_features():
        rows = values["feature_weights"][active].astype(np.float64)
        halves.append(np.clip(rows.sum(axis=0) + values["feature_bias"], 0, 1) ** 2)
    bucket = (game.piece_count() - 2) // 4
    raw = values["output_weights"][bucket] @ np.concatenate(halves) + values["output_bias"][bucket]
    return float(400 * raw)


def random_games(count: int) -> list[Game]:
    games = []
    for seed in range(count):
        game = Game()
        play_random_plies(game, 5 * seed % 160, seed)
        games.append(game)
    return games


def test_integers_agree_with_floats() -> None:
    values = tensors()
    quantised = network(values)
    assert quantised.clipped == 0
    games = random_games(150)
    errors = [abs(quantised.evaluate(game) - float_value(values, game)) for game in games]
    spread = np.std([float_value(values, game) for game in games])
    # Output weights are rounded to 1/64, so each deviates by 0.0045 on average: with 64 activations
    # of about 0.5 that is 400 * 8 * 0.5 * 0.0045 = 7 units.
    assert np.mean(errors) < 10
    assert max(errors) < 35
    assert spread > 100  # otherwise agreeing would mean little


def test_public_features_give_the_engines_value() -> None:
    """Public features and the weights of the shipped file give what the engine computes."""
    origin, data = read_model("rookery")
    values, info = parse_arrays(data, origin)
    engine = read_network("rookery")
    assert info.observation == "nnue768" and engine.clipped == 0
    games = random_games(400)
    views = set()  # side to move, whether White's and Black's king stand on files e-h
    for game in games:
        squares = {game.piece_at(square): square for square in range(64)}
        views.add((game.turn, squares["K"] % 8 >= 4, squares["k"] % 8 >= 4))
    assert len(views) == 8
    floats = np.array([float_value(values, game) for game in games])
    errors = np.abs(floats - [engine.evaluate(game) for game in games])
    # Output weights are rounded to 1/64 and sums of rows to 1/255, as in the test above. Features
    # that are not mirrored deviate by 97 on average.
    assert np.mean(errors) < 10
    assert np.max(errors) < 35
    assert np.std(floats) > 300


def test_every_bucket_is_used() -> None:
    values = tensors()
    values["output_weights"][:] = 0
    values["output_bias"] = np.arange(BUCKETS, dtype=np.float32)
    quantised = network(values)
    for fen, pieces in (
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", 2),
        ("4k3/8/8/8/8/8/PPPP4/4K3 w - - 0 1", 6),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 32),
    ):
        assert quantised.evaluate(Game(fen)) == 400 * ((pieces - 2) // 4)


def test_sides_see_the_same() -> None:
    quantised = NnueNetwork.random(64, 8, 3)
    white = Game("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    black = Game("r3k2r/pppbbppp/2n2q1P/1P2p3/3pn3/BN2PNP1/P1PPQPB1/R3K2R b KQkq - 0 1")
    assert quantised.evaluate(white) == quantised.evaluate(black) != 0


def test_material_counts() -> None:
    material = NnueNetwork.material()
    assert abs(material.evaluate(Game())) < 5
    queen_up = Game("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    assert 600 < material.evaluate(queen_up) < 1200


@pytest.mark.parametrize("name", NAMES)
def test_bad_tensors_are_named(name: str) -> None:
    nan = tensors()
    nan[name].flat[3] = np.nan
    with pytest.raises(NetworkError, match=f"{name}.*NaN"):
        network(nan)
    wrong = tensors()
    wrong[name] = wrong[name][..., :-1].copy()
    with pytest.raises(NetworkError, match="network: "):
        network(wrong)


# Files


def file_bytes(values: Tensors, family: str = "nnue", version: int = 1) -> bytes:
    """A model file, written from the definition of the format."""
    info = {
        "family": family,
        "sizes": {"hidden": HIDDEN, "buckets": BUCKETS},
        "observation": "nnue768",
        "observation_version": version,
        "actions": "none",
        "actions_version": 1,
        "recipe": {},
        "totals": {},
        "ratings": [],
        "format": 1,
    }
    header: dict[str, object] = {"__metadata__": {"rookery": json.dumps(info)}}
    content = b""
    for name, array in values.items():
        data = array.astype("<f4").tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(array.shape),
            "data_offsets": [len(content), len(content) + len(data)],
        }
        content += data
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + content


def test_a_file_gives_the_same_network(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    path.write_bytes(file_bytes(tensors()))
    loaded, direct = read_network(str(path)), network(tensors())
    assert [loaded.evaluate(game) for game in random_games(20)] == [
        direct.evaluate(game) for game in random_games(20)
    ]
    player = make_player(f"{path},depth=2")
    assert isinstance(player, AlphaBetaPlayer)
    assert Game().is_legal(player.choose(Game(), np.random.default_rng(0)).move)


def test_files_that_were_written_with_torch_load(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from rookery.nets import make_network
    from rookery.nets.model_file import save_model

    made = make_network("nnue", "nnue768", "none", {"hidden": HIDDEN, "buckets": BUCKETS})
    made.load_state_dict({k: torch.from_numpy(v) for k, v in tensors().items()})
    path = tmp_path / "net.safetensors"
    save_model(path, made)
    assert read_network(str(path)).evaluate(Game()) == network(tensors()).evaluate(Game())


def test_truncated_files_are_refused(tmp_path: Path) -> None:
    whole = file_bytes(tensors())
    path = tmp_path / "net.safetensors"
    for length in [0, 1, 7, 8, 9, 100, 700, *range(1000, len(whole), 7919), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError, match=r"net\.safetensors"):
            read_network(str(path))


def test_wrong_architectures_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"

    def refused(data: bytes, reason: str) -> None:
        path.write_bytes(data)
        with pytest.raises(ModelFileError, match=reason):
            read_network(str(path))

    values = tensors()
    refused(file_bytes(values, version=2), "version 2 in the file but 1")
    refused(file_bytes(values, family="resnet"), "family 'resnet'")
    missing = {name: values[name] for name in NAMES[:-1]}
    refused(file_bytes(missing), "needs 'nnue' with")
    odd = tensors(hidden=24)
    refused(file_bytes(odd), "24 is not a multiple of 16")
    nan = tensors()
    nan["output_weights"][0, 0] = np.inf
    refused(file_bytes(nan), "'output_weights' has a NaN or an infinity")
    swapped = values | {"output_weights": values["output_weights"].T.copy()}
    swapped["output_weights"] = swapped["output_weights"][:-1]
    refused(file_bytes(swapped), "output_weights has")


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F16"},
        {"shape": [1 << 62, 1 << 62]},
        {"shape": [-1, 4]},
        {"shape": "no"},
        {"data_offsets": [8, 4]},
        {"data_offsets": [0, 1 << 70]},
        {"data_offsets": [0]},
    ],
)
def test_headers_that_lie_are_refused(entry: dict[str, object]) -> None:
    data = file_bytes(tensors())
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header["feature_bias"] |= entry
    text = json.dumps(header).encode()
    with pytest.raises(ModelFileError, match="feature_bias"):
        parse_arrays(len(text).to_bytes(8, "little") + text + data[8 + length :], "file")
