"""Many games at once are the same as single ones; they resume exactly."""

import numpy as np
import pytest

from rookery._core import BLIND_PLANES, BlindGame, BlindVectorGames, MoveError
from rookery.blind.observation import CURRENT, EARLIER, plane_count


def random_actions(games: BlindVectorGames, rng: np.random.Generator) -> np.ndarray:
    offsets = games.legal_offsets
    counts = np.diff(offsets)
    return games.legal_actions[offsets[:-1] + (rng.random(len(counts)) * counts).astype(np.int64)]


def test_vector_games_follow_single_games() -> None:
    games = BlindVectorGames(8)
    singles = [BlindGame() for _ in range(8)]
    rng = np.random.default_rng(5)
    ended = 0
    for _ in range(400):
        actions = random_actions(games, rng)
        phase = games.phase
        for i, (game, action) in enumerate(zip(singles, actions, strict=True)):
            knowledge = game.knowledge(game.white_to_move)
            assert np.array_equal(games.observations[i], knowledge.planes())
            if phase == "sense":
                flip = 0 if knowledge.white else 56
                game.sense(None if action == 64 else int(action) ^ flip)
            else:
                game.move(knowledge.move_of_action(int(action)))
        games.step(actions)
        for i, game in enumerate(singles):
            outcome = game.outcome()
            assert bool(games.terminations[i]) == (outcome is not None)
            if outcome is not None:
                ended += 1
                won = outcome[1]
                assert games.results[i] == (0 if won is None else 1 if won else -1)
                singles[i] = BlindGame()
            assert games.fen(i) == singles[i].fen()
    assert ended > 3


def test_state_resumes_exactly() -> None:
    games, other = BlindVectorGames(4), BlindVectorGames(4)
    rng = np.random.default_rng(6)
    for _ in range(101):
        games.step(random_actions(games, rng))
    other.set_state(games.get_state())
    assert other.phase == games.phase == "move"
    assert np.array_equal(other.observations, games.observations)
    for _ in range(20):
        actions = random_actions(games, rng)
        games.step(actions)
        other.step(actions)
    assert np.array_equal(other.observations, games.observations)
    with pytest.raises(ValueError, match="number of games"):
        BlindVectorGames(3).set_state(games.get_state())


def test_illegal_actions_change_nothing() -> None:
    games = BlindVectorGames(2)
    with pytest.raises(MoveError, match="action 65 of game 1"):
        games.step(np.array([0, 65]))
    assert games.phase == "sense"
    games.step(np.array([0, 64]))
    with pytest.raises(MoveError, match="not a legal move action"):
        games.step(np.array([4672, 0]))
    with pytest.raises(ValueError, match="1 actions for 2 games"):
        games.step(np.array([4672]))


def test_the_table_of_planes_has_the_size_of_the_observation() -> None:
    assert plane_count() == BLIND_PLANES
    assert BlindGame().knowledge(True).planes().shape == (BLIND_PLANES, 8, 8)


def starts(groups: tuple) -> list[int]:
    return list(np.cumsum([0, *(group.planes for group in groups)]))


def test_planes_show_what_the_table_says() -> None:
    game = BlindGame()
    # White captures on d5, Black recaptures with the queen, White has sensed around e7.
    for request in ("e2e4", "d7d5"):
        game.sense(None)
        game.move(request)
    game.sense(52)  # e7
    game.move("e4d5")
    game.sense(None)
    game.move("d8d5")
    game.sense(35)  # d5
    planes = game.knowledge(True).planes()
    (own, theirs, unknown, fresh, sensed, captured, castle, phase, white, turns, left, request,
     end) = starts(CURRENT)  # fmt: skip
    assert planes[own].sum() == 7 and planes[own + 5, 0, 4] == 1  # pawns, king
    assert planes[theirs + 4, 4, 3] == 1  # the queen on d5
    assert planes[unknown].sum() == 0  # the sense has named what captured
    assert planes[fresh, 4, 3] == 1 and planes[fresh, 7, 7] == pytest.approx(0.85**3)
    assert planes[sensed].sum() == 9 and planes[captured, 4, 3] == planes[captured].sum() == 1
    assert planes[castle : castle + 2].min() == 1
    assert planes[phase].min() == planes[white].min() == 1
    assert planes[turns].max() == pytest.approx(0.02) and planes[left, 0, 0] == 15 / 16
    assert planes[request, 3, 4] == planes[request + 1, 4, 3] == 1
    capture, window, seen, _, own_capture, last = (end + at for at in starts(EARLIER))
    assert planes[capture].sum() == 0 and planes[window].sum() == 9
    assert planes[window, 6, 4] == 1 and planes[seen].sum() == 5 + 0  # d8 e8 f8, e7 f7
    assert planes[own_capture, 4, 3] == 1
    assert planes[last:].sum() == 2  # the turn before: e2e4, nothing sensed
