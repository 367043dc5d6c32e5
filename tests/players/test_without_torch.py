"""All that ships plays in the base install: the same moves without torch as with it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import rookery
from rookery import Game, _core
from rookery.nets.evaluator import TorchEvaluator, evaluate_position, load_network, without_torch
from rookery.nets.model_file import ModelFileError, describe, save_model
from rookery.nets.value_evaluator import torch_evaluator
from rookery.players.alphabeta import AlphaBetaPlayer
from rookery.players.mcts import MctsPlayer, MctsSettings
from rookery.players.policy import PolicyPlayer

torch.set_num_threads(1)
# What the extras bring; a finder that refuses them comes before all others.
BLOCK = """
import json, sys
HEAVY = {"torch", "safetensors", "pydantic", "pyarrow", "onnx", "onnxruntime", "tensorboard",
         "gymnasium", "pettingzoo", "ray"}
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HEAVY:
            raise ModuleNotFoundError(f"{name} is not part of the base install", name=name)
sys.meta_path.insert(0, Refuse())
import numpy as np
import rookery.terminal.play, rookery.uci.stream, rookery.web.app  # the three ways of playing
from rookery import Game
from rookery.players.registry import make_player
moves = {}
for words, fens in json.load(sys.stdin).items():
    player = make_player(words)
    moves[words] = [player.choose(Game(fen), np.random.default_rng(1)).move for fen in fens]
    player.close()
assert "torch" not in sys.modules
json.dump(moves, sys.stdout)
"""
ENDINGS = {
    "kpk": "8/8/8/4k3/8/4K3/4P3/8 b - - 0 1",
    "kpk-mate": "8/4P3/8/8/8/2k5/8/4K3 w - - 0 1",
    "krk": "8/8/8/4k3/8/8/8/R3K3 w - - 0 1",
    "kqk": "8/8/8/3k4/8/8/8/Q3K3 b - - 0 1",
}


def positions(count: int = 6) -> list[str]:
    fens = []
    for seed in range(count):
        game = Game()
        _core.play_random_plies(game, 7 * seed, seed)
        fens.append(game.fen())
    return fens


def reference(words: str) -> Any:
    """The same player, with its network evaluated by torch."""
    name, _, rest = words.partition(",")
    network = load_network(name)
    if name == "giraffe":
        return AlphaBetaPlayer(torch_evaluator(network), depth=int(rest.removeprefix("depth=")))
    evaluator = TorchEvaluator(network)
    if not rest:
        return PolicyPlayer(evaluator)
    settings = MctsSettings(simulations=int(rest.removeprefix("simulations=")), leaves=1)
    return MctsPlayer(evaluator, settings)


def test_every_shipped_network_plays_the_same_moves_without_torch() -> None:
    shipped = Path(rookery.__file__).parent / "networks"
    asked = {
        "rookery,depth=3": positions(),
        "ddqn,depth=3": positions(),
        "giraffe,depth=2": positions(),
        "alphazero,simulations=40": positions(),
        "pepper,simulations=40": positions(),
        "ppo": positions(),
        **{name: [fen] for name, fen in ENDINGS.items()},
    }
    networks = {path.stem for path in shipped.glob("*.safetensors")}
    chess = networks - {"blind-paper"}  # of another game; see tests/blind
    assert {words.partition(",")[0] for words in asked} == chess
    command = [sys.executable, "-c", BLOCK]
    done = subprocess.run(
        command, input=json.dumps(asked), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for words in ("giraffe,depth=2", "alphazero,simulations=40", "pepper,simulations=40", "ppo"):
        player = reference(words)
        rng = np.random.default_rng(1)
        assert found[words] == [player.choose(Game(f), rng).move for f in asked[words]], words
    for words in ("rookery,depth=3", "ddqn,depth=3"):  # they never used torch
        assert all(
            move in Game(f).legal_moves()
            for move, f in zip(found[words], asked[words], strict=True)
        )
    for name, fen in ENDINGS.items():
        game = Game(fen)
        legal = game.legal_actions("az4672")
        q_values, _ = evaluate_position(TorchEvaluator(load_network(name)), game, legal)
        place = [game.move_of(int(action)) for action in legal].index(found[name][0])
        assert q_values[place] == pytest.approx(q_values.max(), abs=1e-5)


@pytest.mark.parametrize("family", ["squares", "slots", "endgame", "giraffe"])
def test_files_that_do_not_fit_their_sizes_are_refused_by_name(family: str, tmp_path: Path) -> None:
    name = {"squares": "alphazero", "slots": "pepper", "endgame": "krk", "giraffe": "giraffe"}
    network = load_network(name[family])
    info = describe(network)
    wrong = {**info.sizes, "width": int(info.sizes["width"]) + 16}
    path = tmp_path / "wrong.safetensors"
    save_model(path, network, replace(info, sizes=wrong))
    with pytest.raises(ModelFileError, match=r"wrong\.safetensors"):
        without_torch(str(path))
