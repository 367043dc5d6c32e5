"""The way of Inman and Ezra Marin 2022: python-chess, one leaf at a time, one fit per sample."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from typing import Any

LABEL = "the paper's way with python-chess and torch"
CONDITIONS = "depth-1 alpha-beta, leaves one at a time, 64 fits of one sample after each game"

REPLAY, BATCH, GAMMA, EPSILON, COPY_GAMES, PLIES = 500, 64, 0.25, 0.2, 10, 100
WORTH = {1: 1.0, 2: 3.2, 3: 3.3, 4: 5.0, 5: 9.0, 6: 0.0}


def prepare() -> Callable[[], int]:
    """Return a function that plays and learns one game and returns its positions."""
    agent = Agent()
    return agent.episode


class Agent:
    """Self-play with replay; values are White's, in pawns."""

    def __init__(self) -> None:
        """Make networks and replay memory."""
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(1)
        self.rng = random.Random(1)
        self.network, self.target = self._network(), self._network()
        self.target.load_state_dict(self.network.state_dict())
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=5e-4)
        self.memory: deque[tuple[Any, float, Any]] = deque(maxlen=REPLAY)
        self.games = 0

    def _network(self) -> Any:
        from torch import nn

        layers: list[Any] = []
        for channels in (12, 16, 16):
            layers += [nn.Conv2d(channels, 16, 3, padding=1), nn.ReLU()]
        layers.append(nn.Flatten())
        for width in (1024, 384, 384):
            layers += [nn.Linear(width, 384), nn.ReLU(), nn.Dropout(0.25)]
        return nn.Sequential(*layers, nn.Linear(384, 1))

    def _planes(self, board: Any) -> Any:
        import torch

        planes = torch.zeros(1, 12, 8, 8)
        for square, piece in board.piece_map().items():
            plane = piece.piece_type - 1 + (0 if piece.color else 6)
            planes[0, plane, square // 8, square % 8] = 1.0
        return planes

    def _judge(self, board: Any) -> float:
        """A leaf: by the hand-written evaluation (here material), or by the network."""
        import torch

        if self.rng.random() < EPSILON:
            pieces = board.piece_map().values()
            return sum(WORTH[p.piece_type] * (1 if p.color else -1) for p in pieces)
        self.network.eval()
        with torch.no_grad():
            return float(self.network(self._planes(board)))

    def _search(self, board: Any) -> tuple[float, Any]:
        """Depth 1: the best move for the side to move and its value."""
        best: tuple[float, Any] | None = None
        for move in sorted(board.legal_moves, key=lambda m: not board.is_capture(m)):
            board.push(move)
            value = self._judge(board)
            board.pop()
            if best is None or (value > best[0] if board.turn else value < best[0]):
                best = (value, move)
        assert best is not None
        return best

    def episode(self) -> int:
        """Play a game, then learn 64 samples one by one; return the positions played."""
        import chess

        board, plies = chess.Board(), 0
        while plies < PLIES and not board.is_game_over(claim_draw=True):
            before = self._planes(board)
            value, move = self._search(board)
            board.push(move)
            self.memory.append((before, value, self._planes(board)))
            plies += 1
        for before, reward, after in self.rng.sample(self.memory, min(BATCH, len(self.memory))):
            self._fit(before, reward, after)
        self.games += 1
        if self.games % COPY_GAMES == 0:
            self.target.load_state_dict(self.network.state_dict())
        return plies

    def _fit(self, before: Any, reward: float, after: Any) -> None:
        import torch

        self.target.eval()
        with torch.no_grad():
            goal = reward + GAMMA * self.target(after)
        self.network.train()
        weights = sum(p.square().sum() for p in self.network.parameters() if p.dim() > 1)
        loss = (self.network(before) - goal).square().mean() + 0.01 * weights
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
