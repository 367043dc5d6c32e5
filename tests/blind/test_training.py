"""The network `blind-paper`: its samples, its two parts of training, exact resume."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'train'")

from rookery._core import BlindGame, BlindVectorGames  # noqa: E402
from rookery.blind.arena import BlindSettings, run_blind_match  # noqa: E402
from rookery.blind.imitation import read_imitation  # noqa: E402
from rookery.blind.network import (  # noqa: E402
    BlindNetwork,
    BlindSizes,
    load_blind_network,
    policy_of,
)
from rookery.blind.players import BlindPlayer, RandomPlayer  # noqa: E402
from rookery.blind.policy import PolicyPlayer, load_policy  # noqa: E402
from rookery.blind.registry import SHIPPED, make_blind_player  # noqa: E402
from rookery.blind.rollouts import BlindRollouts  # noqa: E402
from rookery.cli import main  # noqa: E402
from rookery.nets.model_file import ModelFileError  # noqa: E402
from support.runs import final_state  # noqa: E402

TINY = BlindSizes(filters=8, convolutions=2, value_hidden=8)


def tiny_network(seed: int = 1) -> BlindNetwork:
    network = BlindNetwork(TINY)
    network.initialise(torch.Generator().manual_seed(seed))
    return network.eval()


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "games.jsonl"
    settings = BlindSettings(games=6, seed=4, turn_limit=20, records=path)
    run_blind_match((RandomPlayer, RandomPlayer), ("random", "random"), settings)
    return path


def test_samples_are_what_the_teacher_knew_and_did(records: Path) -> None:
    data = read_imitation([str(records)], ["random"])
    games = [json.loads(line) for line in records.read_text().splitlines()]
    assert data.games == 6 and len(data) == 2 * sum(len(game["turns"]) for game in games)
    assert (np.diff(data.offsets)[::2] == 65).all()  # senses, then requests
    first = games[0]
    game = BlindGame()
    for number, turn in enumerate(first["turns"]):
        white = game.white_to_move
        expected = game.knowledge(white).planes()
        assert np.allclose(data.observations[2 * number], expected, atol=1e-3)
        square = "abcdefgh".index(turn["sense"][0]) + 8 * (int(turn["sense"][1]) - 1)
        assert data.places[2 * number] == square ^ (0 if white else 56)
        game.sense(square)
        at = data.offsets[2 * number + 1] + data.places[2 * number + 1]
        action = int(data.legal[at]) - 65
        request = game.knowledge(white).move_of_action(action)
        assert request == turn["request"] or f"{turn['request']}q" == request
        game.move(turn["request"])
    sign = {"1-0": 1, "0-1": -1, "1/2-1/2": 0}[first["result"]]
    assert data.results[0] == sign and data.results[2] == -sign


def test_records_that_do_not_fit_are_refused(tmp_path: Path, records: Path) -> None:
    with pytest.raises(ValueError, match="there are no records"):
        read_imitation([str(tmp_path)], ["blind"])
    with pytest.raises(ValueError, match="no games of blind"):
        read_imitation([str(records)], ["blind"])


def test_a_rollout_is_consistent() -> None:
    rollouts = BlindRollouts(games=8, turn_limit=12, rival_share=0.5, seed=1)
    rollout = rollouts.play(tiny_network(), tiny_network(2), turns=40, draw=-0.2)
    assert rollout.rewards.shape == (80, 8)
    # Sense and move of a turn are the same side's.
    assert (rollout.colours[::2] == rollout.colours[1::2]).all()
    assert not rollout.ended[::2].any() and rollout.ended[1::2].any()
    # Against the rival one colour learns; in the other games both do.
    assert (rollout.learning[:, 4:]).all()
    assert (rollout.learning[:, 0] == (rollout.colours[:, 0] == 0)).all()
    ended = rollout.ended
    drawn = ended & (rollout.rewards == np.float32(-0.2))
    assert (rollout.rewards[ended & ~drawn] == 1).all()
    assert (rollout.other_rewards[ended & ~drawn] == -1).all()
    assert (rollout.rewards[~ended] == 0).all()
    assert sum(rollout.endings.values()) == ended.sum()


def test_other_players_have_one_colour_in_their_games() -> None:
    players: list[BlindPlayer] = [*map(make_blind_player, ["random"] * 2 + ["passing"] * 2)]
    rollouts = BlindRollouts(games=8, turn_limit=12, rival_share=0.25, seed=1, players=players)
    rollout = rollouts.play(tiny_network(), tiny_network(2), turns=40, draw=-0.2)
    for number in range(6):
        assert (rollout.learning[:, number] == (rollout.colours[:, number] == number % 2)).all()
    assert rollout.learning[:, 6:].all()
    assert set(rollouts.scores) == {"random", "passing", "past"}
    against = rollout.ended[:, :6].sum()
    assert sum(map(sum, rollouts.scores.values())) == sum(rollout.results.values()) == against
    with pytest.raises(ValueError, match="more than 4 games"):
        BlindRollouts(games=4, turn_limit=12, rival_share=0.25, seed=1, players=players)


def test_the_policy_plays_legal_games() -> None:
    network = tiny_network()
    result = run_blind_match(
        (lambda: PolicyPlayer("network", policy_of(network), 1.0), RandomPlayer),
        ("network", "random"),
        BlindSettings(games=6, seed=2, turn_limit=30),
    )
    assert result["faults"] == {"first": 0, "second": 0}, result["fault_examples"]


def settings(records: Path) -> list[str]:
    words = [
        f'data.records=["{records}"]', 'data.teachers=["random"]', "supervised.iterations=2",
        "supervised.steps=3", "supervised.minibatch=32", "ppo.games=4", "ppo.turns=6",
        "network.filters=8", "network.convolutions=2", "pool.every=1",
        'pool.players=["random"]', "pool.players_share=0.5", "evaluation.games=2",
        'evaluation.opponents=["random"]', "run.evaluations=1",
    ]  # fmt: skip
    return [part for word in words for part in ("--set", word)]


def test_a_resumed_run_is_the_same_run(tmp_path: Path, records: Path) -> None:
    words = settings(records)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert main(["train", "blind-paper", "--run", str(whole), "--budget", "5it", *words]) == 0
    assert main(["train", "blind-paper", "--run", str(parts), "--budget", "1it", *words]) == 0
    for budget in ("3it", "5it"):  # in the supervised part, and in PPO
        assert main(["resume", str(parts), "--budget", budget]) == 0
    assert final_state(whole) == final_state(parts)
    rows = [json.loads(line) for line in (whole / "metrics.jsonl").read_text().splitlines()]
    assert any("agreement" in json.dumps(row) for row in rows)
    assert any("king_capture" in json.dumps(row) or "entropy" in json.dumps(row) for row in rows)

    player = make_blind_player(f"blind-paper,network={whole / 'model.safetensors'}")
    game = BlindGame()
    rng = np.random.default_rng(1)
    game.sense(player.choose_sense(game.knowledge(True), rng, 900.0))
    game.move(player.choose_move(game.knowledge(True), rng, 900.0))


def test_a_run_begins_with_a_model_file(tmp_path: Path, records: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    words = settings(records)
    assert main(["train", "blind-paper", "--run", str(first), "--budget", "1it", *words]) == 0
    start = first / "model.safetensors"
    words += ["--set", f"supervised.start={start}"]
    assert main(["train", "blind-paper", "--run", str(second), "--budget", "0it", *words]) == 0
    ours, theirs = (load_blind_network(run / "model.safetensors") for run in (first, second))
    for name, weights in ours.state_dict().items():
        assert torch.equal(weights, theirs.state_dict()[name]), name
    words += ["--set", "network.filters=9"]
    assert main(["train", "blind-paper", "--run", str(tmp_path / "third"), *words]) != 0


def test_the_player_computes_what_the_network_does() -> None:
    ours, theirs = load_policy(SHIPPED), policy_of(load_blind_network(SHIPPED))
    games, rng = BlindVectorGames(4), np.random.default_rng(1)
    for _ in range(30):
        for planes in games.observations:
            np.testing.assert_allclose(ours(planes), theirs(np.array(planes)), atol=2e-4)
        first, last = games.legal_offsets[:-1], games.legal_offsets[1:]
        games.step(games.legal_actions[rng.integers(first, last)])


def test_the_shipped_network_plays() -> None:
    result = run_blind_match(
        (lambda: make_blind_player("blind-paper"), RandomPlayer),
        ("blind-paper", "random"),
        BlindSettings(games=2, seed=1, turn_limit=40),
    )
    assert result["faults"] == {"first": 0, "second": 0}, result["fault_examples"]


def test_other_model_files_are_refused() -> None:
    from support.paths import PROJECT

    with pytest.raises(ModelFileError, match="not of blind chess"):
        load_blind_network(PROJECT / "src" / "rookery" / "networks" / "rookery.safetensors")
