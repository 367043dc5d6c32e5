"""Opponents in many games at once: bots, networks, or any player, acting in `VectorGames`."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rookery._core import Game, VectorGames, bot_names, encode_batch
from rookery.encodings import OBSERVATIONS
from rookery.nets.evaluator import Evaluator
from rookery.players.base import Player
from rookery.players.policy import WITHOUT_PAST, PolicyPlayer

FROM_FEN = WITHOUT_PAST | {"planes19"}  # layouts that a position without its past determines
Mask = NDArray[np.bool_]  # [N], the games to act in
Actions = NDArray[np.int64]  # [N], -1 in the other games, as `VectorGames.step` takes them


class Opponent(Protocol):
    """Acts for the side to move in some of the games."""

    def actions(self, games: VectorGames, mask: Mask, rng: np.random.Generator) -> Actions:
        """Return an action for each game of `mask`, and -1 for the others."""
        ...


class BotOpponent:
    """One of the core's bots, at the speed of the core."""

    def __init__(self, bot: str) -> None:
        """Take one of `bot_names()`."""
        self._bot = bot

    def actions(self, games: VectorGames, mask: Mask, rng: np.random.Generator) -> Actions:
        """Ask the core, which uses the games' own random streams."""
        return games.bot_actions(self._bot, mask)


class NetworkOpponent:
    """A network's policy without search, evaluated for all games in one batch.

    Args:
        evaluator: The network. If its observation layout is not that of the games, positions are
            encoded again from their FENs, which must then be enough.
        temperature: 0 plays the largest logit; above, moves are drawn from the softmax.
        observation: Layout of the games.
        actions: Action layout of the games, which must be the network's.
    """

    def __init__(
        self, evaluator: Evaluator, temperature: float, observation: str, actions: str
    ) -> None:
        """Check the layouts."""
        if evaluator.actions != actions:
            raise ValueError(
                f"the opponent {evaluator.name!r} has actions {evaluator.actions!r}, the games "
                f"have {actions!r}"
            )
        self._encodes = evaluator.observation != observation
        if self._encodes and evaluator.observation not in FROM_FEN:
            raise ValueError(
                f"the opponent {evaluator.name!r} observes more than a FEN tells "
                f"({evaluator.observation}); choose observation={evaluator.observation!r} for the "
                "games, too"
            )
        self._evaluator, self._temperature = evaluator, temperature

    def actions(self, games: VectorGames, mask: Mask, rng: np.random.Generator) -> Actions:
        """Evaluate the games of `mask` and choose."""
        chosen = np.full(len(games), -1, dtype=np.int64)
        counts = np.diff(games.legal_offsets)
        legal = games.legal_actions[np.repeat(mask, counts)].astype(np.int64)
        offsets = np.concatenate([[0], np.cumsum(counts[mask])])
        logits, _ = self._evaluator.evaluate(self._observations(games, mask), legal, offsets)
        scores = np.asarray(logits, dtype=np.float64)
        if self._temperature > 0:  # the largest of logits with Gumbel noise is a softmax sample
            scores = scores / self._temperature + rng.gumbel(size=len(scores))
        from rookery.nets import ragged

        chosen[mask] = legal[ragged.best_places(scores, offsets)]
        return chosen

    def _observations(self, games: VectorGames, mask: Mask) -> NDArray[np.float32 | np.uint8]:
        """The positions of the games of `mask` in the network's layout."""
        if not self._encodes:
            return games.observations[mask]
        positions = [Game(games.fen(int(index))) for index in np.flatnonzero(mask)]
        layout = OBSERVATIONS[self._evaluator.observation]
        observations = np.empty((len(positions), *layout.shape), dtype=np.float32)
        encode_batch(positions, layout.name, observations)
        return observations


class PlayerOpponent:
    """Any player, game after game; it sees positions without the moves before them."""

    def __init__(self, player: Player, actions: str) -> None:
        """Let `player` act in games with the action layout `actions`."""
        self._player, self._layout = player, actions

    def actions(self, games: VectorGames, mask: Mask, rng: np.random.Generator) -> Actions:
        """Ask the player about each game of `mask`."""
        chosen = np.full(len(games), -1, dtype=np.int64)
        for index in np.flatnonzero(mask):
            game = Game(games.fen(int(index)))
            chosen[index] = game.action_of(self._player.choose(game, rng).move, self._layout)
        return chosen


def batch_opponent(what: Opponent | Player | str, observation: str, actions: str) -> Opponent:
    """The opponent for games of these layouts: itself, a player, or a specification of one."""
    if isinstance(what, str) and what in bot_names():
        return BotOpponent(what)
    if isinstance(what, str):
        from rookery.players.registry import make_player

        what = make_player(what)
    if isinstance(what, PolicyPlayer):
        return NetworkOpponent(what.evaluator, what.temperature, observation, actions)
    return PlayerOpponent(what, actions) if isinstance(what, Player) else what
