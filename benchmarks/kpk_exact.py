"""Table 5 of Kanis 2016 on every won position instead of a sample, with greedy moves.

    python benchmarks/kpk_exact.py runs/kpk-paper
    python benchmarks/kpk_exact.py runs/kpk-paper --nodes 200 2000 10000

For DQN runs on king and pawn against king. All games are played at once, against a random king and
against Sunfish at fixed nodes, which is asked once per position (`remember=auto` shares the same
cache): 0.06 ms per position at 200 nodes, 0.6 at 2,000 and 4.4 at 10,000. Also counts how the games
end that are not won.
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path
from typing import Any

import chess
import numpy as np
import torch
from numpy.typing import NDArray

from rookery import Game
from rookery.data.kpk_levels import LEVELS, kpk_fen, kpk_squares
from rookery.nets.model_file import load_model
from rookery.papers.kanis2016.worlds import STEPS, won_starts
from rookery.players.base import Player
from rookery.players.registry import make_player

Squares = NDArray[np.int64]  # [N, 3] strong king, pawn, weak king
Moves = NDArray[np.bool_]  # [64, 64, 64, A] by the same squares
LIMIT = 50  # moves of a game
OFFSETS = np.array([8 * ranks + files for ranks, files in STEPS] + [8, 16])
ENDS = ["won", "pawn lost", "stalemate", "50 moves"]
WON, LOST, STALEMATE, LONG = range(1, 5)
OPEN = 0


# --- Rules ---


def steps(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """King steps between two squares."""
    ranks, files = np.abs(one // 8 - other // 8), np.abs(one % 8 - other % 8)
    found: NDArray[np.int64] = np.maximum(ranks, files)
    return found


def king_targets(king: NDArray[np.int64], step: tuple[int, int]) -> tuple[Any, Any]:
    """Where a step leads, and whether that is on the board."""
    rank, file = king // 8 + step[0], king % 8 + step[1]
    inside = (rank >= 0) & (rank < 8) & (file >= 0) & (file < 8)
    return np.where(inside, 8 * rank + file, 0), inside


def attacked_by_pawn(square: Any, pawn: Any) -> Any:
    """Whether the pawn attacks the square."""
    return (square // 8 == pawn // 8 + 1) & (np.abs(square % 8 - pawn % 8) == 1)


def legal_moves() -> tuple[Moves, Moves]:
    """Return the legal actions of the strong side and steps of the weak king in each position."""
    king, pawn, weak = np.ogrid[0:64, 0:64, 0:64]
    apart = (king != pawn) & (weak != pawn) & (steps(king, weak) > 1) & (pawn >= 8) & (pawn < 56)
    strong = np.zeros((64, 64, 64, len(OFFSETS)), dtype=np.bool_)
    replies = np.zeros((64, 64, 64, len(STEPS)), dtype=np.bool_)
    for action, step in enumerate(STEPS):
        target, inside = king_targets(king, step)
        strong[..., action] = inside & (target != pawn) & (steps(target, weak) > 1)
        target, inside = king_targets(weak, step)
        safe = ~attacked_by_pawn(target, pawn) & (steps(target, king) > 1)
        replies[..., action] = apart & inside & safe
    free = (pawn + 8 != king) & (pawn + 8 != weak)
    strong[..., 8] = free
    strong[..., 9] = free & (pawn // 8 == 1) & (pawn + 16 != king) & (pawn + 16 != weak)
    strong &= (apart & ~attacked_by_pawn(weak, pawn))[..., None]
    return strong, replies


def promotion_ends(king: Any, queen: Any, weak: Any) -> NDArray[np.int64]:
    """Return the result of a new queen on these squares: WON, LOST or STALEMATE."""
    hangs = (steps(weak, queen) == 1) & (steps(king, queen) > 1)
    ends = np.where(hangs, LOST, WON)
    edge = (weak // 8 == 7) | (weak % 8 == 0) | (weak % 8 == 7) | (weak // 8 == 0)
    for index in np.flatnonzero(~hangs & edge):
        if _stalemates(int(king[index]), int(queen[index]), int(weak[index])):
            ends[index] = STALEMATE
    return ends


@cache
def _stalemates(king: int, queen: int, weak: int) -> bool:
    board = chess.Board(None)
    for square, letter in ((king, "K"), (queen, "Q"), (weak, "k")):
        board.set_piece_at(square, chess.Piece.from_symbol(letter))
    board.turn = chess.BLACK
    return board.is_stalemate()


# --- The two sides ---


def greedy_moves(run: Path, legal: Moves) -> NDArray[np.int64]:
    """Return the legal action with the highest Q value, [64, 64, 64]; -1 if there is none."""
    network: Any = load_model(run / "model.safetensors")[0]
    squares = np.argwhere(legal.any(-1))
    actions = np.full(legal.shape[:3], -1, dtype=np.int64)
    with torch.inference_mode():
        for part in np.array_split(squares, 64):
            q_values = network.q_values(torch.from_numpy(part)).numpy()
            best = np.where(legal[tuple(part.T)], q_values, -np.inf).argmax(1)
            actions[tuple(part.T)] = best
    return actions


class Sunfish:
    """The weak king's target squares, computed lazily."""

    def __init__(self, nodes: int) -> None:
        """Start with an empty cache."""
        self._player: Player = make_player(f"sunfish,nodes={nodes},native=true,remember=auto")
        self._known = np.full((64, 64, 64), -1, dtype=np.int64)
        self._rng = np.random.default_rng(0)

    def __call__(self, squares: Squares) -> NDArray[np.int64]:
        """Return the squares [N] that the weak king moves to."""
        places = tuple(squares.T)
        for row in np.unique(squares[self._known[places] < 0], axis=0):
            game = Game(kpk_fen(row.astype(np.int8)).replace(" w ", " b "))
            move = self._player.choose(game, self._rng).move
            self._known[tuple(row)] = "abcdefgh".index(move[2]) + 8 * (int(move[3]) - 1)
        found: NDArray[np.int64] = self._known[places]
        return found


# --- Games ---


def play(
    start: Squares, actions: NDArray[np.int64], replies: Moves, opponent: Sunfish | None, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how each game ends (OPEN ... LONG) and after how many moves."""
    rng = np.random.default_rng(seed)
    squares, ends = start.copy(), np.full(len(start), OPEN)
    moves = np.zeros(len(start), dtype=np.int64)
    for _ in range(LIMIT):
        ends[(ends == OPEN) & (actions[tuple(squares.T)] < 0)] = STALEMATE
        games = np.flatnonzero(ends == OPEN)
        king, pawn, weak = squares[games].T
        action = actions[king, pawn, weak]
        king = king + np.where(action < 8, OFFSETS[action], 0)
        pawn = pawn + np.where(action < 8, 0, OFFSETS[action])
        moves[games] += 1
        # A new queen that can be captured counts as lost, also against the random king.
        promoted = pawn >= 56
        ends[games[promoted]] = promotion_ends(king[promoted], pawn[promoted], weak[promoted])
        stuck = np.zeros(len(games), dtype=np.bool_)
        left = np.flatnonzero(~promoted)
        stuck[left] = ~replies[king[left], pawn[left], weak[left]].any(-1)
        mated = stuck & attacked_by_pawn(weak, pawn)
        ends[games[stuck]] = np.where(mated[stuck], WON, STALEMATE)
        left = np.flatnonzero(~promoted & ~stuck)
        after = np.stack([king[left], pawn[left], weak[left]], 1)
        if opponent is None:
            noise = rng.random((len(left), len(STEPS))) * replies[tuple(after.T)]
            after[:, 2] += OFFSETS[noise.argmax(1)]
        else:
            after[:, 2] = opponent(after)
        ends[games[left[after[:, 2] == after[:, 1]]]] = LOST
        squares[games[left]] = after
    ends[ends == OPEN] = LONG
    return ends, moves


def main() -> None:
    """Play all won positions against each opponent."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path, help="folder of a DQN run")
    parser.add_argument("--nodes", type=int, nargs="*", default=[200, 2000], help="Sunfish nodes")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the king")
    args = parser.parse_args()
    legal, replies = legal_moves()
    actions = greedy_moves(args.run, legal)
    wins = won_starts()
    starts = {level: kpk_squares(level).astype(np.int64) for level in LEVELS}
    starts = {level: rows[wins[tuple(rows.T)]] for level, rows in starts.items()}
    print(f"{'':16}" + "".join(f"{level:>14}" for level in LEVELS) + "   all: how they end, moves")
    print(f"{'won positions':16}" + "".join(f"{len(starts[level]):>14,}" for level in LEVELS))
    for nodes in [0, *args.nodes]:
        opponent = Sunfish(nodes) if nodes else None
        found = {
            level: play(rows, actions, replies, opponent, args.seed)
            for level, rows in starts.items()
        }
        ends, moves = found["all"]
        counts = [f"{name} {int((ends == end).sum()):,}" for end, name in enumerate(ENDS, 1)]
        label = f"Sunfish {nodes:,}" if nodes else "random king"
        shares = "".join(f"{100 * (found[level][0] == WON).mean():>12.2f} %" for level in LEVELS)
        print(f"{label:16}{shares}   {', '.join(counts)}; {moves[ends == WON].mean():.2f}")


if __name__ == "__main__":
    main()
