from __future__ import annotations

import io
import json
import pickle
import re
import struct
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rookery import Game
from rookery.nets import make_network, model_file
from rookery.nets.evaluator import FakeEvaluator, load_evaluator
from rookery.nets.model_file import (
    KEY,
    ModelFileError,
    describe,
    info_text,
    load_model,
    model_bytes,
    parse_model,
    read_info,
    save_model,
)
from rookery.players.alphabeta import read_network
from rookery.players.base import Player
from rookery.players.policy import PolicyPlayer
from rookery.players.registry import make_player

torch.set_num_threads(1)


def small() -> Any:
    generator = torch.Generator().manual_seed(2)
    return make_network("mlp", "vector66", "kpk", {"hidden": [4]}, generator)


@pytest.fixture(scope="module")
def good() -> bytes:
    network = small()
    info = describe(network, {"name": "x"}, {"samples": 5}, [{"opponent": "random"}])
    return model_bytes(network, info)


def rebuild(data: bytes, change: Any) -> bytes:
    """The same file with its header changed by a function."""
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    header = change(header) or header
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


def with_info(data: bytes, **changes: Any) -> bytes:
    """The same file with other information."""

    def change(header: dict[str, Any]) -> None:
        info = json.loads(header["__metadata__"][KEY])
        info.update(changes)
        header["__metadata__"][KEY] = json.dumps(info)

    return rebuild(data, change)


def refused(data: bytes, *words: str) -> None:
    with pytest.raises(ModelFileError) as caught:
        parse_model(data, "file.safetensors")
    text = str(caught.value)
    assert "file.safetensors" in text
    for word in words:
        assert word in text, text


def test_round_trip(tmp_path: Path) -> None:
    network = small()
    path = tmp_path / "model.safetensors"
    save_model(path, network, describe(network, {"name": "x"}, {"samples": 5.0}))
    again, info = load_model(path)
    assert info.family == "mlp"
    assert info.totals == {"samples": 5.0}
    assert read_info(path) == info
    assert not again.training
    for ours, theirs in zip(network.parameters(), again.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert model_bytes(again, info) == path.read_bytes()


def test_reading_the_information_needs_no_torch(tmp_path: Path, good: bytes) -> None:
    import subprocess
    import sys

    path = tmp_path / "model.safetensors"
    path.write_bytes(good)
    code = (
        "import sys; sys.modules['torch'] = sys.modules['safetensors'] = None\n"
        "from pathlib import Path; from rookery.nets.model_file import read_info\n"
        f"print(read_info(Path({str(path)!r})).family)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "mlp", done.stderr


def test_layout_versions_name_both_sides(good: bytes) -> None:
    refused(with_info(good, observation_version=2), "vector66", "version 2", "but 1")
    refused(with_info(good, actions_version=7), "kpk", "version 7", "but 1")
    refused(with_info(good, observation="vector67"), "vector67")
    refused(with_info(good, observation="kpk"), "kpk")


def test_formats_and_families(good: bytes) -> None:
    refused(with_info(good, format=2), "format 2", "reads 1")
    refused(with_info(good, family="transformer"), "transformer")
    refused(with_info(good, sizes={"hidden": [5]}), "[4, 66]", "[5, 66]")
    refused(with_info(good, sizes={"hidden": [10**12]}), "hidden")
    refused(with_info(good, sizes={"hidden": [4, 4]}), "lacks the tensor")
    refused(with_info(good, sizes={"hidden": []}), "tensor")
    refused(with_info(good, sizes=[1]), "wrong type")
    refused(with_info(good, family=3), "wrong type")
    refused(with_info(good, surprise=3), "metadata")
    refused(rebuild(good, lambda header: header.pop("__metadata__") and None), "metadata")


def test_entries_that_are_missing_or_unknown_are_named(good: bytes) -> None:
    def without(*names: str) -> bytes:
        def change(header: dict[str, Any]) -> None:
            info = json.loads(header["__metadata__"][KEY])
            text = json.dumps({key: value for key, value in info.items() if key not in names})
            header["__metadata__"][KEY] = text

        return rebuild(good, change)

    refused(without("family"), "the metadata lacks family")
    refused(without("sizes", "actions"), "the metadata lacks sizes, actions")
    refused(without("format"), "the metadata lacks format")
    refused(with_info(good, surprise=3), "unknown entries (surprise)")
    parse_model(without("recipe", "totals", "ratings"), "sound")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"observation": "planes19"}, ("observation planes19", "observation nnue768")),
        ({"actions": "az4672"}, ("actions az4672", "actions none")),
        ({"sizes": {}}, ("sizes {}", "'hidden': 128")),
        ({"sizes": {"hidden": -128, "buckets": 8}}, ("-128", "'hidden': 128")),
        ({"sizes": {"hidden": 10**9, "buckets": 8}}, ("1000000000", "'hidden': 128")),
        ({"sizes": {"hidden": 128, "buckets": 4}}, ("'buckets': 4", "'buckets': 8")),
    ],
)
def test_the_engine_refuses_metadata_that_contradicts_the_tensors(
    tmp_path: Path, changes: dict[str, Any], words: tuple[str, ...]
) -> None:
    shipped = resources.files("rookery") / "networks" / "rookery.safetensors"
    file = tmp_path / "net.safetensors"
    file.write_bytes(with_info(shipped.read_bytes(), **changes))
    with pytest.raises(ModelFileError) as caught:
        read_network(str(file))
    for word in (str(file), *words):
        assert word in str(caught.value)


def test_wrong_tensors(good: bytes) -> None:
    network = small()
    weights = network.state_dict()
    import safetensors.torch

    def saved(tensors: dict[str, torch.Tensor]) -> bytes:
        return safetensors.torch.save(tensors, {KEY: info_text(describe(network))})

    parse_model(saved(weights), "sound")
    refused(saved({**weights, "value.bias": torch.zeros(2)}), "value.bias", "[2]", "[1]")
    half = weights["value.bias"].half()
    refused(saved({**weights, "value.bias": half}), "float16", "float32")
    refused(saved({**weights, "extra": torch.zeros(1)}), "'extra'")
    refused(saved({k: v for k, v in weights.items() if k != "value.bias"}), "'value.bias'")
    for bad in (float("nan"), float("inf")):
        refused(saved({**weights, "value.bias": torch.tensor([bad])}), "value.bias", "NaN")


def test_nan_is_never_saved() -> None:
    network = small()
    with torch.no_grad():
        network.value.bias.fill_(float("nan"))
    with pytest.raises(ModelFileError, match=r"value\.bias"):
        model_bytes(network, describe(network))


class Canary:
    """Unpickling it would leave a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.write_text, (self.path, "executed")


def test_pickles_are_refused_and_not_executed(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    archive = io.BytesIO()
    torch.save({"weight": Canary(canary)}, archive)
    legacy = io.BytesIO()
    torch.save({"weight": Canary(canary)}, legacy, _use_new_zipfile_serialization=False)
    contents = [archive.getvalue(), legacy.getvalue()]
    contents += [pickle.dumps(Canary(canary), protocol) for protocol in range(6)]
    for data in contents:
        for name in ("model.safetensors", "model.pt"):
            path = tmp_path / name
            path.write_bytes(data)
            with pytest.raises(ModelFileError, match=r"pickle|not a safetensors"):
                load_model(path)
            with pytest.raises(ModelFileError):
                read_info(path)
            with pytest.raises(ModelFileError):
                load_evaluator(str(path))
    assert not canary.exists()


def overlapping(header: dict[str, Any]) -> None:
    for entry in header.values():
        if "data_offsets" in entry:
            size = entry["data_offsets"][1] - entry["data_offsets"][0]
            entry["data_offsets"] = [0, size]


def shifted(header: dict[str, Any]) -> None:
    for entry in header.values():
        if "data_offsets" in entry:
            entry["data_offsets"][1] += 1 << 40


def huge_shape(header: dict[str, Any]) -> None:
    header["value.bias"]["shape"] = [1 << 62]


def negative(header: dict[str, Any]) -> None:
    header["value.bias"]["data_offsets"] = [-4, 0]


def strange_dtype(header: dict[str, Any]) -> None:
    header["value.bias"]["dtype"] = "PICKLE"


@pytest.mark.parametrize("change", [overlapping, shifted, huge_shape, negative, strange_dtype])
def test_malformed_headers(good: bytes, change: Any) -> None:
    refused(rebuild(good, change))


@pytest.mark.parametrize("length", [0, 1, 1 << 40, (1 << 64) - 1, 10_000_000])
def test_header_lengths(good: bytes, length: int) -> None:
    refused(struct.pack("<Q", length) + good[8:])


def test_other_nonsense(good: bytes) -> None:
    for data in (b"", b"\0", b"{}", good[:8], good[:50], good[:-1], good + b"x", b"x" * 1000):
        refused(data)
    refused(struct.pack("<Q", 200_000) + b"[" * 200_000)
    refused(rebuild(good, lambda _: [1, 2]))
    refused(rebuild(good, lambda _: {"__metadata__": {KEY: "[" * 100_000}}))


@given(st.data())
def test_damage_is_refused_or_harmless(good: bytes, data: st.DataObject) -> None:
    """A changed byte gives a typed error or a network of the same shape, never anything else."""
    changed = bytearray(good)
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))
    try:
        network, _ = parse_model(bytes(changed), "file")
    except ModelFileError:
        return
    assert {k: v.shape for k, v in network.state_dict().items()} == {
        k: v.shape for k, v in small().state_dict().items()
    }


@given(st.binary(max_size=300))
def test_random_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ModelFileError):
        parse_model(data, "file")


def test_torch_load_is_not_used_anywhere() -> None:
    package = Path(model_file.__file__).parent
    for path in package.rglob("*.py"):
        text = path.read_text()
        assert not re.search(r"(?<!safetensors\.)torch\.load\(|import pickle|weights_only", text), (
            path
        )


# --- The player ---


def test_policy_player_plays_the_largest_logit_or_draws() -> None:
    def favourite(observation: Any, legal: Any) -> tuple[Any, float]:
        return np.where(np.arange(len(legal)) == 3, 2.0, 0.0), 0.25

    game = Game()
    rng = np.random.default_rng(1)
    best = PolicyPlayer(FakeEvaluator(function=favourite))
    assert isinstance(best, Player)
    decision = best.choose(game, rng)
    assert decision.move == game.legal_moves()[3]
    assert decision.value == 0.25
    drawn = PolicyPlayer(FakeEvaluator(function=favourite), temperature=1.0)
    moves = [drawn.choose(game, rng).move for _ in range(300)]
    share = moves.count(game.legal_moves()[3]) / len(moves)
    assert abs(share - np.exp(2) / (np.exp(2) + 19)) < 0.08
    assert len(set(moves)) > 10
    cold = PolicyPlayer(FakeEvaluator(function=favourite), temperature=1e-6)
    assert cold.choose(game, rng).move == game.legal_moves()[3]
    assert game.ply == 0


def test_policy_player_claims_draws_where_its_actions_can() -> None:
    network = make_network("mlp", "vector69", "az4673", {"hidden": [4]})
    with torch.no_grad():
        network.policy.bias[4672] = 100.0
    from rookery.nets.evaluator import TorchEvaluator

    player = PolicyPlayer(TorchEvaluator(network))
    game = Game()
    rng = np.random.default_rng(1)
    assert not player.choose(game, rng).claims_draw
    for move in ["g1f3", "g8f6", "f3g1", "f6g8"] * 2:
        game.push(move)
    decision = player.choose(game, rng)
    assert decision.claims_draw
    assert decision.value is None  # its values are in units of reward


def test_policy_player_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    save_model(path, make_network("mlp", "vector66", "az4672", {"hidden": [4]}))
    player = make_player(f"{path},temperature=0.5")
    assert isinstance(player, PolicyPlayer) and player.temperature == 0.5
    rng = np.random.default_rng(3)
    game = Game()
    for _ in range(40):
        if game.outcome() is not None:
            break
        game.push(player.choose(game, rng).move)
    assert make_player(f"{path},temperature=0").name.startswith(str(path))
    for option in ("temprature=1", "temperature=-1", "temperature=hot", "temperature=inf"):
        with pytest.raises(ValueError, match="temperature"):
            make_player(f"{path},{option}")
    with pytest.raises(ValueError, match="search, which simulations=0 forbids"):
        make_player(f"{path},simulations=0,movetime=1")
    with pytest.raises(ValueError, match="not a model file"):
        load_evaluator("nowhere.safetensors")


def test_information_survives_replacement() -> None:
    info = describe(small())
    assert replace(info, totals={"samples": 1}).totals == {"samples": 1}
