"""The boards that fit: exact while they are complete, bounded and repaired when not."""

import numpy as np
import pytest

from rookery._core import BlindBelief, BlindGame, BlindJudge, BlindKnowledge, NnueNetwork


def placement(fen: str) -> str:
    """A FEN without its clocks."""
    return " ".join(fen.split()[:4])


def play(
    seed: int, turns: int, capacity: int, senses: bool = True
) -> list[tuple[BlindGame, BlindBelief]]:
    """A random game in which White keeps a belief; the state at each of its moves."""
    rng = np.random.default_rng(seed)
    game = BlindGame()
    belief = BlindBelief(game.knowledge(True), capacity, seed)
    found = []
    for _ in range(turns):
        white = game.white_to_move
        game.sense(int(rng.integers(64)) if senses else None)
        knowledge = game.knowledge(white)
        if white:
            belief.update(knowledge)
            found.append((game.copy(), len(belief), belief.complete, belief.boards().fens()))
        requests = knowledge.requests()
        game.move(requests[int(rng.integers(len(requests)))])
        if game.is_over:
            break
    return found


def test_the_true_board_is_always_among_a_complete_set() -> None:
    met = 0
    for seed in range(6):
        for game, size, complete, fens in play(seed, 24, 20_000):
            if complete:
                met += 1
                assert size == len(fens) == len(set(map(placement, fens)))
                assert placement(game.fen()) in set(map(placement, fens))
    assert met > 30


def test_the_set_is_exactly_what_can_have_happened() -> None:
    """Against every game of two Black moves, enumerated by the referee."""
    sense, answers = 44, {}  # e6

    def continuations(game: BlindGame) -> list[BlindGame]:
        found = []
        for request in [*game.knowledge(False).requests(), None]:
            after = game.copy()
            after.sense(None)
            after.move(request)
            found.append(after)
        return found

    start = BlindGame()
    start.sense(None)
    start.move("e2e4")
    for first in continuations(start):
        first.sense(sense)
        first.move("d2d4")
        for second in continuations(first):
            if second.is_over:
                continue
            second.sense(sense)
            answers.setdefault(second.knowledge(True), set()).add(placement(second.fen()))
    assert len(answers) > 20
    for knowledge, boards in answers.items():
        belief = BlindBelief(knowledge, 100_000, 0)
        assert set(map(placement, belief.boards().fens())) == boards


def test_the_set_is_bounded_and_says_so() -> None:
    states = play(3, 40, 200, senses=False)
    assert max(size for _, size, _, _ in states) <= 200
    assert not states[-1][2]


def own_pieces(fen: str) -> set[tuple[int, str]]:
    rows = fen.split()[0].split("/")
    squares = "".join("." * int(c) if c.isdigit() else c for row in rows for c in row)
    return {(i, c) for i, c in enumerate(squares) if c.isupper()}


def test_a_set_that_lost_the_truth_is_repaired() -> None:
    repaired = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        game = BlindGame()
        belief = BlindBelief(game.knowledge(True), 3, seed)  # loses the truth at once
        while not game.is_over and game.knowledge(True).turn_count < 40:
            white = game.white_to_move
            centre = int(rng.integers(64))
            sight = game.sense(centre)
            knowledge = game.knowledge(white)
            if white:
                belief.update(knowledge)
                fens = belief.boards().fens()
                assert 1 <= len(fens) <= 256
                for fen in fens:
                    assert own_pieces(fen) == own_pieces(knowledge.own_fen)
                    assert fen.split()[0].count("k") == 1
                    squares = dict(expand(fen))
                    assert [squares.get(square) for square, _ in sight] == [p for _, p in sight]
            requests = knowledge.requests()
            game.move(requests[int(rng.integers(len(requests)))])
        repaired += belief.repairs
    assert repaired > 30


def expand(fen: str) -> list[tuple[int, str]]:
    rows = fen.split()[0].split("/")
    return [
        (8 * (7 - row) + file, letter)
        for row, text in enumerate(rows)
        for file, letter in enumerate("".join("." * int(c) if c.isdigit() else c for c in text))
        if letter != "."
    ]


def test_samples_are_boards_with_this_side_to_move() -> None:
    game = BlindGame()
    game.sense(None)
    game.move("e2e4")
    black = BlindBelief(game.knowledge(False), 1000, 1)
    sample = black.sample(100)  # before the sense: after any first move of White
    assert len(sample) == 21  # twenty moves and the pass
    assert all(fen.split()[1] == "b" for fen in sample.fens())
    shares = sample.occupancy()
    assert shares.shape == (12, 64) and shares[0, 12] == pytest.approx(19 / 21)  # e2
    assert len(set(sample.window_keys()[:, 0].tolist())) > 1


def test_another_game_is_refused() -> None:
    game = BlindGame()
    belief = BlindBelief(game.knowledge(True))
    with pytest.raises(ValueError, match="another game or side"):
        belief.update(BlindKnowledge(False))
    with pytest.raises(ValueError, match="capacity"):
        BlindBelief(game.knowledge(True), 0, 0)


def judged(fen: str, *requests: str) -> dict[str | None, float]:
    """Values of all requests on one board."""
    knowledge = BlindKnowledge(" w " in fen, fen)
    knowledge.opponent_moved(None)
    belief = BlindBelief(knowledge)
    knowledge.sensed(None, [])
    belief.update(knowledge)
    boards = belief.sample(1)
    values = BlindJudge(NnueNetwork.material()).values(boards, knowledge)
    names = [knowledge.move_of_action(int(action)) for action in knowledge.move_actions()]
    return dict(zip(names, values[0].tolist(), strict=True))


def test_the_judge_fears_for_kings() -> None:
    values = judged("4k3/8/8/8/8/8/4r3/4K2R w K - 0 1")
    assert values["e1e2"] > 0.5  # takes the rook
    assert values["h1h7"] == pytest.approx(0.03)  # leaves the king to it
    assert values[None] == pytest.approx(0.03)
    check = judged("3k4/8/8/8/8/8/8/R3K3 w - - 0 1")
    assert check["a1a8"] > check["a1a7"]  # the opponent may not see the check
