"""Games as PGN: the one writer that arena, web page, terminal and training share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import chess
import chess.pgn

RESULTS = {1: "1-0", 0: "1/2-1/2", -1: "0-1"}  # by White's points
LONGEST_HEADER = 200  # characters


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
    """A game for python-chess to write.

    Args:
        moves: UCI, legal one after the other.
        white: Name of White.
        black: Name of Black.
        result: `1-0`, `0-1`, `1/2-1/2` or `*`.
        start: FEN of the first position.
        chess960: Whether castling moves go to the rook's square.
        headers: Further tags, such as Event and Termination; empty ones are left out.
        comments: One for each of the first moves; empty for none.
    """
    game = chess.pgn.Game()
    if start != chess.STARTING_FEN or chess960:
        game.setup(chess.Board(start, chess960=chess960))
    tags = {"White": white, "Black": black, "Result": result, **(headers or {})}
    game.headers.update({name: header_text(text) for name, text in tags.items() if text})
    node: chess.pgn.GameNode = game
    for number, move in enumerate(moves):
        node = node.add_variation(chess.Move.from_uci(move))
        node.comment = comments[number] if number < len(comments) else ""
    return game


def header_text(text: str) -> str:
    """Text that cannot end its tag: one line, without quotes and backslashes."""
    return " ".join(text.replace('"', "'").replace("\\", "/").split())[:LONGEST_HEADER]
