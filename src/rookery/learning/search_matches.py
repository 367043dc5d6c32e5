"""Matches of networks that search: against simple players, and against each other."""

from __future__ import annotations

from typing import Any

import chess
import chess.pgn
import numpy as np

from rookery._core import Game, bot_move, play_random_plies
from rookery.nets.native import network_evaluator
from rookery.players.mcts import MctsPlayer, MctsSettings
from rookery.training.trainer import Evaluation

SAMPLE_GAMES = 2  # of each colour, kept as PGN
MAX_PLIES = 400  # then a draw
OPENING_PLIES = 6  # random, before two networks play


def search_player(network: Any, simulations: int) -> MctsPlayer:
    """A player for short searches."""
    settings = MctsSettings(simulations=simulations, megabytes=16)
    return MctsPlayer(network_evaluator(network), settings, f"network,simulations={simulations}")


def play_search_bot(network: Any, bot: str, games: int, seed: int, simulations: int) -> Evaluation:
    """Play `games` games from the start position, half with each colour.

    Moves of the first eight plies are drawn by visits, so that no two games are the same.
    """
    player = search_player(network, simulations)
    rng = np.random.default_rng(seed)
    counts = {True: [0, 0, 0], False: [0, 0, 0]}  # wins, draws, losses as White, as Black
    texts: list[str] = []
    for number in range(games):
        white = number % 2 == 0
        game = Game()
        player.new_game()
        while game.outcome() is None and not _is_draw(game) and game.ply < MAX_PLIES:
            if game.turn == white:
                game.push(_move(player, game, rng, varied=game.ply < 8))
            else:
                game.push(bot_move(game, bot, int(rng.integers(1 << 62))))
        result = _result(game) * (1 if white else -1)
        counts[white][1 - result] += 1
        if sum(counts[white]) <= SAMPLE_GAMES:
            texts.append(_pgn(game, player.name if white else bot, bot if white else player.name))
    as_white, as_black = counts[True], counts[False]
    return Evaluation(
        opponent=bot,
        as_white=(as_white[0], as_white[1], as_white[2]),
        as_black=(as_black[0], as_black[1], as_black[2]),
        values={"simulations": float(simulations)},
        games=texts,
    )


def play_networks(first: Any, second: Any, games: int, seed: int, simulations: int) -> float:
    """Score of the first network in pairs of games with colours swapped, [0, 1]."""
    players = [search_player(network, simulations) for network in (first, second)]
    rng = np.random.default_rng(seed)
    points = 0.0
    for _ in range(games // 2):
        opening = int(rng.integers(1 << 62))
        for swapped in (False, True):
            game = Game()
            play_random_plies(game, OPENING_PLIES, opening)
            for player in players:
                player.new_game()
            while game.outcome() is None and not _is_draw(game) and game.ply < MAX_PLIES:
                player = players[int(game.turn == swapped)]
                game.push(player.choose(game, rng).move)
            result = _result(game)
            points += (1 + (-result if swapped else result)) / 2
    return points / games


def _move(player: MctsPlayer, game: Game, rng: np.random.Generator, varied: bool) -> str:
    decision = player.choose(game, rng)
    if not varied or decision.details["proven"]:
        return decision.move
    edges = player.search.root_edges()
    visits = np.array([edge["visits"] for edge in edges], np.float64)
    if not visits.any():
        return decision.move
    return str(edges[int(rng.choice(len(edges), p=visits / visits.sum()))]["move"])


def _is_draw(game: Game) -> bool:
    return game.halfmove_clock >= 100 or game.repetitions >= 3


def _result(game: Game) -> int:
    """1 White won, -1 Black won, 0 otherwise."""
    outcome = game.outcome()
    if outcome is None or outcome[1] is None:
        return 0
    return 1 if outcome[1] else -1


def _pgn(game: Game, white: str, black: str) -> str:
    board = chess.Board()
    for move in game.moves():
        board.push_uci(move)
    record = chess.pgn.Game.from_board(board)
    record.headers["Event"] = f"{white} against {black}"
    record.headers["White"], record.headers["Black"] = white, black
    record.headers["Result"] = {1: "1-0", 0: "1/2-1/2", -1: "0-1"}[_result(game)]
    return str(record)
