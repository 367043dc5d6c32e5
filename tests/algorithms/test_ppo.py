"""PPO against hand-computed cases, and small real runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'train'")

from rookery import Game, VectorGames  # noqa: E402
from rookery.algorithms.ppo import (  # noqa: E402
    Batch,
    PPOTrainer,
    advantages,
    batch_of,
    losses,
)
from rookery.algorithms.ppo_recipe import PPORecipe  # noqa: E402
from rookery.data.books import BookMove  # noqa: E402
from rookery.envs.rewards import Distance, Rewards  # noqa: E402
from rookery.nets import make_network  # noqa: E402
from rookery.nets.evaluator import TorchEvaluator  # noqa: E402
from rookery.players.policy import PolicyPlayer  # noqa: E402
from rookery.selfplay.collector import Hooks  # noqa: E402
from rookery.selfplay.interim_rewards import VectorInterimRewards  # noqa: E402
from rookery.selfplay.networks import weights_of  # noqa: E402
from rookery.selfplay.rollout import (  # noqa: E402
    BLACK,
    BOTH,
    WHITE,
    Incentives,
    Rollout,
    RolloutCollector,
    RolloutOrder,
    RolloutPlan,
)
from rookery.training.recipe import load_recipe  # noqa: E402
from rookery.training.trainer import Context  # noqa: E402

GAMMA, LAMBDA = 0.9, 0.8


def record(**arrays: Any) -> Rollout:
    """One game of T plies, White first; what is not given is zero."""
    plies = len(arrays["rewards"])
    arrays.setdefault("learning", [1] * plies)

    def column(name: str, dtype: Any) -> Any:
        return np.array(arrays.get(name, [0] * plies), dtype=dtype).reshape(plies, 1)

    return Rollout(
        observations=np.zeros((plies, 1, 70), dtype=np.uint8),
        legal=[np.array([7, 8], dtype=np.int64)] * plies,
        offsets=[np.array([0, 2], dtype=np.int64)] * plies,
        log_probabilities=[np.log(np.array([0.5, 0.5], dtype=np.float32))] * plies,
        places=column("places", np.int64),
        values=column("values", np.float32),
        colours=np.array([(1 - t) % 2 for t in range(plies)]).reshape(plies, 1),
        learning=column("learning", np.bool_)
        if "learning" in arrays
        else np.ones((plies, 1), bool),
        rewards=column("rewards", np.float32),
        other_rewards=column("other_rewards", np.float32),
        ended=column("ended", np.bool_),
        bootstrap=np.array(arrays.get("bootstrap", [[0, 0]] * plies), np.float32).reshape(-1, 1, 2),
        last_values=np.array([arrays.get("last_value", 0.0)], dtype=np.float32),
        last_colours=np.array([arrays.get("last_colour", WHITE)]),
    )


def test_advantages_of_a_won_game() -> None:
    """White mates with ply 2; Black's only ply is answered by the loss."""
    rollout = record(
        rewards=[0, 0, 1], other_rewards=[0, 0, -1], values=[0.1, 0.2, 0.3], ended=[0, 0, 1]
    )
    last = 1 - 0.3
    first = (0.9 * 0.3 - 0.1) + 0.9 * 0.8 * last
    black = -1 - 0.2
    found = advantages(rollout, GAMMA, LAMBDA).ravel()
    assert found == pytest.approx([first, black, last], abs=1e-6)


def test_a_cut_off_game_is_worth_what_the_critic_says() -> None:
    rollout = record(
        rewards=[0, 0], values=[0.1, 0.2], ended=[0, 1], bootstrap=[[0, 0], [-0.5, 0.5]]
    )
    white = 0.9 * 0.5 - 0.1
    black = 0.9 * -0.5 - 0.2
    assert advantages(rollout, GAMMA, LAMBDA).ravel() == pytest.approx([white, black], abs=1e-6)


def test_a_game_that_goes_on_is_valued_from_both_sides() -> None:
    rollout = record(rewards=[0, 0], values=[0, 0], last_value=0.4, last_colour=WHITE)
    found = advantages(rollout, 1.0, 1.0).ravel()
    assert found == pytest.approx([0.4, -0.4], abs=1e-6)


def test_plies_of_an_opponent_are_no_samples_but_their_rewards_count() -> None:
    """The opponent (Black) mates: White's last ply bears the loss, two plies later."""
    rollout = record(
        rewards=[0, 0, 0, 1],
        other_rewards=[0, 0, 0, -1],
        values=[0.5, 9.0, 0.25, 9.0],
        learning=[1, 0, 1, 0],
        ended=[0, 0, 0, 1],
    )
    second = -1 - 0.25
    first = 0.9 * 0.25 - 0.5 + 0.9 * 0.8 * second
    found = advantages(rollout, GAMMA, LAMBDA).ravel()
    assert found == pytest.approx([first, 0, second, 0], abs=1e-6)
    assert len(batch_of(rollout, GAMMA, LAMBDA)) == 2


class Fixed(torch.nn.Module):
    """Logits and values that do not depend on the position."""

    def __init__(self, logits: list[float], values: list[float]) -> None:
        super().__init__()
        self.logits, self.values = torch.tensor(logits), torch.tensor(values)

    def forward(self, observations: Any, legal: Any, rows: Any) -> Any:
        return self.logits, self.values


def two_samples() -> Batch:
    return Batch(
        observations=torch.zeros(2, 70, dtype=torch.uint8),
        legal=torch.tensor([7, 8, 3, 4, 5]),
        offsets=np.array([0, 2, 5]),
        places=np.array([1, 0]),
        log_probabilities=torch.log(torch.tensor([0.5, 0.5, 0.2, 0.3, 0.5])),
        advantages=torch.tensor([1.0, -2.0]),
        returns=torch.tensor([0.5, -10.0]),
    )


def test_losses_of_two_samples_by_hand() -> None:
    """Ratios 1.6 (clipped to 1.2, advantage 1) and 2.0 (not clipped: advantage -2)."""
    new = [0.2, 0.8, 0.4, 0.4, 0.2]
    network = Fixed([float(np.log(p)) + 3.0 for p in new], [0.0, 1.0])
    terms = losses(network, two_samples(), np.array([0, 1]), clip=0.2, value_clip=0.0)
    assert float(terms.policy) == pytest.approx(-(1.2 * 1 + 2.0 * -2) / 2, abs=1e-5)
    assert float(terms.value) == pytest.approx((0.25 + 121) / 2, abs=1e-4)
    entropies = [-sum(p * np.log(p) for p in part) for part in (new[:2], new[2:])]
    assert float(terms.entropy) == pytest.approx(np.mean(entropies), abs=1e-5)
    old = [0.5, 0.5, 0.2, 0.3, 0.5]
    divergence = sum(p * np.log(p / q) for p, q in zip(old, new, strict=True)) / 2
    assert float(terms.kl) == pytest.approx(divergence, abs=1e-5)


def test_a_clipped_value_error_teaches_nothing() -> None:
    values = torch.tensor([0.0, 1.0], requires_grad=True)
    network = Fixed([0.0] * 5, [0.0, 0.0])
    network.values = values
    terms = losses(network, two_samples(), np.array([0, 1]), clip=0.2, value_clip=10.0)
    terms.value.backward()
    assert float(terms.value.detach()) == pytest.approx((0.25 + 10) / 2)
    assert values.grad is not None
    assert values.grad.tolist() == pytest.approx([-0.5, 0.0])


def test_minibatches_pick_the_right_lists() -> None:
    _, legal, rows, chosen, old = two_samples().minibatch(np.array([1]))
    assert legal.tolist() == [3, 4, 5]
    assert rows.tolist() == [0, 0, 0]
    assert chosen.tolist() == [0]
    assert old.exp().tolist() == pytest.approx([0.2, 0.3, 0.5])


def collector(
    count: int = 16, max_plies: int = 60, *, learn_both: bool, rival_share: float
) -> RolloutCollector:
    games = {
        "num_games": count, "observation": "tactical70", "actions": "az4672", "dtype": "uint8",
        "max_plies": max_plies,
    }  # fmt: skip
    return RolloutCollector(RolloutPlan(games, 3, learn_both, rival_share), Hooks())


NETWORK = weights_of(make_network("squares", "tactical70", "az4672", {"width": 16, "key_width": 8}))


def test_rollouts_only_ever_play_legal_actions() -> None:
    """VectorGames refuses illegal ones; here also that the recorded place is the action taken."""
    player = collector(learn_both=True, rival_share=0.5)
    rollout = player.begin(NETWORK, RolloutOrder(30, rival=NETWORK))()
    assert rollout.learning.mean() > 0.5
    for t in range(30):
        counts = np.diff(rollout.offsets[t])
        assert (rollout.places[t] < counts).all()
        total = np.add.reduceat(np.exp(rollout.log_probabilities[t]), rollout.offsets[t][:-1])
        assert total == pytest.approx(np.ones(16), abs=1e-5)
    assert sum(rollout.endings.values()) == len(rollout.lengths) == rollout.ended.sum()


def test_the_learner_has_one_colour_against_a_rival() -> None:
    player = collector(learn_both=True, rival_share=1.0)
    assert set(player.sets[0].learner) == {WHITE, BLACK}
    rollout = player.begin(NETWORK, RolloutOrder(20))()
    assert 0.4 < rollout.learning.mean() < 0.6
    assert set(collector(learn_both=True, rival_share=0.0).sets[0].learner) == {BOTH}
    assert set(collector(learn_both=False, rival_share=0.0).sets[0].learner) == {WHITE, BLACK}


def test_a_random_rival_to_move_at_the_end_is_not_asked_what_it_is_worth() -> None:
    player = collector(learn_both=True, rival_share=1.0)
    rollout = player.begin(NETWORK, RolloutOrder(21))()
    moved_last = ~rollout.ended[-1] & (player.sets[0].learner == rollout.colours[-1])
    assert 0 < moved_last.sum() < len(moved_last)
    assert not rollout.learning[-1, moved_last].any()  # no sample, but what the one before leads to
    assert (rollout.last_values[moved_last] == rollout.values[-1, moved_last]).all()
    assert (rollout.last_colours[moved_last] == rollout.colours[-1, moved_last]).all()
    others = ~rollout.ended[-1] & ~moved_last
    assert (rollout.last_colours[others] == player.sets[0].learner[others]).all()
    both = collector(learn_both=True, rival_share=0.0)
    assert both.begin(NETWORK, RolloutOrder(21))().learning.all()


def test_a_game_cut_off_before_a_random_rival_is_worth_the_learners_last_position() -> None:
    player = collector(max_plies=9, learn_both=True, rival_share=1.0)
    learner = player.sets[0].learner.copy()  # of the first game at each place
    rollout = player.begin(NETWORK, RolloutOrder(9))()
    cut = rollout.ended[-1] & (rollout.lengths == np.full(16, 9))
    assert cut.all() and set(learner) == {WHITE, BLACK}
    white = learner == WHITE  # made the ninth and last ply
    assert (rollout.bootstrap[-1, white, WHITE] == rollout.values[-1, white]).all()
    # Where the learner is to move, the critic speaks of the position itself.
    assert (rollout.bootstrap[-1, ~white, BLACK] != -rollout.values[-1, ~white]).all()


def test_incentives_are_zero_sum_for_material_and_not_for_draws() -> None:
    order = RolloutOrder(40, incentives=Incentives(draw=-0.5, material=0.125))
    rollout = collector(learn_both=True, rival_share=0.0).begin(NETWORK, order)()
    quiet = ~rollout.ended
    assert (rollout.rewards[quiet] == -rollout.other_rewards[quiet]).all()
    assert set(np.unique(rollout.rewards[quiet])) <= {m * 0.125 for m in range(-9, 19)}
    assert (rollout.rewards[quiet] != 0).any()


class OneMoveBook:
    """A book that knows 1. e4 and nothing else."""

    def positions(self) -> list[int]:
        return [Game().polyglot_key]

    def moves(self, game: Game) -> list[BookMove]:
        return [BookMove("e2e4", 1)] if game.ply == 0 else []


def test_book_moves_are_rewarded() -> None:
    games = VectorGames(3, "tactical70", dtype="uint8")
    interim = VectorInterimRewards(Rewards(book=10.0), 3, OneMoveBook(), None)  # type: ignore[arg-type]
    e4, d4 = Game().action_of("e2e4"), Game().action_of("d2d4")
    actions = np.array([e4, d4, e4])
    interim.before(games, actions, np.array([True, True, False]))
    games.step(actions)
    assert interim.after(games).tolist() == [10.0, 0.0, 0.0]


def test_distances_to_the_end_survive_a_resume() -> None:
    interim = VectorInterimRewards(Rewards(tablebase=10.0), 2, None, None)
    interim._games[1].distances = {True: Distance("dtm", 7), False: Distance("dtz", 3)}
    other = VectorInterimRewards(Rewards(tablebase=10.0), 2, None, None)
    other.load_state(json.loads(json.dumps(interim.state())))
    assert [one.distances for one in other._games] == [one.distances for one in interim._games]
    assert other.state() == interim.state()
    assert other._games[1].tablebase_reward(Distance("dtm", 9), Distance("dtm", 8), True) == 0.0


def trainer(tmp_path: Path, **settings: Any) -> PPOTrainer:
    sections: dict[str, Any] = {
        "algorithm": "ppo",
        "ppo": {"games": 8, "plies": 16, "minibatch": 64},
        "network": {"family": "squares", "squares": {"width": 16, "key_width": 8}},
        "opponent": {"rival_share": 0.5, "snapshot_every": 1, "snapshots": 2},
        "evaluation": {"games": 4},
    }
    recipe = PPORecipe.model_validate(sections | settings)
    context = Context(recipe=recipe, folder=tmp_path)
    made = PPOTrainer(context)
    return made


def advance(learner: PPOTrainer, iterations: int) -> list[float]:
    seen = []
    for _ in range(iterations):
        seen.append(learner.iterate().losses["policy"])
        learner.context.iteration += 1
    return seen


def test_a_resumed_run_is_the_same_run(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    straight = trainer(tmp_path)
    expected = advance(straight, 6)
    first = trainer(tmp_path)
    begun = advance(first, 3)
    second = trainer(tmp_path)
    second.load_state(first.state())
    second.context.iteration = first.context.iteration
    assert begun + advance(second, 3) == expected
    for name, weights in straight.network.state_dict().items():
        assert torch.equal(weights, second.network.state_dict()[name]), name


@pytest.mark.parametrize("version", range(1, 11))
def test_every_version_of_the_paper_trains(version: int, tmp_path: Path) -> None:
    small = {"ppo.games": 4, "ppo.plies": 10, "ppo.passes": 1, "evaluation.games": 2}
    recipe = load_recipe(f"ppo-v{version}", small)
    learner = PPOTrainer(Context(recipe=recipe, folder=tmp_path))
    parameters = sum(p.numel() for p in learner.network.parameters())
    assert parameters == (1_368_642 if version == 1 else 1_366_849)
    metrics = learner.iterate()
    assert metrics.samples > 0
    assert np.isfinite(list(metrics.losses.values())).all()
    [result] = learner.evaluate(np.random.default_rng(1))
    assert sum(result.as_white) == sum(result.as_black) == 1


def test_a_resumed_run_says_when_book_or_tables_have_changed(tmp_path: Path) -> None:
    small = {"ppo.games": 4, "ppo.plies": 8, "ppo.passes": 1}
    lines: list[str] = []
    context = Context(recipe=load_recipe("ppo-v3", small), folder=tmp_path, log=lines.append)
    made = PPOTrainer(context)
    state = made.state()
    made.load_state(state)
    assert not any("from here on" in line for line in lines)
    state.values["judge_sources"] = "a book of 3 entries, tables of 1 endings"
    made.load_state(state)
    assert "interim rewards change from here on" in lines[-1]
    assert "not a book of 3 entries" in lines[-1]


def test_residual_networks_are_not_normalised_over_a_batch() -> None:
    changes = {"network.family": "resnet", "network.resnet.filters": 16}
    recipe = load_recipe("ppo", changes)
    assert isinstance(recipe, PPORecipe) and recipe.network.resnet.norm == "group"
    with pytest.raises(ValueError, match=r"network\.resnet\.norm=batch .* use group or none"):
        load_recipe("ppo", {**changes, "network.resnet.norm": "batch"})


def test_an_unknown_observation_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ValueError, match="'tactical7'; did you mean 'tactical70'"):
        load_recipe("ppo-v3", {"game.observation": "tactical7"})


@pytest.mark.parametrize(
    ("observation", "temperature", "memoryless"),
    [("vector66", 0.0, True), ("vector66", 0.5, False), ("vector69", 0.0, False)],
)
def test_a_policy_says_whether_its_moves_depend_on_the_position_alone(
    observation: str, temperature: float, memoryless: bool
) -> None:
    network = make_network("mlp", observation, "az4672", {"hidden": [8]})
    player = PolicyPlayer(TorchEvaluator(network), temperature)
    assert player.capabilities.memoryless is memoryless
