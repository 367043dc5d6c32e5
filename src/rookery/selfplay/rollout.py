"""Rollouts of a policy for PPO: T plies of N parallel games, recorded ply by ply.

In each game the learner has one colour or both; the other colour is played by a random mover, by
the same weights without learning from these plies, or by an older snapshot.

Games continue from one order to the next: a harvest is determined by the plan with its seed and by
the weights of this and all earlier orders. The state consists of the games, their colours and
opponents, and the random stream.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rookery._core import ENDINGS, VectorGames
from rookery.envs.rewards import Rewards
from rookery.nets import PolicyValueNetwork, ragged
from rookery.runs.state import State, seed_of
from rookery.selfplay.collector import Collector, Hooks, Weights
from rookery.selfplay.interim_rewards import find_interim_rewards
from rookery.selfplay.networks import network_of

WHITE, BLACK, BOTH = 1, 0, 2  # which colour the learner has; WHITE and BLACK as in `to_move`
CENTIPAWNS = 100.0
SHOWN_GAMES = 8  # on the page of `rookery watch`
_BY_PLY = (
    "observations", "places", "values", "colours", "learning", "rewards", "other_rewards", "ended",
    "bootstrap",
)  # of a rollout, [T, N, ...]  # fmt: skip


@dataclass(frozen=True)
class RolloutPlan:
    """Constants of a run."""

    games: Mapping[str, Any]  # arguments of `VectorGames` except its seed
    seed: int  # of the run
    learn_both: bool  # whether the learner has both colours in games without a rival
    rival_share: float  # share of the games against the rival of the order
    book: float = 0.0  # reward for a move of the opening book
    tablebase: float = 0.0  # for a move that shortens the distance to a tablebase win
    sets: int = 1  # parts of the games, each with its own random stream
    first_set: int = 0  # number of the first one

    def seed_of(self, purpose: str, number: int) -> int:
        """Seed of a set for one purpose."""
        return seed_of(self.seed, purpose, *([number] if number else []))


@dataclass(frozen=True)
class Incentives:
    """Additional rewards for one rollout, annealed to 0 by the caller."""

    draw: float = 0.0  # for both sides when a game is drawn
    material: float = 0.0  # per pawn of material that a ply gains


@dataclass(frozen=True)
class RolloutOrder:
    """The plies to play in the next iteration."""

    plies: int  # T, in every game
    rival: Weights | None = None  # None: it moves at random
    incentives: Incentives = Incentives()


@dataclass
class Rollout:
    """T plies of N games; arrays are [T, N] unless noted. Colours: 1 White, 0 Black."""

    observations: NDArray[Any]  # [T, N, *shape]
    legal: list[NDArray[np.int64]]  # T flat lists of legal actions
    offsets: list[NDArray[np.int64]]  # T times [N + 1]
    log_probabilities: list[NDArray[np.float32]]  # T flat lists, of the acting policy
    places: NDArray[np.int64]  # index of the action in its game's legal list
    values: NDArray[np.float32]  # of the critic, for the side to move
    colours: NDArray[np.int64]  # of the side to move
    learning: NDArray[np.bool_]  # whether the ply is a sample: the learner moved
    rewards: NDArray[np.float32]  # of the side that moved
    other_rewards: NDArray[np.float32]  # of the other side
    ended: NDArray[np.bool_]  # the game ended or was cut off with this ply
    bootstrap: NDArray[np.float32]  # [T, N, 2] by colour: value of a game cut off, else 0
    last_values: NDArray[np.float32]  # [N] of the critic, after the last ply
    last_colours: NDArray[np.int64]  # [N] side to move after the last ply
    endings: Counter[str] = field(default_factory=Counter)
    results: Counter[str] = field(default_factory=Counter)  # the learner's; White's if it has both
    lengths: list[int] = field(default_factory=list)  # plies of the finished games


class RolloutCollector(Collector[RolloutOrder, Rollout]):
    """Plays and records in this process, one set after the other."""

    def __init__(self, plan: RolloutPlan, hooks: Hooks) -> None:
        """Begin games."""
        self.sets = [RolloutSet(plan, hooks, plan.first_set + n) for n in range(plan.sets)]

    def begin(self, weights: Weights, order: RolloutOrder) -> Callable[[], Rollout]:
        """Load the weights; the games are played when the result is called."""
        network = network_of(weights)
        rival = None if order.rival is None else network_of(order.rival)
        return lambda: merge(
            [each.play(network, rival, order.plies, order.incentives) for each in self.sets]
        )

    def state(self) -> State:
        """The games of all sets."""
        return join_states([each.state() for each in self.sets])

    def load_state(self, state: State) -> None:
        """Resume these games."""
        for each, part in zip(self.sets, split_state(state, len(self.sets)), strict=True):
            each.load_state(part)


class RolloutSet:
    """Games that advance together."""

    def __init__(self, plan: RolloutPlan, hooks: Hooks, number: int) -> None:
        """Begin games."""
        self.plan, self.hooks = plan, hooks
        options = {**plan.games, "num_games": plan.games["num_games"] // plan.sets}
        self.games = games = VectorGames(seed=plan.seed_of("games", number), **options)
        self.rng = np.random.default_rng(plan.seed_of("play", number))
        self.learner = np.zeros(len(games), dtype=np.int64)
        self.against_rival = np.zeros(len(games), dtype=np.bool_)
        self._assign(np.ones(len(games), dtype=np.bool_))
        rewards = Rewards(book=plan.book, tablebase=plan.tablebase)
        actions = plan.games["actions"]
        self.interim = find_interim_rewards(rewards, len(games), actions, hooks.log)

    def _assign(self, which: NDArray[np.bool_]) -> None:
        """Draw colours and opponents for new games."""
        count = int(which.sum())
        rival = self.rng.random(count) < self.plan.rival_share
        colours = self.rng.integers(2, size=count)
        self.against_rival[which] = rival
        self.learner[which] = np.where(rival | (not self.plan.learn_both), colours, BOTH)

    def play(
        self,
        network: PolicyValueNetwork,
        rival: PolicyValueNetwork | None,
        plies: int,
        extra: Incentives,
    ) -> Rollout:
        """Play `plies` plies in every game; a `rival` of None moves at random."""
        games, interim = self.games, self.interim
        rollout = _empty(games, plies)
        for t in range(plies):
            self.hooks.check_stop()
            legal = games.legal_actions.astype(np.int64)
            offsets = games.legal_offsets.copy()
            colours = games.to_move.astype(np.int64)
            learning = (self.learner == BOTH) | (self.learner == colours)
            log_probabilities, values = _evaluate(network, games.observations, legal, offsets)
            places = ragged.sample_places(log_probabilities, offsets, self.rng.random(len(colours)))
            rollout.observations[t] = games.observations
            rollout.legal.append(legal)
            rollout.offsets.append(offsets)
            rollout.log_probabilities.append(log_probabilities)
            rollout.values[t], rollout.colours[t], rollout.learning[t] = values, colours, learning
            rollout.places[t] = places - offsets[:-1]

            actions = legal[places]
            by_rival = ~learning & self.against_rival
            if by_rival.any():
                actions[by_rival] = self._rival_actions(rival, by_rival, legal, offsets)
            if interim is not None:
                interim.before(games, actions, learning)
            material = games.material * np.where(colours == WHITE, 1, -1) / CENTIPAWNS
            games.step(actions)
            self.hooks.show({"fen": games.fen(i)} for i in range(min(SHOWN_GAMES, len(games))))
            self._record_rewards(rollout, t, extra, material)
            if interim is not None:
                rollout.rewards[t] += interim.after(games)
            ended = rollout.ended[t]
            if ended.any():
                self._record_endings(rollout, t, network, random_rival=rival is None)
                self._assign(ended)
        legal, offsets = games.legal_actions.astype(np.int64), games.legal_offsets.copy()
        _, rollout.last_values = _evaluate(network, games.observations, legal, offsets)
        rollout.last_colours = games.to_move.astype(np.int64)
        if rival is None:
            _end_before_rival(rollout, self.against_rival)
        return rollout

    def _rival_actions(
        self,
        rival: PolicyValueNetwork | None,
        which: NDArray[np.bool_],
        legal: NDArray[np.int64],
        offsets: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Actions of the rival in the games `which` [N]."""
        counts = np.diff(offsets)
        if rival is None:
            return legal[ragged.random_places(offsets, which, self.rng)]
        its_legal = legal[np.repeat(which, counts)]
        its_offsets = np.concatenate([[0], np.cumsum(counts[which])])
        log_probabilities, _ = _evaluate(
            rival, self.games.observations[which], its_legal, its_offsets
        )
        uniform = self.rng.random(len(its_offsets) - 1)
        return its_legal[ragged.sample_places(log_probabilities, its_offsets, uniform)]

    def _record_rewards(
        self, rollout: Rollout, t: int, extra: Incentives, material: NDArray[np.float64]
    ) -> None:
        games = self.games
        rollout.rewards[t] = games.rewards
        rollout.other_rewards[t] = games.opponent_rewards
        rollout.ended[t] = games.terminations | games.truncations
        drawn = games.terminations & (games.results == 0)
        rollout.rewards[t, drawn] += extra.draw
        rollout.other_rewards[t, drawn] += extra.draw
        if extra.material:
            white_now = games.material / CENTIPAWNS
            mine_now = np.where(rollout.colours[t] == WHITE, white_now, -white_now)
            # After the end the board is already that of the next game: no material reward.
            gained = np.where(rollout.ended[t], 0.0, mine_now - material) * extra.material
            rollout.rewards[t] += gained
            rollout.other_rewards[t] -= gained

    def _record_endings(
        self, rollout: Rollout, t: int, network: PolicyValueNetwork, random_rival: bool
    ) -> None:
        games = self.games
        cut = np.flatnonzero(games.truncations)
        if len(cut):
            # A game that was cut off is worth the critic's estimate to both sides.
            values = _values(network, games.final_observations(cut.tolist()))
            mover = rollout.colours[t, cut]
            rollout.bootstrap[t, cut, 1 - mover] = values
            mover_values = -values
            if random_rival:
                # The critic cannot value positions of a random mover: use the one before.
                last = rollout.values[t, cut]
                mover_values = np.where(self.against_rival[cut], last, mover_values)
            rollout.bootstrap[t, cut, mover] = mover_values
        for index in np.flatnonzero(rollout.ended[t]):
            rollout.endings[ENDINGS[games.endings[index]]] += 1
            rollout.lengths.append(int(games.lengths[index]))
            result = int(games.results[index]) * (-1 if self.learner[index] == BLACK else 1)
            name = {1: "wins", 0: "draws", -1: "losses"}[result]
            rollout.results["cut off" if games.truncations[index] else name] += 1

    def state(self) -> State:
        """The games, their colours and opponents, and the random stream."""
        state = State()
        state.put_bytes("games", self.games.get_state())
        state.put_generator("play", self.rng)
        state.values["learner"] = self.learner.tolist()
        state.values["against_rival"] = self.against_rival.tolist()
        if self.interim is not None:
            state.values["judge"] = self.interim.state()
            state.values["judge_sources"] = self.interim.sources
        return state

    def load_state(self, state: State) -> None:
        """Resume these games."""
        self.games.set_state(state.get_bytes("games"))
        state.get_generator("play", self.rng)
        self.learner = np.array(state.value("learner"), dtype=np.int64)
        self.against_rival = np.array(state.value("against_rival"), dtype=np.bool_)
        if self.interim is not None:
            self.interim.load_state(state.value("judge"))
            now = self.interim.sources
            before = state.values.get("judge_sources", now)
            if before != now:
                self.hooks.log(f"interim rewards change from here on: {now}, not {before}")


def merge(parts: Sequence[Rollout]) -> Rollout:
    """The rollouts of several sets as one, game beside game."""
    if len(parts) == 1:
        return parts[0]
    plies = range(len(parts[0].legal))
    ends = [[part.offsets[t][-1] for part in parts] for t in plies]
    side_by_side = {
        name: np.concatenate([getattr(part, name) for part in parts], axis=1) for name in _BY_PLY
    }
    return Rollout(
        **side_by_side,
        legal=[np.concatenate([part.legal[t] for part in parts]) for t in plies],
        offsets=[
            np.concatenate(
                [[0]] + [p.offsets[t][1:] + sum(ends[t][:n]) for n, p in enumerate(parts)]
            ).astype(np.int64)
            for t in plies
        ],
        log_probabilities=[
            np.concatenate([part.log_probabilities[t] for part in parts]) for t in plies
        ],
        last_values=np.concatenate([part.last_values for part in parts]),
        last_colours=np.concatenate([part.last_colours for part in parts]),
        endings=sum((Counter(part.endings) for part in parts), Counter()),
        results=sum((Counter(part.results) for part in parts), Counter()),
        lengths=[length for part in parts for length in part.lengths],
    )


def join_states(states: Sequence[State]) -> State:
    """The states of several sets as one; that of a single set unchanged."""
    joined = State()
    for number, state in enumerate(states):
        prefix = f"set{number}." if number else ""
        joined.tensors |= {f"{prefix}{name}": tensor for name, tensor in state.tensors.items()}
        joined.values |= {f"{prefix}{name}": value for name, value in state.values.items()}
    return joined


def split_state(state: State, sets: int) -> list[State]:
    """The states of each set; entries of others, such as a trainer's, stay in the first."""
    parts = [state]
    for number in range(1, sets):
        prefix = f"set{number}."
        part = State()
        for name in ("tensors", "values"):
            found = {k: v for k, v in vars(state)[name].items() if k.startswith(prefix)}
            vars(part)[name].update({k.removeprefix(prefix): v for k, v in found.items()})
        parts.append(part)
    return parts


def _end_before_rival(rollout: Rollout, against_rival: NDArray[np.bool_]) -> None:
    """Where a random rival is to move after the last ply, end with the position before that ply.

    The critic is only trained on positions with the learner to move. The last ply is then not a
    sample; its position serves as the successor of the learner's ply before.
    """
    cut = against_rival & rollout.learning[-1] & ~rollout.ended[-1]
    rollout.learning[-1, cut] = False
    rollout.last_values[cut] = rollout.values[-1, cut]
    rollout.last_colours[cut] = rollout.colours[-1, cut]


def _empty(games: VectorGames, plies: int) -> Rollout:
    shape = (plies, len(games))
    observations = games.observations
    return Rollout(
        observations=np.empty((plies, *observations.shape), dtype=observations.dtype),
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
        last_values=np.zeros(shape[1], dtype=np.float32),
        last_colours=np.zeros(shape[1], dtype=np.int64),
    )


def _evaluate(
    network: PolicyValueNetwork,
    observations: NDArray[Any],
    legal: NDArray[np.int64],
    offsets: NDArray[np.int64],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Log probabilities [L] of the legal actions, and values [N]."""
    with torch.no_grad():
        rows = ragged.rows_of(torch.from_numpy(offsets))
        logits, values = network(torch.from_numpy(observations), torch.from_numpy(legal), rows)
        log_probabilities = ragged.log_softmax(logits, rows, len(offsets) - 1)
    return log_probabilities.numpy(), values.numpy()


def _values(network: PolicyValueNetwork, observations: NDArray[Any]) -> NDArray[np.float32]:
    """Values [B] only; every position gets one dummy action."""
    count = len(observations)
    return _evaluate(network, observations, np.zeros(count, np.int64), np.arange(count + 1))[1]
