"""Players that wrap another player: with random moves mixed in, or with an opening book."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

from rookery._core import Game
from rookery.data.books import Book, find_book
from rookery.players.base import (
    Capabilities,
    Decision,
    Limits,
    Player,
    capabilities_of,
    legal_moves,
)
from rookery.players.spec import PlayerSpec, inner_spec


class MixedPlayer:
    """Plays a uniformly random move with probability `random`, else the inner player's.

    Stockfish at depth 1 with 75, 50 and 25 % random moves fills the gap between the greedy bot and
    the weakest Stockfish in even steps.
    """

    def __init__(self, inner: Player, random: float, name: str = "") -> None:
        """Wrap `inner`; `random` in [0, 1]."""
        if not 0.0 <= random <= 1.0:
            raise ValueError(f"share of random moves {random!r} is outside [0, 1]")
        self.inner = inner
        self.random = random
        self.name = name or f"{inner.name},random={random:g}"
        inside = capabilities_of(inner)
        self.capabilities = Capabilities(inside.timed, parts=(inner,), boards=inside.boards)

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Draw whether to move at random, then choose."""
        if rng.random() >= self.random:
            return self.inner.choose(game, rng, limits)
        moves = legal_moves(game)
        return Decision(moves[int(rng.integers(len(moves)))])

    def new_game(self) -> None:
        """Reset the inner player."""
        self.inner.new_game()

    def close(self) -> None:
        """Close the inner player."""
        self.inner.close()


class BookPlayer:
    """Plays from a Polyglot book while it contains the position, then as the inner player."""

    def __init__(self, inner: Player, path: str | None, name: str = "") -> None:
        """Open the book at `path`, or the first one in the usual places."""
        self.inner = inner
        self.book: Book = find_book(path)
        self.name = name or f"{inner.name},book={path or 'auto'}"
        self.capabilities = Capabilities(timed=capabilities_of(inner).timed, parts=(inner,))

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Draw a book move by weight, or let the inner player choose."""
        move = self.book.choose(game, rng)
        if move is not None:
            return Decision(move, details={"book": True})
        return self.inner.choose(game, rng, limits)

    def new_game(self) -> None:
        """Reset the inner player."""
        self.inner.new_game()

    def close(self) -> None:
        """Close book and inner player."""
        self.book.close()
        self.inner.close()


def book_player(spec: PlayerSpec, options: dict[str, Any]) -> BookPlayer:
    """The player `book`, with another player outside the book."""
    from rookery.players.registry import make_player

    inner = make_player(inner_spec(options.get("otherwise", "random")))
    return BookPlayer(inner, options.get("file"), str(spec))
