"""What VectorGames should do, one python-chess board per game and no cleverness."""

from __future__ import annotations

from dataclasses import dataclass, field

import chess
import numpy as np

from rookery import VectorGames
from rookery._core import ENDINGS
from support.reference import actions as reference
from support.reference.observations import ENCODERS


@dataclass
class Options:
    """The options of VectorGames that change what a step does, with the same defaults."""

    observation: str = "planes19"
    actions: str = "az4672"
    claims: str = "automatic"
    win: float = 1.0
    loss: float = -1.0
    draw: float = 0.0
    move: float = 0.0
    illegal: float = -1.0
    on_illegal: str = "raise"
    max_plies: int = 0
    draw_after_plies: int = 0
    promotion_wins: bool = False


@dataclass
class Expected:
    """What one game should report after a step."""

    reward: float = 0.0
    opponent_reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    ending: str = "none"
    result: int = 0
    length: int = 0
    final_board: chess.Board | None = field(default=None, repr=False)


def rules_ending(board: chess.Board, claims: str) -> str:
    """How the rules end the game here, or "none"."""
    outcome = board.outcome(claim_draw=False)
    if outcome is not None:
        return outcome.termination.name.lower()
    if claims == "automatic":
        if board.is_fifty_moves():
            return "fifty_moves"
        if board.is_repetition(3):
            return "threefold_repetition"
    return "none"


class SlowGames:
    """Plays along with a VectorGames; new games start where it says, the rest is computed."""

    def __init__(self, fens: list[str], options: Options) -> None:
        self.options = options
        self.boards = [chess.Board(fen) for fen in fens]
        self.steps = [0] * len(fens)

    def legal(self, index: int) -> dict[int, str]:
        """Legal actions of a game with their moves."""
        return reference.legal_actions(self.boards[index], self.options.actions)

    def step(self, actions: list[int]) -> list[Expected]:
        """Step every game; games that end stay where they are until `start_anew`."""
        return [self.step_one(index, action) for index, action in enumerate(actions)]

    def step_one(self, index: int, action: int) -> Expected:
        """Play one action, legal or not, and say what should be reported."""
        options, board = self.options, self.boards[index]
        self.steps[index] += 1
        out_of_steps = 0 < options.max_plies <= self.steps[index]
        legal = self.legal(index)
        mover = board.turn
        if action not in legal:
            ending = "ply_cap" if out_of_steps else "none"
            return self.finish(index, Expected(reward=options.illegal), ending, mover)
        expected = Expected(reward=options.move)
        if action == reference.CLAIM:
            return self.finish(index, expected, "draw_claimed", mover)
        move = chess.Move.from_uci(legal[action])
        board.push(move)
        ending = rules_ending(board, options.claims)
        if options.promotion_wins and ending not in ("checkmate", "stalemate"):
            winner = promotion_winner(board)
            if winner is not None:
                return self.finish(index, expected, "promotion", mover, winner)
        if ending == "none" and 0 < options.draw_after_plies <= len(board.move_stack):
            ending = "ply_limit"
        if ending == "none" and out_of_steps:
            ending = "ply_cap"
        return self.finish(index, expected, ending, mover)

    def finish(
        self, index: int, expected: Expected, ending: str, mover: bool, winner: bool | None = None
    ) -> Expected:
        """Complete the report if the game has ended; `winner` is the mover unless given."""
        if ending == "none":
            return expected
        winner = mover if winner is None else winner
        options = self.options
        expected.ending = ending
        expected.length = len(self.boards[index].move_stack)
        expected.final_board = self.boards[index]
        if ending == "ply_cap":
            expected.truncated = True
            return expected
        expected.terminated = True
        won = ending in ("checkmate", "promotion")
        sizes = (options.win, options.loss) if won else (options.draw, options.draw)
        mine, theirs = sizes if winner == mover else reversed(sizes)
        expected.reward += mine
        expected.opponent_reward = theirs
        if won:
            expected.result = 1 if winner else -1
        return expected

    def start_anew(self, index: int, fen: str) -> None:
        """Begin another game in place of one that ended."""
        self.boards[index] = chess.Board(fen)
        self.steps[index] = 0


def promotion_winner(board: chess.Board) -> bool | None:
    """Who has won by a promotion: a piece that stands and cannot be taken at once."""
    pieces = board.occupied & ~board.kings
    if not pieces or board.pawns:
        return None
    owner = bool(board.occupied_co[chess.WHITE] & pieces)
    if board.turn != owner and any(board.is_capture(move) for move in board.legal_moves):
        return None
    return owner


def compare_results(games: VectorGames, expected: list[Expected]) -> None:
    """The outcome of the last step, array by array."""
    np.testing.assert_allclose(games.rewards, [e.reward for e in expected], rtol=1e-6)
    np.testing.assert_allclose(
        games.opponent_rewards, [e.opponent_reward for e in expected], rtol=1e-6
    )
    assert games.terminations.tolist() == [e.terminated for e in expected]
    assert games.truncations.tolist() == [e.truncated for e in expected]
    assert [ENDINGS[int(ending)] for ending in games.endings] == [e.ending for e in expected]
    assert games.results.tolist() == [e.result for e in expected]
    assert games.lengths.tolist() == [e.length for e in expected]


def compare_positions(games: VectorGames, slow: SlowGames, observed: list[int]) -> None:
    """What a learner sees of the games now under way; observations only of those listed."""
    assert games.fens() == [board.fen() for board in slow.boards]
    assert games.to_move.tolist() == [int(board.turn) for board in slow.boards]
    assert games.plies.tolist() == [len(board.move_stack) for board in slow.boards]
    for index in range(len(slow.boards)):
        begin, end = games.legal_offsets[index], games.legal_offsets[index + 1]
        found = games.legal_actions[begin:end].tolist()
        assert sorted(found) == sorted(slow.legal(index)), slow.boards[index].fen()
    encode = ENCODERS[slow.options.observation]
    for index in observed:
        np.testing.assert_allclose(
            games.observations[index], encode(slow.boards[index]), rtol=0, atol=1e-6
        )


def choose_random(games: VectorGames, rng: np.random.Generator) -> np.ndarray:
    """A uniformly random legal action for every game, int64 [N]."""
    counts = np.diff(games.legal_offsets)
    picks = games.legal_offsets[:-1] + (rng.random(len(counts)) * counts).astype(np.int64)
    return games.legal_actions[picks].astype(np.int64)
