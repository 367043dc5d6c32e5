"""Play random games in parallel with python-chess: any difference is a bug of the core.

    python benchmarks/differential.py --plies 10000000 --encode-every 1 --processes 2

After every ply both sides must agree on the FEN, the legal moves, check, the Polyglot key, the
number of occurrences, draw claims and the outcome; now and then some plies are taken back. Every
few plies (--encode-every) one of the eleven layouts of observations, in turn, and the legal actions
are compared with the slow encoders of tests/support/reference, which are written for python-chess.
Prints progress to standard error and a JSON summary to standard output; exits 1 on a difference.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import chess
import chess.polyglot
import numpy as np

import board_families
from rookery import Game

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.reference.actions import legal_actions
from support.reference.observations import ENCODERS

PLIES_PER_CHUNK = 20_000  # one task of a worker process, a few seconds
GAME_PLIES = (20, 60, 150, 400)  # the cap of a game is one of these: many starts, some long games
SPECIAL_SHARE = 0.5  # how often castling, en passant or promotion is preferred
SHUFFLE_SHARE = 0.2  # share of games in which positions repeat
PLIES_AFTER_DRAW = 6  # the rules must also be right when players ignore an automatic draw
EXHAUSTIVE_EVERY = 16  # of the plies on which python-chess surely denies a claim, ask 1 in 16
MAX_DIFFERENCES = 20
ENCODE_EVERY = 32  # plies
TOLERANCE = 1e-6  # of encoded numbers; the slow encoders round at other places
LAYOUTS = tuple(ENCODERS)


@dataclass
class Report:
    """What was compared; `differences` is empty if the core is correct."""

    plies: int = 0
    games: int = 0
    encodings: int = 0
    differences: list[str] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)

    def add(self, other: Report) -> None:
        """Add another report to this one."""
        self.plies += other.plies
        self.games += other.games
        self.encodings += other.encodings
        self.differences += other.differences
        self.seen.update(other.seen)


def outcome_of(board: chess.Board, claim_draw: bool) -> tuple[str, bool | None] | None:
    """Return python-chess's outcome in the form of Game.outcome()."""
    outcome = board.outcome(claim_draw=claim_draw)
    return None if outcome is None else (outcome.termination.name.lower(), outcome.winner)


class Match:
    """One game played on a python-chess board and a rookery Game at the same time."""

    def __init__(self, board: chess.Board, report: Report) -> None:
        """Start both from the board's position."""
        self.board = board
        self.game = Game(board.fen(), chess960=board.chess960)
        self.report = report
        # Positions without move counters, the current one last. Like the repetition rule,
        # Game.fen() has an en passant square only if the capture is legal.
        self.positions: list[str] = []
        self.occurrences: Counter[str] = Counter()
        self.fen = ""
        self.legal: list[chess.Move] = []
        self.failed = False
        self.enter()

    def enter(self) -> None:
        """Record the current position."""
        self.fen = self.board.fen()
        position = self.fen.rsplit(" ", 2)[0]
        self.positions.append(position)
        self.occurrences[position] += 1
        self.legal = list(self.board.legal_moves)

    def push(self, move: chess.Move) -> None:
        """Play a move on both."""
        self.tally(move)
        self.board.push(move)
        self.game.push(move.uci())
        self.report.plies += 1
        self.enter()

    def take_back(self, plies: int) -> None:
        """Undo moves on both."""
        for _ in range(min(plies, len(self.board.move_stack))):
            self.expect("undone move", self.game.pop(), self.board.pop().uci())
            self.occurrences[self.positions.pop()] -= 1
        self.fen = self.board.fen()
        self.legal = list(self.board.legal_moves)
        self.report.seen["taken back"] += 1

    def tally(self, move: chess.Move) -> None:
        """Count the rare kinds of move, to show that they occurred."""
        seen = self.report.seen
        if self.board.is_en_passant(move):
            seen["en passant"] += 1
        elif self.board.is_castling(move):
            seen["castling"] += 1
        if move.promotion:
            seen[f"promotion to {chess.piece_name(move.promotion)}"] += 1

    def expect(self, what: str, ours: object, theirs: object) -> None:
        """Record a difference."""
        if ours != theirs:
            self.failed = True
            history = " ".join(move.uci() for move in self.board.move_stack)
            self.report.differences.append(
                f"{what}: rookery {ours!r}, python-chess {theirs!r} in {self.board.fen()!r} "
                f"(from {self.board.root().fen()!r}, chess960={self.board.chess960}) {history}"
            )

    def compare(self, exhaustive: bool) -> tuple[str, bool | None] | None:
        """Compare everything in the current position; returns python-chess's outcome."""
        board, game = self.board, self.game
        self.expect("fen", game.fen(), self.fen)
        self.expect(
            "legal moves", sorted(game.legal_moves()), sorted(move.uci() for move in self.legal)
        )
        self.expect("check", game.in_check, board.is_check())
        self.expect("polyglot key", game.polyglot_key, chess.polyglot.zobrist_hash(board))
        count = self.occurrences[self.positions[-1]]
        self.expect("repetitions", game.repetitions, count)
        outcome = outcome_of(board, claim_draw=False)
        self.expect("outcome", game.outcome(), outcome)
        self.compare_claims(exhaustive, outcome)
        if exhaustive:
            self.compare_rarely(count)
        return outcome

    def compare_claims(self, exhaustive: bool, outcome: tuple[str, bool | None] | None) -> None:
        """Compare the draw claims, which python-chess computes slowly.

        A threefold claim, now or by the next move, needs a position that has occurred twice;
        without one it must be False and python-chess is asked only now and then.
        """
        board, game = self.board, self.game
        window = self.positions[-1 - board.halfmove_clock :]
        repeated = any(self.occurrences[position] >= 2 for position in window)
        threefold = (repeated or exhaustive) and board.can_claim_threefold_repetition()
        fifty = board.can_claim_fifty_moves()
        self.expect("threefold claim", game.can_claim_threefold(), threefold)
        self.expect("fifty-move claim", game.can_claim_fifty_moves(), fifty)
        self.expect("claim", game.can_claim_draw(), threefold or fifty)
        if outcome is None and (fifty or threefold):
            outcome = ("fifty_moves" if fifty else "threefold_repetition", None)
        self.expect("outcome with claims", game.outcome(claim_draw=True), outcome)
        self.report.seen["threefold claim"] += threefold
        self.report.seen["fifty-move claim"] += fifty

    def compare_encoding(self, rng: random.Random) -> None:
        """Compare the next layout, and the legal actions."""
        name = LAYOUTS[self.report.encodings % len(LAYOUTS)]
        self.report.encodings += 1
        self.report.seen[f"layout {name}"] += 1
        board, game = self.board, self.game
        if name == "kpk3":  # which describes three pieces only
            board = king_and_pawn(rng)
            game = Game(board.fen())
        ours, theirs = game.encode(name), ENCODERS[name](board)
        same = np.array_equal(ours, theirs) or (  # most are, and allclose is slow
            ours.shape == theirs.shape and np.allclose(ours, theirs, rtol=0, atol=TOLERANCE)
        )
        if not same:
            where = np.argwhere(ours != theirs)[:3].tolist() if ours.shape == theirs.shape else []
            self.expect(f"{name} in {board.fen()}", f"differs at {where}", "equal")
        actions = dict(
            zip(self.game.legal_actions().tolist(), self.game.legal_moves(), strict=True)
        )
        self.expect("legal actions", actions, legal_actions(self.board, "az4672", self.legal))

    def compare_rarely(self, count: int) -> None:
        """Compare what follows from the rest, by python-chess's own methods."""
        board, game = self.board, self.game
        self.expect("threefold", game.is_threefold, board.is_repetition(3))
        self.expect("fivefold", game.is_fivefold, board.is_fivefold_repetition())
        self.expect("occurred again", count >= 2, board.is_repetition(2))
        self.expect("fifty moves", game.is_fifty_moves, board.is_fifty_moves())
        self.expect("75 moves", game.is_seventyfive_moves, board.is_seventyfive_moves())
        self.expect("dead", game.is_insufficient_material, board.is_insufficient_material())
        self.expect("claimed", game.outcome(claim_draw=True), outcome_of(board, claim_draw=True))
        self.expect("epd", game.epd(), board.epd())
        self.expect("turn", game.turn, board.turn)
        self.expect("clock", game.halfmove_clock, board.halfmove_clock)
        self.expect("move number", game.fullmove_number, board.fullmove_number)
        self.expect("plies", game.ply, len(board.move_stack))
        self.expect("legal count", game.legal_count(), len(self.legal))
        fresh = Game(board.fen(), chess960=board.chess960)
        self.expect("key of the FEN", fresh.key, game.key)


def king_and_pawn(rng: random.Random) -> chess.Board:
    """A legal position of king and pawn against king."""
    while True:
        board = chess.Board(None)
        kings, pawn = rng.sample(chess.SQUARES, 2), rng.randrange(8, 56)
        strong = rng.random() < 0.5
        if pawn in kings:
            continue
        board.set_piece_at(kings[0], chess.Piece(chess.KING, strong))
        board.set_piece_at(kings[1], chess.Piece(chess.KING, not strong))
        board.set_piece_at(pawn, chess.Piece(chess.PAWN, strong))
        board.turn = rng.random() < 0.5
        if board.is_valid():
            return board


def choose(match: Match, rng: random.Random, shuffling: bool) -> chess.Move:
    """Choose a random legal move, with rare kinds over-represented.

    A shuffling game often reverses its last move.
    """
    board, stack = match.board, match.board.move_stack
    if shuffling and len(stack) >= 2 and rng.random() < 0.7:
        last = stack[-2]
        back = chess.Move(last.to_square, last.from_square)
        if back in match.legal:
            return back
    if rng.random() < SPECIAL_SHARE:
        special = [
            move
            for move in match.legal
            if move.promotion or board.is_castling(move) or board.is_en_passant(move)
        ]
        if special:
            return rng.choice(special)
    return rng.choice(match.legal)


def play_and_compare(
    family: str, rng: random.Random, report: Report, max_plies: int, encode_every: int
) -> None:
    """Play one game of a family on both until it ends, differs or is long enough."""
    match = Match(board_families.draw(family, rng), report)
    shuffling = rng.random() < SHUFFLE_SHARE
    last_ply = report.plies + min(max_plies, rng.choice(GAME_PLIES))
    after_draw = 0
    report.games += 1
    report.seen[f"family {family}"] += 1
    while not match.failed:
        outcome = match.compare(exhaustive=rng.randrange(EXHAUSTIVE_EVERY) == 0)
        if encode_every and report.plies % encode_every == 0:
            match.compare_encoding(rng)
        if outcome is not None:
            report.seen[outcome[0]] += after_draw == 0
            after_draw += 1
        if not match.legal or after_draw > PLIES_AFTER_DRAW or report.plies >= last_ply:
            return
        if rng.random() < 0.01:
            match.take_back(rng.randrange(1, 8))
        else:
            match.push(choose(match, rng, shuffling))


def compare_games(plies: int, seed: int, encode_every: int = ENCODE_EVERY) -> Report:
    """Compare games of all families in turn, about `plies` plies in total."""
    rng = random.Random(seed)
    report = Report()
    families = list(board_families.FAMILIES)
    while report.plies < plies and len(report.differences) < MAX_DIFFERENCES:
        family = families[report.games % len(families)]
        play_and_compare(family, rng, report, plies - report.plies, encode_every)
    return report


def _chunk(task: tuple[int, int, int]) -> Report:
    return compare_games(*task)


def run(plies: int, seed: int, processes: int, encode_every: int) -> Iterator[Report]:
    """Split the plies into chunks with their own seeds; yields reports as they complete."""
    chunks = max(1, plies // PLIES_PER_CHUNK)
    sizes = [plies // chunks] * (chunks - 1) + [plies - plies // chunks * (chunks - 1)]
    tasks = [(size, seed * 1_000_003 + n, encode_every) for n, size in enumerate(sizes)]
    if processes <= 1:
        yield from map(_chunk, tasks)
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(_chunk, tasks)


def main() -> int:
    """Compare and report; returns the exit code."""
    parser = argparse.ArgumentParser(description="Compare random games with python-chess.")
    parser.add_argument("--plies", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument(
        "--encode-every",
        type=int,
        default=ENCODE_EVERY,
        metavar="PLIES",
        help="compare a layout every so many plies; 0: never",
    )
    arguments = parser.parse_args()
    if arguments.plies < 1 or arguments.processes < 1:
        parser.error("--plies and --processes must be at least 1")
    total = Report()
    begin = last = time.perf_counter()
    for report in run(arguments.plies, arguments.seed, arguments.processes, arguments.encode_every):
        total.add(report)
        now = time.perf_counter()
        if now - last > 10:
            last = now
            rate = total.plies / (now - begin)
            left = (arguments.plies - total.plies) / rate
            print(
                f"{total.plies:,} of {arguments.plies:,} plies, {rate:,.0f} plies/s, "
                f"{left:,.0f} s left, {len(total.differences)} differences",
                file=sys.stderr,
            )
        if len(total.differences) >= MAX_DIFFERENCES:
            break
    seconds = time.perf_counter() - begin
    summary = {
        "plies": total.plies,
        "games": total.games,
        "encodings": total.encodings,
        "seed": arguments.seed,
        "seconds": round(seconds, 1),
        "plies_per_second": round(total.plies / seconds),
        "differences": len(total.differences),
        "first_differences": total.differences[:MAX_DIFFERENCES],
        "seen": dict(sorted(total.seen.items())),
    }
    print(json.dumps(summary, indent=2))
    return 1 if total.differences else 0


if __name__ == "__main__":
    sys.exit(main())
