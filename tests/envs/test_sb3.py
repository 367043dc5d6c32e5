from __future__ import annotations

import gymnasium
import numpy as np
import pytest

pytest.importorskip("sb3_contrib", reason="needs sb3-contrib: the extra 'sb3'")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecMonitor

import rookery.envs  # noqa: F401 (importing it registers)
from rookery import Game
from rookery.envs import sb3
from rookery.envs.sb3 import ChessVecEnv, ModelPlayer
from rookery.nets import make_network
from rookery.nets.evaluator import TorchEvaluator
from rookery.players.base import Decision
from rookery.players.bots import RandomPlayer
from rookery.players.policy import PolicyPlayer


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("rookery/Chess-v0", {"observation": "vector66", "max_plies": 80}),
        ("rookery/KPK-v0", {"level": "easy"}),
    ],
)
def test_maskable_ppo_trains(name: str, options) -> None:
    import torch

    torch.set_num_threads(1)
    # An action outside the mask would raise, so the masks arrive where they should.
    env = gymnasium.make(name, on_illegal="raise", **options)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=512,
        batch_size=128,
        n_epochs=2,
        seed=1,
        device="cpu",
        policy_kwargs={"net_arch": [32]},
    )
    before = [parameter.clone() for parameter in model.policy.parameters()]
    model.learn(2048)
    assert model.num_timesteps == 2048
    after = model.policy.parameters()
    assert not all(torch.equal(old, new) for old, new in zip(before, after, strict=True))
    observation, _ = env.reset(seed=0)
    masks = env.get_wrapper_attr("action_masks")()
    action, _ = model.predict(observation, action_masks=masks, deterministic=True)
    assert masks[int(action)]
    env.close()


def test_sb3_makes_vectors_of_single_environments() -> None:
    envs = make_vec_env("rookery/Chess-v0", n_envs=4, env_kwargs={"observation": "vector66"})
    assert envs.reset().shape == (4, 66)
    masks = get_action_masks(envs)
    _, rewards, dones, infos = envs.step(masks.argmax(1))
    assert not dones.any() and rewards.shape == (4,)
    assert all(Game(info["fen"]).ply == 0 for info in infos)
    envs.close()


MATE = "k7/8/1K6/8/8/8/8/7R w - - 0 1"


def test_a_step_is_the_move_and_the_reply() -> None:
    envs = ChessVecEnv(3, "random", color="white", observation="planes12", seed=5)
    first = envs.reset()
    assert first.shape == (3, 12, 8, 8)
    assert (envs.games.to_move == 1).all()
    actions = np.full(3, Game().action_of("e2e4"))
    observations, rewards, dones, infos = envs.step(actions)
    assert envs.games.plies.tolist() == [2, 2, 2] and (envs.games.to_move == 1).all()
    assert not dones.any() and not rewards.any() and infos == [{}, {}, {}]
    assert np.array_equal(observations, envs.games.observations)
    masks = get_action_masks(envs)
    assert masks.shape == (3, 4672) and np.array_equal(masks, envs.action_masks())


def test_endings_rewards_and_infos() -> None:
    envs = ChessVecEnv(
        2, "greedy", color="white", start=[MATE], rewards={"win": 3.0}, max_plies=3, seed=1
    )
    envs.reset()
    game = Game(MATE)
    actions = np.array([game.action_of("h1h8"), game.action_of("h1h7")])
    _, rewards, dones, infos = envs.step(actions)
    assert rewards.tolist() == [3.0, 0.0] and dones.tolist() == [True, False]
    assert infos[0]["ending"] == "checkmate" and infos[0]["result"] == 1
    assert infos[0]["terminal_observation"].shape == (19, 8, 8)
    assert infos[0]["fen"].startswith("k6R") and not infos[0]["TimeLimit.truncated"]
    assert envs.games.fen(0) == MATE  # the next game, White to move: the agent's
    assert envs.reset_infos[0] == {"fen": MATE, "color": "white"}
    second = Game(envs.games.fen(1)).legal_actions()[0]
    _, rewards, dones, infos = envs.step(np.array([game.action_of("h1h7"), second]))
    assert dones.tolist() == [False, True] and rewards[1] == 0.0
    assert infos[1]["TimeLimit.truncated"] and "result" not in infos[1]


def test_step_infos_have_the_position_where_asked_for() -> None:
    envs = ChessVecEnv(2, "random", color="white", seed=3, fens=True)
    envs.reset()
    envs.step_async(first_legal(envs))
    _, _, _, infos = envs.step_wait()
    assert [info["fen"] for info in infos] == [envs.games.fen(index) for index in range(2)]
    envs = ChessVecEnv(2, "random", color="white", seed=3)
    envs.reset()
    envs.step_async(first_legal(envs))
    assert envs.step_wait()[3] == [{}, {}]


def test_options_that_would_do_nothing_are_refused() -> None:
    for name in ("masks", "copy"):
        with pytest.raises(TypeError, match=name):
            ChessVecEnv(2, **{name: True})


def first_legal(envs: ChessVecEnv) -> np.ndarray:
    """An action for each game."""
    return np.array([np.flatnonzero(mask)[0] for mask in envs.env_method("action_masks")])


def test_a_loss_by_the_reply_is_the_agents() -> None:
    class Queen:
        """Mates on h5 if it can."""

        name = "queen"

        def choose(self, game, rng, limits=None) -> Decision:
            return Decision("d1h5" if game.is_legal("d1h5") else game.legal_moves()[0])

        def new_game(self) -> None: ...

        def close(self) -> None: ...

    envs = ChessVecEnv(1, Queen(), color="black", seed=1)
    fools = "rnbqkbnr/ppppp2p/5p2/6p1/4P3/3P4/PPP2PPP/RNBQKBNR b KQkq - 0 3"
    envs.set_options({"fen": fools, "color": "black"})
    envs.reset()
    _, rewards, dones, infos = envs.step(np.array([Game(fools).action_of("a7a6")]))
    assert (rewards[0], bool(dones[0]), infos[0]["result"]) == (-1.0, True, -1)
    # The next game begins at the usual start, where White is the opponent and has moved.
    assert envs.games.plies[0] == 1 and envs.games.to_move[0] == 0


def test_reset_options_seeds_and_colours() -> None:
    envs = ChessVecEnv(2, "random", seed=1)
    envs.set_options([{"fen": MATE, "color": "white"}, {"fen": MATE, "color": "black"}])
    envs.reset()
    assert envs.games.fen(0) == MATE and envs.games.to_move.tolist() == [1, 0]
    assert [info["color"] for info in envs.reset_infos] == ["white", "black"]
    envs.set_options([{"fen": MATE}, {}])
    with pytest.raises(ValueError, match="set for 1 of 2"):
        envs.reset()
    envs.set_options({"colour": "white"})
    with pytest.raises(ValueError, match="unknown reset option 'colour'"):
        envs.reset()
    runs = []
    for _ in range(2):
        envs.set_options()
        envs.seed(7)
        envs.reset()
        rng = np.random.default_rng(0)
        for _ in range(30):
            masks = envs.action_masks()
            envs.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in masks]))
        runs.append(envs.games.fens())
    assert runs[0] == runs[1]


def test_actions_are_integers_and_methods_known() -> None:
    envs = ChessVecEnv(1, "random")
    envs.reset()
    with pytest.raises(TypeError, match="must be integers"):
        envs.step(np.array([877.5]))
    with pytest.raises(AttributeError, match="only 'action_masks'"):
        envs.env_method("fly")


def test_an_opponent_is_closed_where_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []

    class Closing(RandomPlayer):
        def close(self) -> None:
            closed.append(self.name)

    monkeypatch.setattr(sb3, "make_player", lambda spec: Closing(name=spec))
    for opponent in ("stockfish,depth=1", Closing(name="my own"), "greedy"):
        envs = ChessVecEnv(1, opponent)
        envs.reset()
        envs.close()
    assert closed == ["stockfish,depth=1"]


def test_maskable_ppo_learns_in_many_games_against_a_network() -> None:
    opponent = PolicyPlayer(
        TorchEvaluator(make_network("mlp", "vector66", "az4672", {"hidden": [8]})), temperature=1.0
    )
    envs = ChessVecEnv(4, opponent, observation="vector66", max_plies=40)
    model = MaskablePPO(
        "MlpPolicy", VecMonitor(envs), n_steps=64, batch_size=64, n_epochs=1, seed=1, device="cpu"
    )
    model.learn(512)
    assert len(model.ep_info_buffer) > 5  # games ended, and SB3 saw it
    player = ModelPlayer(model, observation="vector66", name="mine")
    assert player.choose(Game(), np.random.default_rng(1)).move in Game().legal_moves()
