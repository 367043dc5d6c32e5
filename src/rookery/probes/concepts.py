"""Concepts: yes-or-no questions about a position, for the side to move.

Each is a plain function from positions to answers [N]; the first line of its docstring is what the
pages show. To add one, write it here under `@concept` and give it a unit test. Numbers become
questions by a threshold that a person would use ("three pawns up"), so that all concepts have one
scale.

The first six are those of Hammersborg and Strumke (arXiv 2211.05500), with the usual piece values
(theirs: 2 for knights and bishops, 4 for rooks); the others are of the kind that McGrath et al.
(PNAS 2022) looked for in AlphaZero.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rookery._core import Engine, FenError, Game, NnueNetwork, find_mate
from rookery.data.paths import MissingDataError
from rookery.data.tablebases import Tablebases, find_tablebases
from rookery.probes.boards import (
    AROUND,
    BISHOP,
    KING,
    OPPONENT,
    PAWN,
    QUEEN,
    ROOK,
    Boards,
    Labels,
    Squares,
    shifted,
)

Answers = Callable[[Boards], Labels]
SCORE_NODES = 200  # of the search behind `engine_score`
RANDOM = "random"  # the control


@dataclass(frozen=True)
class Concept:
    """A question; `slow` ones are asked only about the positions that were chosen."""

    name: str
    words: str  # what it says of the side to move
    answers: Answers
    slow: bool = False
    endings: bool = False  # asked about endings of few pieces instead of positions of games
    standard: bool = False  # makes sense on the standard board only


CONCEPTS: dict[str, Concept] = {}


def concept(
    slow: bool = False, endings: bool = False, standard: bool = False
) -> Callable[[Answers], Answers]:
    """Register a function under its own name."""

    def register(function: Answers) -> Answers:
        name = function.__name__
        words = (function.__doc__ or name).splitlines()[0].rstrip(".")
        CONCEPTS[name] = Concept(name, words, function, slow, endings, standard)
        return function

    return register


def find_concepts(names: Sequence[str]) -> list[Concept]:
    """The concepts of these names (all, if none is named)."""
    unknown = [name for name in names if name not in CONCEPTS]
    if unknown:
        raise ValueError(f"unknown concept {unknown[0]!r}; there are {', '.join(CONCEPTS)}")
    return [CONCEPTS[name] for name in names or CONCEPTS]


# --- Of the study on small boards ---


@concept()
def in_check(boards: Boards) -> Labels:
    """Is in check."""
    return _any(boards.own(KING) & (boards.their_attackers > 0))


@concept()
def mate_in_one(boards: Boards) -> Labels:
    """Can mate in one move."""
    return boards.each(_mates)


@concept()
def opponent_mate_in_one(boards: Boards) -> Labels:
    """Would be mated in one move if it passed."""
    return boards.each(lambda game: not game.in_check and _mates(_passed(game)))


@concept()
def queen_threat(boards: Boards) -> Labels:
    """Attacks the opponent's queen."""
    return _any(boards.theirs(QUEEN) & (boards.own_attackers > 0))


@concept()
def material_advantage(boards: Boards) -> Labels:
    """Is at least three pawns up."""
    return boards.balance >= 3


@concept()
def contested_open_file(boards: Boards) -> Labels:
    """Has a rook or queen on a file that holds only rooks and queens, of both sides."""
    others = (boards.codes > 0) & ~boards.own(ROOK, QUEEN) & ~boards.theirs(ROOK, QUEEN)
    ours, theirs = _files(boards.own(ROOK, QUEEN)), _files(boards.theirs(ROOK, QUEEN))
    return np.asarray((ours & theirs & ~_files(others)).any(1))


# --- Of AlphaZero's kind ---


@concept()
def material_behind(boards: Boards) -> Labels:
    """Is at least three pawns down."""
    return boards.balance <= -3


@concept()
def more_mobility(boards: Boards) -> Labels:
    """Attacks more squares, own pieces not counted, than the opponent."""
    ours = (boards.own_attackers > 0) & ~boards.own()
    theirs = (boards.their_attackers > 0) & ~boards.theirs()
    return np.asarray(ours.sum((1, 2)) > theirs.sum((1, 2)))


@concept()
def king_in_danger(boards: Boards) -> Labels:
    """Has at least three squares around its king attacked by the opponent."""
    return _count(_around(boards.own(KING)) & (boards.their_attackers > 0)) >= 3


@concept()
def own_piece_pinned(boards: Boards) -> Labels:
    """Has a piece pinned to its king."""
    return boards.pinned(0)


@concept()
def opponent_piece_pinned(boards: Boards) -> Labels:
    """Pins a piece to the opponent's king."""
    return boards.pinned(OPPONENT)


@concept()
def fork(boards: Boards) -> Labels:
    """Attacks two more valuable pieces with one piece."""
    return boards.forks()


@concept()
def own_piece_hanging(boards: Boards) -> Labels:
    """Has an undefended piece, pawns not counted, attacked."""
    pieces = boards.own() & ~boards.own(PAWN, KING)
    return _any(pieces & (boards.their_attackers > 0) & (boards.own_attackers == 0))


@concept()
def opponent_piece_hanging(boards: Boards) -> Labels:
    """Attacks an undefended piece, pawns not counted."""
    pieces = boards.theirs() & ~boards.theirs(PAWN, KING)
    return _any(pieces & (boards.own_attackers > 0) & (boards.their_attackers == 0))


@concept()
def passed_pawn(boards: Boards) -> Labels:
    """Has a passed pawn."""
    # Stopped is what has an opponent's pawn ahead of it on its own or a neighbouring file.
    passing = np.logical_or.accumulate(boards.theirs(PAWN), axis=1)
    stopped = shifted(passing, (-1, 0))
    stopped = stopped | shifted(stopped, (0, 1)) | shifted(stopped, (0, -1))
    return _any(boards.own(PAWN) & ~stopped)


@concept()
def isolated_pawn(boards: Boards) -> Labels:
    """Has a pawn without own pawns on the neighbouring files."""
    files = _files(boards.own(PAWN))
    neighbours = np.zeros_like(files)
    neighbours[:, 1:] |= files[:, :-1]
    neighbours[:, :-1] |= files[:, 1:]
    return np.asarray((files & ~neighbours).any(1))


@concept()
def doubled_pawns(boards: Boards) -> Labels:
    """Has two pawns on one file."""
    return np.asarray((boards.own(PAWN).sum(1) >= 2).any(1))


@concept()
def rook_on_open_file(boards: Boards) -> Labels:
    """Has a rook on a file without pawns."""
    pawns = _files(boards.own(PAWN) | boards.theirs(PAWN))
    return np.asarray((_files(boards.own(ROOK)) & ~pawns).any(1))


@concept()
def bishop_pair(boards: Boards) -> Labels:
    """Has two bishops and the opponent has not."""
    return (_count(boards.own(BISHOP)) >= 2) & (_count(boards.theirs(BISHOP)) < 2)


@concept(slow=True, standard=True)
def engine_score(boards: Boards) -> Labels:
    """Is at least a pawn better in a short search of our engine."""
    engine = Engine(_engine_network())
    return boards.each(lambda game: engine.search(game, nodes=SCORE_NODES).score >= 100)


@concept(slow=True, endings=True, standard=True)
def tablebase_win(boards: Boards) -> Labels:
    """Wins with best play, by the tablebase (endings of three and four pieces)."""
    tables = endgame_tables()

    def won(game: Game) -> bool:
        probe = tables.probe(game)
        return probe is not None and probe.result > 0

    return boards.each(won)


# --- Helpers ---


@functools.cache
def endgame_tables() -> Tablebases:
    """The installed tables; raises `MissingDataError` if there are none."""
    return find_tablebases()


def have_tables() -> bool:
    """Whether endgame tables are installed."""
    try:
        endgame_tables()
    except MissingDataError:
        return False
    return True


@functools.cache
def _engine_network() -> NnueNetwork:
    from rookery.players.alphabeta import read_network

    return read_network("rookery")


def _mates(game: Game | None) -> bool:
    return game is not None and bool(find_mate(game, 1)[0])


def _passed(game: Game) -> Game | None:
    """The position with the other side to move; None if that is no legal position."""
    board, side, castling, _, *rest = game.fen().split()
    try:
        fen = " ".join([board, "b" if side == "w" else "w", castling, "-", *rest])
        return Game(fen, board=game.board)
    except FenError:
        return None


def _files(squares: Squares) -> Squares:
    """Which files [N, 8] hold one of these squares."""
    return np.asarray(squares.any(1))


def _any(squares: Squares) -> Labels:
    return np.asarray(squares.any((1, 2)))


def _count(squares: Squares) -> Squares:
    return np.asarray(squares.sum((1, 2)))


def _around(squares: Squares) -> Squares:
    found = squares.copy()
    for step in AROUND:
        found |= shifted(squares, step)
    return found
