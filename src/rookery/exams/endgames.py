"""How many of the won positions of an endgame does a player win?

There are two ways to fill the columns of Tables 4 to 7 in Kanis 2016:

* `play out`: each position is played as a game. Works for any player.
* `follow`: for memoryless players. The player is asked once per position; the games from all
  positions then form a graph in which every game is a path. Exhaustive within seconds, and exact: a
  path that repeats a position never wins.

The defence `perfect` delays the loss as long as possible and takes every draw; `worst` (only with
`follow`) tries every reply: a position counts as won only if none escapes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from rookery._core import Game
from rookery.engines.faults import fault_of
from rookery.exams.endings import LEVELS, EndgamePosition, promotes
from rookery.exams.questions import legal_choice
from rookery.players.base import Player
from rookery.players.tablebase import CachedTables, rank_moves

GOALS = ("promotion", "mate")
FIFTY_MOVES = 100  # plies
ILLEGAL = "no legal move"  # how a game ends after a fault of the player


@dataclass
class Outcome:
    """The result of one position."""

    position: EndgamePosition
    won: bool = False
    moves: int = 0  # White's moves to the goal, if won
    lost: bool = False  # White was mated
    fault: str = ""  # kind and evidence, if a player broke the rules
    own_fault: bool = False  # the examined player's: failed; otherwise the position is not counted
    judged_moves: int = 0  # White's moves in won positions
    good_moves: int = 0  # of those, moves that kept the win
    end: str = ""  # why the game ended


@dataclass
class LevelResult:
    """The columns of the paper's tables for one level (or all)."""

    positions: int = 0
    won_positions: int = 0
    won: int = 0
    drawn_positions: int = 0
    won_from_drawn: int = 0
    moves: int = 0  # sum over the wins from won positions
    best_moves: int = 0  # the same with perfect play, by distance to mate
    good_moves: int = 0
    judged_moves: int = 0
    faults: int = 0  # of the examined player; such positions count as not won
    opponent_faults: int = 0  # such positions are not counted

    def add(self, outcome: Outcome) -> None:
        """Count one position."""
        if outcome.fault and not outcome.own_fault:
            self.opponent_faults += 1
            return
        self.faults += bool(outcome.fault)
        self.positions += 1
        self.good_moves += outcome.good_moves
        self.judged_moves += outcome.judged_moves
        if outcome.position.result > 0:
            self.won_positions += 1
            self.won += outcome.won
            if outcome.won:
                self.moves += outcome.moves
                self.best_moves += (outcome.position.distance + 1) // 2
        elif outcome.position.result == 0:
            self.drawn_positions += 1
            self.won_from_drawn += outcome.won

    def to_json(self) -> dict[str, object]:
        """Return the JSON keys of a level."""

        def share(part: int, whole: int) -> float | None:
            return part / whole if whole else None

        return {
            "positions": self.positions,
            "won_positions": self.won_positions,
            "won": self.won,
            "win_rate": share(self.won, self.won_positions),
            "drawn_positions": self.drawn_positions,
            "won_from_drawn": self.won_from_drawn,
            "drawn_win_rate": share(self.won_from_drawn, self.drawn_positions),
            "won_share": share(self.won_positions, self.positions),
            "mean_moves": share(self.moves, self.won),
            "moves_kept_win": share(self.good_moves, self.judged_moves),
            "faults": self.faults,
            "opponent_faults": self.opponent_faults,
        }


@dataclass
class EndgameResult:
    """All levels of an ending."""

    material: str  # White's pieces, then Black's: KPvK
    player: str
    against: str
    goal: str
    method: str  # "play out" or "follow"
    total: LevelResult = field(default_factory=LevelResult)
    levels: dict[str, LevelResult] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)  # FENs of won positions not won, a few
    metric: str = "dtm"
    fault_example: str = ""

    def add(self, outcome: Outcome) -> None:
        """Count one position in the total and in its level."""
        self.total.add(outcome)
        if outcome.position.level:
            self.levels.setdefault(outcome.position.level, LevelResult()).add(outcome)
        self.fault_example = self.fault_example or outcome.fault
        if outcome.fault and not outcome.own_fault:
            return
        if outcome.position.result > 0 and not outcome.won and len(self.failures) < 20:
            self.failures.append(f"{outcome.position.fen} ({outcome.fault or outcome.end})")

    def to_json(self) -> dict[str, object]:
        """Return the object of `rookery endgame --json`."""
        summary: dict[str, object] = {
            "ending": self.material.replace("v", ""),
            "player": self.player,
            "against": self.against,
            "goal": self.goal,
            "method": self.method,
            **self.total.to_json(),
            "levels": {k: self.levels[k].to_json() for k in LEVELS if k in self.levels},
            "failures": self.failures,
            "fault_example": self.fault_example,
        }
        if self.goal == "mate" and self.metric == "dtm" and self.total.won:
            summary["length_ratio"] = self.total.moves / max(1, self.total.best_moves)
        return summary


class Referee:
    """Knows whether a position is won and whether a move reached the goal."""

    def __init__(self, tables: CachedTables, goal: str, history: bool = True) -> None:
        """Use `tables`; `goal` is one of GOALS.

        Without `history` games ignore repetitions and the fifty-move rule, as in Kanis 2016.
        """
        if goal not in GOALS:
            raise ValueError(f"goal {goal!r} is not one of {', '.join(GOALS)}")
        self.tables = tables
        self.goal = goal
        self.history = history

    def white_wins(self, game: Game) -> bool | None:
        """Whether White wins by the tablebases; None if they do not contain the position."""
        over = game.outcome()
        if over is not None:
            return over[1] is True
        probe = self.tables.probe(game)
        if probe is None:
            return None
        return (probe.result if game.turn else -probe.result) > 0

    def ended(self, game: Game, last: str) -> tuple[bool, str] | None:
        """Return (won by White, reason) if the test ends after the move `last`."""
        over = game.outcome()
        if over is not None:
            return over[1] is True, over[0]
        if game.is_threefold:
            return False, "threefold_repetition"
        if game.is_fifty_moves:
            return False, "fifty_moves"
        if self.goal == "promotion" and promotes(last) and not game.turn:
            # It counts only if the new piece is not lost.
            return bool(self.white_wins(game)), "promotion"
        return None


def play_out(
    position: EndgamePosition,
    attacker: Player,
    defender: Player,
    referee: Referee,
    rngs: tuple[np.random.Generator, np.random.Generator],
    max_moves: int,
    examined: int = 0,
) -> Outcome:
    """Play one position, White to move, as a game of at most `max_moves` moves.

    `rngs` are White's and Black's. A fault of the `examined` player (0: attacker, 1: defender)
    fails the position; a fault of the other excludes it.
    """
    outcome = Outcome(position)
    game = Game(position.fen)
    over = game.outcome()
    if over is not None:
        outcome.end = over[0]
        return outcome
    players = (attacker, defender)

    def failed(side: int, error: Exception) -> Outcome:
        outcome.fault = f"{('attacker', 'defender')[side]} {fault_of(error)}"
        outcome.own_fault = side == examined
        return outcome

    for side, player in enumerate(players):
        try:
            player.new_game()
        except Exception as error:
            return failed(side, error)
    won_now = position.result > 0
    while True:
        side = 0 if game.turn else 1
        try:
            move = legal_choice(players[side], game, rngs[side])
        except Exception as error:
            return failed(side, error)
        game.push(move)
        kept = referee.white_wins(game)
        if side == 0:
            outcome.moves += 1
            if won_now and kept is not None:
                outcome.judged_moves += 1
                outcome.good_moves += kept
        won_now = bool(kept)
        ended = referee.ended(game, move)
        if ended is not None:
            outcome.won, outcome.end = ended
            outcome.lost = game.outcome() == ("checkmate", False)
            return outcome
        if side == 1 and outcome.moves >= max_moves:
            outcome.end = f"{max_moves} moves"
            return outcome
        if not referee.history:
            game = Game(f"{game.epd()} 0 1")


@dataclass
class _Node:
    """A position with White to move, and the moves that follow."""

    won_before: bool  # by the tablebases
    kept: bool  # White's move kept the win
    # EPDs after Black's replies and whether the reply was zeroing; empty if the game ended here.
    following: tuple[tuple[str, bool], ...]
    win: bool  # White's move (or every reply) reached the goal
    zeroing: bool  # White's move was a capture or a pawn move
    end: str


@dataclass(frozen=True)
class _Verdict:
    win: bool
    moves: int
    stretch: int  # plies up to and including the next zeroing move or the end
    end: str


class Follower:
    """Follows a memoryless player through the graph of all its games.

    `choose` returns the player's move in a position; an illegal one (such as "") fails every game
    that leads there. With `every_reply` all defences are tried instead of the longest.
    """

    def __init__(
        self, choose: Callable[[Game], str], referee: Referee, every_reply: bool = False
    ) -> None:
        """Start with an empty graph."""
        self._choose = choose
        self._referee = referee
        self._every_reply = every_reply
        self._nodes: dict[str, _Node] = {}
        self._verdicts: dict[str, _Verdict] = {}

    def outcome(self, position: EndgamePosition) -> Outcome:
        """Return the outcome of the game from a position."""
        game = Game(position.fen)
        over = game.outcome()
        if over is not None:
            return Outcome(position, end=over[0])
        key = game.epd()
        self._resolve(key)
        node, verdict = self._nodes[key], self._verdicts[key]
        return Outcome(
            position,
            won=verdict.win,
            moves=verdict.moves,
            good_moves=int(node.won_before and node.kept),
            judged_moves=int(node.won_before),
            end=verdict.end,
            fault=ILLEGAL if verdict.end == ILLEGAL else "",
            own_fault=verdict.end == ILLEGAL,
        )

    def _resolve(self, start: str) -> None:
        """Search depth-first; a position that repeats on the path is not a win."""
        stack = [start]
        on_way: set[str] = set()
        while stack:
            key = stack[-1]
            if key in self._verdicts:
                stack.pop()
                on_way.discard(key)
                continue
            node = self._node(key)
            on_way.add(key)
            open_ones = [n for n, _ in node.following if n not in self._verdicts]
            circular = [n for n in open_ones if n in on_way]
            if circular:
                # A move into a cycle (or one that the defender can choose) does not win.
                self._verdicts[key] = _Verdict(False, 0, 0, "repetition")
            elif open_ones:
                stack.append(open_ones[0])
            else:
                self._verdicts[key] = self._judge(node)

    def _judge(self, node: _Node) -> _Verdict:
        if not node.following:
            return _Verdict(node.win, 1, 1, node.end)
        verdicts = [self._verdicts[n] for n, _ in node.following]
        failed = next((v for v in verdicts if not v.win), None)
        if failed is not None:
            return _Verdict(False, 0, 0, failed.end)
        # Plies after White's move: the reply and, unless that is zeroing, what follows it.
        rest = max(
            1 if zeroing else 1 + verdict.stretch
            for (_, zeroing), verdict in zip(node.following, verdicts, strict=True)
        )
        if rest + (not node.zeroing) > FIFTY_MOVES:
            return _Verdict(False, 0, 0, "fifty_moves")
        moves = 1 + max(v.moves for v in verdicts)
        return _Verdict(True, moves, 1 if node.zeroing else 1 + rest, verdicts[0].end)

    def _node(self, key: str) -> _Node:
        if key not in self._nodes:
            self._nodes[key] = self._expand(Game(f"{key} 0 1"))
        return self._nodes[key]

    def _expand(self, game: Game) -> _Node:
        referee = self._referee
        won_before = bool(referee.white_wins(game))
        move = self._choose(game)
        if not game.is_legal(move):
            return _Node(won_before, False, (), False, False, ILLEGAL)
        game.push(move)
        kept = bool(referee.white_wins(game))
        zeroing = game.halfmove_clock == 0
        over = referee.ended(game, move)
        if over is not None:
            return _Node(won_before, kept, (), over[0], zeroing, over[1])
        following = []
        for reply in self._replies(game):
            game.push(reply)
            over = referee.ended(game, reply)
            if over is not None and not over[0]:
                return _Node(won_before, kept, (), False, zeroing, over[1])
            following.append((game.epd(), game.halfmove_clock == 0))
            game.pop()
        return _Node(won_before, kept, tuple(following), False, zeroing, "")

    def _replies(self, game: Game) -> Sequence[str]:
        if self._every_reply:
            return game.legal_moves()
        ranked = rank_moves(game, self._referee.tables)
        if not ranked:
            raise ValueError(f"no tablebase contains the replies in {game.fen()}")
        return [max(ranked, key=lambda move: ranked[move])]
