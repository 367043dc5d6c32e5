"""Matches during training: gating, and evaluation against simple opponents.

    player_match   two `Player`s, refereed by `rookery.arena`
    engine_match   an NNUE network with the native alpha-beta search (`NetworkMatch`)
    policy_match   a policy without search against a bot, hundreds of games at a time

Rules are those of the arena: draws by threefold repetition, by the fifty-move rule and after
`MAX_PLIES`, and no adjudication by scores. All take `over`, which they ask between pairs of games
(`Context.evaluation_is_over`): once it is true, the match ends with the pairs played so far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rookery._core import (
    STANDARD_BOARD,
    STARTING_FEN,
    Game,
    NetworkMatch,
    VectorGames,
    play_random_plies,
)
from rookery.arena.game import play_game
from rookery.arena.limits import Adjudication
from rookery.data.openings import Opening
from rookery.data.pgn import RESULTS, pgn_text
from rookery.nets import PolicyValueNetwork, ragged
from rookery.nets.native import network_evaluator
from rookery.players.base import Player
from rookery.players.bots import BotPlayer
from rookery.players.mcts import MctsPlayer, MctsSettings
from rookery.training.trainer import MatchScore, never

MAX_PLIES = 400  # then a draw; `NetworkMatch` has the same limit
RULES = Adjudication(max_plies=MAX_PLIES)
OPENING_PLIES = 4  # random, the same for both games of a pair; not for a policy, which samples
SAMPLE_GAMES = 2  # of each colour, kept as PGN
BATCH = 250  # parallel games of a policy
FIRST_PAIRS = 10  # that a fast match plays before it asks whether it is over


def _portions(pairs: int, over: Callable[[], bool]) -> Iterator[range]:
    """Numbers of the pairs to play at once: growing portions, until the match is over."""
    first, size = 0, FIRST_PAIRS
    while first < pairs:
        last = min(first + size, pairs)
        yield range(first, last)
        if over():
            return
        first, size = last, 3 * size


@dataclass(frozen=True)
class MatchGame:
    """A game from the point of view of the first player."""

    white: bool  # whether the first player had White
    result: int  # 1 won, 0 drawn, -1 lost
    moves: Sequence[str]  # UCI from `start`; empty where they were not recorded
    start: str = STARTING_FEN


def _score(
    games: Sequence[MatchGame], name: str, opponent: str, values: Mapping[str, float]
) -> MatchScore:
    """Counts by colour, and the first games of each colour as PGN."""
    sides = [[game for game in games if game.white == white] for white in (True, False)]
    white, black = (Counter(game.result for game in side) for side in sides)
    return MatchScore(
        opponent,
        as_white=(white[1], white[0], white[-1]),
        as_black=(black[1], black[0], black[-1]),
        values=values,
        games=[_pgn(game, name, opponent) for side in sides for game in side[:SAMPLE_GAMES]],
    )


def _pgn(game: MatchGame, name: str, opponent: str) -> str:
    white, black = (name, opponent) if game.white else (opponent, name)
    result = RESULTS[game.result if game.white else -game.result]
    event = {"Event": f"{name} against {opponent}"}
    return pgn_text(game.moves, white, black, result, start=game.start, headers=event)


# --- Players ---


def player_match(
    player: Player,
    opponent: Player,
    games: int,
    rng: np.random.Generator,
    values: Mapping[str, float],
    board: str = STANDARD_BOARD,
    over: Callable[[], bool] = never,
) -> MatchScore:
    """Score of `player`; see `play_pairs`."""
    played = play_pairs(player, opponent, games, rng, board=board, over=over)
    return _score(played, player.name, opponent.name, values)


def bot_matches(
    player: Player,
    bots: Sequence[str],
    games: int,
    rng: np.random.Generator,
    over: Callable[[], bool],
    values: Mapping[str, float] | None = None,
    board: str = STANDARD_BOARD,
) -> list[MatchScore]:
    """A match against each of some bots."""
    return [
        player_match(player, BotPlayer(bot), games, rng, values or {}, board, over) for bot in bots
    ]


def play_pairs(
    first: Player,
    second: Player,
    games: int,
    rng: np.random.Generator,
    opening_plies: int = OPENING_PLIES,
    board: str = STANDARD_BOARD,
    over: Callable[[], bool] = never,
) -> list[MatchGame]:
    """Pairs of games from random openings, colours swapped; both players draw from `rng`."""
    played = []
    for _ in range(games // 2):
        start = Game(board=board)
        play_random_plies(start, opening_plies, int(rng.integers(1 << 62)))
        opening = Opening(start.start_fen, tuple(start.moves()))
        for index, sides in enumerate(((first, second), (second, first))):
            game = play_game(*sides, opening, (rng, rng), adjudication=RULES, index=index)
            assert game is not None  # it cannot be cancelled here
            if game.fault is not None:  # a bug or a NaN must not count as a loss
                raise ValueError(f"{game.reason}: {game.fault.evidence}")
            points = round(2 * game.first_points) - 1
            played.append(MatchGame(index == 0, points, game.moves, start.start_fen))
        if over():
            break
    return played


def search_player(network: Any, simulations: int) -> MctsPlayer:
    """A network with a short tree search; native evaluators copy its current weights."""
    settings = MctsSettings(simulations=simulations, megabytes=16)
    name = f"network,simulations={simulations}"
    return MctsPlayer(network_evaluator(network), settings, name)


# --- The engine's network ---


def engine_match(
    network: Any,
    opponent: Any,
    name: str,
    games: int,
    nodes: int,
    seed: int,
    threads: int,
    over: Callable[[], bool] = never,
) -> MatchScore:
    """Score of a network in pairs of native games from random openings.

    `network` is a tuple of tensors in the order of `rookery.nets.model_arrays.NNUE_TENSORS`;
    `opponent`, called `name`, is another one or the name of a bot.
    """
    match = NetworkMatch(
        network, opponent, seed, nodes, OPENING_PLIES, adjudicate=False, threads=threads
    )
    played = []
    for pairs in _portions(games // 2, over):
        for as_white, as_black in match.run(pairs.start, len(pairs)):
            played += [MatchGame(True, *as_white), MatchGame(False, *as_black)]
    return _score(played, "engine", name, {})


# --- Policies without search ---


def policy_match(
    network: PolicyValueNetwork,
    bot: str,
    games: int,
    seed: int,
    temperature: float = 1.0,
    draw_after_plies: int = 0,
    board: str = STANDARD_BOARD,
    over: Callable[[], bool] = never,
) -> MatchScore:
    """Score of a policy in games from the start position, half with each colour.

    Args:
        network: The policy; with the layout `az4673` it can claim draws.
        bot: random, greedy or greedy-safe.
        games: An even number.
        seed: Of policy and bot.
        temperature: Of the policy; 0: the most probable move.
        draw_after_plies: Games are drawn after this many plies, as in training; 0: never.
        board: What they are played on.
        over: Whether the match is over, asked between portions.
    """
    if games < 2 or games % 2:
        raise ValueError(f"{games} games cannot be split evenly between the colours")
    rng = np.random.default_rng(seed)
    played: list[MatchGame] = []
    rules = {"draw_after_plies": draw_after_plies, "board": board}
    for pairs in _portions(games // 2, over):
        for white in (True, False):
            for first in range(0, len(pairs), BATCH):
                count = min(BATCH, len(pairs) - first)
                played += _policy_games(network, bot, white, count, rng, temperature, rules)
    difference = float(sum(game.result for game in played))
    return _score(played, "policy", bot, {"wins_minus_losses": difference})


def _policy_games(
    network: PolicyValueNetwork,
    bot: str,
    white: bool,
    count: int,
    rng: np.random.Generator,
    temperature: float,
    rules: Mapping[str, Any],
) -> list[MatchGame]:
    """Parallel games in which the policy has one colour; `rules` of `VectorGames`."""
    games = VectorGames(
        count,
        network.observation,
        network.actions,
        int(rng.integers(1 << 62)),
        claims="action" if network.actions == "az4673" else "automatic",
        max_plies=MAX_PLIES,
        **rules,
        dtype="uint8" if network.observation == "tactical70" else "float32",
    )
    recorded = [Game(board=rules["board"]) for _ in range(min(count, SAMPLE_GAMES))]
    results = np.zeros(count, dtype=np.int64)
    playing = np.ones(count, dtype=np.bool_)
    while playing.any():
        mine = playing & (games.to_move == int(white))
        theirs = playing & ~mine
        # A finished game restarts; its further moves do not matter.
        actions = games.legal_actions[games.legal_offsets[:-1]].astype(np.int64)
        if mine.any():
            actions[mine] = _policy_actions(network, games, mine, rng, temperature)
        if theirs.any():
            actions[theirs] = _bot_actions(bot, games, theirs, rng)
        for game, action, active in zip(recorded, actions, playing, strict=False):
            if active and game.move_of(int(action), network.actions) != "draw":
                game.push_action(int(action), network.actions)
        games.step(actions)
        ended = playing & (games.terminations | games.truncations)
        results[ended] = games.results[ended] * (1 if white else -1)
        playing &= ~ended
    moves = [game.moves() for game in recorded] + [[]] * (count - len(recorded))
    start = Game(board=rules["board"]).start_fen
    return [MatchGame(white, *each, start) for each in zip(results.tolist(), moves, strict=True)]


def _bot_actions(
    bot: str, games: VectorGames, which: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Actions of the bot in the games `which` [N]."""
    if bot == "random":  # uniform over all actions, including a draw claim
        places = ragged.random_places(games.legal_offsets, which, rng)
        return games.legal_actions[places].astype(np.int64)
    return games.bot_actions(bot, which)[which]


def _policy_actions(
    network: PolicyValueNetwork,
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
