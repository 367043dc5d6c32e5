"""Games as JSON for the page, and FEN and PGN from the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import chess

from rookery._core import STANDARD_BOARD, STARTING_FEN, Game
from rookery.data.notation import sans_of
from rookery.data.pgn import read_pgn
from rookery.players.thinking import Line, MoveNote, Thought

LONGEST_FEN = 120  # characters; legal ones have fewer than 100
LONGEST_PGN = 48 * 1024
MOST_PLIES = 2000  # of a game in PGN
SHOWN_PLIES = 12  # of a principal variation
SHOWN_NOTES = 40
SHOWN_LINES = 5
# Castling move of a king: square of the rook.
CASTLING_ROOKS = {"e1g1": "h1", "e1c1": "a1", "e8g8": "h8", "e8c8": "a8"}


@dataclass(frozen=True)
class Entry:
    """One move of the game."""

    uci: str
    san: str
    fen: str  # after the move
    check: bool
    value: float | None  # [-1, 1], for the side that moved; None: unknown
    by: str = ""  # who moved instead of the player, and why

    def to_json(self) -> dict[str, Any]:
        """Return the JSON for the page; the value is White's."""
        value = self.value
        if value is not None and " w " in self.fen:  # Black has moved
            value = -value
        return {
            "uci": self.uci,
            "san": self.san,
            "fen": self.fen,
            "check": self.check,
            "value": None if value is None else round(value, 4),
            "by": self.by,
        }


def color_name(white: bool) -> str:
    """Return "white" or "black"."""
    return "white" if white else "black"


def destinations(game: Game) -> dict[str, list[str]]:
    """Return the legal moves as a map from square to squares.

    Castling is also possible by moving the king onto the rook.
    """
    found: dict[str, list[str]] = {}
    for move in game.legal_moves():
        targets = found.setdefault(move[:2], [])
        king = game.piece_at(chess.parse_square(move[:2])) in ("K", "k")
        castling = CASTLING_ROOKS.get(move, "") if king else ""
        targets += [to for to in (move[2:4], castling) if to and to not in targets]
    return found


def in_words(board: chess.Board, move: chess.Move) -> str:
    """Describe a move for screen readers: "knight takes f3, check"."""
    if board.is_castling(move):
        text = f"castles {'kingside' if board.is_kingside_castling(move) else 'queenside'}"
    else:
        piece = board.piece_type_at(move.from_square)
        text = chess.piece_name(piece) if piece else "piece"
        text += " takes " if board.is_capture(move) else " "
        text += chess.square_name(move.to_square)
        if board.is_en_passant(move):
            text += " en passant"
        if move.promotion:
            text += f", promotes to {chess.piece_name(move.promotion)}"
    after = board.copy(stack=False)
    after.push(move)
    return text + (", checkmate" if after.is_checkmate() else ", check" if after.is_check() else "")


def line_to_json(board: chess.Board, line: Line) -> dict[str, Any]:
    """Convert a principal variation to JSON with SAN; values are White's."""
    sign = 1 if board.turn else -1
    wdl = line.win_draw_loss
    return {
        "moves": list(line.moves[:SHOWN_PLIES]),
        "sans": sans_of(board, line.moves[:SHOWN_PLIES]),
        "value": round(sign * line.value, 4),
        "centipawns": None if line.centipawns is None else sign * line.centipawns,
        "mate": None if line.mate is None else sign * line.mate,
        "wdl": None if wdl is None else list(wdl if board.turn else wdl[::-1]),
    }


def fens_of(board: chess.Board, moves: Sequence[str]) -> list[str]:
    """Return the positions after each of some legal moves."""
    after, found = board.copy(stack=False), []
    for move in moves:
        after.push(chess.Move.from_uci(move))
        found.append(after.fen())
    return found


def note_to_json(board: chess.Board, note: MoveNote) -> dict[str, Any]:
    """Convert a note about a move to JSON; the value is White's."""
    sans = sans_of(board, [note.move])
    return {
        "uci": note.move,
        "san": sans[0] if sans else note.move,
        "prior": None if note.prior is None else round(note.prior, 4),
        "visits": note.visits,
        "value": None
        if note.value is None
        else round(note.value if board.turn else -note.value, 4),
        "text": note.text[:60],
    }


def thought_to_json(board: chess.Board, thought: Thought, who: str, kind: str) -> dict[str, Any]:
    """Convert a thought about the position `board` to JSON."""
    notes = sorted(
        thought.notes,
        key=lambda note: (note.visits or 0, note.prior or 0, note.value or -2),
        reverse=True,
    )
    return {
        "type": "thought",
        "kind": kind,
        "who": who,
        "fen": board.fen(),
        "lines": [line_to_json(board, line) for line in thought.lines[:SHOWN_LINES]],
        "depth": thought.depth,
        "selective": thought.selective_depth,
        "nodes": thought.nodes,
        "seconds": round(thought.seconds, 3),
        "notes": [note_to_json(board, note) for note in notes[:SHOWN_NOTES]],
    }


def start_game(text: object) -> Game:
    """Make a game from a FEN that a browser sent; "" is the standard position."""
    if not isinstance(text, str) or len(text) > LONGEST_FEN:
        raise ValueError(f"the FEN must be a string of at most {LONGEST_FEN} characters")
    try:
        return Game(text.strip() or STARTING_FEN)
    except ValueError as error:
        if "Chess960" not in str(error):
            raise
        raise ValueError(
            "this is a Chess960 position; the page plays standard chess only, but any chess "
            "program that knows Chess960 can play it with 'rookery uci'"
        ) from None


def standard_game(game: Game) -> Game:
    """Refuse a board that the analysis does not know."""
    if game.board != STANDARD_BOARD:
        raise ValueError(f"the analysis is of standard chess; {game.board} can only be played")
    return game


def read_fen(text: object) -> Game:
    """Make an unfinished game from a FEN that a browser sent."""
    game = start_game(text)
    if game.outcome() is not None:
        raise ValueError("the game is over in this position; choose another one")
    return game


def game_of_moves(start: object, moves: object) -> Game:
    """Make a game from its first position and its moves in UCI; it may be over."""
    game = start_game(start)
    if not isinstance(moves, list) or len(moves) > MOST_PLIES:
        raise ValueError(f"the moves must be a list of at most {MOST_PLIES}")
    for move in moves:
        if not isinstance(move, str):
            raise ValueError("a move must be a string such as e2e4")
        game.push(move)
    return game


def game_of_pgn(text: object) -> Game:
    """Make a game from PGN, with all its moves played."""
    if not isinstance(text, str) or len(text) > LONGEST_PGN:
        raise ValueError(f"the PGN must be a string of at most {LONGEST_PGN} characters")
    found = next(read_pgn(text, MOST_PLIES + 1), None)
    if found is None or not (found.moves or found.error or "FEN" in found.headers):
        raise ValueError("the PGN contains no game")
    if found.error:
        raise ValueError(f"the PGN is invalid: {found.error[:120]}")
    if len(found.moves) > MOST_PLIES:
        raise ValueError(f"the game is longer than {MOST_PLIES} plies")
    game = start_game(found.headers.get("FEN", ""))
    for uci in found.moves:
        game.push(uci)
    return game
