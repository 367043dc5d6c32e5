"""Plays the move after which the opponent's position is worth least."""

import numpy as np
import torch

from rookery import Game
from rookery.nets import ValueNetwork, make_network
from rookery.nets.evaluator import load_network
from rookery.players.base import Capabilities, Decision, Limits
from rookery.players.spec import PlayerSpec


class OnePly:
    def __init__(self, network: ValueNetwork, noise: float, name: str) -> None:
        self.network, self.noise, self.name = network, noise, name
        self.capabilities = Capabilities(memoryless=noise == 0)

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        moves, seen = game.legal_moves(), []
        for move in moves:
            game.push(move)
            seen.append(game.encode(self.network.observation))
            game.pop()
        with torch.no_grad():
            values = -self.network.values(torch.from_numpy(np.stack(seen))).numpy()
        best = int((values + self.noise * rng.normal(size=len(moves))).argmax())
        return Decision(moves[best], value=float(values[best]))

    def new_game(self) -> None: ...

    def close(self) -> None: ...


def one_ply_player(spec: PlayerSpec, options: dict[str, float]) -> OnePly:
    return OnePly(load_network(spec.name), options.get("noise", 0.0), str(spec))


def classical_player(spec: PlayerSpec, options: dict[str, float]) -> OnePly:
    network = make_network("points", "vector66", "none")
    with torch.no_grad():
        network.worth.copy_(torch.tensor([1.0, 3.0, 3.0, 5.0, 9.0, 0.0]) / 40)
    return OnePly(network, options.get("noise", 0.0), str(spec))
