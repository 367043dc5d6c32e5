"""Settings of fitted Q-learning on endings: the keys of `recipes/kpk.toml` and the like."""

from __future__ import annotations

from pydantic import Field

from rookery.base.section import Section
from rookery.nets.endgame import EndgameSizes
from rookery.training.recipe import Recipe


class FittingSettings(Section):
    """The algorithm."""

    plies: int = Field(default=4, ge=1, le=64)
    """Plies of minimax over the target network's values that make a target (n-step)."""
    share: float = Field(default=0.4, gt=0, le=1)
    """Share of all states, drawn at random, learnt from in each iteration ..."""
    minibatch: int = Field(default=4096, ge=1)
    """States of one step of the optimiser."""
    learning_rate: float = Field(default=1.5e-3, gt=0)
    """Step size of Adam while many states are wrong."""
    final_learning_rate: float = Field(default=1e-4, gt=0)
    """Smallest step size, when few are wrong."""
    knee: float = Field(default=0.05, gt=0, le=1)
    """Ratio of wrong to won states below which the step size falls in proportion."""
    target_rate: float = Field(default=0.03, gt=0, le=1)
    """Share of the way that the target network goes towards the learner at each step."""
    repeat: int = Field(default=20, ge=0)
    """... and how often each wrong state is repeated in addition, while they are few."""
    repeat_share: float = Field(default=0.1, ge=0, le=1)
    """Repeated states are at most this share of all."""


class EndgameRecipe(Recipe):
    """All settings of a run."""

    fitting: FittingSettings = FittingSettings()
    network: EndgameSizes = EndgameSizes()
