"""Reading and writing games as PGN, for arena, web page, terminal and training."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO, cast

import chess
import chess.pgn

from rookery._core import FenError, Game
from rookery.data.position_files import DamagedFileError, TextFile
from rookery.data.small_board import BoardHeaders, chess_board, game_of

RESULTS = {1: "1-0", 0: "1/2-1/2", -1: "0-1"}  # by White's points
POINTS = {text: points for points, text in RESULTS.items()}
STANDARD = ("standard", "from position")  # variants with the usual rules
LONGEST_HEADER = 400  # characters
LARGEST_GAME = 4 << 20  # characters, of a game with all its comments and variations
LONGEST_LINE = 16 << 10  # characters; longer lines are read in pieces
MOST_PLIES = 12_000  # longer than the longest game under the rules
_FIRST_TAG = re.compile(r"(?m)^(?=\[Event )")


def pgn_game(
    moves: Iterable[str],
    white: str,
    black: str,
    result: str,
    *,
    start: str = chess.STARTING_FEN,
    chess960: bool = False,
    headers: Mapping[str, str] | None = None,
    comments: Sequence[str] = (),
) -> chess.pgn.Game:
    """A game of python-chess from its moves in UCI.

    Args:
        moves: Legal moves in UCI.
        white: Name of White.
        black: Name of Black.
        result: `1-0`, `0-1`, `1/2-1/2` or `*`.
        start: FEN of the first position.
        chess960: Whether castling moves go to the rook's square.
        headers: Further tags, such as Event and Termination; empty ones are left out.
        comments: Comments on the first moves; "" for none.
    """
    game = chess.pgn.Game()
    game.headers = BoardHeaders(game.headers)
    if start != chess.STARTING_FEN or chess960:
        game.setup(chess_board(Game(start, chess960)))
    tags = {"White": white, "Black": black, "Result": result, **(headers or {})}
    game.headers.update({name: header_text(text) for name, text in tags.items() if text})
    node: chess.pgn.GameNode = game
    for number, move in enumerate(moves):
        node = node.add_variation(chess.Move.from_uci(move))
        node.comment = comments[number] if number < len(comments) else ""
    return game


def pgn_text(
    moves: Iterable[str],
    white: str,
    black: str,
    result: str,
    *,
    start: str = chess.STARTING_FEN,
    chess960: bool = False,
    headers: Mapping[str, str] | None = None,
    comments: Sequence[str] = (),
    columns: int = 80,
) -> str:
    """The text of a game on any board, from its moves in UCI; arguments as of `pgn_game`."""
    made = pgn_game(
        moves,
        white,
        black,
        result,
        start=start,
        chess960=chess960,
        headers=headers,
        comments=comments,
    )
    return str(made.accept(chess.pgn.StringExporter(columns=columns)))


def text_of(game: Game, tags: Mapping[str, str]) -> str:
    """A game as PGN, with its result as far as the rules decide it (`Game.pgn`)."""
    outcome = game.outcome()
    winner = None if outcome is None else outcome[1]
    points = 0 if winner is None else 1 if winner else -1
    result = "*" if outcome is None else RESULTS[points]
    headers = {"White": "?", "Black": "?", "Result": result, **tags}
    return pgn_text(
        game.moves(),
        headers.pop("White"),
        headers.pop("Black"),
        headers.pop("Result"),
        start=game.start_fen,
        chess960=game.chess960,
        headers=headers,
    )


def header_text(text: str) -> str:
    """Text that is safe in a tag: one line, without quotes and backslashes."""
    return " ".join(text.replace('"', "'").replace("\\", "/").split())[:LONGEST_HEADER]


class PgnGame(chess.pgn.BaseVisitor["PgnGame"]):
    """A parsed game: its main line, without variations and comments."""

    def __init__(self, plies: int | None = None) -> None:
        """Parse only the first `plies` (None: all)."""
        self.headers: dict[str, str] = {}
        self.start: chess.Board | None = None  # None: the game has no valid first position
        self.moves: list[str] = []  # UCI
        self.error = ""  # the first parse error
        self._plies = plies
        self._tags = BoardHeaders({})

    @property
    def points(self) -> int | None:
        """White's points as in `RESULTS`; None without a result."""
        return POINTS.get(self.headers.get("Result", "*"))

    @property
    def teaches(self) -> bool:
        """Whether it is usable for training: valid, standard chess, with moves and a result."""
        variant = self.headers.get("Variant", "Standard").lower()
        known = self.points is not None and variant in STANDARD
        return known and not self.error and bool(self.moves)

    def positions(self) -> Iterator[tuple[Game, str]]:
        """Every position with the move played in it; all are one `Game`, which is advanced."""
        try:
            position = game_of(self.start) if self.start else Game()
        except FenError:
            return
        for move in self.moves:
            if not position.is_legal(move):
                return
            yield position, move
            position.push(move)

    @property
    def lower_rating(self) -> int:
        """The lower rating of the two players; 0 if one is unknown."""
        texts = [self.headers.get(name, "") for name in ("WhiteElo", "BlackElo")]
        return min(int(text) if text.isdigit() else 0 for text in texts)

    # Called by python-chess

    def begin_headers(self) -> chess.pgn.Headers:
        """Let it find our boards by the tag Variant."""
        self._tags = BoardHeaders({})
        return self._tags

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        """Keep a tag."""
        self.headers[tagname] = self._tags[tagname] = tagvalue

    def visit_board(self, board: chess.Board) -> None:
        """Keep the first position."""
        if self.start is None:
            self.start = board.copy()

    def begin_variation(self) -> chess.pgn.SkipType:
        """Skip variations."""
        return chess.pgn.SKIP

    def begin_parse_san(self, board: chess.Board, san: str) -> chess.pgn.SkipType | None:
        """Stop parsing after the requested plies."""
        if self._plies is not None and len(self.moves) >= self._plies:
            return chess.pgn.SKIP
        if len(self.moves) >= MOST_PLIES:
            raise ValueError(f"the game is longer than {MOST_PLIES:,} plies")
        return None

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        """Keep a move."""
        self.moves.append(board.uci(move))
        if not move:
            self.handle_error(ValueError(f"null move after {' '.join(self.moves[:-1]) or 'none'}"))

    def visit_result(self, result: str) -> None:
        """Use the result after the moves if there is no Result tag."""
        if self.headers.get("Result", "*") == "*":
            self.headers["Result"] = result

    def handle_error(self, error: Exception) -> None:
        """Keep the first error."""
        self.error = self.error or str(error) or type(error).__name__

    def result(self) -> PgnGame:
        """The game itself."""
        return self


def _returning(game: PgnGame) -> Callable[[], PgnGame]:
    return lambda: game


class _Lines:
    """The lines of a PGN stream, in pieces of bounded length, of games of bounded size."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._waiting = ""  # read too far
        self._inside = False  # the last piece was not the end of its line
        self._left = LARGEST_GAME

    def begin_game(self) -> None:
        """Count the characters of the next game from here."""
        self._left = LARGEST_GAME

    def readline(self) -> str:
        """The next line; a ValueError in a game of too many characters."""
        line = self._next()
        self._left -= len(line)
        if self._left < 0:
            raise ValueError(f"the game has more than {LARGEST_GAME:,} characters")
        return line

    def skip_game(self) -> None:
        """Go on to the next line that begins a game: a tag after a line without one."""
        line, in_tags = self._next(), True
        while line and (in_tags or not line.startswith("[")):
            in_tags = line.startswith("[")
            line = self._next()
        self._waiting = line

    def _next(self) -> str:
        """A line, or a piece of one that does not end inside a move."""
        while True:
            line, self._waiting = self._waiting, ""
            if not line.endswith("\n"):
                line += self._stream.readline(max(1, LONGEST_LINE - len(line)))
            continued, self._inside = self._inside, False
            if len(line) >= LONGEST_LINE and not line.endswith("\n"):
                # The rest begins with its space, as no tag or comment line does.
                end = line.rfind(" ", 1)
                line, self._waiting = (line[:end], line[end:]) if end > 0 else (line, "")
                line += "\n"
                self._inside = True
            if not (continued and line.isspace()):  # which would mean the end of the game
                return line


def read_pgn(source: str | TextIO, plies: int | None = None) -> Iterator[PgnGame]:
    """Parse the games of a PGN text or stream, one at a time, each up to `plies`.

    A game that cannot be parsed, or that is larger than any game can be, has an `error` and
    whatever was read of it; the games after it are read all the same.
    """
    lines = _Lines(io.StringIO(source) if isinstance(source, str) else source)
    while True:
        game = PgnGame(plies)
        lines.begin_game()
        try:
            # python-chess asks for nothing but lines.
            found = chess.pgn.read_game(cast(TextIO, lines), Visitor=_returning(game))
        except (DamagedFileError, OSError, MemoryError):
            raise
        except Exception as error:  # python-chess's parser can raise anything
            game.handle_error(error)
            lines.skip_game()
            yield game
            continue
        if found is None:
            return
        yield found


def split_games(text: str) -> list[str]:
    """Split a PGN text into games, each beginning with its Event tag, without parsing."""
    return [game for game in _FIRST_TAG.split(text) if game.strip()]


def read_pgn_files(
    paths: Iterable[Path],
    plies: int | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> Iterator[PgnGame]:
    """The games of PGN files, plain or gzipped, read as streams.

    At the end `report` is called with a line if games could not be read to their end.
    """
    unreadable, first = 0, ""
    try:
        for path in paths:
            if not path.is_file():
                raise ValueError(f"PGN {str(path)!r}: there is no such file")
            with TextFile(path) as file:
                for game in read_pgn(file, plies):
                    if game.error:
                        unreadable += 1
                        first = first or f"{path}: {' '.join(game.error.split())[:120]}"
                    yield game
    finally:
        if unreadable:
            report(f"games that could not be read to their end: {unreadable}; the first: {first}")
