"""TD(0) on random games: a position is worth what the next one is not worth to the opponent."""

import numpy as np
import torch
from pydantic import Field

from rookery import VectorGames
from rookery.base.section import Section
from rookery.nets import ValueNetwork, make_network
from rookery.runs.state import State
from rookery.training.recipe import Recipe
from rookery.training.trainer import Context, Metrics, Trainer


class PointsSettings(Section):
    learning_rate: float = Field(default=3e-3, gt=0)
    """Step size of Adam."""


class PointsRecipe(Recipe):
    points: PointsSettings = PointsSettings()


class PointsTrainer(Trainer):
    def __init__(self, context: Context[PointsRecipe]) -> None:
        weights = context.torch_generator("weights")
        self.network = make_network("points", "vector66", "none", None, weights)
        rate = context.recipe.points.learning_rate
        self.optimizer = torch.optim.Adam(self.network.parameters(), rate)
        self.rng = context.generator("moves")
        self.games = VectorGames(256, "vector66", seed=context.seed("games"))
        self.games.reset(context.seed("games"))

    def iterate(self) -> Metrics:
        games = self.games
        before = torch.from_numpy(np.array(games.observations))
        places = self.rng.integers(games.legal_offsets[:-1], games.legal_offsets[1:])
        games.step(games.legal_actions[places].astype(np.int64))
        ended = torch.from_numpy(games.terminations.copy())
        with torch.no_grad():  # where a game ended, a new one stands on the board
            after = -self.network.values(torch.from_numpy(games.observations))
        targets = torch.where(ended, torch.from_numpy(games.rewards.copy()), after)
        loss = (self.network.values(before) - targets).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return Metrics(len(before), games=int(ended.sum()), losses={"value": loss.item()})

    def state(self) -> State:
        state = State()
        state.put_module("network", self.network)
        state.put_optimizer("optimizer", self.optimizer)
        state.put_generator("moves", self.rng)
        state.put_bytes("games", self.games.get_state())
        return state

    def load_state(self, state: State) -> None:
        state.get_module("network", self.network)
        state.get_optimizer("optimizer", self.optimizer)
        state.get_generator("moves", self.rng)
        self.games.set_state(state.get_bytes("games"))

    def model(self) -> ValueNetwork:
        return self.network
