"""Mates in a few moves: does a player's first move force the mate in time?

The mates come from puzzles whose line ends in checkmate, or from a list of positions. Any move that
forces mate in the remaining moves is correct; unless it is the first move of the known line, that
is proved by exhaustive search. A `Thinker` is stopped as soon as it announces a mate that is short
enough, so that thousands of easy mates take little time.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from rookery._core import Game
from rookery.data.position_files import complete_fen, position_lines, read_text
from rookery.data.puzzles import Puzzle, drawn, read_puzzles
from rookery.engines.faults import fault_of
from rookery.exams.questions import examine, patient_choice, solved_counts
from rookery.players.base import Limits, Player
from rookery.players.thinking import Thought

MOST_PROVEN = 3  # moves; proving longer mates takes too long
POSITION_FILES = (".fen", ".epd", ".fen.gz", ".epd.gz")


@dataclass(frozen=True)
class Mate:
    """A position whose side to move can force checkmate."""

    name: str
    fen: str
    moves: int  # of the solver, including the mating move
    first: str = ""  # first move of the known line, if any


@dataclass(frozen=True)
class MateAnswer:
    """A player's answer."""

    mate: Mate
    move: str
    solved: bool
    announced: int | None  # moves to mate in the player's last report; None: it saw no mate
    seconds: float
    fault: str = ""


def read_mates(path: Path, most: int, limit: int | None = None, seed: int = 0) -> list[Mate]:
    """Read mates in at most `most` moves; a list of positions has mates in `most` moves."""
    if most < 1:
        raise ValueError(f"--mate is {most}; it must be 1 or more")
    if path.name.endswith(POSITION_FILES):
        if most > MOST_PROVEN:
            raise ValueError(f"--mate is {most}; without solutions it must be 1 to {MOST_PROVEN}")
        mates = _read_positions(path, most)
    else:
        mates = list(mates_of(read_puzzles(path), most))
    if not mates:
        raise ValueError(f"{str(path)!r} holds no mate in {most} moves or fewer")
    return drawn(mates, limit, seed)


def _read_positions(path: Path, moves: int) -> list[Mate]:
    if not path.is_file():
        raise ValueError(f"mates {str(path)!r}: there is no such file")
    found = []
    for number, line in position_lines(read_text(path)):
        try:
            game = Game(complete_fen(line))
        except ValueError as error:
            raise ValueError(f"mates {str(path)!r}, line {number}: {error}") from error
        found.append(Mate(f"line {number}", game.fen(), moves))
    return found


def mates_of(puzzles: Iterable[Puzzle], most: int) -> Iterable[Mate]:
    """Yield the puzzles whose line ends in checkmate after at most `most` moves."""
    for puzzle in puzzles:
        moves = (len(puzzle.line) + 1) // 2
        if moves > most or len(puzzle.line) % 2 == 0:
            continue
        game = Game(puzzle.fen)
        for move in puzzle.line:
            game.push(move)
        if _is_mate(game):
            yield Mate(puzzle.name, puzzle.fen, moves, puzzle.line[0])


def solve_mate(player: Player, mate: Mate, rng: np.random.Generator, limits: Limits) -> MateAnswer:
    """Ask a player for its move and check it."""
    game = Game(mate.fen)
    announced: int | None = None

    def enough(thought: Thought) -> bool:
        nonlocal announced
        announced = thought.lines[0].mate if thought.lines else None
        return announced is not None and 0 < announced <= mate.moves

    began = time.monotonic()
    try:
        player.new_game()
        decision = patient_choice(player, game, rng, limits, enough)
    except Exception as error:
        return MateAnswer(mate, "", False, None, time.monotonic() - began, str(fault_of(error)))
    seconds = time.monotonic() - began
    seen = decision.details.get("mate", announced)
    announced = seen if isinstance(seen, int) else None
    return MateAnswer(mate, decision.move, is_right(mate, decision.move), announced, seconds)


def is_right(mate: Mate, move: str) -> bool:
    """Whether the move forces checkmate within `mate.moves` moves."""
    if move == mate.first:
        return True
    if mate.moves > MOST_PROVEN:
        return False
    game = Game(mate.fen)
    game.push(move)
    return is_forced(game, mate.moves - 1)


def is_forced(game: Game, moves: int) -> bool:
    """Whether the side to move is checkmated or cannot avoid it within `moves` moves."""
    if _is_mate(game):
        return True
    if moves == 0 or game.outcome() is not None:
        return False
    return all(_after(game, reply, _can_mate, moves) for reply in game.legal_moves())


def _can_mate(game: Game, moves: int) -> bool:
    if game.outcome() is not None:
        return False
    return any(_after(game, move, is_forced, moves - 1) for move in game.legal_moves())


def _after(game: Game, move: str, test: Callable[[Game, int], bool], moves: int) -> bool:
    game.push(move)
    found = test(game, moves)
    game.pop()
    return found


def _is_mate(game: Game) -> bool:
    return game.in_check and game.legal_count() == 0


run_mates = partial(examine, solve_mate, 8)


def summarise_mates(player: str, answers: Sequence[MateAnswer]) -> dict[str, object]:
    """Return the object of `rookery puzzles --mate N --json`."""
    by_moves: defaultdict[int, list[MateAnswer]] = defaultdict(list)
    for answer in answers:
        by_moves[answer.mate.moves].append(answer)
    return {
        "player": player,
        **_counts(answers),
        "faults": sum(bool(answer.fault) for answer in answers),
        "seconds": round(sum(answer.seconds for answer in answers), 1),
        "moves": {str(moves): _counts(by_moves[moves]) for moves in sorted(by_moves)},
        "missed": [
            {
                "id": answer.mate.name,
                "fen": answer.mate.fen,
                "moves": answer.mate.moves,
                "first": answer.mate.first,
                "played": answer.move,
                "announced": answer.announced,
                "fault": answer.fault,
            }
            for answer in answers
            if not answer.solved
        ],
    }


def _counts(answers: Sequence[MateAnswer]) -> dict[str, object]:
    in_time = [0 < (answer.announced or 0) <= answer.mate.moves for answer in answers]
    return {**solved_counts([answer.solved for answer in answers]), "announced": sum(in_time)}
