"""Matches of a policy, without search, against simple players; hundreds of games at a time."""

from __future__ import annotations

import chess
import chess.pgn
import numpy as np
import torch
from numpy.typing import NDArray

from rookery._core import Game, VectorGames
from rookery.nets import PolicyValueNetwork as Network
from rookery.nets import ragged
from rookery.training.trainer import Evaluation

BATCH = 250  # games at a time
SAMPLE_GAMES = 2  # of each colour, kept as PGN
MAX_PLIES = 1000  # longer than games get; one that is cut off counts as drawn


def play_bot(
    network: Network,
    bot: str,
    games: int,
    seed: int,
    temperature: float = 1.0,
    draw_after_plies: int = 0,
) -> Evaluation:
    """Play `games` games from the start position, half with each colour.

    Args:
        network: The policy; moves are sampled from it.
        bot: random, greedy or greedy-safe.
        games: An even number.
        seed: Of everything random.
        temperature: Logits are divided by it; 0: the most probable move.
        draw_after_plies: A draw by decree; 0: never.
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
            played = _play(network, bot, white, batch, rng, temperature, draw_after_plies)
            for result, actions in played:
                counts[white][1 - result] += 1
                if len(texts) < SAMPLE_GAMES * (1 if white else 2):
                    texts.append(_pgn(network, bot, white, result, actions))
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
    draw_after_plies: int,
) -> list[tuple[int, list[int]]]:
    """Results for the network (1, 0, -1) and actions of `count` games in which it has a colour."""
    games = VectorGames(
        count,
        network.observation,
        network.actions,
        int(rng.integers(1 << 62)),
        claims="action" if network.actions == "az4673" else "automatic",
        max_plies=MAX_PLIES,
        draw_after_plies=draw_after_plies,
        dtype="uint8" if network.observation == "tactical70" else "float32",
    )
    actions_of: list[list[int]] = [[] for _ in range(count)]
    results = np.zeros(count, dtype=np.int64)
    playing = np.ones(count, dtype=np.bool_)
    while playing.any():
        mine = playing & (games.to_move == int(white))
        theirs = playing & ~mine
        # Behind a game that has ended another one begins, in which any move will do.
        actions = games.legal_actions[games.legal_offsets[:-1]].astype(np.int64)
        if mine.any():
            actions[mine] = _sample(network, games, mine, rng, temperature)
        if theirs.any():
            actions[theirs] = _bot_actions(bot, games, theirs, rng)
        for index in np.flatnonzero(playing):
            actions_of[index].append(int(actions[index]))
        games.step(actions)
        ended = playing & (games.terminations | games.truncations)
        results[ended] = games.results[ended] * (1 if white else -1)
        playing &= ~ended
    return list(zip(results.tolist(), actions_of, strict=True))


def _bot_actions(
    bot: str, games: VectorGames, which: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Actions of the opponent in the games `which` [N]."""
    if bot == "random":  # draws among all actions, the claim of a draw among them where it is one
        places = ragged.random_places(games.legal_offsets, which, rng)
        return games.legal_actions[places].astype(np.int64)
    return games.bot_actions(bot, which)[which]


def _sample(
    network: Network,
    games: VectorGames,
    which: NDArray[np.bool_],
    rng: np.random.Generator,
    temperature: float,
) -> NDArray[np.int64]:
    """Actions of the policy in the games `which` [N]."""
    counts = np.diff(games.legal_offsets)
    legal = games.legal_actions[np.repeat(which, counts)].astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(counts[which])])
    rows = ragged.rows_of(torch.from_numpy(offsets))
    number = len(offsets) - 1
    with torch.no_grad():
        observations = torch.from_numpy(games.observations[which])
        logits, _ = network(observations, torch.from_numpy(legal), rows)
        if temperature == 0:
            return legal[ragged.best_places(logits.numpy(), offsets)]
        log_probabilities = ragged.log_softmax(logits / temperature, rows, number).numpy()
    return legal[ragged.sample_places(log_probabilities, offsets, rng.random(number))]


def _pgn(network: Network, bot: str, white: bool, result: int, actions: list[int]) -> str:
    game = Game()
    for action in actions:
        if game.move_of(action, network.actions) != "draw":
            game.push_action(action, network.actions)
    board = chess.Board()
    for move in game.moves():
        board.push_uci(move)
    record = chess.pgn.Game.from_board(board)
    record.headers["Event"] = f"{network.family} policy against {bot}"
    record.headers["White"] = "policy" if white else bot
    record.headers["Black"] = bot if white else "policy"
    points = result if white else -result
    record.headers["Result"] = {1: "1-0", 0: "1/2-1/2", -1: "0-1"}[points]
    return str(record)
