"""One game with its rewards and termination, the common part of all environments.

`Episode` is independent of any library; `chess_env.py`, `kpk_env.py`, `aec.py` and `rllib.py` adapt
it to their interfaces.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex, TypedDict

import numpy as np
from numpy.typing import NDArray

from rookery._core import STANDARD_BOARD, FenError, Game, MoveError, action_count
from rookery.data.books import Book, find_book
from rookery.data.paths import MissingDataError
from rookery.data.starts import StartPositions, start_positions
from rookery.data.tablebases import HOW_TO_GET, METRICS, Tablebases, find_tablebases
from rookery.encodings import OBSERVATIONS
from rookery.envs.rewards import InterimRewards, Ply, RewardFunction, Rewards, rewards_of
from rookery.envs.rules import Rules, Termination

CLAIM = 4672  # the action of az4673 that claims a draw
ON_ILLEGAL = ("penalty", "raise")
AGENTS = ("player_0", "player_1")  # White and Black, named as in PettingZoo's own chess


@dataclass(frozen=True)
class Turn:
    """The outcome of one action."""

    mover: bool  # True: White acted
    reward: float  # of the side that acted
    other_reward: float  # of the other side
    legal: bool = True  # False: the position did not change

    def by_agent(self) -> dict[str, float]:
        """The rewards by agent."""
        return {agent_of(self.mover): self.reward, agent_of(not self.mover): self.other_reward}


class EpisodeOptions(TypedDict, total=False):
    """The options of `Episode`, common to all environments."""

    observation: str  # layout (`rookery.encodings.OBSERVATIONS`)
    actions: str  # action layout; "az4673" requires claims="action"
    # Rewards, a preset, changes of the default, or a function of a `Ply` and a side.
    rewards: Rewards | str | Mapping[str, float] | RewardFunction
    claims: str | None  # see `Rules`; None: "action" for "az4673", otherwise "automatic"
    draw_after_plies: int  # see `Rules`
    max_plies: int  # see `Rules`
    start: str | Sequence[str] | StartPositions  # see `data/starts.py`
    on_illegal: str  # "penalty" (rewards.illegal; the position does not change) or "raise"
    book: Book | None  # for interim rewards; None: the first one found, if rewards.book is not 0
    tablebases: Tablebases | None  # likewise
    board: str  # what is played on (docs/boards.md)
    tablebase_metric: str | None  # "dtz" as Salisch 2023, "dtm", or None: see `InterimRewards`


class Episode:
    """A game in progress, stepped by actions of the side to move."""

    def __init__(
        self,
        *,
        observation: str = "planes19",
        actions: str = "az4672",
        rewards: Rewards | str | Mapping[str, float] | RewardFunction = "default",
        claims: str | None = None,
        draw_after_plies: int = 0,
        max_plies: int = 0,
        start: str | Sequence[str] | StartPositions = "standard",
        on_illegal: str = "penalty",
        book: Book | None = None,
        tablebases: Tablebases | None = None,
        tablebase_metric: str | None = None,
        board: str = STANDARD_BOARD,
        rules: Rules | None = None,
    ) -> None:
        """Check the options (`EpisodeOptions`); `begin` starts the first game.

        `rules` replace `claims`, `draw_after_plies` and `max_plies` in environments with other
        rules.
        """
        if observation not in OBSERVATIONS:
            known = ", ".join(OBSERVATIONS)
            raise ValueError(f"unknown observation layout {observation!r}; known are {known}")
        if on_illegal not in ON_ILLEGAL:
            raise ValueError(f"on_illegal is {on_illegal!r}; it must be 'penalty' or 'raise'")
        if claims is None:
            claims = "action" if actions == "az4673" else "automatic"
        self.rules = rules or Rules(claims, draw_after_plies, max_plies)
        if (self.rules.claims == "action") != (actions == "az4673"):
            raise ValueError(
                f"claims={self.rules.claims!r} does not go with actions={actions!r}: draws are "
                "claimed by an action if, and only if, the action layout is 'az4673'"
            )
        if (observation == "kpk3" or actions == "kpk") and not self.rules.promotion_wins:
            raise ValueError(
                f"observation={observation!r} with actions={actions!r}: the layouts 'kpk3' and "
                "'kpk' can express only a pawn and two kings; they belong to the environment "
                "rookery/KPK-v0, choose others here"
            )
        self.observation = observation
        self.actions = actions
        self.action_count = action_count(actions)
        self._reward_function = rewards if callable(rewards) else None
        self.rewards = Rewards() if callable(rewards) else rewards_of(rewards)
        self.board = board
        self.start = start_positions(start, board)
        self.on_illegal = on_illegal
        self.switched_off: list[str] = []  # messages about requested features without data
        self._opened: list[Book | Tablebases] = []  # opened here, so closed here
        self._interim = InterimRewards(
            self.rewards,
            self._book(book),
            self._tablebases(tablebases, tablebase_metric),
            tablebase_metric,
        )
        self.game = Game(board=board)
        self.termination: Termination | None = None
        self.truncated = False
        self._plies_before = 0
        self._illegal_attempts = 0

    def _book(self, book: Book | None) -> Book | None:
        """Find a book if there are book rewards; switch them off if there is none."""
        if book is not None or not self.rewards.book:
            return book
        try:
            found = find_book()
        except MissingDataError as error:
            self._switch_off(f"rewards for book moves are off: {error}")
            return None
        self._opened.append(found)
        return found

    def _tablebases(self, tablebases: Tablebases | None, metric: str | None) -> Tablebases | None:
        """Find tables if there are tablebase rewards; switch them off if there are none."""
        if not self.rewards.tablebase:
            return tablebases
        if tablebases is None:
            tablebases = find_tablebases()
            self._opened.append(tablebases)
            if not tablebases.available:
                self._switch_off(f"rewards for tablebase progress are off: {tablebases.describe()}")
                return None
        if metric in METRICS and not tablebases.tells(metric):
            self._switch_off(
                f"rewards for tablebase progress are off: no table tells the distance {metric!r} "
                f"({tablebases.describe()}); {HOW_TO_GET}"
            )
            return None
        return tablebases

    def _switch_off(self, message: str) -> None:
        """Warn and store the message."""
        self.switched_off.append(message)
        warnings.warn(message, stacklevel=5)

    def begin(self, rng: np.random.Generator, fen: str | None = None) -> None:
        """Start a new game from `fen` or the start positions; a FenError if it is already over."""
        if fen is not None:
            self.game = Game(fen, board=self.board)
        else:
            self.game = self.rules.sample_start(self.start, rng)
        self._plies_before = self.game.ply
        self._illegal_attempts = 0
        self._interim.new_game()
        self.termination = self.rules.termination(self.game, 0)
        self.truncated = False
        if self.termination is not None:
            raise FenError(f"the game is over ({self.termination.reason}) in {self.game.fen()!r}")

    @property
    def over(self) -> bool:
        """Whether the game was terminated or truncated."""
        return self.termination is not None or self.truncated

    @property
    def plies(self) -> int:
        """Plies since the start of this episode, without those of its start position."""
        return self.game.ply - self._plies_before

    def close(self) -> None:
        """Close the book and the tables that were opened here; may be called more than once."""
        for opened in self._opened:
            opened.close()

    def act(self, action: SupportsIndex) -> Turn:
        """Take an action of the side to move."""
        self._require_unfinished()
        try:
            action = operator.index(action)  # int() would truncate 3.7 to another action
        except TypeError:
            kind = type(action).__name__
            raise TypeError(f"action is {action!r} ({kind}); it must be an integer") from None
        if action not in self.game.legal_actions(self.actions):
            if self.on_illegal == "raise":
                raise MoveError(
                    f"action {action} of {self.actions} is illegal in {self.game.fen()!r}; "
                    "choose one of the action mask"
                )
            self._illegal_attempts += 1
            self._look_for_truncation()
            return self._turn(self.game.turn, self.rewards.illegal, self.game, legal=False)
        if action == CLAIM and self.actions == "az4673":
            return self.claim()
        return self.play(self.game.move_of(action, self.actions))

    def play(self, move: str) -> Turn:
        """Make a move of the side to move, given in UCI."""
        self._require_unfinished()
        game, mover, interim = self.game, self.game.turn, self._interim
        reward = self.rewards.move
        before = interim.distance(game, mover)
        if self.rewards.book and game.is_legal(move):
            reward += interim.book_reward(game, move)
        earlier = game.copy() if self._reward_function else game
        game.push(move)
        if before is not None:
            reward += interim.tablebase_reward(before, interim.distance(game, mover), mover)
        self.termination = self.rules.termination(game, self.plies)
        self._look_for_truncation()
        return self._turn(mover, reward, earlier, move)

    def claim(self) -> Turn:
        """Claim a draw for the side to move."""
        self._require_unfinished()
        if not self.game.can_claim_draw():
            raise MoveError(f"no draw can be claimed in {self.game.fen()!r}")
        self.termination = Termination("draw_claimed", None)
        return self._turn(self.game.turn, self.rewards.move, self.game)

    def _look_for_truncation(self) -> None:
        """Truncate an unfinished game that is too long."""
        steps = self.plies + self._illegal_attempts
        self.truncated = self.termination is None and self.rules.truncated(steps)

    def _turn(
        self, mover: bool, reward: float, before: Game, move: str = "", *, legal: bool = True
    ) -> Turn:
        """Add the result to both sides' rewards if the game ended; or ask the function."""
        if self._reward_function is not None:
            ply = Ply(before, self.game, move, legal, self.termination)
            own, other = (self._reward_function(ply, side) for side in (mover, not mover))
            return Turn(mover, float(own), float(other), legal)
        if self.termination is None:
            return Turn(mover, reward, 0.0, legal)
        winner = self.termination.winner
        return Turn(
            mover,
            reward + self.rewards.of_result(winner, mover),
            self.rewards.of_result(winner, not mover),
        )

    def _require_unfinished(self) -> None:
        """Refuse to continue after the end."""
        if self.over:
            raise RuntimeError("the game is over; call reset() to begin another one")

    def ending_info(self, side: bool) -> dict[str, Any]:
        """The ending for `side`: "ending" and, unless truncated, "result"; {} before the end."""
        if self.termination is not None:
            return {"ending": self.termination.reason, "result": self.termination.result(side)}
        return {"ending": "ply_cap"} if self.truncated else {}

    def encode(self) -> NDArray[np.float32]:
        """Return the observation of the side to move."""
        return self.game.encode(self.observation)

    def encode_for(self, side: bool) -> NDArray[np.float32]:
        """Return the observation of `side`; for the waiting side as if it were its turn.

        If that position is illegal (the side to move is in check), both sides get the same.
        """
        if side == self.game.turn:
            return self.encode()
        placement, turn, castling, _, clock, number = self.game.fen().split()[:6]
        passed = f"{placement} {'b' if turn == 'w' else 'w'} {castling} - {clock} {number}"
        try:
            passed_game = Game(passed, self.game.chess960, self.game.board)
            return passed_game.encode(self.observation)
        except FenError:
            return self.encode()

    def mask(self) -> NDArray[np.bool_]:
        """Return the legal actions of the side to move, [A]; none after the end."""
        if self.over:
            return np.zeros(self.action_count, dtype=np.bool_)
        return self.game.action_mask(self.actions)


def reset_options(
    options: Mapping[str, Any] | None, *known: str, ignored: Sequence[str] = ()
) -> Mapping[str, Any]:
    """Return the options of a reset; refuse unknown ones."""
    for key in options or {}:
        if key not in known and key not in ignored:
            names = " and ".join(repr(name) for name in known)
            verb = "are" if len(known) > 1 else "is"
            raise ValueError(f"unknown reset option {key!r}; known {verb} {names}")
    return options or {}


def agent_of(side: bool) -> str:
    """Name the agent of a side (True: White)."""
    return AGENTS[0] if side else AGENTS[1]


def side_of(agent: str) -> bool:
    """Return an agent's side (True: White)."""
    if agent not in AGENTS:
        raise ValueError(f"unknown agent {agent!r}; the agents are {', '.join(AGENTS)}")
    return agent == AGENTS[0]
