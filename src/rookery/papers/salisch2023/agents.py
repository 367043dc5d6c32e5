"""Adapters between `Player` and the agent interface of Salisch 2023 (section 3.2.1).

An agent has one method, `compute_single_action`, as in RLlib: it takes the state of the environment
and returns an action. The state is the observation array, or a mapping
{"observation": array, "action_mask": array} for agents that need the legal actions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rookery._core import Game, MoveError
from rookery.players.base import Decision, Limits, Player

CLAIM = 4672  # the action of az4673 that claims a draw
PIECE_LETTERS = " PNBRQKpnbrqk"  # by the piece codes of vector66 and vector69, mover as White
CASTLING_LETTERS = ("", "K", "Q", "KQ")  # by the castling codes of the same layouts


@runtime_checkable
class SingleActionAgent(Protocol):
    """An agent of that interface, such as an RLlib algorithm with the old API."""

    def compute_single_action(self, observation: Any, /) -> Any:
        """Return the index of an action, or a tuple that starts with it (as RLlib does)."""


class AgentPlayer:
    """An agent with `compute_single_action` as a `Player`."""

    def __init__(
        self,
        agent: SingleActionAgent,
        *,
        name: str = "agent",
        observation: str = "vector66",
        actions: str = "az4672",
        masked: bool = True,
        on_illegal: str = "raise",
    ) -> None:
        """Wrap `agent`.

        Args:
            agent: Chooses the actions.
            name: Shown in results.
            observation: Layout of the agent's observations.
            actions: Layout of its actions.
            masked: Whether it gets {"observation", "action_mask"} or only the array.
            on_illegal: "raise", or "random" to replace an illegal action by a random move, as
                Kanis 2016 (section 3.5) does in tests.
        """
        if on_illegal not in ("raise", "random"):
            raise ValueError(f"on_illegal is {on_illegal!r}; it must be 'raise' or 'random'")
        self.name, self._agent = name, agent
        self._observation, self._actions = observation, actions
        self._masked, self._on_illegal = masked, on_illegal

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Ask the agent about the position."""
        legal = game.legal_actions(self._actions)
        state: Any = game.encode(self._observation)
        if self._masked:
            mask = game.action_mask(self._actions).astype(np.int8)
            state = {"observation": state, "action_mask": mask}
        answer = self._agent.compute_single_action(state)
        action = int(answer[0] if isinstance(answer, tuple) else answer)
        if action not in legal:
            if self._on_illegal == "raise":
                raise MoveError(f"{self.name} chose the illegal action {action} in {game.fen()!r}")
            action = int(rng.choice(legal[legal != CLAIM]))
        if action == CLAIM:
            return Decision(game.legal_moves()[0], claims_draw=True)
        return Decision(game.move_of(action, self._actions))

    def new_game(self) -> None:
        """Do nothing: there is no state between games."""

    def close(self) -> None:
        """Do nothing: there are no resources."""


class PlayerAgent:
    """A `Player` with `compute_single_action`.

    Callers can pass the `game`. Otherwise the position is decoded from a `vector66` or `vector69`
    observation, with the side to move as White: both layouts are oriented to the side to move, so
    the action is the same for either colour. The en passant square is inferred from the mask, if
    there is one. Earlier positions, and for `vector66` the clocks, are lost.
    """

    def __init__(
        self,
        player: Player,
        rng: np.random.Generator,
        *,
        actions: str = "az4672",
        limits: Limits | None = None,
    ) -> None:
        """Wrap `player`; its random choices come from `rng`."""
        self._player, self._rng = player, rng
        self._actions, self._limits = actions, limits

    def compute_single_action(
        self, observation: Any, /, *, game: Game | None = None, **_: object
    ) -> int:
        """Return the player's action; RLlib's other keyword arguments are ignored."""
        if game is None:
            game = game_of_observation(observation)
        decision = self._player.choose(game, self._rng, self._limits)
        if decision.claims_draw and self._actions == "az4673":
            return CLAIM
        return int(game.action_of(decision.move, self._actions))


def game_of_observation(observation: Any) -> Game:
    """Decode `vector66` or `vector69` (or a mapping with a mask), with White to move."""
    mask = None
    if isinstance(observation, Mapping):
        mask = observation.get("action_mask")
        observation = observation["observation"]
    vector = np.asarray(observation)
    if vector.shape not in ((66,), (69,)):
        raise ValueError(
            f"cannot read a position from an observation of shape {vector.shape}; "
            "pass game=..., or use the layout vector66 or vector69"
        )
    # Layout tables: rookery/encodings/. vector69 has the two clocks before the castling codes.
    codes = vector.astype(int)
    moves, clock, own, opponent = (1, 0, *codes[64:66]) if len(codes) == 66 else codes[64:68]
    castling = CASTLING_LETTERS[own] + CASTLING_LETTERS[opponent].lower()
    placement = "/".join("".join(PIECE_LETTERS[c] for c in row) for row in codes[:64].reshape(8, 8))
    placement = re.sub(" +", lambda blanks: str(len(blanks[0])), placement)
    en_passant = _en_passant_square(codes, mask)
    return Game(f"{placement} w {castling or '-'} {en_passant} {clock} {max(moves, 1)}")


def _en_passant_square(codes: np.ndarray[Any, np.dtype[Any]], mask: Any) -> str:
    """The empty square that a pawn may capture onto according to the mask, or "-"."""
    if mask is None:
        return "-"
    for action in np.flatnonzero(np.asarray(mask)[:CLAIM]):
        origin, plane = divmod(int(action), 73)
        # Planes 7 and 49: one square to the north-east and to the north-west.
        target = origin + {7: 9, 49: 7}.get(plane, 0)
        if target != origin and _code(codes, origin) == 1 and _code(codes, target) == 0:
            return "abcdefgh"[target % 8] + str(target // 8 + 1)
    return "-"


def _code(codes: np.ndarray[Any, np.dtype[Any]], square: int) -> int:
    """Piece code of a square seen from the side to move; the layout starts at the last rank."""
    return int(codes[(7 - square // 8) * 8 + square % 8])
