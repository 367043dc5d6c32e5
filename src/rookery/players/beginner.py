"""A beginner: a player that overlooks what people overlook.

Below the engine's weakest level random moves are the usual way to lose, and nobody plays like that.
This player looks one move ahead, as a beginner does, and its mistakes are things not seen:

- A capture, its own or the opponent's, is seen with a probability that falls with the distance, is
  smaller for knights, long diagonals and moves backwards, and larger next to the last move.
- Before some moves it does not think of the opponent at all.
- Of the captures seen it reckons one exchange: what is taken, and whether it is taken back.
- Otherwise it follows habits: pieces out, castle, attack something, give check, take back, forward
  rather than back, the piece that moved last.

What is seen is drawn once per move, so two moves are judged by the same picture of the board. There
is no network, no search and no state: the move depends on the game and the random generator.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import chess
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rookery._core import Game
from rookery.players.base import Capabilities, Decision, Limits, legal_moves, require_board
from rookery.players.spec import PlayerSpec

VALUES = (0.0, 1.0, 3.0, 3.0, 5.0, 9.0, 4.0)  # pawns, by python-chess's number of a piece type
MATE = 100.0
TAKING, ATTACKING = 0.3, 0.3  # what it likes to take, and to attack, beyond the worth of it
CENTRE = chess.SquareSet([chess.D4, chess.E4, chess.D5, chess.E5])
OPENING_PLIES = 24  # while pieces are brought out
ENDING_PIECES = 12  # from here on pawns run and pieces approach the king


@dataclass(frozen=True)
class Habits:
    """What a beginner sees and likes; probabilities in [0, 1], scores in pawns."""

    own: float  # probability that a near, easy capture of its own is seen
    threats: float  # the same for the opponent's
    mates: float  # that a mate in one is seen
    heedless: float  # share of moves before which it does not think of the opponent
    mood: float  # scale of the Gumbel noise that is added to the score of a move
    taste: float  # weight of the habits among quiet moves


# The ends of the scale `skill` from 0 to 1; between them every number is interpolated.
LOWEST = Habits(own=0.20, threats=0.05, mates=0.10, heedless=0.75, mood=0.30, taste=1.0)
HIGHEST = Habits(own=0.99, threats=0.97, mates=1.0, heedless=0.02, mood=0.20, taste=1.0)

# Measured by `benchmarks/calibrate_levels.py --skills`, in games against the rungs of the ladder.
ELO_OF_SKILL: tuple[tuple[float, int], ...] = (
    (0, 270),
    (0.25, 440),
    (0.5, 700),
    (0.75, 790),
    (1, 1010),
)


def elo_of_skill(skill: float) -> float:
    """The measured Elo, interpolated between the skills of the table."""
    skills, elos = zip(*ELO_OF_SKILL, strict=True)
    return float(np.interp(skill, skills, elos))


def skill_of_elo(elo: float) -> float:
    """The skill with an Elo in the range of the table, to two decimals."""
    skills, elos = zip(*ELO_OF_SKILL, strict=True)
    if not elos[0] <= elo <= elos[-1]:
        raise ValueError(f"elo {elo:g} is not from {elos[0]} to {elos[-1]}")
    return round(float(np.interp(elo, elos, skills)), 2)


def habits_of(skill: float) -> Habits:
    """The habits at a skill in [0, 1]."""
    if not 0.0 <= skill <= 1.0:
        raise ValueError(f"skill {skill!r} is outside [0, 1]")
    names = [field.name for field in fields(Habits)]
    ends = [(getattr(LOWEST, name), getattr(HIGHEST, name)) for name in names]
    return Habits(*((1 - skill) * low + skill * high for low, high in ends))


class BeginnerPlayer:
    """Plays as its habits say; equal games and generators give equal moves."""

    def __init__(self, skill: float, name: str = "") -> None:
        """Take the habits of a `skill` in [0, 1]."""
        self.name = name or f"beginner,skill={skill:g}"
        self.habits = habits_of(skill)

    @property
    def capabilities(self) -> Capabilities:
        """Never timed."""
        return Capabilities()

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Look at the board once and take the move that looks best; `limits` are ignored."""
        require_board(self.name, self.capabilities.boards, game.board)
        moves = legal_moves(game)
        board = chess.Board(game.fen(), chess960=game.chess960)
        past = [chess.Move.from_uci(move) for move in game.moves()[-2:]]
        picture = Picture(board, past, self.habits, rng)
        scores = np.array([picture.score(chess.Move.from_uci(move)) for move in moves])
        noisy = scores + self.habits.mood * rng.gumbel(size=len(moves))
        return Decision(moves[int(noisy.argmax())])

    def new_game(self) -> None:
        """Do nothing: there is no state between games."""

    def close(self) -> None:
        """Do nothing: there are no resources."""


class Picture:
    """What a beginner sees of one position."""

    def __init__(
        self, board: chess.Board, past: list[chess.Move], habits: Habits, rng: Generator
    ) -> None:
        """Draw what is seen; `past` holds the last two moves, its own first, or fewer."""
        self._board, self._habits = board, habits
        self._side = board.turn
        self._last = past[-1].to_square if past else None  # of the opponent
        self._own_last = past[0].to_square if len(past) == 2 else None
        self._attention: NDArray[np.float64] = rng.random((64, 64))  # from, to
        self._heedless = rng.random() < habits.heedless
        self._sees_mate = rng.random() < habits.mates

    def score(self, move: chess.Move) -> float:
        """How good a legal move looks, in pawns."""
        board = self._board
        total = self._habits.taste * self._liking(move)
        if board.is_capture(move) and self._sees(move.from_square, move.to_square, self._side):
            total += VALUES[board.piece_type_at(move.to_square) or chess.PAWN] + TAKING
        if move.promotion:
            total += VALUES[move.promotion] - VALUES[chess.PAWN]
        board.push(move)
        if self._sees_mate and board.is_checkmate():
            total += MATE
        total += self._habits.taste * self._attack(move.to_square)
        if not self._heedless:
            total -= self._danger(move.to_square)
        board.pop()
        return total

    def _sees(self, start: int, end: int, side: chess.Color) -> bool:
        """Whether a capture from `start` to `end` by `side` is seen."""
        own = side == self._side
        chance = self._habits.own if own else self._habits.threats
        return bool(self._attention[start, end] < chance * self._plainness(start, end))

    def _plainness(self, start: int, end: int) -> float:
        """How easily a capture is noticed, in [0, 1]; 1 for a neighbour's."""
        ranks = chess.square_rank(end) - chess.square_rank(start)
        files = chess.square_file(end) - chess.square_file(start)
        distance = max(abs(ranks), abs(files))
        plain = 0.88 ** max(0, distance - 2)
        if abs(ranks) == abs(files) and distance > 2:
            plain *= 0.8  # a long diagonal
        elif ranks and files and abs(ranks) != abs(files):
            plain *= 0.85  # a knight
        if (ranks < 0) == (self._side == chess.WHITE) and ranks:
            # Backwards for our own pieces; towards us, and in plain view, for the opponent's.
            plain *= 0.8 if self._board.color_at(start) == self._side else 1.0
        if self._last is not None and self._last in (start, end):
            plain = 1 - 0.4 * (1 - plain)  # all look at the piece that has just moved
        return plain

    def _danger(self, moved: int) -> float:
        """The most that the opponent is seen to win by one capture after a move, in pawns."""
        board, side = self._board, self._side
        worst = 0.0
        pieces = board.occupied_co[side] & ~board.kings
        for square in chess.scan_forward(pieces):
            attackers = board.attackers_mask(not side, square)
            if not attackers:
                continue
            value = VALUES[board.piece_type_at(square) or 0]
            if value <= worst:
                continue
            defended = bool(board.attackers_mask(side, square))
            for start in chess.scan_forward(attackers):
                taker = VALUES[board.piece_type_at(start) or 0]
                loss = max(0.0, value - taker) if defended else value
                # One looks at least at the square to which one moves.
                seen = self._sees(start, square, not side) or (
                    square == moved and self._sees(square, start, not side)
                )
                if loss > worst and seen:
                    worst = loss
        return worst

    def _attack(self, moved: int) -> float:
        """The liking for a move after which the piece attacks something it could win."""
        board, side = self._board, self._side
        own = VALUES[board.piece_type_at(moved) or 0]
        targets = board.attacks_mask(moved) & board.occupied_co[not side] & ~board.kings
        for square in chess.scan_forward(targets):
            more = VALUES[board.piece_type_at(square) or 0] > own
            if more or not board.attackers_mask(not side, square):
                return ATTACKING
        return 0.0

    def _liking(self, move: chess.Move) -> float:
        """The habits among quiet moves, in pawns."""
        board, side = self._board, self._side
        piece = board.piece_type_at(move.from_square) or chess.PAWN
        home = 0 if side == chess.WHITE else 7
        ahead = chess.square_rank(move.to_square) - chess.square_rank(move.from_square)
        ahead = ahead if side == chess.WHITE else -ahead
        liking = 0.06 * ahead if ahead > 0 else 0.12 * ahead
        if board.gives_check(move):
            liking += 0.35
        if move.from_square == self._own_last:
            liking += 0.15
        if self._last == move.to_square:
            liking += 0.5  # taking back
        if board.is_castling(move):
            liking += 0.9
        elif piece == chess.KING:
            liking -= 0.5 if board.queens else 0.0
        if board.ply() < OPENING_PLIES:
            liking += self._opening(move, piece, home)
        if chess.popcount(board.occupied) <= ENDING_PIECES:
            liking += self._ending(move, piece, ahead)
        return liking

    def _opening(self, move: chess.Move, piece: int, home: int) -> float:
        file = chess.square_file(move.to_square)
        if piece in (chess.KNIGHT, chess.BISHOP):
            out = chess.square_rank(move.from_square) == home
            return (0.55 if out else 0.0) - (0.25 if file in (0, 7) else 0.0)
        if piece == chess.PAWN:
            return 0.7 if move.to_square in CENTRE else 0.25 if file in (3, 4) else -0.1
        return -0.2 if piece == chess.ROOK else 0.0

    def _ending(self, move: chess.Move, piece: int, ahead: int) -> float:
        if piece == chess.PAWN:
            return 0.3 * ahead
        king = self._board.king(not self._side)
        if king is None:
            return 0.0
        nearer = chess.square_distance(move.from_square, king)
        return 0.08 * (nearer - chess.square_distance(move.to_square, king))


def beginner_player(spec: PlayerSpec, options: dict[str, Any]) -> BeginnerPlayer:
    """The player `beginner`."""
    return BeginnerPlayer(options.get("skill", 0.5), str(spec))
