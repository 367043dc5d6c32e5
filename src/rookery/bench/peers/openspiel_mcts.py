"""OpenSpiel's Python MCTS on its chess, with an evaluator that costs almost nothing."""

from __future__ import annotations

from collections.abc import Callable

LABEL = "OpenSpiel's Python MCTS"
CONDITIONS = "uniform priors and value 0, from the start position"
SIMULATIONS = 800


def prepare() -> Callable[[], int]:
    """Return a function that searches once and returns the number of simulations."""
    import numpy as np
    import pyspiel
    from open_spiel.python.algorithms.mcts import Evaluator, MCTSBot

    class Trivial(Evaluator):  # type: ignore[misc]
        """Every move is as likely, every position even."""

        def evaluate(self, state: pyspiel.State) -> list[float]:
            return [0.0, 0.0]

        def prior(self, state: pyspiel.State) -> list[tuple[int, float]]:
            legal = state.legal_actions()
            return [(action, 1.0 / len(legal)) for action in legal]

    game = pyspiel.load_game("chess")
    bot = MCTSBot(
        game, 2.0, SIMULATIONS, Trivial(), solve=False, random_state=np.random.RandomState(1)
    )
    state = game.new_initial_state()

    def search() -> int:
        bot.mcts_search(state)
        return SIMULATIONS

    return search
