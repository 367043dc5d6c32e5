"""Sample games of a run, for the board viewer of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import chess

from rookery.data.pgn import PgnGame, read_pgn
from rookery.runs.reader import RunReader

GAMES_PER_RUN = 6


@dataclass(frozen=True)
class SampleGame:
    """A game to step through; there is one more placement than moves."""

    title: str
    players: str
    result: str
    placements: list[str]  # first fields of FENs
    moves: list[str]  # SAN


def sample_games(run: RunReader) -> list[SampleGame]:
    """The newest games; unreadable ones are left out."""
    found: list[SampleGame] = []
    for title, text in run.game_texts():
        for game in read_pgn(text):
            if not game.error:
                found.append(_sample(game, title))
            if len(found) == GAMES_PER_RUN:
                return found
    return found


def _sample(game: PgnGame, title: str) -> SampleGame:
    players = f"{game.headers.get('White', '?')} - {game.headers.get('Black', '?')}"
    result = game.headers.get("Result", "*")
    return sample_game(title, players, result, game.moves, game.start)


def sample_game(
    title: str, players: str, result: str, ucis: Sequence[str], start: chess.Board | None = None
) -> SampleGame:
    """A game of moves in UCI, from the start position if no other is given."""
    board = chess.Board() if start is None else start.copy()
    placements, moves = [board.board_fen()], []
    for uci in ucis:
        move = chess.Move.from_uci(uci)
        moves.append(board.san(move))
        board.push(move)
        placements.append(board.board_fen())
    return SampleGame(title, players, result, placements, moves)
