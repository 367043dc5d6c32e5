"""Interim rewards of Salisch 2023 (sections 3.1.5-3.1.6), vectorised.

The learner is rewarded for moves of the opening book and for moves that shorten the distance to the
win in a won tablebase position. `VectorGames` knows neither, so games in book positions or with few
pieces are looked up here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rookery._core import Game, VectorGames
from rookery.data.books import Book, find_book
from rookery.data.paths import MissingDataError
from rookery.data.tablebases import Tablebases, find_tablebases
from rookery.envs.rewards import Distance, InterimRewards, Rewards

CACHED_POSITIONS = 1 << 18


class VectorInterimRewards:
    """Rewards as in `rookery.envs.rewards`; call `before` and `after` each step."""

    def __init__(
        self,
        rewards: Rewards,
        count: int,
        book: Book | None,
        tablebases: Tablebases | None,
        actions: str = "az4672",
    ) -> None:
        """Prepare `count` games; without a book or tables there are no rewards for them."""
        self._actions, self._book_reward = actions, rewards.book
        self._book = book if rewards.book else None
        positions = sorted(self._book.positions()) if self._book is not None else []
        self._book_keys = np.array(positions, dtype=np.uint64)
        tables = tablebases if rewards.tablebase else None
        endings = tables.endings() if tables is not None else []
        self.sources = f"a book of {len(positions):,} entries, tables of {len(endings)} endings"
        self._max_pieces = max((len(name.replace("v", "")) for name in endings), default=0)
        self._games = [InterimRewards(rewards, None, tables) for _ in range(count)]
        self._book_actions: dict[int, frozenset[int]] = {}
        self._distance = lru_cache(CACHED_POSITIONS)(self._probe)
        self._rewards = np.zeros(count, dtype=np.float32)
        # Game, whether White moves, distance.
        self._watched: list[tuple[int, bool, Distance | None]] = []

    def before(
        self, games: VectorGames, actions: NDArray[np.int64], learning: NDArray[np.bool_]
    ) -> None:
        """Look up the positions in which `actions` [N] are about to be taken."""
        self._rewards[:] = 0.0
        self._watched.clear()
        if len(self._book_keys):
            keys = games.polyglot_keys
            near = np.searchsorted(self._book_keys, keys).clip(max=len(self._book_keys) - 1)
            for index in np.flatnonzero((self._book_keys[near] == keys) & learning):
                if int(actions[index]) in self._listed(games, int(index)):
                    self._rewards[index] += self._book_reward
        if self._max_pieces:
            few = (games.piece_counts <= self._max_pieces) & learning
            for index in np.flatnonzero(few):
                white = bool(games.to_move[index])
                distance = self._distance(games.fen(int(index)), white)
                self._watched.append((int(index), white, distance))

    def after(self, games: VectorGames) -> NDArray[np.float32]:
        """Rewards [N] for the moves made since `before`."""
        for index, white, distance in self._watched:
            ended = bool(games.terminations[index] | games.truncations[index])
            fen = games.final_fen(index) if ended else games.fen(index)
            after = self._distance(fen, white)
            self._rewards[index] += self._games[index].tablebase_reward(distance, after, white)
        for ended_game in np.flatnonzero(games.terminations | games.truncations):
            self._games[ended_game].new_game()
        return self._rewards

    def _listed(self, games: VectorGames, index: int) -> frozenset[int]:
        """The book's actions in a position that it contains."""
        key = int(games.polyglot_keys[index])
        if key not in self._book_actions:
            game = Game(games.fen(index))
            moves = self._book.moves(game) if self._book is not None else []
            self._book_actions[key] = frozenset(
                game.action_of(move.move, self._actions) for move in moves
            )
        return self._book_actions[key]

    def _probe(self, fen: str, white: bool) -> Distance | None:
        return self._games[0].distance(Game(fen), white)

    def state(self) -> list[dict[str, tuple[str, int]]]:
        """Distances stored for each game, with their metric, for an exact resume."""
        return [
            {str(int(side)): (metric, plies) for side, (metric, plies) in game.distances.items()}
            for game in self._games
        ]

    def load_state(self, state: list[dict[str, tuple[str, int]]]) -> None:
        """Restore a `state()`."""
        for game, stored in zip(self._games, state, strict=True):
            game.distances = {side == "1": Distance(*pair) for side, pair in stored.items()}


def find_interim_rewards(
    rewards: Rewards, count: int, actions: str, log: Callable[[str], object]
) -> VectorInterimRewards | None:
    """Interim rewards with the installed book and tables; None if the recipe has none."""
    if not rewards.book and not rewards.tablebase:
        return None
    book = None
    try:
        if rewards.book:
            book = find_book()
            log(f"rewards for book moves: {book.path}, {len(book):,} entries")
    except MissingDataError as error:
        log(f"rewards for book moves are off: {error}")
    tables = find_tablebases()
    if rewards.tablebase:
        log(f"rewards for tablebase progress: {tables.describe()}")
    return VectorInterimRewards(rewards, count, book, tables, actions)
