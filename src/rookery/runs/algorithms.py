"""The registry of algorithms that recipes can name.

Reading it loads none of them, so that run folders and model files can be listed, played and
reported on installations that cannot train.
"""

from __future__ import annotations

from dataclasses import dataclass

from rookery.base.registry import Registry


@dataclass(frozen=True)
class Algorithm:
    """An algorithm; code is given as "module:attribute" and loaded on first use."""

    name: str  # as in recipes
    recipe: str  # its settings, a `rookery.training.recipe.Recipe`
    trainer: str  # called with a `Context`, returns a `rookery.training.trainer.Trainer`
    player: str = ""  # kind of player for its networks; "": that of their family
    recipes: str = ""  # package whose .toml files are recipes; ours are in `rookery.recipes`
    report: str = ""  # study(groups, colours) -> HTML for the report; "": no such section
    devices: bool = False  # whether it learns on the device of `run.device`; otherwise on the CPU
    whole_games: bool = True  # whether it plays chess from the start, so that it can be rated


_ALGORITHMS = (
    Algorithm(
        "alphazero",
        "rookery.algorithms.alphazero_recipe:AlphaZeroRecipe",
        "rookery.algorithms.alphazero:AlphaZeroTrainer",
        player="tree-search",
        devices=True,
    ),
    Algorithm(
        "blind",
        "rookery.blind.train_recipe:BlindRecipe",
        "rookery.blind.train:BlindTrainer",
        whole_games=False,
    ),
    Algorithm(
        "ddqn",
        "rookery.algorithms.ddqn_recipe:DdqnRecipe",
        "rookery.algorithms.ddqn:DdqnTrainer",
    ),
    Algorithm(
        "ddqn-paper",
        "rookery.papers.inman2022.recipe:DdqnPaperRecipe",
        "rookery.papers.inman2022.agent:DdqnPaperTrainer",
        report="rookery.papers.inman2022.report:study",
    ),
    Algorithm(
        "dqn",
        "rookery.papers.kanis2016.recipe:DQNRecipe",
        "rookery.papers.kanis2016.dqn:DQNTrainer",
        whole_games=False,
    ),
    Algorithm(
        "endgame",
        "rookery.algorithms.endgame_recipe:EndgameRecipe",
        "rookery.algorithms.endgame:EndgameTrainer",
        whole_games=False,
    ),
    Algorithm(
        "engine",
        "rookery.algorithms.engine_recipe:EngineRecipe",
        "rookery.algorithms.engine:EngineTrainer",
    ),
    Algorithm(
        "ppo",
        "rookery.algorithms.ppo_recipe:PPORecipe",
        "rookery.algorithms.ppo:PPOTrainer",
        report="rookery.papers.salisch2023.report:study",
    ),
    Algorithm(
        "supervised",
        "rookery.algorithms.supervised:SupervisedRecipe",
        "rookery.algorithms.supervised:SupervisedTrainer",
        player="tree-search",
        report="rookery.papers.deeppepper2018.report:study",
        devices=True,
    ),
    Algorithm(
        "tdleaf",
        "rookery.algorithms.tdleaf_recipe:TdLeafRecipe",
        "rookery.algorithms.tdleaf:TdLeafTrainer",
    ),
)
ALGORITHMS = Registry("algorithm", "rookery.algorithms", Algorithm, _ALGORITHMS)
