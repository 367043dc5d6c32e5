"""Paper 000's agent interface, both ways: agents as players and players as agents.

Paper 000 (section 3.2.1) asks of an agent one method, `compute_single_action`, which takes the
state of the environment and returns an action; RLlib's algorithms have it, too. The state is

- the observation as an array, or
- a mapping {"observation": array, "action_mask": array}, where the agent needs the legal actions.

`AgentPlayer` lets such an agent play wherever a `Player` is expected; `PlayerAgent` offers any
player under that interface.
"""

from __future__ import annotations

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
    """Anything with paper 000's method (RLlib's algorithms of the old interface among them)."""

    def compute_single_action(self, observation: Any, /) -> Any:
        """Return the index of an action, or a tuple that starts with it (as RLlib does)."""
        ...


class AgentPlayer:
    """Lets an agent with `compute_single_action` play as a `Player`."""

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
            agent: The object that is asked for actions.
            name: How the player is called in results.
            observation: Layout that the agent was trained on.
            actions: Action layout that it answers in.
            masked: Whether it gets {"observation", "action_mask"} or the bare array.
            on_illegal: "raise", or "random" to play a random legal move instead of an illegal
                one, as paper 003 (section 3.5) does while testing.
        """
        if on_illegal not in ("raise", "random"):
            raise ValueError(f"on_illegal is {on_illegal!r}; it must be 'raise' or 'random'")
        self.name = name
        self._agent = agent
        self._observation = observation
        self._actions = actions
        self._masked = masked
        self._on_illegal = on_illegal

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
        """Nothing is kept between games."""

    def close(self) -> None:
        """Nothing is held."""


class PlayerAgent:
    """Offers a `Player` under paper 000's interface.

    The player needs a whole game, which the caller may hand over as `game`. Without it the
    position is read back from a `vector66` or `vector69` observation, with the mover as White:
    the mover's orientation makes both colours look the same, so the action is the right one for
    either. The en passant square is read from the mask if there is one. What these layouts do not
    tell (earlier positions, and for `vector66` the clocks) the player then does not know.
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
        self._player = player
        self._rng = rng
        self._actions = actions
        self._limits = limits

    def compute_single_action(
        self, observation: Any, /, *, game: Game | None = None, **_: object
    ) -> int:
        """Return the player's action; RLlib's further keyword arguments are accepted and unused."""
        if game is None:
            game = game_of_observation(observation)
        decision = self._player.choose(game, self._rng, self._limits)
        if decision.claims_draw and self._actions == "az4673":
            return CLAIM
        return int(game.action_of(decision.move, self._actions))


def game_of_observation(observation: Any) -> Game:
    """Read a position back from `vector66` or `vector69` (or a mapping with a mask).

    The mover becomes White, as these layouts do not tell the colour.
    """
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
    fields = [
        "/".join(_fen_row(row) for row in codes[:64].reshape(8, 8)),
        "w",
        castling or "-",
        _en_passant_square(codes, mask),
        str(clock),
        str(max(moves, 1)),
    ]
    return Game(" ".join(fields))


def _fen_row(row: np.ndarray[Any, np.dtype[Any]]) -> str:
    """Turn eight piece codes into a row of a FEN."""
    text = "".join(PIECE_LETTERS[code] for code in row)
    for blanks in range(8, 0, -1):
        text = text.replace(" " * blanks, str(blanks))
    return text


def _en_passant_square(codes: np.ndarray[Any, np.dtype[Any]], mask: Any) -> str:
    """Find a pawn that may capture diagonally onto an empty square; that square, or "-"."""
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
    """Piece code on a mover-oriented square; the layout starts at the last rank."""
    return int(codes[(7 - square // 8) * 8 + square % 8])
