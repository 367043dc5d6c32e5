from __future__ import annotations

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import rookery.envs  # noqa: F401 (importing it registers)
from rookery import FenError, Game, MoveError
from rookery.envs.chess_env import ChessEnv
from rookery.players.base import Decision

MOST_MOVES = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"  # 218 legal moves


class Script:
    """Plays the moves it was given, in order."""

    name = "script"

    def __init__(self, *moves: str, claims: bool = False) -> None:
        self._moves = list(moves)
        self._claims = claims
        self.games = 0

    def choose(self, game, rng, limits=None) -> Decision:
        move = self._moves.pop(0) if self._moves else game.legal_moves()[0]
        return Decision(move, claims_draw=self._claims and game.can_claim_draw())

    def new_game(self) -> None:
        self.games += 1

    def close(self) -> None:
        pass


def play(env: ChessEnv, *moves: str):
    """Make the agent's moves; return the last step's result."""
    for move in moves:
        game = env.episode.game
        step = env.step(game.action_of(move, env.episode.actions))
    return step


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"observation": "vector69", "actions": "az4673", "draw_after_plies": 400},
        {"observation": "planes119", "color": "black", "start": "random:4"},
        {"start": "KRvK", "color": "white", "observation": "planes22"},
    ],
)
def test_gymnasium_accepts_the_environment(options) -> None:
    env = gymnasium.make("rookery/Chess-v0", **options)
    check_env(env.unwrapped)
    env.close()


def test_importing_rookery_after_gymnasium_registers() -> None:
    code = "import gymnasium, rookery; gymnasium.make('rookery/Chess-v0').reset(seed=1)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
    code = "import rookery, sys; assert not {'gymnasium', 'torch', 'ray'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_same_seed_same_game() -> None:
    def trace(seed: int) -> list[object]:
        env = gymnasium.make("rookery/Chess-v0", start="random:0-4")
        env.action_space.seed(seed)
        observation, info = env.reset(seed=seed)
        seen: list[object] = [info["color"], observation.tobytes()]
        for _ in range(60):
            action = env.action_space.sample(info["action_mask"])
            observation, reward, terminated, truncated, info = env.step(action)
            seen += [observation.tobytes(), reward]
            if terminated or truncated:
                break
        return seen

    assert trace(3) == trace(3)
    assert trace(3) != trace(4)


def test_masks_in_both_conventions_are_the_legal_actions() -> None:
    env = ChessEnv(start=[MOST_MOVES], color="white")
    _, info = env.reset(seed=0)
    assert info["action_mask"].dtype == np.int8 and info["action_mask"].sum() == 218
    assert env.action_masks().dtype == np.bool_
    legal = set(Game(MOST_MOVES).legal_actions().tolist())
    assert set(np.flatnonzero(env.action_masks()).tolist()) == legal
    assert np.array_equal(env.action_masks(), info["action_mask"].astype(bool))


def test_colours() -> None:
    env = ChessEnv(Script(), color="random")
    colors = {env.reset(seed=seed)[1]["color"] for seed in range(20)}
    assert colors == {"white", "black"}
    env = ChessEnv(Script("d2d4"), color="black")
    env.reset(seed=0)
    assert env.episode.game.moves() == ["d2d4"]
    _, info = env.reset(options={"color": "white", "fen": "8/8/8/8/8/k7/7R/1K6 w - - 0 1"})
    assert info["color"] == "white" and env.episode.game.piece_count() == 3
    with pytest.raises(ValueError, match="colour"):
        env.reset(options={"colour": "white"})
    with pytest.raises(ValueError, match="green"):
        ChessEnv(color="green")


def test_a_win_and_a_loss() -> None:
    rewards = {"win": 5.0, "loss": -7.0, "move": -0.25}
    env = ChessEnv(Script("e7e5", "b8c6", "g8f6"), color="white", rewards=rewards)
    env.reset(seed=0)
    assert play(env, "e2e4")[1] == -0.25
    _, reward, terminated, truncated, info = play(env, "d1h5", "f1c4", "h5f7")
    assert (reward, terminated, truncated) == (4.75, True, False)
    assert (info["ending"], info["result"]) == ("checkmate", 1)
    assert not info["action_mask"].any()
    with pytest.raises(RuntimeError, match="reset"):
        env.step(0)
    env = ChessEnv(Script("e7e5", "d8h4"), color="white", rewards=rewards)
    env.reset(seed=0)
    _, reward, terminated, _, info = play(env, "f2f3", "g2g4")
    assert (reward, terminated, info["result"]) == (-7.25, True, -1)


SHUFFLE = ("g1f3", "f3g1")
REPLIES = ("g8f6", "f6g8")


def test_automatic_claims() -> None:
    env = ChessEnv(Script(*REPLIES * 2), color="white")
    env.reset(seed=0)
    _, reward, terminated, _, info = play(env, *SHUFFLE * 2)
    assert terminated and reward == 0.0
    assert (info["ending"], info["result"]) == ("threefold_repetition", 0)
    env = ChessEnv(Script(), color="white", start=["8/8/8/8/8/k7/7R/1K6 w - - 98 80"])
    env.reset(seed=0)
    _, _, terminated, _, info = play(env, "h2h8")
    assert terminated and info["ending"] == "fifty_moves"


def test_mate_on_the_hundredth_ply_wins() -> None:
    env = ChessEnv(Script(), color="white", start=["k7/8/1K6/8/8/8/8/7R w - - 99 80"])
    env.reset(seed=0)
    _, reward, _, _, info = play(env, "h1h8")
    assert (reward, info["ending"]) == (1.0, "checkmate")


def test_claims_by_action() -> None:
    env = ChessEnv(Script(*REPLIES * 2), color="white", actions="az4673", observation="vector69")
    _, info = env.reset(seed=0)
    assert len(info["action_mask"]) == 4673 and not info["action_mask"][4672]
    _, _, terminated, _, info = play(env, *SHUFFLE * 2)
    assert not terminated and info["action_mask"][4672]
    _, reward, terminated, _, info = env.step(4672)
    assert terminated and reward == 0.0 and info["ending"] == "draw_claimed"


def test_the_opponent_claims_too() -> None:
    opponent = Script(*REPLIES * 3, claims=True)
    env = ChessEnv(opponent, color="white", actions="az4673")
    env.reset(seed=0)
    _, _, terminated, _, info = play(env, *SHUFFLE, *SHUFFLE[:1])
    assert not terminated
    _, _, terminated, _, info = play(env, *SHUFFLE[1:])
    assert terminated and info["ending"] == "draw_claimed"


def test_claims_off_leaves_the_fivefold_repetition() -> None:
    env = ChessEnv(Script(*REPLIES * 9), color="white", claims="off")
    env.reset(seed=0)
    _, _, terminated, _, info = play(env, *SHUFFLE * 3)
    assert not terminated
    _, _, terminated, _, info = play(env, *SHUFFLE)
    assert terminated and info["ending"] == "fivefold_repetition"


def test_ply_limits() -> None:
    env = ChessEnv(color="white", draw_after_plies=6)
    env.reset(seed=0)
    for _ in range(3):
        _, reward, terminated, truncated, info = env.step(np.flatnonzero(env.action_masks())[0])
    assert (reward, terminated, truncated) == (0.0, True, False)
    assert (info["ending"], info["result"]) == ("ply_limit", 0)
    env = ChessEnv(color="white", max_plies=5)
    env.reset(seed=0)
    for _ in range(3):
        _, reward, terminated, truncated, info = env.step(np.flatnonzero(env.action_masks())[0])
    assert (terminated, truncated, info["ending"]) == (False, True, "ply_cap")
    assert "result" not in info


def test_illegal_actions() -> None:
    env = ChessEnv(color="white", rewards={"illegal": -3.0}, max_plies=3)
    before, _ = env.reset(seed=0)
    after, reward, terminated, truncated, info = env.step(0)
    assert np.array_equal(before, after) and reward == -3.0 and not (terminated or truncated)
    assert info["action_mask"].sum() == 20
    assert env.step(0)[3] is False and env.step(0)[3] is True  # attempts count towards the cap
    env = ChessEnv(color="white", on_illegal="raise")
    env.reset(seed=0)
    with pytest.raises(MoveError, match=r"action 0 .*is illegal in 'rnbqkbnr"):
        env.step(0)


@pytest.mark.parametrize("action", [3.0, np.float32(700.5), "700", np.array(1.0)])
def test_actions_are_integers(action) -> None:
    env = ChessEnv(color="white")
    env.reset(seed=0)
    with pytest.raises(TypeError, match="must be an integer"):
        env.step(action)
    assert env.episode.plies == 0
    for right in (np.int64, np.uint16, int, np.array):
        env.reset(seed=0)
        env.step(right(Game().action_of("e2e4")))
        assert env.episode.game.moves()[0] == "e2e4"


class Repeated:
    """Start positions: every second one has its knights out and back twice, or once more."""

    def __init__(self, *, further: int = 0, fresh: bool = True) -> None:
        self.drawn = 0
        self._further = further
        self._fresh = fresh

    def sample(self, rng) -> Game:
        self.drawn += 1
        game = Game()
        if not self._fresh or self.drawn % 2:
            for move in ("g1f3", "g8f6", "f3g1", "f6g8") * 2 + ("e2e4", "e7e5")[: self._further]:
                game.push(move)
        return game

    def vector_options(self) -> dict[str, object]:
        return {}


@pytest.mark.parametrize("further", [0, 1, 2])
def test_finished_start_positions_are_drawn_again(further: int) -> None:
    """A threefold repetition, at the start or on the way to it, and a used-up move count."""
    start = Repeated(further=further)
    env = ChessEnv(color="white", start=start)
    env.reset(seed=0)
    assert (env.episode.plies, start.drawn) == (0, 2)
    env = ChessEnv(color="white", start=Repeated(further=further), claims="off")
    env.reset(seed=0)
    assert env.episode.game.ply >= 8  # there nothing has ended
    used_up, fresh = "8/8/8/8/8/k7/7R/1K6 w - - 100 80", "8/8/8/8/8/k7/7R/1K6 w - - 10 80"
    env = ChessEnv(color="white", start=[used_up, fresh])
    for seed in range(20):
        env.reset(seed=seed)
        assert env.episode.game.start_fen == fresh
    with pytest.raises(FenError, match="fifty_moves"):
        env.reset(options={"fen": used_up})


def test_start_positions_that_are_all_finished_are_named() -> None:
    start = Repeated(fresh=False)
    with pytest.raises(FenError, match=r"each of 1000 draws from .*Repeated.*threefold_repetition"):
        ChessEnv(start=start).reset(seed=0)
    assert start.drawn == 1000
    with pytest.raises(FenError, match=r"1000 draws from FenList.*fifty_moves.* 100 80'"):
        ChessEnv(start=["8/8/8/8/8/k7/7R/1K6 w - - 100 80"]).reset(seed=0)


def test_opponents_by_name() -> None:
    env = gymnasium.make("rookery/Chess-v0", opponent="greedy", color="white")
    _, info = env.reset(seed=0)
    _, _, terminated, _, _ = env.step(np.flatnonzero(info["action_mask"])[0])
    assert not terminated and env.unwrapped.opponent.name == "greedy"
    env.close()


def test_an_opponent_that_breaks_the_rules_is_named() -> None:
    env = ChessEnv(Script("e2e5"), color="black")
    with pytest.raises(MoveError, match=r"'script' .*e2e5"):
        env.reset(seed=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"observation": "planes20"}, "planes20"),
        ({"actions": "az4671"}, "az4671"),
        ({"claims": "action"}, "az4673"),
        ({"actions": "az4673", "claims": "off"}, "az4673"),
        ({"claims": "never"}, "never"),
        ({"rewards": "000-v9"}, "000-v9"),
        ({"rewards": {"wins": 1}}, "did you mean 'win'"),
        ({"max_plies": -1}, "max_plies"),
        ({"on_illegal": "ignore"}, "ignore"),
        ({"tablebase_metric": "dtw"}, "dtw"),
        ({"observation": "kpk3", "start": "kpk:all"}, "rookery/KPK-v0"),
        ({"actions": "kpk", "start": "kpk:all"}, "rookery/KPK-v0"),
        ({"opponent": "nobody"}, "nobody"),
        ({"render_mode": "svg"}, "svg"),
    ],
)
def test_bad_options(options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ChessEnv(**options)


def test_render() -> None:
    env = ChessEnv(color="white", render_mode="ansi")
    env.reset(seed=0)
    drawn = env.render()
    assert drawn is not None and drawn.splitlines()[0] == "8 r n b q k b n r"
    assert drawn.endswith("White to move")


def wanted_moves(game: Game, rng: np.random.Generator) -> list[str]:
    """Legal moves in the order in which they help a game to become long."""
    ranks = {}
    for move in game.legal_moves():
        origin, target = (ord(move[i]) - 97 + 8 * (int(move[i + 1]) - 1) for i in (0, 2))
        # Captures come last: they take away moves for later.
        zeroes = 2 if game.piece_at(target) else int(game.piece_at(origin) in "Pp")
        ranks[move] = ([2, 0, 1] if game.halfmove_clock > 140 else [0, 1, 2])[zeroes]
    return sorted(ranks, key=lambda move: (ranks[move], rng.random()))


def ends_the_game(game: Game, move: str) -> bool:
    game.push(move)
    ended = game.outcome() is not None
    game.pop()
    return ended


def test_a_game_of_12000_plies() -> None:
    """Pieces shuffle; shortly before the seventy-five moves are over a pawn moves or dies."""
    # Pawns on different halves of the board never block each other: over 80 pawn moves.
    fen = "rnbqkbnr/4pppp/4pppp/8/8/PPPP4/PPPP4/RNBQKBNR w KQkq - 0 1"
    rng = np.random.default_rng(2)
    env = ChessEnv(start=[fen], color="white", claims="off", observation="planes119")
    env.reset(seed=0)
    episode = env.episode
    while not episode.over and episode.plies < 12_000:
        moves = wanted_moves(episode.game, rng)
        move = next((move for move in moves if not ends_the_game(episode.game, move)), moves[0])
        episode.act(episode.game.action_of(move))
        if episode.plies % 500 == 0:
            assert episode.encode().shape == (119, 8, 8)
    assert episode.plies == 12_000, episode.termination
    observation, _, terminated, _, _ = env.step(np.flatnonzero(env.action_masks())[0])
    assert observation.shape == (119, 8, 8) and not terminated
