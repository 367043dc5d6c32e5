"""The player `blind`: what it chooses, and that nothing it meets breaks it."""

import numpy as np
import pytest

from rookery._core import BlindGame
from rookery.blind.arena import BlindSettings, play_blind_game, run_blind_match
from rookery.blind.players import RandomPlayer
from rookery.blind.registry import make_blind_player
from rookery.blind.strong import StrongPlayer, StrongSettings, best_after, blend, entropy

QUICK = StrongSettings(nodes=3000, boards=8, sense_boards=8, windows=60, capacity=2000)


def test_scores_mix_mean_and_worst() -> None:
    values = np.array([[0.5, 1.0], [0.5, 0.2]], dtype=np.float32)
    assert blend(values, 0.3) == pytest.approx([0.5, 0.7 * 0.6 + 0.3 * 0.2])
    # A window that tells the boards apart lets the better request be chosen on each.
    assert best_after(np.array([1, 2], dtype=np.uint64), values, 0.3) == pytest.approx(0.75)
    assert best_after(np.array([7, 7], dtype=np.uint64), values, 0.3) == pytest.approx(0.5)
    assert entropy(np.array([1, 2, 3, 4], dtype=np.uint64)) == pytest.approx(1.0)
    assert entropy(np.array([5, 5, 5, 5], dtype=np.uint64)) == 0.0


def test_it_takes_a_king_that_it_sees() -> None:
    game = BlindGame("4k3/8/8/8/8/8/8/3R1K2 w - - 0 1")
    game.sense(None)
    game.move("d1e1")
    game.sense(None)
    game.move(None)
    player = StrongPlayer(settings=QUICK)
    rng = np.random.default_rng(1)
    player.new_game(game.knowledge(True), rng)
    sense = player.choose_sense(game.knowledge(True), rng, 900.0)
    assert sense is not None
    game.sense(sense)
    assert player.choose_move(game.knowledge(True), rng, 900.0) == "e1e8"


def test_it_beats_random_and_repeats_itself() -> None:
    def once() -> tuple[str, list]:
        rngs = (np.random.default_rng(5), np.random.default_rng(6))
        record = play_blind_game(
            StrongPlayer(settings=QUICK), RandomPlayer(), rngs, BlindSettings()
        )
        assert not record.fault
        return record.result, record.turns

    assert once()[0] == "1-0"
    assert once() == once()


@pytest.mark.parametrize("opponent", ["random", "senseless", "passing"])
def test_nothing_breaks_it(opponent: str) -> None:
    """Short form of benchmarks/blind_robustness.py, with a set that often loses the truth."""
    from blind_robustness import OPPONENTS

    settings = StrongSettings(nodes=800, boards=3, sense_boards=3, windows=20, capacity=4)
    result = run_blind_match(
        (lambda: StrongPlayer(settings=settings), OPPONENTS[opponent]),
        ("blind", opponent),
        BlindSettings(games=4, seed=9, turn_limit=60),
    )
    assert result["faults"] == {"first": 0, "second": 0}, result["fault_examples"]


def test_options() -> None:
    player = make_blind_player("blind,nodes=500,boards=4,worst=50%")
    assert isinstance(player, StrongPlayer)
    assert (player.settings.nodes, player.settings.boards, player.settings.worst) == (500, 4, 0.5)
