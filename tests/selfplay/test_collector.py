"""The seam between learning and playing: names of work, backends, plain data."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
import torch

from rookery.base.messages import pack, unpack
from rookery.nets import make_network
from rookery.nets.native import native_network
from rookery.selfplay.collector import BACKENDS, Collector, Piece, Weights, make_collector
from rookery.selfplay.datagen import DataHarvest, DataOrder, DataPlan
from rookery.selfplay.networks import network_of, weights_of
from rookery.selfplay.trees import TreeHarvest, TreeOrder, TreePlan

NNUE = weights_of(make_network("nnue", "nnue768", "none", {"hidden": 16}))


def data_collector() -> Collector[DataOrder, DataHarvest]:
    made: Collector[DataOrder, DataHarvest]
    made = make_collector("data", "threads", DataPlan({"max_plies": 60}, workers=2))
    return made


def play(first: int, last: int) -> DataHarvest:
    order = DataOrder(Piece(NNUE.digest, 7, first, last), nodes=20, adjudicate=False)
    return data_collector().begin(NNUE, order)()


def test_weights_are_named_by_their_bytes_and_come_back_as_they_were() -> None:
    network = make_network("squares", "tactical70", "az4672", {"width": 16, "key_width": 8})
    weights = weights_of(network)
    assert weights.digest == hashlib.sha256(weights.data).hexdigest()
    assert weights_of(network) == weights
    for name, tensor in network_of(weights).state_dict().items():
        assert torch.equal(tensor, network.state_dict()[name])
    with torch.no_grad():
        network.value.weight.add_(1.0)
    assert weights_of(network).digest != weights.digest  # a copy: the learner may go on


def test_a_piece_names_its_games() -> None:
    """The same games, whether they are played as one piece or as several, in any order."""
    whole, late, early = play(5, 12), play(9, 12), play(5, 8)
    assert whole.games == 8 and (early.games, late.games) == (4, 4)
    assert np.array_equal(whole.samples, np.concatenate([early.samples, late.samples]))
    assert whole.nodes == early.nodes + late.nodes
    assert sum(whole.endings.values()) == 8  # games that were cut off have no result
    assert sum(whole.results.values()) == 8 - whole.endings["ply_cap"]
    piece = Piece(NNUE.digest, 7, 5, 12)
    assert len(piece) == 8 and str(piece) == f"{NNUE.digest[:16]}/7/5..12"


def test_a_piece_of_other_weights_is_refused() -> None:
    order = DataOrder(Piece("0" * 64, 7, 0, 3), nodes=20, adjudicate=False)
    with pytest.raises(ValueError, match=r"piece 0{16}/7/0\.\.3 is not for the weights"):
        data_collector().begin(NNUE, order)


def test_backends_come_by_name() -> None:
    with pytest.raises(ValueError, match="no backend 'ray' for trees; there are threads, batches"):
        make_collector("trees", "ray", None)
    assert {kind: list(names) for kind, names in BACKENDS.items()} == {
        "trees": ["threads", "batches", "server"], "data": ["threads"], "pairs": ["threads"],
        "rollouts": ["batches"], "transitions": ["threads"], "leaves": ["threads"],
    }  # fmt: skip


def test_threads_need_a_native_network() -> None:
    network = make_network("resnet", "planes19", "az4672", {"blocks": 0, "filters": 2})
    assert native_network(network) is None
    plan = TreePlan({"observation": "planes19"}, games=2, seed=1)
    made: Collector[TreeOrder, TreeHarvest] = make_collector("trees", "threads", plan)
    with pytest.raises(ValueError, match="family 'resnet' has no native form"):
        made.begin(weights_of(network), TreeOrder(1, 2, 2, -2.0, 1.0))


def test_plain_data_survives_the_way_through_bytes() -> None:
    harvest = play(0, 1)
    content = {"order": TreeOrder(60, 6, 6, -2.0, 1.0), "parts": [harvest, None, "text"]}
    again = unpack(pack(content))
    assert TreeOrder(**again["order"]) == content["order"]
    back = DataHarvest(**again["parts"][0])
    assert back.samples.dtype == np.uint8 and np.array_equal(back.samples, harvest.samples)
    assert (back.results, back.endings) == (harvest.results, harvest.endings)
    assert again["parts"][1:] == [None, "text"]
    empty = unpack(pack(np.zeros((0, 3), np.float32)))
    assert empty.shape == (0, 3) and empty.dtype == np.float32
    assert Weights(b"a") == Weights(b"a")
