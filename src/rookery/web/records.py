"""What the page is told about a game, and games as PGN in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import chess

from rookery._core import STARTING_FEN, Game
from rookery.data.notation import sans_of
from rookery.data.pgn import read_pgn
from rookery.players.thinking import Line, MoveNote, Thought

LONGEST_FEN = 120  # characters; the longest sensible one has fewer than 100
LONGEST_PGN = 48 * 1024
MOST_PLIES = 2000  # of a game that is given as PGN
SHOWN_PLIES = 12  # of a line of thought
SHOWN_NOTES = 40
# A king's castling move -> the square of the rook that it castles with.
CASTLING_ROOKS = {"e1g1": "h1", "e1c1": "a1", "e8g8": "h8", "e8c8": "a8"}


@dataclass(frozen=True)
class Entry:
    """One move that was made."""

    uci: str
    san: str
    fen: str  # after the move
    check: bool
    value: float | None  # [-1, 1], for the side that moved; None: no opinion

    def to_json(self) -> dict[str, Any]:
        """As the page reads it; the value is White's."""
        value = self.value
        if value is not None and " w " in self.fen:  # Black has moved
            value = -value
        return {
            "uci": self.uci,
            "san": self.san,
            "fen": self.fen,
            "check": self.check,
            "value": None if value is None else round(value, 4),
        }


def destinations(game: Game) -> dict[str, list[str]]:
    """Where each piece of the side to move can go: square -> squares.

    A king that can castle may also be put onto its rook, as many people do it.
    """
    found: dict[str, list[str]] = {}
    for move in game.legal_moves():
        targets = found.setdefault(move[:2], [])
        castling = CASTLING_ROOKS.get(move, "") if _is_king(game, move[:2]) else ""
        targets += [to for to in (move[2:4], castling) if to and to not in targets]
    return found


def _is_king(game: Game, square: str) -> bool:
    return game.piece_at(chess.parse_square(square)) in ("K", "k")


def in_words(board: chess.Board, move: chess.Move) -> str:
    """A move for people who listen: "knight takes f3, check"."""
    if board.is_castling(move):
        side = (
            "king"
            if chess.square_file(move.to_square) > chess.square_file(move.from_square)
            else "queen"
        )
        text = f"castles on the {side}'s side"
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
    """A line of thought with moves in SAN; values are White's."""
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


def note_to_json(board: chess.Board, note: MoveNote) -> dict[str, Any]:
    """What is known about one move; the value is that of the side to move."""
    sans = sans_of(board, [note.move])
    return {
        "uci": note.move,
        "san": sans[0] if sans else note.move,
        "prior": None if note.prior is None else round(note.prior, 4),
        "visits": note.visits,
        "value": None if note.value is None else round(note.value, 4),
        "text": note.text[:60],
    }


def thought_to_json(board: chess.Board, thought: Thought, who: str, kind: str) -> dict[str, Any]:
    """A thought as the page reads it; `board` is the position that was thought about."""
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
        "lines": [line_to_json(board, line) for line in thought.lines[:4]],
        "depth": thought.depth,
        "selective": thought.selective_depth,
        "nodes": thought.nodes,
        "seconds": round(thought.seconds, 3),
        "notes": [note_to_json(board, note) for note in notes[:SHOWN_NOTES]],
    }


def read_fen(text: object) -> Game:
    """A game from a FEN that a browser sent."""
    if not isinstance(text, str) or len(text) > LONGEST_FEN:
        raise ValueError(f"the FEN has more than {LONGEST_FEN} characters, or is no text")
    game = Game(text.strip() or STARTING_FEN)
    if game.outcome() is not None:
        raise ValueError("the game is over in this position; choose another one")
    return game


def game_of_pgn(text: object) -> Game:
    """The game of a PGN text, played through to its last move."""
    if not isinstance(text, str) or len(text) > LONGEST_PGN:
        raise ValueError(f"the PGN has more than {LONGEST_PGN} characters, or is no text")
    found = next(read_pgn(text, MOST_PLIES + 1), None)
    if found is None or not (found.moves or found.error or "FEN" in found.headers):
        raise ValueError("there is no game in the PGN that was sent")
    if found.error:
        raise ValueError(f"the PGN cannot be understood: {found.error[:120]}")
    if len(found.moves) > MOST_PLIES:
        raise ValueError(f"the game is longer than {MOST_PLIES} plies")
    game = Game(found.headers.get("FEN", STARTING_FEN)[: LONGEST_FEN + 1])
    for uci in found.moves:
        game.push(uci)
    return game
