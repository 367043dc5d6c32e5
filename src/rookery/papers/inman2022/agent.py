"""The agent of Inman and Ezra Marin (2022): double DQN with replay over depth-1 alpha-beta.

    episode  a game; each position is searched, each leaf judged by the network or, with the
             probability epsilon, by a hand-written evaluation; the search's value is the reward
    target   reward + gamma V_target(next position), both for the mover, so that V_target changes
             its sign
    learn    one step on a minibatch of the memory after each episode

"Double" is the target network alone: the online network's choice, the move played, is fixed in the
memory. Tests let nothing but the network judge leaves, unlike the paper's code.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from rookery._core import Game, PlainSearch, PositionEvaluator, encode_batch
from rookery.base.scales import SCORE_SCALE
from rookery.data.pgn import read_pgn_files
from rookery.encodings import NO_ACTIONS, OBSERVATIONS
from rookery.learning.matches import player_match
from rookery.nets import make_network
from rookery.nets.value_evaluator import conv_evaluator
from rookery.papers.inman2022.network import BoardConv
from rookery.papers.inman2022.recipe import DataSettings, DdqnPaperRecipe
from rookery.players.plain import PlainPlayer
from rookery.players.registry import make_player
from rookery.runs.state import State
from rookery.training.trainer import Context, MatchScore, Metrics, Trainer

Planes = NDArray[np.uint8]  # [N, P, 8, 8]
SEARCH_UNIT = 2.0 * SCORE_SCALE  # centipawns of a value of 1 in an unbounded search


def read_games(settings: DataSettings, report: Callable[[str], object]) -> list[list[str]]:
    """Moves of the games in PGN files that begin at the start position and can be replayed.

    `report` gets a line with their number and that of the games left out.
    """
    games: list[list[str]] = []
    skipped = 0
    for game in read_pgn_files(map(Path, settings.pgn)):
        moves = [move for _, move in game.positions()]
        if game.error or len(moves) < len(game.moves) or not moves or "FEN" in game.headers:
            skipped += 1
            continue
        games.append(moves)
        if len(games) == settings.games:
            break
    if not games:
        files = ", ".join(map(repr, settings.pgn))
        raise ValueError(f"data.pgn: no game of standard chess in {files} ({skipped} unusable)")
    report(f"games read from PGN: {len(games)}; unusable and left out: {skipped}")
    return games


class Memory:
    """The newest moves: planes before and after, reward in centipawns, whether the game ended."""

    def __init__(self, size: int, shape: tuple[int, ...]) -> None:
        """Hold at most `size` moves over planes of this shape."""
        self.size = size
        self.before: Planes = np.zeros((0, *shape), dtype=np.uint8)
        self.after = self.before
        self.rewards = np.zeros(0, dtype=np.float32)
        self.ended = np.zeros(0, dtype=np.bool_)

    def add(self, planes: Planes, rewards: NDArray[np.float32], ended: bool) -> None:
        """Append an episode: planes [T + 1, ...], rewards [T]; the oldest moves are dropped."""
        ends = np.zeros(len(rewards), dtype=np.bool_)
        ends[-1:] = ended
        new = (planes[:-1], planes[1:], rewards, ends)
        old = (self.before, self.after, self.rewards, self.ended)
        self.before, self.after, self.rewards, self.ended = (
            np.concatenate([a, b])[-self.size :] for a, b in zip(old, new, strict=True)
        )


class DdqnPaperTrainer(Trainer):
    """One game per iteration; see `rookery.training.trainer.Trainer`."""

    def __init__(self, context: Context[DdqnPaperRecipe]) -> None:
        """Begin with random weights, the same in both networks."""
        self.context = context
        agent, sizes = context.recipe.agent, context.recipe.network
        self.shape = OBSERVATIONS[agent.observation].shape
        kind = ("boardconv", agent.observation, NO_ACTIONS, sizes)
        self.online: BoardConv = make_network(*kind, context.torch_generator("weights"))
        self.target: BoardConv = make_network(*kind, context.torch_generator("weights"))
        self.optimizer = torch.optim.AdamW(
            self.online.parameters(), agent.learning_rate, weight_decay=agent.weight_decay
        )
        self.games: list[list[str]] = []
        if agent.source != "self-play":
            self.games = read_games(context.recipe.data, context.log)
        self.memory = Memory(agent.memory, self.shape)
        self.epsilon = agent.epsilon
        self.rng = context.generator("episodes")

    # --- Episodes ---

    def iterate(self) -> Metrics:
        """Play or replay a game, learn once, perhaps copy the weights."""
        agent = self.context.recipe.agent
        began = time.perf_counter()
        self.online.eval()
        network = conv_evaluator(self.online, bounded=False)
        search = PlainSearch(network, PositionEvaluator.simplified(bounded=False))
        replayed = self._replays()
        game, rewards, leaves = self._episode(search, self._next_game() if replayed else None)
        outcome = game.outcome(claim_draw=True)
        self.memory.add(self._planes(game), rewards, outcome is not None)
        self.epsilon = max(agent.least_epsilon, self.epsilon * agent.epsilon_decay)
        played = time.perf_counter()
        losses = [self._learn() for _ in range(agent.updates)]
        if (self.context.iteration + 1) % agent.copy_every == 0:
            self.target.load_state_dict(self.online.state_dict())
        winner = None if outcome is None else outcome[1]
        return Metrics(
            samples=len(rewards),
            games=1,
            losses={"value": float(np.mean(losses))},
            values={
                "epsilon": self.epsilon,
                "leaves": float(leaves),
                "reward_deviation": float(rewards.std()),
            },
            results={"draw" if winner is None else "white" if winner else "black": 1},
            terminations={"moves_end" if outcome is None else outcome[0]: 1},
            timing={"play": played - began, "learn": time.perf_counter() - played},
        )

    def _replays(self) -> bool:
        """Whether this episode replays a game of the PGN files."""
        source = self.context.recipe.agent.source
        return source == "games" or (source == "both" and self.context.progress < 0.5)

    def _next_game(self) -> list[str]:
        return self.games[self.context.iteration % len(self.games)]

    def _episode(
        self, search: PlainSearch, moves: list[str] | None
    ) -> tuple[Game, NDArray[np.float32], int]:
        """A game by search, or along the moves of another: game, rewards [T], leaves judged."""
        agent = self.context.recipe.agent
        game, rewards, total = Game(), [], 0
        plies = agent.max_plies if moves is None else min(len(moves), agent.max_plies)
        while game.ply < plies and game.outcome(claim_draw=moves is None) is None:
            self.context.check_stop()
            seed = int(self.rng.integers(1 << 62))
            line, value, leaves = search.search(game, agent.depth, self.epsilon, seed)
            rewards.append(
                np.clip(value * SEARCH_UNIT, -agent.largest_reward, agent.largest_reward)
            )
            total += leaves
            game.push(line[0] if moves is None else moves[game.ply])
        return game, np.array(rewards, dtype=np.float32), total

    def _planes(self, game: Game) -> Planes:
        """Planes [T + 1, P, 8, 8] of all positions of a game, each from its mover."""
        positions = [Game()]
        for move in game.moves():
            positions.append(positions[-1].copy())
            positions[-1].push(move)
        planes = np.zeros((len(positions), *self.shape), dtype=np.float32)
        encode_batch(positions, self.online.observation, planes)
        return planes.astype(np.uint8)

    # --- Learning ---

    def _learn(self) -> float:
        """One step of AdamW on the squared error; the error before it, in units squared."""
        agent = self.context.recipe.agent
        unit = self.context.recipe.network.unit
        chosen = self.rng.integers(len(self.memory.rewards), size=agent.minibatch)
        before = torch.from_numpy(self.memory.before[chosen]).float()
        after = torch.from_numpy(self.memory.after[chosen]).float()
        self.target.eval()
        with torch.no_grad():
            following = -self.target.raw(after)  # the next mover is the opponent
            following[torch.from_numpy(self.memory.ended[chosen])] = 0.0
        rewards = torch.from_numpy(self.memory.rewards[chosen]) / unit
        goals = rewards + agent.gamma * following
        self.online.train()
        dropout = torch.Generator().manual_seed(int(self.rng.integers(1 << 62)))
        error = (self.online.raw(before, dropout) - goals).square().mean()
        weights = (p for p in self.online.parameters() if p.dim() > 1)
        loss = error + agent.l2 * sum(weight.square().sum() for weight in weights)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return float(error.detach())

    # --- Publishing, measuring ---

    def model(self) -> BoardConv:
        """The online network."""
        return self.online.eval()

    def evaluate(self, rng: np.random.Generator) -> list[MatchScore]:
        """Matches at the depth of play; the network alone judges leaves."""
        settings = self.context.recipe.evaluation
        evaluator = conv_evaluator(self.online.eval(), bounded=False)
        player = PlainPlayer(evaluator, "ddqn-paper", settings.depth)
        games = settings.games
        if not self.context.iteration:
            games = min(games, settings.untrained_games)
        scores, over = [], self.context.evaluation_is_over
        for spec in settings.opponents:
            opponent = make_player(spec)
            try:
                scores.append(player_match(player, opponent, games, rng, {}, over=over))
            finally:
                opponent.close()
        return scores

    # --- Resuming ---

    def state(self) -> State:
        """Both networks, optimiser, memory, epsilon, random stream."""
        state = State()
        state.put_module("online", self.online)
        state.put_module("target", self.target)
        state.put_optimizer("optimizer", self.optimizer)
        memory = {name: torch.from_numpy(getattr(self.memory, name)) for name in _MEMORY}
        state.put_tensors("memory", memory)
        state.put_generator("episodes", self.rng)
        state.values["epsilon"] = self.epsilon
        return state

    def load_state(self, state: State) -> None:
        """Restore a `state()`."""
        state.get_module("online", self.online)
        state.get_module("target", self.target)
        state.get_optimizer("optimizer", self.optimizer)
        for name, tensor in state.get_tensors("memory").items():
            setattr(self.memory, name, tensor.numpy().copy())
        state.get_generator("episodes", self.rng)
        self.epsilon = float(state.value("epsilon"))


_MEMORY = ("before", "after", "rewards", "ended")
