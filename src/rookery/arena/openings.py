"""Where games start: EPD or PGN files, random plies, or the start position.

An opening belongs to a pair of games: each player has it once with either colour. Files are
visited in an order shuffled by the seed; when a match is longer than the file it starts over,
which `OpeningBook.size` lets the caller notice.
"""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import chess.pgn
import numpy as np

from rookery._core import STARTING_FEN, FenError, Game, play_random_plies

_PGN_START = re.compile(r"(?m)^(?=\[Event )")


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
    """Gives each pair of games its opening; the same number always the same one."""

    @property
    def size(self) -> int | None:
        """Number of different openings; None if practically unlimited."""
        ...

    def opening(self, pair: int) -> Opening:
        """The opening of a pair."""
        ...


class StartPosition:
    """Every game from the usual start."""

    size = 1

    def opening(self, pair: int) -> Opening:
        """The start position."""
        return Opening(name="start")


class RandomPlies:
    """Random legal moves from the start, drawn once a pair and always unfinished."""

    size = None

    def __init__(self, plies: int, seed: int) -> None:
        """Draw `plies` random moves for each pair from `seed`."""
        if not 0 <= plies <= 200:
            raise ValueError(f"random:{plies} is outside random:0 to random:200")
        self._plies = plies
        self._seed = seed
        self._last = (-1, Opening())  # both games of a pair ask for the same one

    def opening(self, pair: int) -> Opening:
        """Draw until the opening does not end the game."""
        number, opening = self._last
        if number != pair:
            opening = self._draw(pair)
            self._last = (pair, opening)
        return opening

    def _draw(self, pair: int) -> Opening:
        numbers = np.random.SeedSequence(self._seed, spawn_key=(1, pair)).generate_state(64)
        for number in numbers:
            game = Game()
            played = play_random_plies(game, self._plies, int(number))
            if played == self._plies and game.outcome() is None and not game.is_threefold:
                return Opening(moves=tuple(game.moves()), name=f"random {self._plies} plies")
        raise ValueError(f"random:{self._plies} ends nearly every game; use fewer plies")


class OpeningList:
    """Openings from a file, in an order shuffled by the seed, each read when it is needed."""

    def __init__(self, sources: Sequence[str], read: Callable[[str], Opening], seed: int) -> None:
        """Keep the text of each opening; an empty list is refused."""
        if not sources:
            raise ValueError("it holds no position")
        self._sources = list(sources)
        self._read = read
        self._order = np.random.default_rng(
            np.random.SeedSequence(seed, spawn_key=(2,))
        ).permutation(len(self._sources))

    @property
    def size(self) -> int:
        """Number of openings in the file."""
        return len(self._sources)

    def opening(self, pair: int) -> Opening:
        """Openings repeat once all have been used."""
        return self._read(self._sources[int(self._order[pair % len(self._order)])])


def load_openings(spec: str, seed: int = 0, plies: int | None = None) -> OpeningBook:
    """Read an opening specification.

    Args:
        spec: `start`, `random:PLIES`, or a file: EPD/FEN lines or PGN, plain or gzipped.
        seed: orders files and draws random plies.
        plies: for PGN files, how many plies of each game to use (all by default).
    """
    if spec == "start":
        return StartPosition()
    if spec == "random" or spec.startswith("random:"):
        number = spec.partition(":")[2] or "8"
        if not number.isdigit():
            raise ValueError(f"openings {spec!r}: expected random:PLIES, for example random:8")
        return RandomPlies(int(number), seed)
    path = Path(spec)
    if not path.is_file():
        raise ValueError(
            f"openings {spec!r}: no such file; use 'start', 'random:8' or the path of an EPD or "
            "PGN file"
        )
    text = read_text(path)
    try:
        if ".pgn" in path.name.lower() or text.lstrip().startswith("[Event"):
            games = [game for game in _PGN_START.split(text) if game.strip()]
            return OpeningList(games, lambda game: _from_pgn(game, plies), seed)
        return OpeningList(_checked_lines(text), _from_epd, seed)
    except ValueError as error:
        raise ValueError(f"openings {spec!r}: {error}") from error


def read_text(path: Path) -> str:
    """Text of a plain or gzipped file; undecodable bytes do not stop it."""
    raw = path.read_bytes()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    return raw.decode("utf-8", "replace")


def complete_fen(text: str) -> str:
    """FEN from an EPD line: four fields, then either the two counters or operations."""
    words = text.split(";")[0].split()
    if len(words) < 4:
        raise FenError(f"{text[:80]!r} has fewer than the four fields of a position")
    counters = words[4:6]
    if len(counters) == 2 and all(word.isdigit() for word in counters):
        return " ".join(words[:6])
    return " ".join(words[:4]) + " 0 1"


def _checked_lines(text: str) -> list[str]:
    """Lines with an unfinished position; a bad one is an error that gives its number."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        try:
            if _from_epd(line).game().outcome() is None:
                lines.append(line)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
    return lines


def _from_epd(line: str) -> Opening:
    fen = complete_fen(line)
    return Opening(fen, name="EPD", chess960=_is_chess960(fen))


def _is_chess960(fen: str) -> bool:
    """Whether the castling field only makes sense for shuffled back ranks."""
    fields = fen.split()
    if len(fields) < 3 or fields[2] == "-":
        return False
    if not set(fields[2]) <= set("KQkq"):
        return True
    board = chess.Board(fen, chess960=True)
    return bool(board.castling_rights) and board.has_chess960_castling_rights()


def _from_pgn(text: str, plies: int | None) -> Opening:
    parsed = chess.pgn.read_game(io.StringIO(text))
    if parsed is None or parsed.errors:
        why = parsed.errors[0] if parsed is not None else "no game"
        raise ValueError(f"cannot read the opening {text[:80]!r}: {why}")
    board = parsed.board()
    moves = [move.uci() for move in parsed.mainline_moves()]
    name = " ".join(parsed.headers.get(key, "") for key in ("ECO", "Opening")).strip() or "PGN"
    return Opening(board.fen(), tuple(moves[:plies]), name, board.chess960)
