"""A straightforward DQN after Kanis 2016 with python-chess: one game, 32 replays per move."""

from __future__ import annotations

import itertools
import random
from collections import deque
from collections.abc import Callable
from typing import Any

LABEL = "python-chess and torch"
CONDITIONS = "one game at a time, a batch of 32 after each move, random opponent"

REPLAY, BATCH, DISCOUNT, EPSILON, TARGET_GAMES = 10_000, 32, 0.99, 0.1, 100
STEPS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))  # file, rank
MOVES_PER_CALL = 20


def prepare() -> Callable[[], int]:
    """Return a function that plays and trains for some moves and returns their number."""
    learner = Learner()

    def work() -> int:
        for _ in range(MOVES_PER_CALL):
            learner.move()
        return MOVES_PER_CALL

    return work


class Learner:
    """The algorithm in Figure 1 of the paper."""

    def __init__(self) -> None:
        """Make networks, replay memory and the first position."""
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(1)
        self.rng = random.Random(1)
        self.network, self.target = self._network(), self._network()
        self.target.load_state_dict(self.network.state_dict())
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3, fused=True)
        self.memory: deque[tuple[Any, ...]] = deque(maxlen=REPLAY)
        self.games = 0
        self.board = self._position()
        self.seen = self._encode()

    def _network(self) -> Any:
        from torch import nn

        widths = (192, 128, 64, 32)
        layers: list[Any] = []
        for one, two in itertools.pairwise(widths):
            layers += [nn.Linear(one, two), nn.ReLU()]
        return nn.Sequential(*layers, nn.Linear(32, 10))

    def _position(self) -> Any:
        """Return a random legal position in which the game is not over."""
        import chess

        while True:
            board = chess.Board(None)
            king, weak = self.rng.sample(range(64), 2)
            pawn = self.rng.randrange(8, 56)
            if pawn in (king, weak):
                continue
            board.set_piece_at(king, chess.Piece(chess.KING, chess.WHITE))
            board.set_piece_at(pawn, chess.Piece(chess.PAWN, chess.WHITE))
            board.set_piece_at(weak, chess.Piece(chess.KING, chess.BLACK))
            if board.is_valid() and not board.is_game_over():
                return board

    def _encode(self) -> Any:
        """Return three flattened zero-mean planes."""
        import chess
        import torch

        planes = torch.full((3, 64), -1 / 64)
        planes[0, self.board.king(chess.WHITE)] += 1
        for square in self.board.pieces(chess.PAWN, chess.WHITE):
            planes[1, square] += 1
        planes[2, self.board.king(chess.BLACK)] += 1
        return planes.flatten()

    def _chess_move(self, action: int) -> Any:
        """Return the legal move of an action, or None."""
        import chess

        pawns = self.board.pieces(chess.PAWN, chess.WHITE)
        if action < 8:
            origin = self.board.king(chess.WHITE)
            file, rank = (
                a + b for a, b in zip(divmod(origin, 8)[::-1], STEPS[action], strict=True)
            )
            if not (0 <= file < 8 and 0 <= rank < 8):
                return None
            move = chess.Move(origin, chess.square(file, rank))
        else:
            origin = pawns.pop()
            target = origin + 8 * (action - 7)
            if target > 63:
                return None
            move = chess.Move(origin, target, chess.QUEEN if target > 55 else None)
        return move if self.board.is_legal(move) else None

    def _reward(self) -> tuple[float, bool]:
        """Return the reward and whether the game is over."""
        import chess

        board = self.board
        queens = board.pieces(chess.QUEEN, chess.WHITE)
        if board.is_checkmate():
            return 10.0, True
        if board.is_stalemate() or board.is_insufficient_material():
            return -10.0, True
        if queens:
            taken = any(board.is_capture(move) for move in board.legal_moves)
            if board.turn == chess.WHITE or not taken:
                return 10.0, True
        return 0.0, False

    def move(self) -> None:
        """Act, store, train."""
        import torch

        seen = self.seen
        if self.rng.random() < EPSILON:
            action = self.rng.randrange(10)
        else:
            with torch.no_grad():
                action = int(self.network(seen).argmax())
        reward, over = -1.0, False
        chosen = self._chess_move(action)
        if chosen is None:
            reward = -10.0
        else:
            self.board.push(chosen)
            gained, over = self._reward()
            if not over:
                self.board.push(self.rng.choice(list(self.board.legal_moves)))
                gained, over = self._reward()
            reward += gained
        if over:
            self.games += 1
            self.board = self._position()
            if self.games % TARGET_GAMES == 0:
                self.target.load_state_dict(self.network.state_dict())
        self.seen = self._encode()
        self.memory.append((seen, action, reward, self.seen, 0.0 if over else DISCOUNT))
        if len(self.memory) >= BATCH:
            self._learn()

    def _learn(self) -> None:
        import torch

        drawn = [self.memory[self.rng.randrange(len(self.memory))] for _ in range(BATCH)]
        seen, actions, rewards, following, discounts = zip(*drawn, strict=True)
        with torch.no_grad():
            best = self.target(torch.stack(following)).max(1).values
            targets = torch.tensor(rewards) + torch.tensor(discounts) * best
        q_values = self.network(torch.stack(seen))
        chosen = q_values.gather(1, torch.tensor(actions)[:, None]).squeeze(1)
        loss = (chosen - targets).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
