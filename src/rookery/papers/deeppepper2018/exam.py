"""What "accuracy of the search" means for chess: two fixed sets of positions.

* Endings: three or four pieces, where some moves keep the value of the tablebase and others lose
  it. Measure: the share of positions in which the search's choice keeps it.
* Choices: positions of games that no network learnt from. Measure: the share in which the search's
  choice is the first choice of a strong engine.

Deep Pepper revisited (2023) shows curves of "MCTS accuracy" without saying what it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from rookery._core import Game, random_position
from rookery.base.storage import atomic_write
from rookery.data.pgn import read_pgn_files
from rookery.data.tablebases import HOW_TO_GET, Tablebases, find_tablebases
from rookery.engines.find import find_stockfish
from rookery.engines.label_engine import LabelEngine
from rookery.players.base import Player

ENDINGS = (
    "KQvK", "KRvK", "KPvK", "KQvKR", "KRvKB", "KRvKN", "KQvKP", "KRvKP", "KPvKP", "KPPvK", "KBBvK",
)  # fmt: skip
PLIES = (12, 60)  # of the games from which choices are taken
ENGINE_NODES = 50_000
SEED = 1


@dataclass(frozen=True)
class Question:
    """A position and the moves that answer it."""

    fen: str
    answers: tuple[str, ...]  # UCI


@dataclass(frozen=True)
class Exam:
    """The two sets."""

    endings: tuple[Question, ...]
    choices: tuple[Question, ...]


def load_exam(path: Path, games: Sequence[Path], count: int) -> Exam:
    """The exam of a file, made on first use with `count` positions of each kind."""
    if not path.is_file():
        with find_tablebases() as tables:
            made = Exam(ending_questions(tables, count), choice_questions(games, count))
        atomic_write(path, json.dumps(asdict(made), indent=1))
    stored = json.loads(path.read_text())
    read = {
        kind: tuple(Question(one["fen"], tuple(one["answers"])) for one in stored[kind])
        for kind in ("endings", "choices")
    }
    return Exam(**read)


def ending_questions(tables: Tablebases, count: int) -> tuple[Question, ...]:
    """Random positions of all endings with a table in which at least one move is a mistake."""
    known = [ending for ending in ENDINGS if ending in tables.endings()]
    if not known:
        raise ValueError(f"there are no endgame tables for this exam; {HOW_TO_GET}")
    rng = np.random.default_rng(SEED)
    found: list[Question] = []
    while len(found) < count:
        ending, side = known[len(found) % len(known)], str(rng.choice(["white", "black"]))
        game = Game(random_position(ending, int(rng.integers(1 << 62)), side))
        if game.outcome() is not None:
            continue
        values = {move: _value_after(tables, game, move) for move in game.legal_moves()}
        best = max(values.values())
        keep = tuple(move for move, value in values.items() if value == best)
        if len(keep) < len(values):
            found.append(Question(game.fen(), keep))
    return tuple(found)


def _value_after(tables: Tablebases, game: Game, move: str) -> int:
    """The result after a move, for the side that plays it."""
    after = game.copy()
    after.push(move)
    outcome = after.outcome()
    if outcome is not None:
        return 1 if outcome[0] == "checkmate" else 0
    probe = tables.probe(after)
    # Two pieces left after a capture, or a promotion without a table.
    return -probe.result if probe is not None else 0


def choice_questions(games: Sequence[Path], count: int) -> tuple[Question, ...]:
    """One position each of the first `count` games, with Stockfish's first choice."""
    command = find_stockfish()
    if command is None:
        raise ValueError("the exam needs stockfish: install Debian's stockfish")
    rng = np.random.default_rng(SEED)
    engine = LabelEngine([command], ENGINE_NODES, 1)
    found = []
    try:
        long = (g for g in read_pgn_files(games) if sum(1 for _ in g.positions()) > PLIES[1])
        for game in islice(long, count):
            ply = int(rng.integers(*PLIES))
            position, _ = next(islice(game.positions(), ply, None))
            engine.new_game()
            found.append(Question(position.fen(), (engine.rank(position)[0].move,)))
    finally:
        engine.close()
    if len(found) < count:
        raise ValueError(
            f"{count} games of more than {PLIES[1]} plies are needed, not {len(found)}"
        )
    return tuple(found)


def share_answered(player: Player, questions: Sequence[Question]) -> float:
    """The share of questions that a player answers."""
    rng = np.random.default_rng(SEED)
    right = 0
    for question in questions:
        player.new_game()
        right += player.choose(Game(question.fen), rng).move in question.answers
    return right / len(questions)
