"""UCI `info` lines; scores are for the side to move."""

from __future__ import annotations

from collections.abc import Iterator

from rookery._core import Game
from rookery.base.scales import centipawns_of_value
from rookery.players.base import Decision
from rookery.players.thinking import Line, Thought

MOST_LINE_MOVES = 64


def thought_lines(thought: Thought, numbered: bool, show_wdl: bool) -> Iterator[str]:
    """Yield one `info` per principal variation, best first; `numbered`: MultiPV is above 1."""
    for number, line in enumerate(thought.lines, 1):
        words = ["info", "depth", str(thought.depth)]
        if thought.selective_depth:
            words += ["seldepth", str(thought.selective_depth)]
        if numbered:
            words += ["multipv", str(number)]
        words += score_words(line, show_wdl)
        words += count_words(thought.nodes, thought.seconds)
        if thought.hash_full is not None:
            words += ["hashfull", str(max(0, min(1000, thought.hash_full)))]
        words += pv_words(line.moves)
        yield " ".join(words)


def decision_line(decision: Decision, seconds: float) -> str:
    """Return the only `info` of a player that is not a `Thinker`."""
    details = decision.details
    words = ["info", "depth", str(_whole(details.get("depth"), 1))]
    mate = details.get("mate")
    centipawns = details.get("centipawns")
    if decision.value is not None or isinstance(mate, int) or isinstance(centipawns, int):
        words += score_words(
            Line(
                moves=(),
                value=decision.value or 0.0,
                centipawns=centipawns if isinstance(centipawns, int) else None,
                mate=mate if isinstance(mate, int) else None,
            )
        )
    words += count_words(_whole(details.get("nodes"), 1), seconds)
    words += pv_words(decision.line or (decision.move,))
    return " ".join(words)


def score_words(line: Line, show_wdl: bool = False) -> list[str]:
    """Return `score ...`, with `wdl ...` if known and wanted."""
    if line.mate is not None:
        words = ["score", "mate", str(line.mate)]
    else:
        known = line.centipawns  # a player's own score is used as is
        words = ["score", "cp", str(centipawns_of_value(line.value) if known is None else known)]
    if line.bound != "exact":
        words.append(f"{line.bound}bound")
    if show_wdl and line.win_draw_loss is not None:
        words += ["wdl", *(str(part) for part in line.win_draw_loss)]
    return words


def count_words(nodes: int, seconds: float) -> list[str]:
    """Return `nodes`, `nps` after at least a millisecond, and `time` in milliseconds."""
    words = ["nodes", str(nodes)]
    if seconds >= 0.001:
        words += ["nps", str(int(nodes / seconds))]
    return [*words, "time", str(max(0, int(seconds * 1000)))]


def pv_words(moves: tuple[str, ...]) -> list[str]:
    """Return `pv ...`, or nothing without moves."""
    return ["pv", *moves[:MOST_LINE_MOVES]] if moves else []


def over_line(game: Game) -> str:
    """Return the `info` of a position that is mate or drawn."""
    outcome = game.outcome()
    mated = outcome is not None and outcome[1] is not None
    return "info depth 0 score " + ("mate 0" if mated else "cp 0")


def drawing(game: Game) -> Iterator[str]:
    """Draw the board in ASCII with White below, then FEN and hash key."""
    rule = " +---+---+---+---+---+---+---+---+"
    for rank in range(7, -1, -1):
        yield rule
        pieces = (game.piece_at(8 * rank + file) or " " for file in range(8))
        yield " | " + " | ".join(pieces) + f" | {rank + 1}"
    yield rule
    yield "   a   b   c   d   e   f   g   h"
    yield f"Fen: {game.fen()}"
    yield f"Key: {game.key:016X}"


def _whole(number: object, otherwise: int) -> int:
    return number if isinstance(number, int) and number >= 0 else otherwise
