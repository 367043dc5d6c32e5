"""Games of the network for PPO: many blind games at once, recorded action by action.

In a share of the games one colour is played by a past version of the learner, in another share by
other players; in the rest both colours learn. Sense and move are two actions of the same side, so
a rollout of T turns has 2 T actions of every game.

Every rollout begins new games: other players keep what they know of a game in their own way, so a
run could not be resumed exactly in the middle of one. What is not over after T turns is cut.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from rookery._core import BLIND_SENSE_ACTIONS, BlindGame, BlindVectorGames
from rookery.blind.network import BlindNetwork
from rookery.blind.players import BlindPlayer, sense_action
from rookery.nets import ragged
from rookery.runs.state import State
from rookery.selfplay.rollout import Rollout

BOTH = 2  # the learner has both colours; 1: White, 0: Black
ENDINGS = ("none", "king_capture", "turn_limit", "move_limit")


class BlindRollouts:
    """Plays rollouts; `scores` has the learner's results in the last one, by opponent."""

    def __init__(
        self,
        games: int,
        turn_limit: int,
        rival_share: float,
        seed: int,
        players: Sequence[BlindPlayer] = (),
    ) -> None:
        """Take the opponents: one of `players` in the first games, then `rival_share` rivals."""
        self.games = BlindVectorGames(games, turn_limit=turn_limit)
        self.rng = np.random.default_rng(seed)
        self.players = list(players)
        against = len(self.players) + round(games * rival_share)
        if against > games:
            raise ValueError(f"{against} games against others are more than {games} games")
        # The colours of the learner: alternating against others, then both.
        self.learner = np.array([i % 2 if i < against else BOTH for i in range(games)])
        self.scores: dict[str, list[int]] = {}  # wins, draws and losses

    def play(
        self, network: BlindNetwork, rival: BlindNetwork | None, turns: int, draw: float
    ) -> Rollout:
        """Play `turns` turns in every game; without a rival the learner plays both sides."""
        games, count = self.games, self.games.num_games
        games.reset()
        self.scores = {}
        for index in range(len(self.players)):
            self._new_game(index)
        rollout = _empty(2 * turns, games.observations)
        for t in range(2 * turns):
            legal, offsets = self._legal()
            colours = games.to_move.astype(np.int64)
            learning = (self.learner == BOTH) | (self.learner == colours)
            log_probabilities, values = _evaluate(network, games.observations, legal, offsets)
            places = ragged.sample_places(log_probabilities, offsets, self.rng.random(count))
            rollout.observations[t] = games.observations
            rollout.legal.append(legal)
            rollout.offsets.append(offsets)
            rollout.log_probabilities.append(log_probabilities)
            rollout.values[t], rollout.colours[t], rollout.learning[t] = values, colours, learning
            rollout.places[t] = places - offsets[:-1]
            actions = legal[places]
            others = ~learning
            for index in np.flatnonzero(others[: len(self.players)]).tolist():
                actions[index] = self._player_action(index)
            others[: len(self.players)] = False
            if rival is not None and others.any():
                actions[others] = self._rival_actions(rival, others, legal, offsets)
            games.step(actions - BLIND_SENSE_ACTIONS * (games.phase == "move"))
            self._record(rollout, t, draw)
        legal, offsets = self._legal()
        _, rollout.last_values = _evaluate(network, games.observations, legal, offsets)
        rollout.last_colours = games.to_move.astype(np.int64)
        return rollout

    def _legal(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Legal actions in one numbering (`rookery.blind.env`): senses, then requests."""
        first = BLIND_SENSE_ACTIONS if self.games.phase == "move" else 0
        return self.games.legal_actions.astype(np.int64) + first, self.games.legal_offsets.copy()

    def _rival_actions(
        self,
        rival: BlindNetwork,
        which: NDArray[np.bool_],
        legal: NDArray[np.int64],
        offsets: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        counts = np.diff(offsets)
        its_legal = legal[np.repeat(which, counts)]
        its_offsets = np.concatenate([[0], np.cumsum(counts[which])])
        observations = self.games.observations[which]
        log_probabilities, _ = _evaluate(rival, observations, its_legal, its_offsets)
        uniform = self.rng.random(len(its_offsets) - 1)
        return its_legal[ragged.sample_places(log_probabilities, its_offsets, uniform)]

    def _new_game(self, index: int) -> None:
        white = bool(self.learner[index] == 0)
        self.players[index].new_game(BlindGame().knowledge(white), self.rng)

    def _player_action(self, index: int) -> int:
        """Ask the player of a game; the action is numbered as in `_legal`."""
        player, knowledge = self.players[index], self.games.knowledge(index)
        if self.games.phase == "sense":
            return sense_action(knowledge, player.choose_sense(knowledge, self.rng, math.inf))
        request = player.choose_move(knowledge, self.rng, math.inf)
        return BLIND_SENSE_ACTIONS + knowledge.action_of(request)

    def _record(self, rollout: Rollout, t: int, draw: float) -> None:
        games = self.games
        ended = games.terminations.astype(bool)
        drawn = ended & (games.results == 0)
        rollout.rewards[t] = np.where(drawn, draw, games.rewards)
        rollout.other_rewards[t] = np.where(drawn, draw, -games.rewards)
        rollout.ended[t] = ended
        for index in np.flatnonzero(ended).tolist():
            result = int(games.results[index]) * (-1 if self.learner[index] == 0 else 1)
            name = {1: "wins", 0: "draws", -1: "losses"}[result]
            if self.learner[index] != BOTH:
                rollout.results[name] += 1
                against = self.players[index].name if index < len(self.players) else "past"
                self.scores.setdefault(against, [0, 0, 0])[1 - result] += 1
            if index < len(self.players):
                self._new_game(index)
            rollout.endings[ENDINGS[games.endings[index]]] += 1
            rollout.lengths.append(0)

    def state(self) -> State:
        """The random stream."""
        state = State()
        state.put_generator("play", self.rng)
        return state

    def load_state(self, state: State) -> None:
        """Continue this random stream."""
        state.get_generator("play", self.rng)


def _evaluate(
    network: BlindNetwork,
    observations: NDArray[np.float32],
    legal: NDArray[np.int64],
    offsets: NDArray[np.int64],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Log probabilities [L] of the legal actions, and values [N]."""
    with torch.no_grad():
        rows = ragged.rows_of(torch.from_numpy(offsets))
        planes = torch.from_numpy(np.array(observations))  # the core's view is read-only
        logits, values = network(planes, torch.from_numpy(legal), rows)
        log_probabilities = ragged.log_softmax(logits, rows, len(offsets) - 1)
    return log_probabilities.numpy(), values.numpy()


def _empty(steps: int, observations: NDArray[np.float32]) -> Rollout:
    count = len(observations)
    shape = (steps, count)
    return Rollout(
        observations=np.empty((steps, *observations.shape), dtype=np.float32),
        legal=[],
        offsets=[],
        log_probabilities=[],
        places=np.zeros(shape, dtype=np.int64),
        values=np.zeros(shape, dtype=np.float32),
        colours=np.zeros(shape, dtype=np.int64),
        learning=np.zeros(shape, dtype=np.bool_),
        rewards=np.zeros(shape, dtype=np.float32),
        other_rewards=np.zeros(shape, dtype=np.float32),
        ended=np.zeros(shape, dtype=np.bool_),
        bootstrap=np.zeros((*shape, 2), dtype=np.float32),
        last_values=np.zeros(count, dtype=np.float32),
        last_colours=np.zeros(count, dtype=np.int64),
        endings=Counter(),
        results=Counter(),
    )
