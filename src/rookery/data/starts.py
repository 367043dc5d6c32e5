"""Start positions of environments, evaluations and self-play.

`start_positions` understands these texts:

| text | meaning |
|---|---|
| `standard` | the starting position of the board |
| `random:4`, `random:2-8` | that many random legal plies after it |
| `KRvK`, `KPvK:black`, `KQvKR:random` | a random legal position with this material and side to move (White if not said) |
| `kpk:all`, `kpk:easy`, `kpk:intermediate`, `kpk:hard` | the levels of Kanis 2016 (`data/kpk_levels.py`), White with the pawn and to move; `kpk:easy:black` mirrors |
| a FEN | that position |
| a path | a FEN or EPD per line of that file, drawn uniformly (`.gz` is unpacked) |

A list of FENs is accepted as well. The random generator is always an argument.
"""  # noqa: E501 (the table)

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from rookery._core import STANDARD_BOARD, FenError, Game, play_random_plies, random_position
from rookery.data.kpk_levels import kpk_fen, kpk_fens, kpk_squares
from rookery.data.position_files import read_positions
from rookery.data.puzzles import themed_puzzles

MATERIAL = re.compile(r"(K[QRBNP]*vK[QRBNP]*)(?::(white|black|random))?")
RANK = "[1-8pnbrqkPNBRQK]+"
PLACEMENT = re.compile(rf"\s*{RANK}(?:/{RANK}){{2,7}}\s")  # the beginning of a FEN
LONGEST_PATH = 4096
SHOWN = 100  # characters of a text repeated in an error message
ATTEMPTS = 1000  # draws without an unfinished game before an error
ENDING_POSITIONS = 500  # random positions per ending in `random_endings`
MOST_POSITIONS = 100_000  # of a file in `start_fens`; a random subset of larger files


class StartPositions(Protocol):
    """A distribution over unfinished games."""

    def sample(self, rng: np.random.Generator) -> Game:
        """Draw a game, including any plies before the start."""
        ...

    def vector_options(self) -> dict[str, object]:
        """The same distribution as keyword arguments of `VectorGames`."""
        ...


@dataclass(frozen=True)
class RandomPlies:
    """The board's start position after `low` to `high` random legal plies, both included."""

    low: int = 0
    high: int = 0
    board: str = STANDARD_BOARD

    def __post_init__(self) -> None:
        """Check the bounds."""
        if not 0 <= self.low <= self.high:
            raise ValueError(f"random plies from {self.low} to {self.high}: need 0 <= from <= to")

    def sample(self, rng: np.random.Generator) -> Game:
        """Play random plies, again if the game ends."""
        for _ in range(ATTEMPTS):
            game = Game(board=self.board)
            plies = int(rng.integers(self.low, self.high + 1))
            if plies == 0:
                return game
            played = play_random_plies(game, plies, _seed(rng))
            if played == plies and game.outcome() is None:
                return game
        raise ValueError(f"{self.high} random plies end the game in each of {ATTEMPTS} attempts")

    def vector_options(self) -> dict[str, object]:
        """See `StartPositions`."""
        return {"random_plies": (self.low, self.high), "board": self.board}


@dataclass(frozen=True)
class FenList:
    """Positions drawn uniformly from a list."""

    fens: tuple[str, ...]
    board: str = STANDARD_BOARD

    def __post_init__(self) -> None:
        """Check all positions now, to find an invalid line before training starts."""
        if not self.fens:
            raise ValueError("the list of start positions is empty")
        for number, fen in enumerate(self.fens, start=1):
            _check_position(fen, f"start position {number}", self.board)

    def sample(self, rng: np.random.Generator) -> Game:
        """Draw one of the positions."""
        return Game(self.fens[int(rng.integers(len(self.fens)))], board=self.board)

    def vector_options(self) -> dict[str, object]:
        """See `StartPositions`."""
        return {"start_fens": list(self.fens), "board": self.board}


@dataclass(frozen=True)
class Material:
    """Random legal positions with given material."""

    signature: str  # White's pieces first, such as "KRvK"
    side: str = "white"  # to move: "white", "black" or "random"
    board: str = STANDARD_BOARD

    def sample(self, rng: np.random.Generator) -> Game:
        """Draw a position uniformly from all legal, unfinished ones."""
        return Game(random_position(self.signature, _seed(rng), self.side, self.board))

    def vector_options(self) -> dict[str, object]:
        """See `StartPositions`."""
        return {
            "material": self.signature,
            "material_side": self.side,
            "board": self.board,
        }


@dataclass(frozen=True)
class KpkLevel:
    """King and pawn against king at one of the levels of Kanis 2016, the pawn side to move."""

    level: str = "all"
    strong: str = "white"  # the side with the pawn

    def __post_init__(self) -> None:
        """Check level and side."""
        kpk_fen(kpk_squares(self.level)[0], self.strong)

    def sample(self, rng: np.random.Generator) -> Game:
        """Draw a position of the level uniformly."""
        squares = kpk_squares(self.level)
        return Game(kpk_fen(squares[int(rng.integers(len(squares)))], self.strong))

    def vector_options(self) -> dict[str, object]:
        """See `StartPositions`."""
        return {"start_fens": kpk_fens(self.level, self.strong)}


def start_positions(
    what: str | Sequence[str] | StartPositions, board: str = STANDARD_BOARD
) -> StartPositions:
    """The distribution given by a text (table above), a list of FENs or itself."""
    if isinstance(what, str):
        return _parse(what, board)
    if isinstance(what, Sequence):
        return FenList(tuple(what), board)
    return what


def _parse(text: str, board: str) -> StartPositions:
    """Parse a text of the table in this module's docstring."""
    if text == "standard":
        return RandomPlies(board=board)
    if match := re.fullmatch(r"random:(\d+)(?:-(\d+))?", text):
        return RandomPlies(int(match[1]), int(match[2] or match[1]), board)
    if match := re.fullmatch(r"kpk:(\w+)(?::(\w+))?", text):
        if board != STANDARD_BOARD:
            raise ValueError(f"start positions {text!r} are of the standard board, not of {board}")
        return KpkLevel(match[1], match[2] or "white")
    if match := MATERIAL.fullmatch(text):
        return Material(match[1], match[2] or "white", board)
    if not PLACEMENT.match(text) and _is_file(text):
        return _positions_of_file(text, board)
    if " " in text.strip():
        return FenList((text,), board)
    raise ValueError(
        f"start positions {text[:SHOWN]!r}: neither 'standard', 'random:PLIES', 'kpk:LEVEL', "
        "material such as 'KRvK', a FEN nor an existing file"
    )


def _positions_of_file(path: str, board: str) -> FenList:
    """Read start positions from a file; errors name the line."""
    positions = read_positions(path)
    if not positions:
        raise ValueError(f"{path} holds no start positions")
    for number, fen in positions:
        _check_position(fen, f"{path}, line {number}", board)
    return FenList(tuple(fen for _, fen in positions), board)


def _is_file(text: str) -> bool:
    """Tell whether a text is the path of a file."""
    try:
        return len(text) <= LONGEST_PATH and Path(text).is_file()
    except (OSError, ValueError):  # an impossible name
        return False


def _check_position(fen: str, place: str, board: str) -> None:
    """Refuse an invalid FEN, or a position in which the game is over."""
    try:
        outcome = Game(fen, board=board).outcome()
    except FenError as error:
        raise FenError(f"{place}: {error}") from None
    if outcome is not None:
        raise FenError(f"{place}: the game is over in {fen!r}")


def _seed(rng: np.random.Generator) -> int:
    """Draw a seed for the core's generator."""
    return int(rng.integers(2**63))


# --- Lists of positions for self-play ---


def start_fens(
    file: str,
    themes: list[str],
    endings: list[str],
    rng: np.random.Generator,
    log: Callable[[str], None] = lambda text: None,
    board: str = STANDARD_BOARD,
) -> list[str]:
    """Positions of a file (with these themes, if it contains puzzles), then random endings."""
    fens = []
    if file:
        fens = playable_positions(Path(file), themes)
        if len(fens) > MOST_POSITIONS:
            chosen = rng.permutation(len(fens))[:MOST_POSITIONS]
            fens = [fens[i] for i in sorted(chosen)]
        log(f"{len(fens)} start positions from {file}")
    return fens + random_endings(endings, rng, board)


def playable_positions(path: Path, themes: list[str]) -> list[str]:
    """FENs with a legal move, from puzzles (CSV) with any of the themes or a position file."""
    if ".csv" in path.suffixes:
        found = [puzzle.fen for puzzle in themed_puzzles(path, themes)]
    elif path.is_file():
        found = [fen for _, fen in read_positions(path)]
    else:
        raise ValueError(f"selfplay.start_file {str(path)!r}: there is no such file")
    fens = [fen for fen in found if Game(fen).legal_count()]
    if not fens:
        raise ValueError(f"{path} has no position with the themes {', '.join(themes)}")
    return fens


def random_endings(
    endings: Sequence[str], rng: np.random.Generator, board: str = STANDARD_BOARD
) -> list[str]:
    """Random positions with material such as KRvK, for each side in turn."""
    fens = []
    for material in endings:
        strong, weak = material.split("v")
        for number in range(ENDING_POSITIONS):
            sides = material if number % 2 else f"{weak}v{strong}"
            fens.append(random_position(sides, int(rng.integers(1 << 62)), "random", board))
    return fens
