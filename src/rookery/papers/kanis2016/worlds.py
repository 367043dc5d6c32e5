"""The environments of Kanis 2016, vectorised: a king on a grid, a king with its pawn, KPK.

The agent is to move in every game; `step` makes its moves and the opponent's replies, and restarts
finished games. Actions are those of the layout `kpk`: eight king steps, pawn one square, pawn two
squares.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import chess
import numpy as np
from numpy.typing import NDArray

from rookery._core import NOT_WON, EndingStates, Game, VectorGames, bot_names
from rookery.data.kpk_levels import kpk_squares
from rookery.papers.kanis2016.recipe import WorldSettings
from rookery.players.base import Player, capabilities_of
from rookery.players.remembered import RememberedPlayer
from rookery.runs.state import State

ACTIONS = 10
STEPS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))  # rank, file
FORWARD = (0, 1, 7)  # the steps that gain a rank
PASS = -1  # not an action: the game does not move
UNASKED = -2  # the opponent's reply is not known yet


@dataclass(frozen=True)
class Step:
    """Results of one move in each game and the opponent's replies."""

    rewards: NDArray[np.float32]  # [N]
    ended: NDArray[np.bool_]  # [N] by the rules
    cut: NDArray[np.bool_]  # [N] by the move limit, without a result
    won: NDArray[np.bool_]  # [N]


class World(Protocol):
    """N games in which the agent is to move. Derive from it to inherit the defaults."""

    squares: NDArray[np.int64]  # [N, 3] strong king, pawn, weak king, as the agent sees them
    legal: NDArray[np.bool_]  # [N, 10]
    promising: NDArray[np.bool_]  # [N] whether the game began in a position that can be won

    @abstractmethod
    def step(self, actions: NDArray[np.int64]) -> Step:
        """Make a move in each game; an illegal action is penalised and changes nothing."""

    @abstractmethod
    def save(self, state: State) -> None:
        """Store the games under way and the random stream."""

    @abstractmethod
    def load(self, state: State) -> None:
        """Resume stored games."""

    def choose_opponent(self, progress: float) -> str:
        """Switch to the opponent of this share of the run, [0, 1]; its name, "" if unchanged."""
        return ""

    def close(self) -> None:
        """Release the opponent's resources."""
        return


def make_world(settings: WorldSettings, count: int, seed: int) -> World:
    """Make `count` games of the recipe's world."""
    return (PawnEnding if settings.name == "kpk" else Grid)(settings, count, seed)


class PawnEnding(World):
    """King and pawn against king in `VectorGames`; the agent has White."""

    def __init__(self, settings: WorldSettings, count: int, seed: int) -> None:
        """Begin games from random positions."""
        self._limit = settings.max_moves
        self.games = VectorGames(
            count,
            "kpk3",
            "kpk",
            seed,
            claims="off",
            promotion_wins=True,
            **starts_of(settings.level),
            win=settings.win,
            loss=settings.draw,
            draw=settings.draw,
            move=settings.move,
            illegal=settings.illegal,
            on_illegal="penalty",
        )
        self._settings = settings
        self._opponents = settings.opponents or [settings.opponent]
        self._opponent = ""
        self._player: Player | None = None  # None: a bot of the core
        # Cached actions of a `RememberedPlayer`, by squares of strong king, pawn, weak king.
        self._answers = np.zeros((0, 0, 0), dtype=np.int8)
        self._rng = np.random.default_rng(seed)
        self._moves = np.zeros(count, dtype=np.int64)
        self._look()
        self.promising = won_starts()[tuple(self.squares.T)]
        self.choose_opponent(0.0)

    def choose_opponent(self, progress: float) -> str:
        """Switch to the opponent of this share of the run; its name, "" if unchanged."""
        shares = np.array(self._settings.shares or [1.0] * len(self._opponents))
        ends = np.cumsum(shares) / shares.sum()
        phase = min(int(np.searchsorted(ends, progress, side="right")), len(ends) - 1)
        if self._opponents[phase] == self._opponent:
            return ""
        self.close()
        self._opponent = self._opponents[phase]
        if self._opponent not in bot_names():
            self._player = make_opponent(self._opponent, self._settings.remember)
            self._answers = np.full((64, 64, 64), UNASKED, dtype=np.int8)
        return self._opponent

    def _look(self) -> None:
        planes = self.games.observations.reshape(len(self.games), 3, 64)
        self.squares = planes.argmax(-1)
        offsets = self.games.legal_offsets
        rows = np.repeat(np.arange(len(self.games)), np.diff(offsets))
        self.legal = np.zeros((len(self.games), ACTIONS), dtype=np.bool_)
        self.legal[rows, self.games.legal_actions] = True

    def step(self, actions: NDArray[np.int64]) -> Step:
        """The agent's moves, then the opponent's in the games that are not over."""
        games = self.games
        games.step(actions)
        rewards, ended = games.rewards.copy(), games.terminations.copy()
        won = ended & (games.results == 1)
        waiting = games.to_move == 0  # a restarted game has White to move
        if waiting.any():
            games.step(np.where(waiting, self._replies(waiting), PASS))
            rewards[waiting] += games.opponent_rewards[waiting]
            over = waiting & games.terminations
            won |= over & (games.results == 1)
            ended |= over
        self._moves = np.where(ended, 0, self._moves + 1)
        self._look()
        # After the move limit the same board continues as a new game.
        cut = (self._moves >= self._limit) & (self._limit > 0)
        self._moves[cut] = 0
        fresh = won_starts()[tuple(self.squares.T)]
        self.promising = np.where(ended | cut, fresh, self.promising)
        return Step(rewards, ended, cut, won)

    def _replies(self, waiting: NDArray[np.bool_]) -> NDArray[np.int64]:
        if self._player is None:
            return self.games.bot_actions(self._opponent, waiting)
        replies = np.full(len(self.games), PASS, dtype=np.int64)
        if not isinstance(self._player, RememberedPlayer):
            for index in np.flatnonzero(waiting):
                replies[index] = self._ask(self._player, int(index))
            return replies
        planes = self.games.observations.reshape(len(self.games), 3, 64)
        squares = planes[waiting].argmax(-1)
        found = self._answers[tuple(squares.T)]
        for place in np.flatnonzero(found == UNASKED):
            found[place] = self._ask(self._player, int(np.flatnonzero(waiting)[place]))
            if squares[place, 1]:  # after promotion the pawn's plane is empty: not a unique key
                self._answers[tuple(squares[place])] = found[place]
        replies[waiting] = found
        return replies

    def _ask(self, player: Player, index: int) -> int:
        """The opponent's action in one game."""
        game = Game(self.games.fen(index))
        move = player.choose(game, self._rng).move
        if not game.is_legal(move):  # as in the paper: Sunfish's illegal moves become random ones
            move = str(self._rng.choice(game.legal_moves()))
        return int(game.action_of(move, "kpk"))

    def save(self, state: State) -> None:
        """Store games, move counts and the opponent's random stream."""
        state.put_bytes("games", self.games.get_state())
        state.values["moves"] = self._moves.tolist()
        state.values["promising"] = self.promising.tolist()
        state.put_generator("opponent", self._rng)

    def load(self, state: State) -> None:
        """Resume stored games."""
        self.games.set_state(state.get_bytes("games"))
        self._moves = np.array(state.value("moves"), dtype=np.int64)
        self.promising = np.array(state.value("promising"), dtype=np.bool_)
        state.get_generator("opponent", self._rng)
        self._look()

    def close(self) -> None:
        """Close the opponent."""
        if self._player is not None:
            self._player.close()
            self._player = None


def starts_of(level: str) -> dict[str, Any]:
    """Options of `VectorGames`: random positions of the ending, or those of a level."""
    if not level:
        return {"material": "KPvK"}
    fens = []
    for king, pawn, weak in kpk_squares(level).tolist():
        board = chess.Board(None)
        board.set_piece_at(king, chess.Piece(chess.KING, chess.WHITE))
        board.set_piece_at(pawn, chess.Piece(chess.PAWN, chess.WHITE))
        board.set_piece_at(weak, chess.Piece(chess.KING, chess.BLACK))
        fens.append(board.fen())
    return {"start_fens": fens}


def make_opponent(name: str, remember: bool) -> Player:
    """Make the bare king's player; answers of engines with fixed nodes or depth can be cached."""
    from rookery.papers.kanis2016.sunfish import NativeSunfish
    from rookery.players.programs.uci_engine import UciPlayer
    from rookery.players.registry import make_player
    from rookery.players.remembered import answers_file

    player = make_player(name)
    engine = isinstance(player, UciPlayer | NativeSunfish)
    if remember and engine and capabilities_of(player).timed is False:
        return RememberedPlayer(player, answers_file(name))
    return player


@cache
def won_starts() -> NDArray[np.bool_]:
    """Which positions can be won, [64, 64, 64]: king, pawn, weak king; the pawn's side to move.

    Computed from the rules, for statistics only: agents do not see it.
    """
    from rookery.algorithms.endgame import truth_of

    states = EndingStates(["KPvK"], "promotion")
    strong = (states.ending_of() == 0) & (states.strong_to_move() == 1)
    won = np.flatnonzero(strong & (truth_of(states) != NOT_WON))
    king, pawn, weak = states.squares()[won].astype(np.int64).T[:3]
    found = np.zeros((64, 64, 64), dtype=np.bool_)
    found[king, pawn, weak] = True
    found[king ^ 7, pawn ^ 7, weak ^ 7] = True  # the pawn on the files e to h
    found.setflags(write=False)
    return found


class Grid(World):
    """The tasks of sections 4.1.1 and 4.1.2, whose opponent does not move.

    `king`: bring the king to the last rank; with `blocker`, around the other king. The pawn's plane
    is constant. `king-pawn`: bring the pawn to the seventh rank, with the king next to the
    promotion square. Both may start on given squares, as the paper's first steps did.
    """

    def __init__(self, settings: WorldSettings, count: int, seed: int) -> None:
        """Begin games on random squares."""
        self._settings = settings
        self._rng = np.random.default_rng(seed)
        self._pawn = settings.name == "king-pawn"
        self._kings = squares_named(settings.king_squares, range(64))
        self._pawns = squares_named(settings.pawn_squares, range(8, 56))
        self.squares = np.zeros((count, 3), dtype=np.int64)
        self._moves = np.zeros(count, dtype=np.int64)
        self.promising = np.ones(count, dtype=np.bool_)
        self._begin(np.ones(count, dtype=np.bool_))

    def _begin(self, where: NDArray[np.bool_]) -> None:
        """Restart games on random squares; no game is over at its start."""
        open_ones = np.flatnonzero(where)
        while len(open_ones):
            count = len(open_ones)
            fresh = np.zeros((count, 3), dtype=np.int64)
            fresh[:, 0] = self._rng.choice(self._kings, count)
            if self._pawn:
                fresh[:, 1] = self._rng.choice(self._pawns, count)
            if self._settings.blocker:
                fresh[:, 2] = self._rng.integers(0, 64, count)
            self.squares[open_ones] = fresh
            bad = self._reached(fresh)
            bad |= (fresh[:, 0] == fresh[:, 1]) if self._pawn else False
            if self._settings.blocker:
                bad |= _steps(fresh[:, 0], fresh[:, 2]) <= 1
            open_ones = open_ones[bad]
        self._moves[where] = 0
        self.legal = self._find_legal()

    def _reached(self, squares: NDArray[np.int64]) -> NDArray[np.bool_]:
        king, pawn = squares[:, 0], squares[:, 1]
        reached = king >= 56
        if self._pawn:
            reached = (pawn >= 48) & (pawn < 56) & (_steps(king, pawn + 8) == 1) & (king != pawn)
        return reached

    def _targets(self) -> NDArray[np.int64]:
        """Target squares [N, 10] of each action; -1 outside the board."""
        king, pawn = self.squares[:, 0], self.squares[:, 1]
        targets = np.full((len(king), ACTIONS), -1, dtype=np.int64)
        for action, (ranks, files) in enumerate(STEPS):
            rank, file = king // 8 + ranks, king % 8 + files
            inside = (rank >= 0) & (rank < 8) & (file >= 0) & (file < 8)
            targets[:, action] = np.where(inside, 8 * rank + file, -1)
        if self._pawn:
            targets[:, 8] = np.where(pawn < 48, pawn + 8, -1)
            free = (pawn < 16) & (pawn + 8 != king)
            targets[:, 9] = np.where(free, pawn + 16, -1)
        return targets

    def _find_legal(self) -> NDArray[np.bool_]:
        targets = self._targets()
        legal = targets >= 0
        if self._pawn:
            legal[:, :8] &= targets[:, :8] != self.squares[:, 1:2]
            legal[:, 8:] &= targets[:, 8:] != self.squares[:, 0:1]
        if self._settings.blocker:
            legal[:, :8] &= _steps(targets[:, :8], self.squares[:, 2:3]) > 1
        return legal

    def step(self, actions: NDArray[np.int64]) -> Step:
        """Move a piece in each game."""
        self.squares = self.squares.copy()  # the caller may hold the old array
        each = np.arange(len(actions))
        legal = self.legal[each, actions]
        targets = self._targets()[each, actions]
        piece = (actions >= 8).astype(np.int64)
        self.squares[each[legal], piece[legal]] = targets[legal]
        won = legal & self._reached(self.squares)
        settings = self._settings
        rewards = np.where(legal, settings.move, settings.illegal) + settings.win * won
        if settings.forward:
            rewards += settings.forward * (legal & np.isin(actions, FORWARD))
        self._moves += 1
        cut = ~won & (self._moves >= settings.max_moves) & (settings.max_moves > 0)
        self._begin(won | cut)
        return Step(rewards.astype(np.float32), won, cut, won)

    def save(self, state: State) -> None:
        """Store squares, move counts and the random stream."""
        state.values["squares"] = self.squares.tolist()
        state.values["moves"] = self._moves.tolist()
        state.put_generator("grid", self._rng)

    def load(self, state: State) -> None:
        """Resume stored games."""
        self.squares = np.array(state.value("squares"), dtype=np.int64)
        self._moves = np.array(state.value("moves"), dtype=np.int64)
        state.get_generator("grid", self._rng)
        self.legal = self._find_legal()


def squares_named(names: list[str], otherwise: range) -> NDArray[np.int64]:
    """Numbers of the squares, or all of `otherwise` if there are no names."""
    return np.array([chess.parse_square(name) for name in names] or otherwise, dtype=np.int64)


def _steps(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """King steps between two squares."""
    ranks, files = np.abs(one // 8 - other // 8), np.abs(one % 8 - other % 8)
    return np.asarray(np.maximum(ranks, files))
