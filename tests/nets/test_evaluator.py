from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rookery import Game, VectorGames
from rookery.nets import make_network
from rookery.nets.evaluator import (
    Evaluator,
    EvaluatorError,
    FakeEvaluator,
    OnnxEvaluator,
    TorchEvaluator,
    load_evaluator,
)
from rookery.nets.model_file import ModelFileError, describe, model_bytes, save_model
from rookery.nets.onnx_export import export_onnx
from rookery.players.alphabeta import read_evaluator
from rookery.players.registry import make_player
from support.runs import run_to_end

torch.set_num_threads(1)

NETWORKS = [
    ("mlp", "vector66", {"hidden": [32, 32]}),
    ("mlp", "planes22", {"hidden": [16], "value": "tanh", "activation": "relu"}),
    ("resnet", "planes22", {"blocks": 1, "filters": 8, "norm": "batch"}),
    ("resnet", "planes19", {"blocks": 1, "filters": 8, "norm": "group"}),
    ("resnet", "planes119", {"blocks": 1, "filters": 8, "norm": "none"}),
]


def positions(observation: str, count: int, seed: int = 1) -> tuple[Any, Any, Any]:
    games = VectorGames(count, observation, seed=seed, random_plies=(0, 60))
    games.reset(seed)
    arrays = games.observations, games.legal_actions, games.legal_offsets
    return tuple(np.array(array) for array in arrays)  # type: ignore[return-value]


def scrambled(family: str, observation: str, sizes: dict[str, Any]) -> Any:
    network = make_network(family, observation, "az4672", sizes)
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for tensor in network.state_dict().values():
            if tensor.is_floating_point():
                tensor += 0.1 * torch.rand(tensor.shape, generator=generator)
    return network


@pytest.mark.parametrize(("family", "observation", "sizes"), NETWORKS)
def test_torch_and_onnxruntime_agree(
    tmp_path: Path, family: str, observation: str, sizes: dict[str, Any]
) -> None:
    network = scrambled(family, observation, sizes)
    path = tmp_path / "net.safetensors"
    save_model(path, network)
    export_onnx(str(path), tmp_path / "net.onnx")
    evaluators = [
        TorchEvaluator(network),
        load_evaluator(str(path)),
        load_evaluator(str(tmp_path / "net.onnx")),
    ]
    assert isinstance(evaluators[2], OnnxEvaluator)
    for count in (1, 7, 32):  # the exported graph takes batches of any size
        inputs = positions(observation, count, seed=count)
        answers = [evaluator.evaluate(*inputs) for evaluator in evaluators]
        for evaluator, (logits, values) in zip(evaluators, answers, strict=True):
            assert isinstance(evaluator, Evaluator)
            assert evaluator.bounded == network.bounded
            assert (logits.dtype, values.dtype) == (np.float32, np.float32)
            assert (len(logits), len(values)) == (len(inputs[1]), count)
            np.testing.assert_allclose(logits, answers[0][0], rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(values, answers[0][1], rtol=1e-4, atol=1e-5)


def test_a_batch_is_judged_as_its_members_are() -> None:
    for evaluator in (
        TorchEvaluator(scrambled(*NETWORKS[2])),
        FakeEvaluator("planes22"),
    ):
        observations, legal, offsets = positions("planes22", 5)
        logits, values = evaluator.evaluate(observations, legal, offsets)
        for index in range(5):
            part = slice(offsets[index], offsets[index + 1])
            one, value = evaluator.evaluate(
                observations[index : index + 1], legal[part], np.array([0, len(legal[part])])
            )
            np.testing.assert_allclose(one, logits[part], rtol=1e-4, atol=1e-6)
            np.testing.assert_allclose(value, values[index : index + 1], rtol=1e-4, atol=1e-6)


def test_judging_does_not_change_a_network_in_training() -> None:
    network = scrambled(*NETWORKS[2]).train()
    before = {key: tensor.clone() for key, tensor in network.state_dict().items()}
    TorchEvaluator(network).evaluate(*positions("planes22", 8))
    assert network.training
    for key, tensor in network.state_dict().items():
        assert torch.equal(tensor, before[key])


def test_bytes_and_floats_give_the_same() -> None:
    evaluator = TorchEvaluator(scrambled(*NETWORKS[0]))
    observations, legal, offsets = positions("vector66", 4)
    floats = evaluator.evaluate(observations, legal, offsets)
    small = evaluator.evaluate(observations.astype(np.uint8), legal, offsets)
    np.testing.assert_array_equal(floats[0], small[0])


def test_fake_answers_are_stable_and_varied() -> None:
    evaluator = FakeEvaluator()
    inputs = positions("planes22", 16)
    first, second = evaluator.evaluate(*inputs), evaluator.evaluate(*inputs)
    np.testing.assert_array_equal(first[0], second[0])
    assert len(set(first[1].tolist())) > 10
    assert np.abs(first[1]).max() <= 1
    assert first[0].std() > 0.5


def test_malformed_batches_are_refused() -> None:
    evaluator = FakeEvaluator("vector66")
    observations, legal, offsets = positions("vector66", 3)
    for inputs, words in (
        ((observations[:, :60], legal, offsets), "shape"),
        ((observations, legal[:-1], offsets), "offsets"),
        ((observations[:2], legal, offsets), "offsets"),
        ((observations, legal, np.array([0, 5, 5, len(legal)])), "offsets"),
        ((observations, legal, np.array([], dtype=np.int64)), "offsets"),
        ((observations, legal + 4672, offsets), "outside"),
        ((observations, legal - 4672, offsets), "outside"),
    ):
        with pytest.raises(EvaluatorError, match=words):
            evaluator.evaluate(*inputs)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_answers_that_are_not_numbers_are_refused(bad: float) -> None:
    for function in (
        lambda observation, legal: (np.full(len(legal), bad), 0.0),
        lambda observation, legal: (np.zeros(len(legal)), bad),
    ):
        with pytest.raises(EvaluatorError, match="NaN"):
            FakeEvaluator("vector66", function=function).evaluate(*positions("vector66", 2))


def test_foreign_onnx_files_are_refused(tmp_path: Path) -> None:
    import onnx
    from onnx import TensorProto, helper

    path = tmp_path / "foreign.onnx"
    for data in (b"", b"nonsense", b"\x80\x04pickle"):
        path.write_bytes(data)
        with pytest.raises(ModelFileError, match="foreign"):
            load_evaluator(str(path))
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    node = helper.make_node("Identity", ["x"], ["y"])
    graph = helper.make_graph([node], "g", [value], [result])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    with pytest.raises(ModelFileError, match="not exported by Rookery"):
        load_evaluator(str(path))
    save_model(tmp_path / "net.safetensors", make_network("mlp", "vector66", "kpk"))
    export_onnx(str(tmp_path / "net.safetensors"), path)
    model = onnx.load(path)
    for entry in model.metadata_props:
        if entry.key == "rookery":
            info = json.loads(entry.value)
            entry.value = json.dumps({**info, "observation_version": 99})
    path.write_bytes(model.SerializeToString())
    with pytest.raises(ModelFileError, match=r"version 99 in the file but 1"):
        load_evaluator(str(path))
    path.write_bytes(model.SerializeToString().replace(b"rookery", b"rook\x95ry"))
    with pytest.raises(ModelFileError, match=r"foreign\.onnx has damaged metadata"):
        load_evaluator(str(path))


def test_a_model_file_of_an_unknown_family_is_named(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    network = make_network("pyramid", "kpk3", "kpk", {"hidden": [1]})
    path.write_bytes(model_bytes(network, describe(network)).replace(b"pyramid", b"pyzamid"))
    message = r"net\.safetensors: unknown network family 'pyzamid'; did you mean 'pyramid'"
    for read in (load_evaluator, read_evaluator, make_player):
        with pytest.raises(ModelFileError, match=message):
            read(str(path))


@pytest.mark.parametrize("fault", ["input", "outputs", "actions", "values", "graph", "bytes"])
def test_onnx_files_that_do_not_fit_their_metadata_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    """All are found when the file is loaded, not in the middle of a game."""
    import onnx
    from onnx import helper

    path = tmp_path / "unfit.onnx"
    save_model(tmp_path / "net.safetensors", make_network("mlp", "vector66", "kpk"))
    export_onnx(str(tmp_path / "net.safetensors"), path)
    model = onnx.load(path)
    graph = model.graph
    if fault == "input":
        graph.input[0].name = "other"
        for node in graph.node:
            node.input[:] = ["other" if name == "observations" else name for name in node.input]
    elif fault == "outputs":
        del graph.output[1]
    elif fault == "actions":  # of a larger space than the network has
        for entry in model.metadata_props:
            entry.value = entry.value.replace('"kpk"', '"az4672"')
    elif fault == "values":
        graph.output.insert(1, graph.output[0])
        del graph.output[2]
        graph.output[1].name = "again"
        graph.node.append(helper.make_node("Identity", [graph.output[0].name], ["again"]))
    else:
        graph.node[0].input[0] = "missing"
    data = model.SerializeToString()
    if fault == "bytes":  # onnxruntime's message is not UTF-8
        data = data.replace(b"missing", b"miss\xf4\xf4\xf4")
    path.write_bytes(data)
    capsys.readouterr()
    with pytest.raises(ModelFileError, match=r"unfit\.onnx") as caught:
        load_evaluator(str(path))
    assert "\n" not in str(caught.value)
    assert capsys.readouterr().out == ""


def test_export_command(tmp_path: Path) -> None:
    source, target = tmp_path / "net.safetensors", tmp_path / "net.onnx"
    save_model(source, make_network("mlp", "vector66", "az4672", {"hidden": [8]}))
    words = ("export", str(source), "--onnx", str(target), "--json")
    status, output, errors = run_to_end(tmp_path, *words)
    assert status == 0, errors
    assert json.loads(output)["bytes"] == target.stat().st_size
    rng = np.random.default_rng(1)
    moves = {make_player(str(path)).choose(Game(), rng).move for path in (source, target)}
    assert len(moves) == 1
    status, _, errors = run_to_end(tmp_path, "export", "no-such", "--onnx", str(target))
    assert status == 1
    assert "no-such" in errors


@pytest.mark.parametrize("name", ["rookery", "kpk"])
def test_networks_without_an_onnx_form_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"{name}: networks of family .* have no ONNX form"):
        export_onnx(name, tmp_path / "net.onnx")
    assert not list(tmp_path.iterdir())
