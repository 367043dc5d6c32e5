"""Matches of a search against simple players, all games side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import chess
import chess.pgn
import numpy as np

from rookery._core import Game, bot_move, play_random_plies
from rookery.learning.leaf_search import Found
from rookery.training.trainer import Evaluation

OPENING_PLIES = 4  # random ones; both games of a pair have the same
MAX_PLIES = 400  # then it is a draw
SAMPLE_GAMES = 4  # kept as PGN


def play_bot(
    search: Callable[[Sequence[Game]], list[Found]],
    bot: str,
    games: int,
    rng: np.random.Generator,
) -> Evaluation:
    """Play pairs of games from random openings with colours exchanged.

    Args:
        search: Best moves of several games.
        bot: random, greedy or greedy-safe.
        games: An even number.
        rng: Source of the openings and of the bot's choices.
    """
    boards, colours = [], []
    for _ in range(games // 2):
        opening = Game()
        play_random_plies(opening, OPENING_PLIES, int(rng.integers(1 << 62)))
        for white in (True, False):
            boards.append(opening.copy())
            colours.append(white)
    open_games = [i for i in range(games) if boards[i].outcome(claim_draw=True) is None]
    while open_games:
        mine = [i for i in open_games if boards[i].turn == colours[i]]
        for index, found in zip(mine, search([boards[i] for i in mine]), strict=True):
            boards[index].push(found.move)
        for index in set(open_games) - set(mine):
            boards[index].push(bot_move(boards[index], bot, int(rng.integers(1 << 62))))
        open_games = [
            i
            for i in open_games
            if boards[i].outcome(claim_draw=True) is None and boards[i].ply < MAX_PLIES
        ]
    counts = {True: [0, 0, 0], False: [0, 0, 0]}
    for board, white in zip(boards, colours, strict=True):
        counts[white][_place(board, white)] += 1
    texts = [_pgn(*each, bot) for each in zip(boards[:SAMPLE_GAMES], colours, strict=False)]
    first, second = (tuple(counts[white]) for white in (True, False))
    return Evaluation(bot, first, second, games=texts)  # type: ignore[arg-type] # of three


def _place(board: Game, white: bool) -> int:
    """0 won, 1 drawn (or cut off), 2 lost."""
    outcome = board.outcome(claim_draw=True)
    if outcome is None or outcome[1] is None:
        return 1
    return 0 if outcome[1] == white else 2


def _pgn(board: Game, white: bool, bot: str) -> str:
    record = chess.Board()
    for move in board.moves():
        record.push_uci(move)
    game = chess.pgn.Game.from_board(record)
    game.headers["Event"] = f"TD-leaf against {bot}"
    game.headers["White"], game.headers["Black"] = ("TD-leaf", bot) if white else (bot, "TD-leaf")
    game.headers["Result"] = {
        (0, True): "1-0",
        (2, True): "0-1",
        (0, False): "0-1",
        (2, False): "1-0",
    }.get((_place(board, white), white), "1/2-1/2")
    return str(game)
