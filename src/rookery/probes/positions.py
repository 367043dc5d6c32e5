"""Positions to probe with: played by different players, chosen so that rare concepts occur.

A third each comes from random moves, from bots against each other, and from the policy of a network
drawn at temperature 1. Positions with rare concepts are more likely to be
kept. Positions of one game are alike, so each remembers its game: whole games are held out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rookery._core import (
    STANDARD_BOARD,
    Game,
    bot_names,
    encode_batch,
    legal_actions_batch,
    play_bot_games,
    play_random_plies,
    random_position,
)
from rookery.encodings import OBSERVATIONS
from rookery.nets.evaluator import Evaluator
from rookery.probes.boards import Boards
from rookery.probes.concepts import RANDOM, Concept

Rng = np.random.Generator
LONGEST = 160  # plies of a game
EVERY = 4  # of so many plies of a game one is offered
CANDIDATES = 4  # positions offered for each that is kept
BATCH = 256  # games that a network plays side by side
OPENING = (0, 12)  # random plies before bots and networks play
ENDINGS = ("KPvK", "KRvK", "KQvKR", "KPvKP", "KRvKP", "KRvKB", "KRvKN", "KQvKP", "KPPvK")
UNKNOWN = -1  # the label of a position that a concept does not apply to
PARTS = {"train": 0.7, "choose": 0.1, "test": 0.2}  # shares of the games


@dataclass(frozen=True)
class Positions:
    """N positions, none of them the end of a game."""

    games: Sequence[Game]
    origins: NDArray[np.int64]  # [N], the number of the game
    endings: NDArray[np.bool_]  # [N], whether drawn as an ending instead of played

    def take(self, places: NDArray[np.int64]) -> Positions:
        """Some of them."""
        chosen = [self.games[int(place)] for place in places]
        return Positions(chosen, self.origins[places], self.endings[places])

    def part(self, name: str, seed: int) -> NDArray[np.bool_]:
        """Which of them [N] belong to the part "train", "choose" or "test" of the games."""
        draws = np.random.default_rng([seed, 7]).random(int(self.origins.max()) + 1)
        low = 0.0
        for part, share in PARTS.items():
            if part == name:
                break
            low += share
        drawn = draws[self.origins]
        return np.asarray((drawn >= low) & (drawn < low + PARTS[name]))


def joined(parts: Sequence[Positions]) -> Positions:
    """All positions of several sets, whose games are different ones."""
    games: list[Game] = []
    origins, first = [], 0
    for part in parts:
        games += part.games
        origins.append(part.origins + first)
        first += int(part.origins.max()) + 1 if len(part.origins) else 0
    endings = np.concatenate([part.endings for part in parts])
    return Positions(games, np.concatenate(origins), endings)


# --- Sources ---


def random_games(count: int, rng: Rng, board: str = STANDARD_BOARD) -> Positions:
    """Positions of games of random moves."""
    return _bot_games(count, rng, board, ("random",))


def bot_games(count: int, rng: Rng, board: str = STANDARD_BOARD) -> Positions:
    """Positions of games between all bots."""
    return _bot_games(count, rng, board, tuple(bot_names()))


def _bot_games(count: int, rng: Rng, board: str, names: Sequence[str]) -> Positions:
    found: list[Positions] = []
    while (missing := count - sum(len(part.games) for part in found)) > 0:
        number = max(4, missing * EVERY // 40)
        starts = [opened(board, rng) for _ in range(number)]
        white, black = ([str(rng.choice(names)) for _ in starts] for _ in range(2))
        seeds = [int(seed) for seed in rng.integers(0, 1 << 62, number)]
        played = play_bot_games(starts, white, black, seeds, LONGEST)
        lines = [moves for _, _, moves in played]
        found.append(_sampled(starts, lines, rng))
    return joined(found)


def opened(board: str, rng: Rng) -> Game:
    """A game on a board after a few random plies."""
    while True:
        game = Game(board=board)
        play_random_plies(game, int(rng.integers(*OPENING)), int(rng.integers(1 << 62)))
        if game.outcome() is None:
            return game


def _sampled(starts: Sequence[Game], lines: Sequence[Sequence[str]], rng: Rng) -> Positions:
    """One of `EVERY` positions of each game, with its history."""
    games, origins = [], []
    for number, (start, moves) in enumerate(zip(starts, lines, strict=True)):
        game = start.copy()
        offered = rng.random(len(moves)) < 1 / EVERY
        for move, wanted in zip(moves, offered, strict=True):
            game.push(move)
            if wanted and game.outcome() is None:
                games.append(game.copy())
                origins.append(number)
    return Positions(games, np.array(origins, np.int64), np.zeros(len(games), bool))


def policy_games(
    count: int, rng: Rng, evaluator: Evaluator, board: str = STANDARD_BOARD
) -> Positions:
    """Positions of games that a network plays against itself by its policy, without search."""
    games: list[Game] = []
    origins, first = [], 0
    while len(games) < count:
        playing = {first + number: opened(board, rng) for number in range(BATCH)}
        first += BATCH
        for _ in range(LONGEST):
            playing = {n: game for n, game in playing.items() if game.outcome(True) is None}
            if not playing:
                break
            for number, game in playing.items():
                if rng.random() < 1 / EVERY:
                    games.append(game.copy())
                    origins.append(number)
            _move_all(list(playing.values()), evaluator, rng)
    return Positions(games, np.array(origins, np.int64), np.zeros(len(games), bool))


def _move_all(games: list[Game], evaluator: Evaluator, rng: Rng) -> None:
    """Draw a move of the policy in each game."""
    shape = OBSERVATIONS[evaluator.observation].shape
    observations = np.zeros((len(games), *shape), np.float32)
    encode_batch(games, evaluator.observation, observations)
    legal, offsets = legal_actions_batch(games, evaluator.actions)
    logits, _ = evaluator.evaluate(observations, legal, offsets)
    # The largest logit plus Gumbel noise is a draw from the policy.
    noisy = logits + rng.gumbel(size=len(logits))
    for game, low, high in zip(games, offsets[:-1], offsets[1:], strict=True):
        game.push_action(int(legal[low + int(noisy[low:high].argmax())]), evaluator.actions)


def drawn_endings(count: int, endings: Sequence[str], rng: Rng) -> Positions:
    """Random positions of endings with few pieces, each a game of its own."""
    games: list[Game] = []
    while len(games) < count:
        side = ("white", "black")[int(rng.integers(2))]
        game = Game(random_position(str(rng.choice(endings)), int(rng.integers(1 << 62)), side))
        if game.outcome() is None:
            games.append(game)
    return Positions(games, np.arange(count), np.ones(count, bool))


# --- Labels ---


def labels_of(positions: Positions, concepts: Sequence[Concept], seed: int) -> NDArray[np.int8]:
    """Labels [N, C]: 1 with the concept, 0 without, `UNKNOWN`; the last column is the control."""
    labels = np.full((len(positions.games), len(concepts) + 1), UNKNOWN, np.int8)
    for endings in (False, True):
        asked = [index for index, concept in enumerate(concepts) if concept.endings == endings]
        places = np.flatnonzero(positions.endings == endings)
        if not asked or not len(places):
            continue
        boards = Boards([positions.games[int(place)] for place in places])
        for index in asked:
            labels[places, index] = concepts[index].answers(boards)
    labels[:, -1] = np.random.default_rng([seed, 8]).random(len(labels)) < 0.5
    return labels


def chosen(labels: NDArray[np.int8], count: int, rng: Rng) -> NDArray[np.int64]:
    """Places of `count` positions; the rarer a label of theirs, the more likely."""
    weights = np.full(len(labels), 1e-9)
    for column in labels.T:
        for label in (0, 1):
            having = column == label
            if having.any():
                weights[having] = np.maximum(weights[having], 1.0 / having.sum())
    drawn = rng.choice(len(labels), min(count, len(labels)), False, weights / weights.sum())
    return np.sort(drawn)


def names_of(concepts: Sequence[Concept]) -> list[str]:
    """Names of the columns of `labels_of`."""
    return [*(concept.name for concept in concepts), RANDOM]
