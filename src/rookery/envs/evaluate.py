"""Games between players, and the evaluation of Salisch 2023 (sections 3.1.1 and 3.2.3).

`run` plays one game. `evaluate` plays many, half of them with each colour, and scores a win +1, a
draw 0 and a loss -1: about 0 means as strong as the opponent. For Elo with confidence intervals,
and for engines that may misbehave, see `rookery.arena`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass

import numpy as np

from rookery._core import Game, MoveError
from rookery.data.starts import StartPositions, start_positions
from rookery.envs.rules import Rules, Termination
from rookery.players.base import Limits, Player


@dataclass(frozen=True)
class GameRecord:
    """One finished game."""

    start_fen: str
    moves: tuple[str, ...]  # UCI; those that led to the start position are included
    ending: str  # a reason of `Termination`, or "ply_cap" if truncated
    result: int | None  # +1 White won, 0 drawn, -1 Black won; None if truncated
    fen: str  # last position

    @property
    def plies(self) -> int:
        """Length of the game."""
        return len(self.moves)


@dataclass(frozen=True)
class Score:
    """Wins, draws, losses and unfinished games of a player."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    unfinished: int = 0

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses + self.unfinished

    @property
    def score(self) -> int:
        """Wins minus losses, the evaluation value of Salisch 2023."""
        return self.wins - self.losses

    def __add__(self, other: Score) -> Score:
        """Add two scores."""
        return Score(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True)
class Evaluation:
    """Results of a player against an opponent, by the player's colour."""

    player: str
    opponent: str
    as_white: Score
    as_black: Score

    @property
    def total(self) -> Score:
        """Both colours together."""
        return self.as_white + self.as_black

    @property
    def score(self) -> int:
        """Wins minus losses over all games."""
        return self.total.score

    def as_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        return {
            "player": self.player,
            "opponent": self.opponent,
            "games": self.total.games,
            "score": self.score,
            **asdict(self.total),
            "as_white": {**asdict(self.as_white), "score": self.as_white.score},
            "as_black": {**asdict(self.as_black), "score": self.as_black.score},
        }


def run(
    white: Player,
    black: Player,
    rng: np.random.Generator,
    *,
    start: str | Sequence[str] | StartPositions = "standard",
    claims: str = "automatic",
    draw_after_plies: int = 0,
    max_plies: int = 0,
    limits: Limits | None = None,
) -> GameRecord:
    """Play one game; the options mean the same as in `rookery/Chess-v0`.

    With `claims="action"` a draw is claimed by a decision with `claims_draw`.

    Raises:
        FenError: the game is already over in each of many draws from the start positions.
        MoveError: a player chose an illegal move or made an invalid claim.
    """
    rules = Rules(claims, draw_after_plies, max_plies)
    game = rules.sample_start(start_positions(start), rng)
    for player in {id(white): white, id(black): black}.values():
        player.new_game()
    plies_before = game.ply
    termination: Termination | None = None
    while termination is None and not rules.truncated(game.ply - plies_before):
        player = white if game.turn else black
        termination = _turn(player, game, rng, limits, claims)
        if termination is None:
            termination = rules.termination(game, game.ply - plies_before)
    return GameRecord(
        game.start_fen,
        tuple(game.moves()),
        "ply_cap" if termination is None else termination.reason,
        None if termination is None else termination.result(True),
        game.fen(),
    )


def _turn(
    player: Player, game: Game, rng: np.random.Generator, limits: Limits | None, claims: str
) -> Termination | None:
    """Let a player move or claim; return the termination if it claimed a draw."""
    decision = player.choose(game, rng, limits)
    if decision.claims_draw and claims == "action":
        if not game.can_claim_draw():
            raise MoveError(f"player {player.name!r} claimed a draw without right: {game.fen()!r}")
        return Termination("draw_claimed", None)
    try:
        game.push(decision.move)
    except MoveError as error:
        raise MoveError(f"player {player.name!r} broke the rules: {error}") from error
    return None


def evaluate(
    player: Player,
    opponent: Player,
    rng: np.random.Generator,
    *,
    games: int = 1000,
    start: str | Sequence[str] | StartPositions = "standard",
    claims: str = "automatic",
    draw_after_plies: int = 0,
    max_plies: int = 0,
    limits: Limits | None = None,
) -> Evaluation:
    """Play `games` games, half of them with each colour, and count the results."""
    if games < 2 or games % 2:
        raise ValueError(f"games is {games}; it must be even and positive, half for each colour")
    start = start_positions(start)
    scores = {True: Score(), False: Score()}
    for number in range(games):
        as_white = number % 2 == 0
        record = run(
            player if as_white else opponent,
            opponent if as_white else player,
            rng,
            start=start,
            claims=claims,
            draw_after_plies=draw_after_plies,
            max_plies=max_plies,
            limits=limits,
        )
        scores[as_white] += _count(record.result, as_white)
    return Evaluation(player.name, opponent.name, scores[True], scores[False])


def _count(result: int | None, as_white: bool) -> Score:
    """The score of one side from White's result."""
    if result is None:
        return Score(unfinished=1)
    own = result if as_white else -result
    return Score(wins=int(own == 1), draws=int(own == 0), losses=int(own == -1))
