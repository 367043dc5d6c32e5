"""Networks that play small endings, greedily by Q value and without search.

Both sides of an ending are played, with either colour. Positions with other material are left to
another player (`otherwise`). After many positions (as in an exam) the network evaluates the whole
ending in one batch and caches the values; the Q values stay the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rookery._core import EndingStates, Game, MoveError
from rookery.nets.endings.arrays import EndgameArrays
from rookery.nets.evaluator import evaluate_position, load_evaluator
from rookery.players.base import Capabilities, Decision, Limits, Player, legal_moves
from rookery.players.spec import PlayerSpec, SpecError, inner_spec
from rookery.players.thinking import MoveNote

MANY = 50  # positions evaluated singly before the whole ending is evaluated


class EndgamePlayer:
    """Plays the endings of its networks and leaves other positions to another player."""

    def __init__(
        self,
        networks: Sequence[EndgameArrays],
        otherwise: Player | None = None,
        name: str = "endgame",
    ) -> None:
        """Use networks of the family `endgame`; the first with an ending plays it."""
        self.name = name
        self.otherwise = otherwise
        parts = () if otherwise is None else (otherwise,)
        self.capabilities = Capabilities(memoryless=True, parts=parts)
        self._asked: dict[int, int] = {}  # id of a network -> positions evaluated
        self._remembered: dict[int, tuple[EndingStates, NDArray[np.float32]]] = {}
        self._by_material: dict[str, EndgameArrays] = {}
        for network in networks:
            for ending in network.endings:
                strong, weak = ending.split("v")
                self._by_material.setdefault(ending, network)
                self._by_material.setdefault(f"{weak}v{strong}", network)

    @property
    def endings(self) -> list[str]:
        """The endings it plays, White's pieces first."""
        return list(self._by_material)

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Choose the action with the greatest Q value."""
        network = self._by_material.get(game.material())
        if network is None:
            if self.otherwise is not None:
                decision = self.otherwise.choose(game, rng, limits)
                why = f"{self.otherwise.name}, since {self.name} does not know {game.material()}"
                return replace(decision, details={**decision.details, "by": why})
            known = ", ".join(self._by_material)
            raise MoveError(f"{self.name} knows {known}, not {game.material()} in {game.fen()!r}")
        notes = self._notes(network, game)
        best = notes[0]
        details: Mapping[str, object] = {
            "q_values": {note.move: note.value for note in notes},
            "text": best.text,
        }
        return Decision(best.move, best.value, (best.move,), details=details)

    def notes(self, game: Game) -> list[MoveNote]:
        """The Q value of each legal move for the side to move, best first; empty if unknown."""
        network = self._by_material.get(game.material())
        return [] if network is None else self._notes(network, game)

    def _notes(self, network: EndgameArrays, game: Game) -> list[MoveNote]:
        moves = legal_moves(game)
        key = id(network)
        self._asked[key] = self._asked.get(key, 0) + 1
        evaluate = self._recall if self._asked[key] > MANY else self._ask
        q_values = evaluate(network, game, moves)
        order = np.argsort(-q_values, kind="stable")
        longest = network.moves
        return [
            MoveNote(moves[i], value=float(q_values[i]), text=in_words(float(q_values[i]), longest))
            for i in order
        ]

    def _ask(self, network: EndgameArrays, game: Game, moves: list[str]) -> NDArray[np.float32]:
        """Q values of the moves, from the network."""
        legal = np.array([game.action_of(move, network.actions) for move in moves])
        return evaluate_position(network, game, legal)[0]

    def _recall(self, network: EndgameArrays, game: Game, moves: list[str]) -> NDArray[np.float32]:
        """Q values of the moves, from the cached values of all positions."""
        if id(network) not in self._remembered:
            self._remembered[id(network)] = network.all_states()
        states, worth = self._remembered[id(network)]
        after, found = game.copy(), []
        for move in moves:
            after.push(move)
            found.append(states.find(after))
            after.pop()
        places = np.array(found)
        best = np.where(places >= 0, worth[places], np.float32(0))
        sign = 1 if (game.material().index("v") > 1) == game.turn else -1
        q_values: NDArray[np.float32] = sign * best
        return q_values

    def new_game(self) -> None:
        """Reset the other player, if there is one."""
        if self.otherwise is not None:
            self.otherwise.new_game()

    def close(self) -> None:
        """Close the other player, if there is one."""
        if self.otherwise is not None:
            self.otherwise.close()


def in_words(q_value: float, longest: int) -> str:
    """A Q value of the family `endgame` as text: "wins in 5", "loses in 3", "draws"."""
    moves = round((1 - abs(q_value)) * 2 * (longest + 1))
    if moves > longest:
        return "draws"
    # The distance is counted after this move.
    return f"wins in {moves + 1}" if q_value > 0 else f"loses in {moves}"


def endgame_player(spec: PlayerSpec, options: dict[str, Any]) -> EndgamePlayer:
    """The player of a model file, run folder or shipped network, with the option `otherwise`."""
    from rookery.players.registry import make_player

    network = load_evaluator(spec.name)
    if not isinstance(network, EndgameArrays):
        raise SpecError(f"{spec.name!r} is not a network of the family 'endgame'")
    otherwise = make_player(inner_spec(options.get("otherwise", "greedy-safe")))
    return EndgamePlayer([network], otherwise, str(spec))
