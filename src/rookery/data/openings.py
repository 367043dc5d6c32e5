"""Openings of matches: EPD or PGN files, random plies, or the start position.

An opening is used for a pair of games, with colours swapped. Files are read in an order shuffled by
the seed; a match with more pairs than `OpeningBook.size` repeats openings.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import chess
import numpy as np

from rookery._core import STANDARD_BOARD, STARTING_FEN, Game, play_random_plies, settled_material
from rookery.data.pgn import PgnGame, read_pgn, split_games
from rookery.data.position_files import complete_fen, position_lines, read_text

BALANCED = 100  # largest material advantage, in centipawns, in a balanced opening
PGN_READ_AHEAD = 2000  # games of a PGN file that are parsed at first, in a few seconds


@dataclass(frozen=True)
class Opening:
    """A start position and moves already played from it."""

    fen: str = STARTING_FEN
    moves: tuple[str, ...] = ()  # UCI
    name: str = ""
    chess960: bool = False

    def game(self) -> Game:
        """A fresh game with the opening's moves played."""
        game = Game(self.fen, self.chess960)
        for move in self.moves:
            game.push(move)
        return game


class OpeningBook(Protocol):
    """Assigns an opening to each pair of games, deterministically."""

    @property
    def size(self) -> int | None:
        """Number of different openings; None: practically unlimited."""
        ...

    def opening(self, pair: int) -> Opening:
        """The opening of a pair."""
        ...


class StartPosition:
    """Every game starts from the board's start position."""

    size = 1

    def __init__(self, board: str = STANDARD_BOARD) -> None:
        """Take the board's start position."""
        self._fen = Game(board=board).fen()

    def opening(self, pair: int) -> Opening:
        """The start position."""
        return Opening(self._fen, name="start")


class RandomPlies:
    """Random legal moves from the start position, drawn per pair, never ending the game.

    After eight random plies one side is down more than a pawn, mostly a piece, in 17 % of 2000
    openings. Such a pair often ends 1-1 whatever the players' strengths; `balanced` redraws it.
    """

    size = None

    def __init__(
        self, plies: int, seed: int, *, balanced: bool = False, board: str = STANDARD_BOARD
    ) -> None:
        """Draw `plies` random moves per pair, determined by `seed`."""
        self.name = f"{'balanced' if balanced else 'random'}:{plies}"
        if not 0 <= plies <= 200:
            kind = self.name.partition(":")[0]
            raise ValueError(f"{self.name} is outside {kind}:0 to {kind}:200")
        self._plies = plies
        self._balanced = balanced
        self._seed = seed
        self._board = board
        self._last = (-1, Opening())  # cached for the second game of a pair

    def opening(self, pair: int) -> Opening:
        """Draw until the game is unfinished and, if `balanced`, even."""
        number, opening = self._last
        if number != pair:
            opening = self._draw(pair)
            self._last = (pair, opening)
        return opening

    def _draw(self, pair: int) -> Opening:
        numbers = np.random.SeedSequence(self._seed, spawn_key=(1, pair)).generate_state(64)
        for number in numbers:
            game = Game(board=self._board)
            played = play_random_plies(game, self._plies, int(number))
            if played < self._plies or game.outcome() is not None or game.is_threefold:
                continue
            if not self._balanced or abs(settled_material(game)) <= BALANCED:
                name = f"random {self._plies} plies"
                return Opening(game.start_fen, tuple(game.moves()), name)
        what = "ends or loses" if self._balanced else "ends"
        raise ValueError(f"{self.name} {what} nearly every game; use fewer plies")


class OpeningList:
    """Openings from a file, in an order shuffled by the seed.

    Sources are parsed on demand, skipping those without a usable opening: pair n gets the n-th
    usable one in the shuffled order, whatever the order of calls.
    """

    def __init__(
        self, sources: Sequence[str], read: Callable[[str], Opening | None], seed: int
    ) -> None:
        """Take the texts of the openings, at least one of which must be usable."""
        order = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,))).permutation(
            len(sources)
        )
        self._left = iter([sources[int(i)] for i in order])
        self._read = read
        self._good: list[Opening] = []
        self._skipped = 0
        self._count = len(sources)
        self._lock = threading.Lock()  # all workers of a match share the book
        if not self.read_ahead(1):
            raise ValueError("it holds no position" if not sources else "all its games are over")

    @property
    def size(self) -> int:
        """Number of openings in the file; decreases as unusable ones are found."""
        return self._count - self._skipped

    def read_ahead(self, count: int) -> int:
        """Parse until there are `count` openings or the end; returns how many there are."""
        with self._lock:
            while len(self._good) < count:
                source = next(self._left, None)
                if source is None:
                    break
                opening = self._read(source)
                if opening is None:
                    self._skipped += 1
                else:
                    self._good.append(opening)
            return len(self._good)

    def opening(self, pair: int) -> Opening:
        """The opening of a pair; they repeat once all have been used."""
        return self._good[pair % self.read_ahead(pair + 1)]


def load_openings(
    spec: str, seed: int = 0, plies: int | None = None, board: str = STANDARD_BOARD
) -> OpeningBook:
    """Parse an opening specification.

    Args:
        spec: `start`, `random:PLIES`, `balanced:PLIES` (random plies that leave no side more than a
            pawn ahead), or a file: EPD/FEN lines or PGN, plain or gzipped; `FILE.pgn:PLIES` uses
            only that many plies of each game.
        seed: Shuffles files and draws random plies.
        plies: For PGN files, the number of plies used of each game (default: all).
        board: What is played; positions of a file must be of it.

    Games of a PGN file that cannot be parsed or are over at the end of the opening are skipped; a
    line on standard error says how many (of the first 2,000 in a large file).
    """
    if spec == "start":
        return StartPosition(board)
    kind, _, number = spec.partition(":")
    if kind in ("random", "balanced"):
        number = number or "8"
        if not number.isdigit():
            raise ValueError(f"openings {spec!r}: expected {kind}:PLIES, for example {kind}:8")
        return RandomPlies(int(number), seed, balanced=kind == "balanced", board=board)
    path, named_plies = split_plies(spec)
    if not path.is_file():
        raise ValueError(
            f"openings {spec!r}: no such file; use 'start', 'balanced:8', 'random:8' or the "
            "path of an EPD or PGN file"
        )
    text = read_text(path)
    try:
        if ".pgn" in path.name.lower() or text.lstrip().startswith("[Event"):
            if board != STANDARD_BOARD:
                raise ValueError("games of a PGN file are of the standard board; give positions")
            return _pgn_openings(text, named_plies or plies, seed, spec)
        if named_plies is not None:
            raise ValueError("only the games of a PGN file can be cut to a number of plies")
        return OpeningList(_checked_lines(text, board), _from_epd, seed)
    except ValueError as error:
        raise ValueError(f"openings {spec!r}: {error}") from error


def split_plies(spec: str) -> tuple[Path, int | None]:
    """Split `FILE:PLIES` into path and number, unless a file has that whole name."""
    name, colon, number = spec.rpartition(":")
    if colon and name and number.isdigit() and int(number) > 0 and not Path(spec).exists():
        return Path(name), int(number)
    return Path(spec), None


def _checked_lines(text: str, board: str) -> list[str]:
    """Lines with an unfinished position; an error names the number of an invalid line."""
    lines = []
    finished = 0
    for number, line in position_lines(text):
        try:
            fen = complete_fen(line)
            if Game(fen, _is_chess960(fen), board).outcome() is None:
                lines.append(line)
            else:
                finished += 1
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
    if finished and not lines:
        raise ValueError("all its positions are over")
    return lines


def _from_epd(line: str) -> Opening:
    fen = complete_fen(line)
    return Opening(fen, name="EPD", chess960=_is_chess960(fen))


def _is_chess960(fen: str) -> bool:
    """Whether the castling field is only valid in Chess960."""
    fields = fen.split()
    if len(fields) < 3 or fields[2] == "-":
        return False
    if not set(fields[2]) <= set("KQkq"):
        return True
    board = chess.Board(fen, chess960=True)
    return bool(board.castling_rights) and board.has_chess960_castling_rights()


def _from_pgn(game: PgnGame) -> Opening:
    if game.error:
        raise ValueError(game.error)
    if not game.moves and game.headers.keys() <= {"Result"}:
        raise ValueError("it has neither tags nor moves")
    start = game.start or chess.Board()
    name = " ".join(game.headers.get(key, "") for key in ("ECO", "Opening")).strip() or "PGN"
    return Opening(start.fen(), tuple(game.moves), name, start.chess960)


def _pgn_openings(text: str, plies: int | None, seed: int, spec: str) -> OpeningList:
    """The games of a PGN file that can be parsed and are not over at the end of the opening."""
    finished: list[str] = []
    bad: list[str] = []

    def read(game: str) -> Opening | None:
        try:
            opening = _from_pgn(next(read_pgn(game, plies), PgnGame()))
            played = opening.game()
        except ValueError as error:
            bad.append(" ".join(str(error).split())[:120])
            return None
        if played.outcome() is not None or played.is_threefold or played.is_fifty_moves:
            finished.append(game)
            return None
        return opening

    games = split_games(text)
    try:
        found = OpeningList(games, read, seed)
    except ValueError as error:
        if not bad:
            raise
        rest = f" ({len(finished)} others are over)" if finished else ""
        raise ValueError(f"no game can be read: {bad[0]}{rest}") from error
    found.read_ahead(PGN_READ_AHEAD)
    if bad or finished:
        seen = "" if len(games) <= PGN_READ_AHEAD else f" of {PGN_READ_AHEAD} looked at"
        parts = [f"{len(bad)} unreadable games (such as {bad[0]})"] if bad else []
        parts += [f"{len(finished)} finished games"] if finished else []
        print(
            f"rookery: warning: openings {spec!r}: left out {' and '.join(parts)}{seen}",
            file=sys.stderr,
        )
    return found
