"""Holding a draw: does a defender without memory hold every drawn position against every attack?

A drawn position is held unless some sequence of White's moves, each answered by the defender,
reaches a position that the tables call won. That is a question of reachability: build the graph
of all attacks, mark the errors, and go back from them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from rookery._core import Game
from rookery.arena.endgames import Referee


def held_positions(
    fens: Iterable[str], choose: Callable[[Game], str], referee: Referee
) -> tuple[set[str], int, int]:
    """Which of these drawn positions (White to move) the defender holds.

    Args:
        fens: drawn positions, White to move.
        choose: the defender's move in a position with Black to move.
        referee: the truth; the goal decides where an attack has succeeded.

    Returns:
        The FENs that are held, the number of the defender's decisions asked for, and how many of
        them kept the draw.
    """
    keys = {fen: Game(fen).epd() for fen in fens}
    open_keys = list(dict.fromkeys(keys.values()))
    reached = set(open_keys)
    arrived_from: defaultdict[str, list[str]] = defaultdict(list)
    lost: list[str] = []
    answers: dict[str, str] = {}  # after White's move -> after the reply, "" if it loses
    while open_keys:
        key = open_keys.pop()
        game = Game(f"{key} 0 1")
        for move in game.legal_moves():
            game.push(move)
            following = _reply(game, move, choose, referee, answers)
            game.pop()
            if following is None:
                continue  # the game ended in a draw
            if following == "":
                lost.append(key)
                continue
            arrived_from[following].append(key)
            if following not in reached:
                reached.add(following)
                open_keys.append(following)
    failed = set(lost)
    while lost:
        for key in arrived_from[lost.pop()]:
            if key not in failed:
                failed.add(key)
                lost.append(key)
    good = sum(1 for answer in answers.values() if answer)
    return {fen for fen, key in keys.items() if key not in failed}, len(answers), good


def _reply(
    game: Game,
    last: str,
    choose: Callable[[Game], str],
    referee: Referee,
    answers: dict[str, str],
) -> str | None:
    """Position after the defender's reply; "" if the draw is gone, None if the game is over."""
    over = referee.ended(game, last)
    if over is not None:
        return "" if over[0] else None
    key = game.epd()
    if key not in answers:
        move = choose(game)
        if not game.is_legal(move):
            answers[key] = ""
            return ""
        game.push(move)
        won = referee.white_wins(game)
        finished = referee.ended(game, move)
        answers[key] = "" if won else "-" if finished is not None else game.epd()
        game.pop()
    answer = answers[key]
    return None if answer == "-" else answer
