"""Endgames against the truth: how much of what is won does a player win?

Two ways to the same columns (paper 003, Tables 4 to 7):

* `play out`: each position is one game, as it would be played. For any player.
* `follow`: for players without memory. What they do in a position is asked once; the games of
  all positions together then form a graph in which every game is a path. Exhaustive in seconds,
  and exact: a path that returns to itself never wins.

The side that resists: `perfect` puts the loss off as long as the tables allow and takes every
draw offered; `worst` (following only) is every defence at once: a position counts as won only
if no reply, however odd, escapes.
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
ILLEGAL = "no legal move"  # why a game ends whose player has a fault


@dataclass
class Outcome:
    """How one position went for the player."""

    position: EndgamePosition
    won: bool = False
    moves: int = 0  # White's moves to the goal, if won
    lost: bool = False  # White was mated
    fault: str = ""  # kind and evidence, if a player broke the rules
    own_fault: bool = False  # it was the examined player: failed; else the position is not counted
    good_moves: int = 0  # White moves that kept a won position won
    judged_moves: int = 0  # White moves made in won positions
    end: str = ""  # why it ended


@dataclass
class LevelResult:
    """The columns of the paper for one level (or all)."""

    positions: int = 0
    won_positions: int = 0
    won: int = 0
    drawn_positions: int = 0
    won_from_drawn: int = 0
    moves: int = 0  # sum over the wins from won positions
    best_moves: int = 0  # the same if played perfectly (mate only, by the tables' distance)
    good_moves: int = 0
    judged_moves: int = 0
    faults: int = 0  # of the examined player; such positions count as not won
    opponent_faults: int = 0  # such positions count nowhere

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
        """The keys that every level has."""

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
        """The object of `rookery endgame --json`."""
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
    """Says whether a position is still won, and whether a move reached the goal."""

    def __init__(self, tables: CachedTables, goal: str, history: bool = True) -> None:
        """Judge by `tables`; `goal` is `promotion` or `mate`.

        Without `history` games continue after repetitions and fifty moves, as in paper 003.
        """
        if goal not in GOALS:
            raise ValueError(f"goal {goal!r} is not one of {', '.join(GOALS)}")
        self.tables = tables
        self.goal = goal
        self.history = history

    def white_wins(self, game: Game) -> bool | None:
        """Whether the tables call it won for White; None if they do not know."""
        over = game.outcome()
        if over is not None:
            return over[1] is True
        probe = self.tables.probe(game)
        if probe is None:
            return None
        return (probe.result if game.turn else -probe.result) > 0

    def ended(self, game: Game, last: str) -> tuple[bool, str] | None:
        """(won by White, why) if the game is over for our purpose after the move `last`."""
        over = game.outcome()
        if over is not None:
            return over[1] is True, over[0]
        if game.is_threefold:
            return False, "threefold_repetition"
        if game.is_fifty_moves:
            return False, "fifty_moves"
        if self.goal == "promotion" and promotes(last) and not game.turn:
            # It counts if the new piece is there to stay, as the tables see it.
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
    """Play one position as a game.

    Args:
        position: where it starts, White to move.
        attacker: plays White.
        defender: plays Black.
        referee: goal and truth.
        rngs: randomness of White and of Black.
        max_moves: the game ends after that many moves of White.
        examined: whose fault fails the position: 0 the attacker's, 1 the defender's. The other's
            makes it not count.
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
        if side == 0:
            outcome.moves += 1
            kept = referee.white_wins(game)
            if won_now and kept is not None:
                outcome.judged_moves += 1
                outcome.good_moves += kept
            won_now = bool(kept)
        else:
            won_now = bool(referee.white_wins(game))
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
    """A position with White to move, and where the game goes from here."""

    won_before: bool  # by the tables
    kept: bool  # White's move kept the win
    following: tuple[tuple[str, bool], ...]  # positions after Black's replies, none if it ended
    # here, and whether the reply was a capture or a pawn move
    win: bool  # White's move (or every reply) reached the goal
    zeroing: bool  # White's move was a capture or a pawn move
    end: str


@dataclass(frozen=True)
class _Verdict:
    win: bool
    moves: int
    stretch: int  # plies from here to the first zeroing move or the end, that one included
    end: str


class Follower:
    """Follows a memoryless player through the graph of all its games.

    Args of the constructor:
        choose: the player's move in a position; an illegal one (as "") loses what leads there.
        referee: goal and truth.
        every_reply: every defence at once instead of the longest.
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
        """The outcome of the game from a position."""
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
        """Depth first; a position met again on the way is a repetition, so not a win."""
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
                # A move that leads into a cycle (or lets the defender choose one) does not win.
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
        # After White's move: the reply, and unless that is zeroing what follows it.
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
            raise ValueError(f"no endgame table knows the replies in {game.fen()}")
        return [max(ranked, key=lambda move: ranked[move])]
