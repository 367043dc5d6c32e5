"""Settings of fitted Q iteration on endings, as in `recipes/kpk.toml`."""

from __future__ import annotations

from pydantic import Field

from rookery.base.section import Section
from rookery.nets.endings.network import EndgameSizes
from rookery.training.recipe import Recipe


class FittingSettings(Section):
    """The algorithm."""

    plies: int = Field(default=4, ge=1, le=64)
    """Plies of minimax over the target network's values for each target (n-step)."""
    share: float = Field(default=0.4, gt=0, le=1)
    """Share of all states, drawn at random, learnt from in each iteration."""
    minibatch: int = Field(default=4096, ge=1)
    """States per optimiser step."""
    learning_rate: float = Field(default=1.5e-3, gt=0)
    """Learning rate of Adam while many states are wrong."""
    final_learning_rate: float = Field(default=1e-4, gt=0)
    """Smallest learning rate, when few states are wrong."""
    knee: float = Field(default=0.05, gt=0, le=1)
    """Ratio of wrong to won states below which the learning rate falls in proportion."""
    target_rate: float = Field(default=0.03, gt=0, le=1)
    """Weight of the learner in each update of the target network (Polyak averaging)."""
    repeat: int = Field(default=20, ge=0)
    """Additional repetitions of each wrong state per iteration."""
    repeat_share: float = Field(default=0.1, ge=0, le=1)
    """Most repetitions per iteration, as a share of all states."""


class EndgameRecipe(Recipe):
    """All settings of a run."""

    fitting: FittingSettings = FittingSettings()
    network: EndgameSizes = EndgameSizes()
