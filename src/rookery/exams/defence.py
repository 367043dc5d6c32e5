"""Does a memoryless defender hold every drawn position against every attack?

A drawn position is held unless some sequence of White's moves, each answered by the defender,
reaches a position that the tablebases call won. This is reachability: build the graph of all
attacks, mark the errors, and propagate them backwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from rookery._core import Game
from rookery.exams.endgames import Outcome, Referee
from rookery.exams.endings import LEVELS


@dataclass
class DefenceLevel:
    """The counts of one level (or all) for the defender, who has Black."""

    positions: int = 0
    drawn_positions: int = 0
    drawn_held: int = 0
    won_positions: int = 0  # won for the defender
    won: int = 0
    faults: int = 0  # of the defender; such positions count as neither held nor won
    opponent_faults: int = 0  # such positions are not counted

    def add(self, outcome: Outcome) -> None:
        """Count one position."""
        if outcome.fault and not outcome.own_fault:
            self.opponent_faults += 1
            return
        self.positions += 1
        self.faults += bool(outcome.fault)
        if outcome.position.result == 0:
            self.drawn_positions += 1
            self.drawn_held += not outcome.won and not outcome.fault
        elif outcome.position.result < 0:
            self.won_positions += 1
            self.won += outcome.lost

    def to_json(self) -> dict[str, object]:
        """Return the JSON keys of a level."""
        rates = {
            "hold_rate": self.drawn_held / self.drawn_positions if self.drawn_positions else None,
            "win_rate": self.won / self.won_positions if self.won_positions else None,
        }
        return {**vars(self), **rates}


@dataclass
class DefenceResult:
    """How a defender did in an ending."""

    material: str  # White's pieces, then Black's: KPvK
    player: str
    against: str
    goal: str
    method: str  # "play out" or "every attack"
    total: DefenceLevel = field(default_factory=DefenceLevel)
    levels: dict[str, DefenceLevel] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)  # FENs not held or not won, a few
    judged_moves: int = 0  # with the method "every attack": decisions of the defender ...
    good_moves: int = 0  # ... and those that kept the draw
    fault_example: str = ""

    def add(self, outcome: Outcome) -> None:
        """Count one position in the total and in its level."""
        self.total.add(outcome)
        position = outcome.position
        if position.level:
            self.levels.setdefault(position.level, DefenceLevel()).add(outcome)
        self.fault_example = self.fault_example or outcome.fault
        if (outcome.fault and not outcome.own_fault) or position.result > 0:
            return
        failed = not outcome.lost if position.result < 0 else outcome.won or bool(outcome.fault)
        if failed and len(self.failures) < 20:
            self.failures.append(position.fen)

    def to_json(self) -> dict[str, object]:
        """Return the object of `rookery endgame --side defend --json`."""
        summary: dict[str, object] = {
            "ending": self.material.replace("v", ""),
            "player": self.player,
            "side": "defend",
            "against": self.against,
            "goal": self.goal,
            "method": self.method,
            **self.total.to_json(),
            "levels": {k: self.levels[k].to_json() for k in LEVELS if k in self.levels},
            "failures": self.failures,
            "fault_example": self.fault_example,
        }
        if self.judged_moves:
            summary["moves_kept_draw"] = self.good_moves / self.judged_moves
        return summary


def held_positions(
    fens: Iterable[str], choose: Callable[[Game], str], referee: Referee
) -> tuple[set[str], int, int]:
    """Find which drawn positions (White to move) the defender holds.

    `choose` returns the defender's move in a position with Black to move. Returns the FENs that are
    held, the number of the defender's decisions, and how many of them kept the draw.
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
    """Return the EPD after the defender's reply; "" if it loses, None if the game is drawn."""
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
