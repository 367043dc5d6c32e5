"""Matches of a policy, without search, against simple players; hundreds of games at a time."""

from __future__ import annotations

import chess
import chess.pgn
import numpy as np
import torch
from numpy.typing import NDArray

from rookery._core import Game, VectorGames
from rookery.nets import Network, ragged
from rookery.training.trainer import Evaluation

BATCH = 250  # games at a time
SAMPLE_GAMES = 2  # of each colour, kept as PGN
MAX_PLIES = 1000  # far beyond what claimed draws allow


def play_bot(
    network: Network, bot: str, games: int, seed: int, temperature: float = 1.0
) -> Evaluation:
    """Play `games` games from the start position, half with each colour.

    Args:
        network: The policy; moves are sampled from it.
        bot: random, greedy or greedy-safe.
        games: An even number.
        seed: Of everything random.
        temperature: Logits are divided by it; 0: the most probable move.
    """
    if games < 2 or games % 2:
        raise ValueError(f"{games} games cannot be split evenly between the colours")
    counts = {True: [0, 0, 0], False: [0, 0, 0]}  # wins, draws, losses as White, as Black
    texts: list[str] = []
    rng = np.random.default_rng(seed)
    for white in (True, False):
        left = games // 2
        while left:
            batch = min(left, BATCH)
            played = _play(network, bot, white, batch, rng, temperature)
            for result, moves in played:
                counts[white][1 - result] += 1
                if len(texts) < SAMPLE_GAMES * (1 if white else 2):
                    texts.append(_pgn(network, bot, white, result, moves))
            left -= batch
    wins = counts[True][0] + counts[False][0]
    lost = counts[True][2] + counts[False][2]
    return Evaluation(
        opponent=bot,
        as_white=(counts[True][0], counts[True][1], counts[True][2]),
        as_black=(counts[False][0], counts[False][1], counts[False][2]),
        values={"wins_minus_losses": float(wins - lost)},
        games=texts,
    )


def _play(
    network: Network,
    bot: str,
    white: bool,
    count: int,
    rng: np.random.Generator,
    temperature: float,
) -> list[tuple[int, list[str]]]:
    """Results for the network (1, 0, -1) and moves of `count` games in which it has a colour."""
    games = VectorGames(
        count,
        network.observation,
        network.actions,
        int(rng.integers(1 << 62)),
        claims="action" if network.actions == "az4673" else "automatic",
        max_plies=MAX_PLIES,
        dtype="uint8" if network.observation == "tactical70" else "float32",
    )
    actions_of: list[list[int]] = [[] for _ in range(count)]
    results: list[int | None] = [None] * count
    while any(result is None for result in results):
        mine = games.to_move == int(white)
        actions = _sample(network, games, rng, temperature)
        theirs = games.bot_actions(bot, ~mine)
        actions = np.where(mine, actions, theirs)
        for index, action in enumerate(actions):
            if results[index] is None:
                actions_of[index].append(int(action))
        games.step(actions)
        for ended in np.flatnonzero(games.terminations | games.truncations):
            if results[ended] is None:
                results[ended] = int(games.results[ended]) * (1 if white else -1)
    played = []
    for result, actions_taken in zip(results, actions_of, strict=True):
        game = Game()
        for action in actions_taken:
            if game.move_of(action, network.actions) != "draw":
                game.push_action(action, network.actions)
        played.append((result or 0, game.moves()))
    return played


def _sample(
    network: Network, games: VectorGames, rng: np.random.Generator, temperature: float
) -> NDArray[np.int64]:
    """Actions [N] of the policy in all games, whoever is to move."""
    legal, offsets = games.legal_actions.astype(np.int64), games.legal_offsets.copy()
    rows = ragged.rows_of(torch.from_numpy(offsets))
    with torch.no_grad():
        logits, _ = network(torch.from_numpy(games.observations), torch.from_numpy(legal), rows)
        if temperature == 0:
            return legal[ragged.best_places(logits.numpy(), offsets)]
        log_probabilities = ragged.log_softmax(logits / temperature, rows, len(games)).numpy()
    return legal[ragged.sample_places(log_probabilities, offsets, rng.random(len(games)))]


def _pgn(network: Network, bot: str, white: bool, result: int, moves: list[str]) -> str:
    board = chess.Board()
    for move in moves:
        board.push_uci(move)
    record = chess.pgn.Game.from_board(board)
    record.headers["Event"] = f"{network.family} policy against {bot}"
    record.headers["White"] = "policy" if white else bot
    record.headers["Black"] = bot if white else "policy"
    points = result if white else -result
    record.headers["Result"] = {1: "1-0", 0: "1/2-1/2", -1: "0-1"}[points]
    return str(record)
