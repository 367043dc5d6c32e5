from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import torch

pytest.importorskip("ray.rllib", reason="needs ray: the extra 'rllib'")

from rookery import Game, MoveError
from rookery.envs.rllib import ChessMultiAgentEnv, ModulePlayer
from support.paths import PROJECT

# Appended to the example of docs/envs.md, which ends with a player made from its checkpoint.
WHAT_CAME_OUT = """
import json, math
assert result.total.games == 2 and player.name == "module"
print(json.dumps({"loss": float(learned["total_loss"]), "entropy": float(learned["entropy"])}))
"""


def act(env: ChessMultiAgentEnv, *moves: str):
    for move in moves:
        game = env.episode.game
        agent = "player_0" if game.turn else "player_1"
        result = env.step({agent: game.action_of(move)})
    return result


def test_one_agent_at_a_time() -> None:
    env = ChessMultiAgentEnv({"observation": "vector66"})
    observations, _ = env.reset(seed=0)
    assert list(observations) == ["player_0"]
    assert observations["player_0"] in env.observation_spaces["player_0"]
    assert observations["player_0"]["action_mask"].sum() == 20
    observations, rewards, terminateds, truncateds, _ = act(env, "e2e4")
    assert list(observations) == ["player_1"]
    assert rewards == {"player_0": 0.0, "player_1": 0.0}
    assert terminateds == truncateds == {"__all__": False}
    with pytest.raises(ValueError, match="player_1's turn"):
        env.step({"player_0": 0})


def test_the_last_step_is_for_both() -> None:
    env = ChessMultiAgentEnv({"rewards": {"win": 3.0}})
    env.reset(seed=0)
    observations, rewards, terminateds, _, infos = act(env, "f2f3", "e7e5", "g2g4", "d8h4")
    assert set(observations) == {"player_0", "player_1"}
    assert rewards == {"player_0": -1.0, "player_1": 3.0} and terminateds["__all__"]
    assert infos["player_1"]["ending"] == "checkmate" and infos["player_1"]["result"] == 1
    assert infos["player_0"]["fen"] == env.episode.game.fen()
    for agent, observation in observations.items():
        assert observation in env.observation_spaces[agent]


def test_truncation_and_illegal_actions() -> None:
    env = ChessMultiAgentEnv({"max_plies": 2})
    env.reset(seed=0)
    observations, _, terminateds, truncateds, infos = act(env, "e2e4", "e7e5")
    assert (terminateds["__all__"], truncateds["__all__"]) == (False, True)
    assert set(observations) == {"player_0", "player_1"}
    assert (
        infos["player_0"].keys() == {"fen", "ending"} and infos["player_0"]["ending"] == "ply_cap"
    )
    env.reset(seed=0)
    observations, rewards, *_ = env.step({"player_0": 0})
    assert list(observations) == ["player_0"] and rewards["player_0"] == -1.0
    env = ChessMultiAgentEnv({"on_illegal": "raise"})
    env.reset(seed=0)
    with pytest.raises(MoveError, match="illegal"):
        env.step({"player_0": 0})


def test_actions_are_integers_and_options_known() -> None:
    env = ChessMultiAgentEnv()
    env.reset(seed=0, options={})
    with pytest.raises(TypeError, match="must be an integer"):
        env.step({"player_0": np.float32(877.5)})
    env.reset(options={"fen": "4k3/8/8/8/8/8/8/3QK3 w - - 0 1"})
    assert env.episode.game.piece_count() == 3
    with pytest.raises(ValueError, match=r"'color'; known is 'fen'"):
        env.reset(options={"color": "white"})
    with pytest.raises(ValueError, match="rookery/KPK-v0"):
        ChessMultiAgentEnv({"actions": "kpk", "start": "kpk:all"})


def test_closing_closes_what_was_opened(monkeypatch) -> None:
    closed = []
    env = ChessMultiAgentEnv()
    monkeypatch.setattr(env.episode, "close", lambda: closed.append(True))
    env.close()
    assert closed == [True]


def test_seeds() -> None:
    env = ChessMultiAgentEnv({"start": "random:4"})
    first = env.reset(seed=3)[0]["player_0"]["observations"]
    assert np.array_equal(first, env.reset(seed=3)[0]["player_0"]["observations"])
    assert not np.array_equal(first, env.reset(seed=4)[0]["player_0"]["observations"])


@pytest.mark.slow
def test_the_example_of_the_docs_learns_and_plays() -> None:
    text = (PROJECT / "docs" / "envs.md").read_text()
    examples = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    (code,) = (example for example in examples if "ray.rllib" in example)
    # A process of its own: Ray leaves threads and signal handlers behind.
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code + WHAT_CAME_OUT],
        capture_output=True,
        text=True,
        timeout=280,
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout.strip().splitlines()[-1])
    assert np.isfinite(result["loss"])
    # Without the mask a policy over 4672 actions would begin at an entropy of 8.4.
    assert 1.0 < result["entropy"] < 4.0


class Logits:
    """Stands for a module of RLlib: the same logits everywhere."""

    def __init__(self, **answer) -> None:
        self.answer = answer

    def forward_inference(self, batch):
        assert batch["obs"]["observations"].shape == (1, 66)
        assert batch["obs"]["action_mask"].sum() == 20
        return self.answer


def test_a_module_plays_its_best_legal_action() -> None:
    game, rng = Game(), np.random.default_rng(1)
    logits = torch.zeros(1, 4672)
    logits[0, 0] = 9.0  # illegal
    logits[0, game.action_of("g1f3")] = 5.0
    player = ModulePlayer(Logits(action_dist_inputs=logits), observation="vector66")
    assert player.choose(game, rng).move == "g1f3"
    sampling = ModulePlayer(
        Logits(action_dist_inputs=logits), observation="vector66", temperature=100.0
    )
    assert len({sampling.choose(game, rng).move for _ in range(20)}) > 5
    chooses = Logits(actions=torch.tensor([game.action_of("e2e4")]))
    assert ModulePlayer(chooses, observation="vector66").choose(game, rng).move == "e2e4"
    with pytest.raises(FileNotFoundError, match="no policy 'shared'"):
        ModulePlayer.load("nowhere", "shared", observation="vector66")
