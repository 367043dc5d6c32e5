"""EPD test suites: does a player find the best moves?

Supported operations: `bm` (best moves) and `am` (moves to avoid) in SAN or UCI, `bm #N` (mate in N,
checked by tablebase), and the points of the Strategic Test Suite (`c8` for the moves of `c9` or
`c7`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import chess
import numpy as np

from rookery._core import Game
from rookery.data.position_files import complete_fen, position_lines, read_text
from rookery.data.tablebases import HOW_TO_GET, Tablebases, find_tablebases
from rookery.engines.faults import fault_of
from rookery.exams.questions import examine, legal_choice, patient_choice, solved_counts
from rookery.players.base import Limits, Player
from rookery.players.thinking import Thought

_OPERATION = re.compile(r'\s*(\w+)\s+((?:"[^"]*"|[^;"])*);?')


@dataclass(frozen=True)
class SuitePosition:
    """One position of a suite; moves in UCI."""

    fen: str
    name: str
    best: frozenset[str]  # empty: any move not in `avoid`
    avoid: frozenset[str]
    points: dict[str, int] = field(default_factory=dict)  # by move, if the suite has points


@dataclass(frozen=True)
class SuiteAnswer:
    """A player's move in a position."""

    position: SuitePosition
    move: str
    solved: bool
    points: int
    fault: str = ""


def read_suite(path: Path) -> list[SuitePosition]:
    """Read an EPD file; a line without valid `bm` or `am` is an error."""
    if not path.is_file():
        why = "it is a folder; name a file" if path.is_dir() else "there is no such file"
        raise ValueError(f"suite {str(path)!r}: {why}")
    positions = []
    with find_tablebases() as tables:
        for number, line in position_lines(read_text(path)):
            try:
                positions.append(parse_line(line, f"line {number}", tables))
            except ValueError as error:
                raise ValueError(f"suite {str(path)!r}, line {number}: {error}") from error
    if not positions:
        raise ValueError(f"suite {str(path)!r} holds no position")
    return positions


def parse_line(line: str, name: str = "", tables: Tablebases | None = None) -> SuitePosition:
    """Parse an EPD line with `bm` or `am`; `tables` resolve `bm #N`."""
    words = line.split(None, 4)
    operations = _operations(words[4] if len(words) > 4 else "")
    fen = complete_fen(" ".join(words[:4]))
    board = chess.Board(Game(fen).fen())
    best = operations.get("bm", "")
    if best.startswith("#"):
        keys = _table_mates(board, best, tables)
    else:
        keys = frozenset(_move(board, word) for word in best.replace(",", " ").split())
    avoid = frozenset(_move(board, w) for w in operations.get("am", "").replace(",", " ").split())
    if not keys and not avoid:
        raise ValueError("it has neither 'bm' nor 'am'")
    return SuitePosition(
        board.fen(), operations.get("id", "") or name, keys, avoid, _points(board, operations)
    )


def _operations(text: str) -> dict[str, str]:
    # The two counters of a FEN may precede the operations.
    text = re.sub(r"^\s*\d+\s+\d+\s*", "", text)
    return {key: value.strip().strip('"') for key, value in _OPERATION.findall(text)}


def _move(board: chess.Board, word: str) -> str:
    """Convert a move in SAN (check marks and annotations optional) or UCI to UCI."""
    clean = word.strip().rstrip("!?")
    try:
        return board.uci(board.parse_san(clean))
    except ValueError:
        try:
            return board.uci(board.parse_uci(clean))
        except ValueError:
            raise ValueError(f"key move {word!r} is illegal in {board.fen()}") from None


def _points(board: chess.Board, operations: dict[str, str]) -> dict[str, int]:
    numbers = operations.get("c8", "").split()
    moves = operations.get("c9", "").split() or operations.get("c7", "").split()
    if not numbers or len(numbers) != len(moves):
        return {}
    return {_move(board, move): int(number) for move, number in zip(moves, numbers, strict=True)}


def _table_mates(board: chess.Board, key: str, tables: Tablebases | None) -> frozenset[str]:
    """Return the moves that mate in N (`#N`) or delay mate until N (`#-N`), by tablebase."""
    try:
        number = int(key[1:])
    except ValueError:
        raise ValueError(f"key {key!r} is not a mate such as #4 or #-4") from None
    # After the move the opponent is to move, and is mated or mates in one ply less.
    wdl, plies = (-2, 2 * number - 2) if number > 0 else (2, -2 * number - 1)
    found = set()
    game = Game(board.fen())
    for move in game.legal_moves():
        game.push(move)
        probe = tables.probe(game, "dtm") if tables is not None else None
        game.pop()
        if probe is None:
            raise ValueError(f"{key} needs a tablebase that contains it; {HOW_TO_GET}")
        if (probe.wdl, probe.distance) == (wdl, plies):
            found.add(move)
    if not found:
        raise ValueError(f"no move agrees with {key} by the tablebases")
    return frozenset(found)


def is_right(position: SuitePosition, move: str) -> bool:
    """Whether a move solves a position."""
    return move not in position.avoid and (not position.best or move in position.best)


class _Settled:
    """Whether a player's best move has been correct for `depths` depths in a row."""

    def __init__(self, position: SuitePosition, depths: int) -> None:
        self._position, self._wanted = position, depths
        self._since: int | None = None  # depth since which the best move has been correct

    def __call__(self, thought: Thought) -> bool:
        moves = thought.lines[0].moves if thought.lines else ()
        if not moves or not is_right(self._position, moves[0]):
            self._since = None
            return False
        if self._since is None:
            self._since = thought.depth
        return thought.depth - self._since >= self._wanted


def run_suite(
    make_player: Callable[[], Player],
    positions: list[SuitePosition],
    limits: Limits,
    seed: int = 0,
    workers: int = 1,
    progress: Callable[[int], None] | None = None,
    settled: int = 0,
) -> list[SuiteAnswer]:
    """Ask a player for its move in every position.

    A `Thinker` is stopped before its limits once its best move has been correct for `settled`
    depths in a row (0: never); this saves time and keeps it from changing its mind.
    """

    def ask(
        player: Player, position: SuitePosition, rng: np.random.Generator, limits: Limits
    ) -> SuiteAnswer:
        game = Game(position.fen)
        try:
            player.new_game()
            if settled:
                move = patient_choice(player, game, rng, limits, _Settled(position, settled)).move
            else:
                move = legal_choice(player, game, rng, limits)
        except Exception as error:
            return SuiteAnswer(position, "", False, 0, str(fault_of(error)))
        return SuiteAnswer(position, move, is_right(position, move), position.points.get(move, 0))

    return examine(ask, 6, make_player, positions, limits, seed, workers, progress)


def summarise_suite(player: str, answers: list[SuiteAnswer]) -> dict[str, object]:
    """Return the object of `rookery suite --json`."""
    summary: dict[str, object] = {
        "player": player,
        **solved_counts([answer.solved for answer in answers]),
        "faults": sum(bool(answer.fault) for answer in answers),
        "missed": [
            {"id": a.position.name, "fen": a.position.fen, "played": a.move, "fault": a.fault}
            for a in answers
            if not a.solved
        ],
    }
    scored = [answer for answer in answers if answer.position.points]
    if scored:
        summary["points"] = sum(answer.points for answer in scored)
        summary["max_points"] = sum(max(a.position.points.values()) for a in scored)
    return summary
