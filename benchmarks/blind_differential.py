"""Blind chess in step with reconchess's own referee: python benchmarks/blind_differential.py.

Random and scripted sides play; at every turn the lists of requests, the sense, the taken move, the
square of a capture, the board (as FEN) and the end of the game must be those of reconchess. Stops
at the first difference with everything needed to play it again.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import chess
from reconchess import LocalGame, WinReason

from rookery._core import BlindGame

REASONS = {
    WinReason.KING_CAPTURE: "king_capture",
    WinReason.TURN_LIMIT: "turn_limit",
    WinReason.MOVE_LIMIT: "move_limit",
}
# A request, given the true board (scripts may look) and the list of requests; None passes.
Script = Callable[[chess.Board, list[chess.Move], random.Random], chess.Move | None]


class DifferenceError(AssertionError):
    """We and reconchess disagree."""


def any_request(board: chess.Board, moves: list[chess.Move], rng: random.Random) -> Any:
    """Uniformly random, passes included."""
    return rng.choice([*moves, None])


def captures(board: chess.Board, moves: list[chess.Move], rng: random.Random) -> Any:
    """Prefer requests onto or through pieces, pawn diagonals and promotions; spare the kings."""
    king = board.king(not board.turn)

    def odd(move: chess.Move) -> bool:
        path = chess.SquareSet(chess.between(move.from_square, move.to_square))
        if king is not None and (move.to_square == king or king in path):
            return False
        return (
            bool(board.piece_at(move.to_square))
            or any(board.piece_at(square) for square in path)
            or move.promotion is not None
            or board.is_castling(move)
            or board.is_en_passant(move)
        )

    return rng.choice([move for move in moves if odd(move)] or [*moves, None])


def pawns(board: chess.Board, moves: list[chess.Move], rng: random.Random) -> Any:
    """Prefer pawns: en passant, blocked double steps, promotions."""
    return rng.choice(
        [m for m in moves if board.piece_type_at(m.from_square) == chess.PAWN] or [*moves, None]
    )


def shuffles(board: chess.Board, moves: list[chess.Move], rng: random.Random) -> Any:
    """Neither pawns nor captures nor, before castling, kings: the half-move clock runs out."""
    quiet = [
        move
        for move in moves
        if (
            board.piece_type_at(move.from_square) not in (chess.PAWN, chess.KING)
            and not board.piece_at(move.to_square)
        )
        or board.is_castling(move)
    ]
    return rng.choice([*quiet, None])


SCRIPTS: dict[str, Script] = {
    "any": any_request,
    "captures": captures,
    "pawns": pawns,
    "shuffles": shuffles,
}


def check(what: str, ours: object, theirs: object, history: list[Any]) -> None:
    """Raise unless both are equal."""
    if ours != theirs:
        raise DifferenceError(f"{what}: ours {ours!r}, reconchess {theirs!r} after {history}")


def compare_game(
    white: Script, black: Script, rng: random.Random, turn_limit: int | None, seen: Counter[str]
) -> int:
    """Play one game in both and return its turns."""
    theirs = LocalGame(seconds_per_player=None, full_turn_limit=turn_limit)
    ours = BlindGame(turn_limit=turn_limit or 0)
    theirs.start()
    history: list[Any] = []
    while not theirs.is_over():
        check("phase", ours.phase, "sense", history)
        moves = theirs.move_actions()
        check("requests", ours.move_actions(), [move.uci() for move in moves], history)
        square = rng.choice([*theirs.sense_actions(), None])
        sight = [(at, piece and piece.symbol()) for at, piece in theirs.sense(square)]
        check("sense", ours.sense(square), sight, history)
        move = (white if theirs.turn else black)(theirs.board, moves, rng)
        history.append((square, move and move.uci()))
        castling = move is not None and theirs.board.is_castling(move)
        before = theirs.board.copy(stack=False)
        _, taken, capture = theirs.move(move)
        found = ours.move(None if move is None else move.uci())
        check("taken move and capture", found, (taken and taken.uci(), capture), history)
        check("board", ours.fen(), theirs.board.fen(en_passant="fen"), history)
        theirs.end_turn()
        seen["taken" if taken == move else "none" if taken is None else "changed"] += 1
        seen["captures"] += capture is not None
        seen["en passant"] += taken is not None and before.is_en_passant(taken)
        seen["castlings"] += castling and taken is not None
        seen["promotions"] += taken is not None and taken.promotion is not None
    reason = REASONS[theirs.get_win_reason()]
    check("end", ours.outcome(), (reason, theirs.get_winner_color()), history)
    seen[reason] += 1
    return len(history)


def compare(turns: int, seed: int) -> Counter[str]:
    """Compare at least so many turns; returns what happened in them."""
    seen: Counter[str] = Counter()
    names = list(SCRIPTS)
    game = 0
    while seen["turns"] < turns:
        rng = random.Random(f"{seed} {game}")
        white, black = names[game % 4], names[game // 4 % 4]
        limit = rng.choice([None, None, 5, 40])
        try:
            seen["turns"] += compare_game(SCRIPTS[white], SCRIPTS[black], rng, limit, seen)
        except DifferenceError as error:
            raise DifferenceError(f"game {game} ({white} v {black}): {error}") from None
        game += 1
    seen["games"] = game
    return seen


def main() -> None:
    """Compare and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    begin = time.perf_counter()
    seen = compare(args.turns, args.seed)
    print(f"no difference in {time.perf_counter() - begin:.0f} s:", dict(sorted(seen.items())))


if __name__ == "__main__":
    main()
