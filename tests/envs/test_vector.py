from __future__ import annotations

import re

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import rookery.envs  # noqa: F401 (importing it registers)
from rookery import FenError, Game, MoveError, VectorGames
from rookery.envs.episode import Episode
from rookery.envs.vector import ChessVectorEnv, sample_legal
from support.paths import PROJECT

MOST_MOVES = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"


def test_gymnasium_makes_it() -> None:
    envs = gymnasium.make_vec("rookery/SelfPlay-v0", 3)
    assert isinstance(envs.unwrapped, ChessVectorEnv) and envs.num_envs == 3
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    observations, _ = envs.reset(seed=1)
    assert observations in envs.observation_space
    envs.close()


def test_many_games_against_an_opponent_keep_the_opponent() -> None:
    """Self-play is another problem; it must not come where games with an opponent are meant."""
    envs = gymnasium.make_vec("rookery/Chess-v0", 4, opponent="greedy")
    assert isinstance(envs.unwrapped, SyncVectorEnv) and envs.num_envs == 4
    assert {env.unwrapped.opponent.name for env in envs.unwrapped.envs} == {"greedy"}
    assert envs.reset(seed=1)[0] in envs.observation_space
    envs.close()
    assert gymnasium.spec("rookery/Chess-v0").vector_entry_point is None


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_the_single_environment_works_in_gymnasiums_own_vectors(mode: AutoresetMode) -> None:
    envs = gymnasium.make_vec(
        "rookery/Chess-v0",
        2,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": mode},
        max_plies=6,
    )
    _, infos = envs.reset(seed=1)
    ended = np.zeros(2, dtype=bool)
    for _ in range(3):
        assert not ended.any()
        actions = [np.flatnonzero(mask)[0] for mask in infos["action_mask"]]
        observations, _, terminations, truncations, infos = envs.step(np.array(actions))
        assert observations in envs.observation_space and not terminations.any()
        ended = truncations
    assert ended.any()  # max_plies is reached after three moves of White, or before
    envs.close()


def test_shapes_types_and_spaces() -> None:
    envs = ChessVectorEnv(5, observation="planes22", masks=True)
    observations, infos = envs.reset(seed=2)
    rng = np.random.default_rng(0)
    for _ in range(30):
        actions = sample_legal(infos, rng)
        assert actions in envs.action_space
        observations, rewards, terminations, truncations, infos = envs.step(actions)
    assert observations in envs.observation_space
    assert (rewards.shape, rewards.dtype) == ((5,), np.float32)
    assert terminations.dtype == truncations.dtype == np.bool_
    assert infos["action_mask"].shape == (5, 4672) and infos["action_mask"].dtype == np.int8
    counts = np.diff(infos["legal_offsets"])
    assert np.array_equal(infos["action_mask"].sum(axis=1), counts)
    assert np.array_equal(envs.action_masks(), infos["action_mask"].astype(bool))


def test_games_end_and_begin_anew_in_the_same_step() -> None:
    mate = "k7/8/1K6/8/8/8/8/7R w - - 0 1"
    envs = ChessVectorEnv(
        2, start=[mate], rewards={"win": 4.0, "loss": -6.0}, observation="planes12"
    )
    first, infos = envs.reset(seed=0)
    game = Game(mate)
    actions = np.array([game.action_of("h1h8"), game.action_of("h1h7")])
    observations, rewards, terminations, truncations, infos = envs.step(actions)
    assert rewards.tolist() == [4.0, 0.0]
    assert infos["opponent_reward"].tolist() == [-6.0, 0.0]
    assert terminations.tolist() == [True, False] and not truncations.any()
    assert np.array_equal(observations[0], first[0])  # the new game
    assert infos["_final_obs"].tolist() == [True, False]
    game.push("h1h8")
    assert np.array_equal(infos["final_obs"][0], game.encode("planes12"))
    assert infos["final_obs"][1] is None
    assert infos["final_info"]["ending"][0] == "checkmate"
    assert infos["final_info"]["result"][0] == 1
    assert infos["final_info"]["plies"][0] == 1
    assert infos["to_move"].tolist() == [1, 0]


def test_truncation_is_no_draw() -> None:
    envs = ChessVectorEnv(1, max_plies=3, rewards={"draw": 9.0})
    rng = np.random.default_rng(0)
    _, infos = envs.reset(seed=0)
    for _ in range(3):
        _, rewards, terminations, truncations, infos = envs.step(sample_legal(infos, rng))
    assert (rewards[0], terminations[0], truncations[0]) == (0.0, False, True)
    assert infos["final_info"]["ending"][0] == "ply_cap"


def test_seeds_states_and_threads() -> None:
    def trace(envs: ChessVectorEnv, infos, steps: int) -> list[bytes]:
        rng = np.random.default_rng(7)
        seen = []
        for _ in range(steps):
            observations, rewards, *_, infos = envs.step(sample_legal(infos, rng))
            seen += [observations.tobytes(), rewards.tobytes()]
        return seen

    runs = []
    for threads in (1, 1, 2):
        envs = ChessVectorEnv(8, start="random:0-6", max_plies=40, threads=threads)
        runs.append(trace(envs, envs.reset(seed=11)[1], 100))
    assert runs[0] == runs[1] == runs[2]
    envs = ChessVectorEnv(8, start="random:0-6", max_plies=40)
    _, infos = envs.reset(seed=12)
    assert trace(envs, infos, 100) != runs[0]
    state = envs.get_state()
    infos = envs._infos()
    expected = trace(envs, infos, 50)
    other = ChessVectorEnv(8, start="random:0-6", max_plies=40)
    other.set_state(state)
    assert trace(other, other._infos(), 50) == expected


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"claims": "off"},
        {"actions": "az4673", "draw_after_plies": 60},
        {"max_plies": 25, "on_illegal": "penalty"},
        {"start": "KQvKR", "rewards": {"move": -0.5, "draw": -2.0, "win": 7.0, "loss": -9.0}},
        {"start": "KBvKB:random"},
    ],
)
def test_both_implementations_agree(options) -> None:
    """The vector environment in C++ and `Episode` in Python play the same games alike."""
    envs = ChessVectorEnv(8, observation="planes22", **options)
    episodes = [Episode(**{"on_illegal": "raise", **options}) for _ in range(8)]
    rng = np.random.default_rng(3)
    _, infos = envs.reset(seed=9)
    for episode, fen in zip(episodes, envs.games.fens(), strict=True):
        episode.begin(rng, fen)
    ended = 0
    for _ in range(600):
        actions = sample_legal(infos, rng)
        if options.get("on_illegal"):
            actions[rng.random(8) < 0.1] = 4671  # no move at all
        _, rewards, terminations, truncations, infos = envs.step(actions)
        for i, episode in enumerate(episodes):
            turn = episode.act(int(actions[i]))
            assert (rewards[i], infos["opponent_reward"][i]) == (turn.reward, turn.other_reward)
            assert (terminations[i], truncations[i]) == (
                episode.termination is not None,
                episode.truncated,
            )
            if episode.over:
                ended += 1
                final = infos["final_info"]
                assert final["ending"][i] == episode.ending_info(True)["ending"]
                assert final["result"][i] == episode.ending_info(True).get("result", 0)
                assert final["plies"][i] == episode.plies
                episode.begin(rng, envs.games.fen(i))
    assert ended > 5


def test_copies_and_views() -> None:
    for copy in (True, False):
        envs = ChessVectorEnv(2, copy=copy)
        observations, infos = envs.reset(seed=0)
        before = observations.copy()
        envs.step(sample_legal(infos, np.random.default_rng(0)))
        assert np.array_equal(before, observations) == copy


def test_bytes_and_kpk() -> None:
    envs = ChessVectorEnv(2, dtype="uint8")
    assert envs.reset(seed=0)[0].dtype == np.uint8
    assert envs.reset(seed=0)[0] in envs.observation_space
    with pytest.raises(ValueError, match="uint8"):
        ChessVectorEnv(2, observation="planes119", dtype="uint8")
    envs = ChessVectorEnv(
        4,
        observation="kpk3",
        actions="kpk",
        start="kpk:easy",
        promotion_wins=True,
        rewards="kanis2016",
    )
    observations, infos = envs.reset(seed=0)
    rng = np.random.default_rng(1)
    endings = set()
    for _ in range(400):
        observations, _, terminations, _, infos = envs.step(sample_legal(infos, rng))
        if terminations.any():
            endings |= set(infos["final_info"]["ending"][terminations])
    assert observations in envs.observation_space
    assert "promotion" in endings


def test_a_position_with_218_moves() -> None:
    envs = ChessVectorEnv(3, start=[MOST_MOVES])
    _, infos = envs.reset(seed=0)
    assert np.diff(infos["legal_offsets"]).tolist() == [218] * 3
    envs.step(sample_legal(infos, np.random.default_rng(0)))


def test_actions_are_integers() -> None:
    envs = ChessVectorEnv(2)
    _, infos = envs.reset(seed=0)
    actions = sample_legal(infos, np.random.default_rng(0))
    for wrong in (actions.astype(np.float32), actions + 0.5, actions.astype(bool)):
        with pytest.raises(TypeError, match=str(wrong.dtype)):
            envs.step(wrong)
    assert envs.games.plies.tolist() == [0, 0]
    for kind in (np.int16, np.uint64, np.int32):
        envs.reset(seed=0)
        envs.step(actions.astype(kind))
    assert envs.games.plies.tolist() == [1, 1]


def test_errors() -> None:
    envs = ChessVectorEnv(2)
    envs.reset(seed=0)
    with pytest.raises(MoveError, match="game 0"):
        envs.step(np.array([0, 0]))
    with pytest.raises(ValueError, match="3 actions for 2 games"):
        envs.step(np.array([0, 0, 0]))
    with pytest.raises(ValueError, match="book"):
        ChessVectorEnv(2, rewards="salisch2023-v3")
    with pytest.raises(ValueError, match="bad FEN"):
        envs.reset(options={"fen": "x"})
    with pytest.raises(ValueError, match="num_games"):
        ChessVectorEnv(0)


def test_some_games_wait() -> None:
    games = VectorGames(3, "planes12", seed=1, on_illegal="penalty", illegal=-5.0)
    games.reset(1)
    before = games.observations.copy()
    push = Game().action_of("e2e4")
    games.step(np.array([push, -1, 0]))  # a move, nothing, an illegal action
    assert games.plies.tolist() == [1, 0, 0] and games.to_move.tolist() == [0, 1, 1]
    assert games.rewards.tolist() == [0.0, 0.0, -5.0]
    assert np.array_equal(games.observations[1], before[1])
    games.step(games.bot_actions("greedy", games.to_move == 0))
    assert games.plies.tolist() == [2, 0, 0]


def test_reset_at_positions() -> None:
    games = VectorGames(2, "planes12", seed=1)
    fens = [MOST_MOVES, "k7/8/1K6/8/8/8/8/7R w - - 0 1"]
    games.reset(fens=fens)
    assert games.fens() == fens and np.diff(games.legal_offsets).tolist() == [218, 20]
    games.reset(fens=fens[:1])
    assert games.fens() == [MOST_MOVES] * 2
    with pytest.raises(FenError, match="the game is over"):
        games.reset(fens=["k6R/8/1K6/8/8/8/8/8 b - - 0 1"])
    with pytest.raises(ValueError, match="3 start positions for 2 games"):
        games.reset(fens=[*fens, MOST_MOVES])
    assert games.fens() == [MOST_MOVES] * 2  # refused, with nothing changed
    games.reset()
    assert games.fens() == [Game().fen()] * 2


def test_positions_in_infos_and_reset_options() -> None:
    mate = "k7/8/1K6/8/8/8/8/7R w - - 0 1"
    envs = ChessVectorEnv(2, fens=True, max_plies=1)
    _, infos = envs.reset(options={"fen": mate})
    assert infos["fen"].tolist() == [mate, mate]
    game = Game(mate)
    actions = np.array([game.action_of("h1h8"), game.action_of("h1h7")])
    *_, infos = envs.step(actions)
    final = infos["final_info"]
    assert final["fen"][0].startswith("k6R") and final["fen"][1].startswith("k7/7R")
    # A truncated game has no result.
    assert final["ending"].tolist() == ["checkmate", "ply_cap"]
    assert final["_result"].tolist() == [True, False] and final["result"][0] == 1
    assert infos["fen"].tolist() == [Game().fen()] * 2
    with pytest.raises(ValueError, match="unknown reset option 'color'"):
        envs.reset(options={"color": "white"})


def test_the_page_lists_every_member() -> None:
    page = (PROJECT / "docs" / "envs.md").read_text()
    table = page[page.index("### VectorGames") :]
    listed = set(
        re.findall(r"`(\w+)(?:\(.*?\))?`", "".join(re.findall(r"^\| (.*?) \|", table, re.M)))
    )
    members = {name for name in dir(VectorGames) if not name.startswith("_")}
    assert members <= listed
    assert all(getattr(VectorGames, name).__doc__ for name in members)
