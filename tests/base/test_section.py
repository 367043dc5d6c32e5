"""Settings that do not fit the integers of native code."""

from __future__ import annotations

import pytest
from pydantic import Field, ValidationError

from rookery.base.section import Section
from rookery.cli import main
from rookery.training.recipe import RecipeError, load_recipe

SETTINGS = {
    "alphazero": (
        "tree.simulations",
        "tree.first_simulations",
        "tree.fast_simulations",
        "selfplay.max_plies",
        "judge.first",
        "judge.every",
    ),
    "ppo": ("ppo.games", "game.max_plies", "game.draw_after_plies"),
    "tdleaf": ("tdleaf.plies", "tdleaf.random_plies", "tdleaf.max_plies"),
    "ddqn": ("play.max_plies",),
    "engine": ("play.max_plies", "play.max_score", "play.max_opening_score"),
    "blind-paper": ("ppo.turn_limit",),
}
CASES = [(recipe, key) for recipe, keys in SETTINGS.items() for key in keys]


class Numbers(Section):
    plain: int = 1
    wide: int = Field(default=1, lt=1 << 63)
    several: list[int] = Field(default=[1])
    pair: tuple[int, int] | None = None


@pytest.mark.parametrize(("recipe", "key"), CASES)
def test_a_setting_of_a_recipe_that_does_not_fit_is_refused(recipe: str, key: str) -> None:
    with pytest.raises(RecipeError) as caught:
        load_recipe(recipe, {key: 10**12})
    assert str(caught.value) == (
        f"{key} = 1000000000000 in recipe {recipe!r}: whole numbers must be at most 2147483647"
    )


@pytest.mark.parametrize(
    "numbers",
    [{"plain": 1 << 31}, {"plain": -(1 << 31)}, {"several": [1, 10**30]}, {"pair": (1, 1 << 31)}],
)
def test_integers_beyond_the_limit_are_refused_wherever_they_are(
    numbers: dict[str, object],
) -> None:
    with pytest.raises(
        ValidationError, match=r"whole numbers must be at (most|least) -?2147483647"
    ):
        Numbers.model_validate(numbers)


def test_integers_up_to_the_limit_pass_and_larger_ones_where_a_field_says_so() -> None:
    largest = (1 << 31) - 1
    found = Numbers(plain=-largest, wide=10**18, several=[largest], pair=(0, largest))
    assert found.model_dump() == {
        "plain": -largest,
        "wide": 10**18,
        "several": [largest],
        "pair": (0, largest),
    }
    assert load_recipe("engine", {"run.seed": 1 << 62}).run.seed == 1 << 62


def test_the_command_says_it_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "ppo", "--set", "ppo.games=1000000000000", "--budget", "1it"]) == 1
    error = capsys.readouterr().err
    assert "ppo.games = 1000000000000" in error and len(error.splitlines()) == 1
