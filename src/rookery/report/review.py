"""The review of a game: what each move cost, by an engine's evaluation of every position.

All judgement is about the winning chance W in per cent, as lichess.org defines it:

    W = 100 / (1 + exp(-0.00368208 * centipawns)); a mate is 0 or 100, an even position 50
    loss = max(0, W of the position before the move - W after it), for the side that moved;
           0 if the engine would have played the same
    inaccuracy: 5 points or more; mistake: 8; blunder: 11, about 120 centipawns if all was even
    missed win: a blunder that only gives up a win: from 85 per cent or more to 35 to 65
    accuracy of a move = 103.1668 * exp(-0.04354 * loss) - 3.1669, within 0 and 100
    accuracy of a player = mean over its moves

Every position is searched with `NODES`. Moves about which a short search may be wrong, those whose
loss is nearest to that of a blunder, are looked at again with `SECOND_NODES`, before and after the
move; also such that the engine would have made itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rookery._core import Game
from rookery.players.thinking import Line

CHANCE_SCALE = 1.0 / 0.00368208  # centipawns
# Points of winning chance. lichess.org's are 5, 10 and 15: two engines differ by a few points about
# the same move, and a blunder that goes unnoticed is worse than a mistake that is called one.
INACCURACY, MISTAKE, BLUNDER = 5.0, 8.0, 11.0
WINNING, WON_AWAY = 85.0, (35.0, 65.0)  # winning chances before and after a missed win
DECIDED = 1000  # centipawns beyond which differences do not count
NODES = 150_000  # per position
SECOND_NODES = 600_000  # per position at the second look
DOUBTFUL = (5.0, 40.0)  # points of winning chance that a second look may change
MOST_SECOND = 14  # moves of a game, so that its review stays within seconds


@dataclass(frozen=True)
class Verdict:
    """An engine's opinion of a position, for the side to move."""

    value: float  # [-1, 1]
    centipawns: int | None = None  # None: a mate, or the game is over
    mate: int | None = None  # full moves; negative: the side to move is mated
    line: tuple[str, ...] = ()  # principal variation, UCI

    @property
    def chance(self) -> float:
        """The winning chance in per cent; that of a draw is 50."""
        if self.centipawns is None:
            return 50.0 + 50.0 * self.value
        return 100.0 / (1.0 + math.exp(-self.centipawns / CHANCE_SCALE))

    @property
    def bounded(self) -> int:
        """Centipawns within `DECIDED`; a mate counts as that."""
        if self.centipawns is None:
            return round(DECIDED * self.value)
        return max(-DECIDED, min(DECIDED, self.centipawns))


@dataclass(frozen=True)
class Judgement:
    """What one move cost the side that made it."""

    kind: str  # "", "inaccuracy", "mistake", "blunder" or "missed win"
    loss: float  # points of winning chance, 0 to 100
    centipawns: int  # the same loss in centipawns, mates and decided games bounded
    accuracy: float  # per cent


def verdict_of_line(line: Line) -> Verdict:
    """The opinion in a search's best line; a mate is certain."""
    value = line.value if line.mate is None else math.copysign(1.0, line.mate)
    return Verdict(value, line.centipawns, line.mate, line.moves)


def final_verdict(game: Game) -> Verdict | None:
    """The result of a finished game, None if it goes on."""
    outcome = game.outcome()
    if outcome is None:
        return None
    return Verdict(0.0 if outcome[1] is None else 1.0 if outcome[1] == game.turn else -1.0)


def judge(before: Verdict, after: Verdict, move: str) -> Judgement:
    """What `move` cost: `before` is the position in which it was made, `after` the next one."""
    if before.line[:1] == (move,):
        return Judgement("", 0.0, 0, 100.0)
    had, kept = before.chance, 100.0 - after.chance
    loss = max(0.0, had - kept)
    centipawns = max(0, before.bounded + after.bounded)
    kind = ""
    for name, least in (("inaccuracy", INACCURACY), ("mistake", MISTAKE), ("blunder", BLUNDER)):
        kind = name if loss >= least else kind
    if kind == "blunder" and had >= WINNING and WON_AWAY[0] <= kept <= WON_AWAY[1]:
        kind = "missed win"
    return Judgement(kind, loss, centipawns, move_accuracy(loss))


def move_accuracy(loss: float) -> float:
    """The accuracy of a move in per cent."""
    return min(100.0, max(0.0, 103.1668 * math.exp(-0.04354 * loss) - 3.1669))


def player_accuracy(judgements: Sequence[Judgement]) -> float | None:
    """The accuracy of all moves of a player, None without moves."""
    if not judgements:
        return None
    return sum(judgement.accuracy for judgement in judgements) / len(judgements)


def positions_of(start: str, moves: Sequence[str]) -> list[Game]:
    """The positions of a game with their histories, one more than moves."""
    games = [Game(start)]
    for move in moves:
        after = games[-1].copy()
        after.push(move)
        games.append(after)
    return games


def second_looks(verdicts: Sequence[Verdict], moves: Sequence[str]) -> list[int]:
    """The plies whose moves may or may not be blunders, the last one first.

    A great loss is beyond doubt, unless the engine would have made the move itself.
    """
    losses: dict[int, float] = {}
    for ply, (before, after) in enumerate(pairwise(verdicts)):
        loss = before.chance - (100.0 - after.chance)
        if loss >= DOUBTFUL[0] and (loss < DOUBTFUL[1] or before.line[:1] == (moves[ply],)):
            losses[ply] = loss
    nearest = sorted(losses, key=lambda ply: abs(losses[ply] - BLUNDER))
    return sorted(nearest[:MOST_SECOND], reverse=True)


def look_again(plies: Sequence[int]) -> list[int]:
    """The positions before and after the moves at `plies`, the last one first, each once."""
    return sorted({at for ply in plies for at in (ply, ply + 1)}, reverse=True)


def review(
    start: str,
    moves: Sequence[str],
    evaluate: Callable[[Game, int], Verdict],
    second: bool = True,
) -> tuple[list[Verdict], list[Judgement]]:
    """Evaluate all positions, the last one first, and judge every move.

    `evaluate` is given a position and a number of nodes. Backwards, the engine's table already
    knows what follows. `second` allows second looks.
    """
    games = positions_of(start, moves)
    verdicts = [final_verdict(game) or evaluate(game, NODES) for game in games[::-1]]
    verdicts.reverse()
    for at in look_again(second_looks(verdicts, moves)) if second else ():
        verdicts[at] = final_verdict(games[at]) or evaluate(games[at], SECOND_NODES)
    judgements = [judge(verdicts[ply], verdicts[ply + 1], move) for ply, move in enumerate(moves)]
    return verdicts, judgements
