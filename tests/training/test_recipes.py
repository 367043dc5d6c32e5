from __future__ import annotations

import json
import math
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, model_validator

from rookery.base.section import Section
from rookery.base.toml import to_toml
from rookery.runs.algorithms import ALGORITHMS, Algorithm
from rookery.runs.checkpoint import Counters
from rookery.training.budget import Budget, duration, parse_budget
from rookery.training.listing import list_recipes, recipe_names
from rookery.training.recipe import (
    Recipe,
    RecipeError,
    differences,
    dump_recipe,
    load_recipe,
    parse_changes,
    resolve,
)
from support import runs  # registers the tests' algorithm
from support.runs import run_to_end, write_recipe

assert runs


class Inner(Section):
    RENAMED: ClassVar = {"plies": "depth"}
    depth: int = Field(default=3, ge=1)
    kind: Literal["one", "two"] = "one"

    @model_validator(mode="after")
    def _fits(self) -> Inner:
        if self.kind == "two" and self.depth == 1:
            raise ValueError("kind 'two' needs a depth of 2")
        return self


class Settings(Section):
    RENAMED: ClassVar = {"rate": "learning_rate"}
    learning_rate: float = Field(default=5e-5, gt=0)
    name: str = "x"
    widths: list[int] = Field(default=[256, 256])
    pair: tuple[float, float] = (0.5, 1.0)
    flag: bool = False
    limit: int | None = None
    inner: Inner = Inner()


class WideRecipe(Recipe):
    ppo: Settings = Settings()


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    module = type(sys)("wide_module")
    module.WideRecipe = WideRecipe  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wide_module", module)
    ALGORITHMS.register(Algorithm("wide", "wide_module:WideRecipe", "wide_module:none"))


def wide_recipe(content: dict[str, Any] | None = None, **changes: Any) -> Any:
    dotted = {key.replace("__", "."): value for key, value in changes.items()}
    return resolve("wide", {"algorithm": "wide", **(content or {})}, dotted)


def test_differences_from_typed_defaults() -> None:
    recipe = wide_recipe({"ppo": {"learning_rate": 3e-4, "inner": {"depth": 5}}})
    assert recipe.ppo.learning_rate == 3e-4
    assert recipe.ppo.inner.depth == 5
    assert recipe.ppo.widths == [256, 256]
    assert recipe.run.seed == 1


@pytest.mark.parametrize(
    ("content", "key", "hint"),
    [
        ({"ppo": {"learing_rate": 1e-3}}, "ppo.learing_rate", "ppo.learning_rate"),
        ({"ppp": {"learning_rate": 1e-3}}, "ppp.learning_rate", "ppo.learning_rate"),
        ({"learning_rate": 1e-3}, "learning_rate", "ppo.learning_rate"),
        ({"run": {"sede": 3}}, "run.sede", "run.seed"),
        ({"ppo": {"inner": {"deph": 3}}}, "ppo.inner.deph", "ppo.inner.depth"),
        ({"sumary": "x"}, "sumary", "summary"),
    ],
)
def test_unknown_keys_name_the_nearest(content: dict[str, Any], key: str, hint: str) -> None:
    with pytest.raises(RecipeError) as caught:
        wide_recipe(content)
    assert f"unknown key '{key}'; did you mean '{hint}'?" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"ppo": {"learning_rate": -1.0}}, ["ppo.learning_rate", "-1", "greater than 0"]),
        ({"ppo": {"learning_rate": "fast"}}, ["ppo.learning_rate", "'fast'", "number"]),
        ({"ppo": {"learning_rate": math.nan}}, ["ppo.learning_rate", "finite"]),
        ({"ppo": {"learning_rate": math.inf}}, ["ppo.learning_rate", "finite"]),
        ({"ppo": {"flag": 1}}, ["ppo.flag", "boolean"]),
        ({"ppo": {"widths": [1, "2"]}}, ["ppo.widths.1", "integer"]),
        ({"ppo": {"widths": 256}}, ["ppo.widths", "256", "array"]),
        ({"ppo": {"inner": {"kind": "three"}}}, ["ppo.inner.kind", "'one' or 'two'"]),
        ({"ppo": 3}, ["'ppo'", "section"]),
        ({"ppo": {"inner": {"kind": "two", "depth": 1}}}, ["ppo.inner of", "needs a depth of 2"]),
        ({"run": {"seed": 1.5}}, ["run.seed", "integer"]),
        ({"run": {"seed": True}}, ["run.seed", "integer"]),
        ({"run": {"seed": -1}}, ["run.seed", "-1"]),
        ({"run": {"workers": -2}}, ["run.workers", "-2"]),
        ({"run": {"budget": "soon"}}, ["run.budget", "'soon'", "30m"]),
        ({"run": {"budget": "+1h"}}, ["run.budget", "total"]),
        ({"run": {"checkpoint_seconds": 61.0}}, ["run.checkpoint_seconds", "60"]),
        ({"run": {"keep_checkpoints": 1}}, ["run.keep_checkpoints", "2"]),
    ],
)
def test_wrong_values_are_one_line(content: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(RecipeError) as caught:
        wide_recipe(content)
    text = str(caught.value)
    assert "\n" not in text
    for word in words:
        assert word in text, text


@pytest.mark.parametrize(
    ("setting", "key", "value"),
    [
        ("ppo.learning_rate=3e-4", "ppo.learning_rate", 3e-4),
        ("ppo.learning_rate = 1", "ppo.learning_rate", 1),
        ("ppo.widths=[64, 64]", "ppo.widths", [64, 64]),
        ("ppo.flag=true", "ppo.flag", True),
        ("ppo.name=12", "ppo.name", "12"),
        ("ppo.name=true", "ppo.name", "true"),
        ("ppo.name='a b'", "ppo.name", "a b"),
        ("ppo.name=a=b", "ppo.name", "a=b"),
        ("ppo.inner.kind=two", "ppo.inner.kind", "two"),
        ("run.budget=1000it", "run.budget", "1000it"),
        ("ppo.limit=5", "ppo.limit", 5),
        ("run.seed=1_000", "run.seed", 1000),
    ],
)
def test_set_parses_by_type(setting: str, key: str, value: Any) -> None:
    changes = parse_changes([setting], WideRecipe)
    assert changes == {key: value}
    assert type(changes[key]) is type(value)
    resolve("wide", {"algorithm": "wide"}, changes)


def test_former_names_are_read() -> None:
    former = {"ppo": {"rate": 0.5, "pair": [1.0, 2.0], "inner": {"plies": 7}}}
    recipe = wide_recipe(former)
    assert (recipe.ppo.learning_rate, recipe.ppo.inner.depth) == (0.5, 7)
    assert "rate = 0.5\n" in dump_recipe(recipe) and "plies" not in dump_recipe(recipe)
    changes = parse_changes(["ppo.inner.plies=9", "ppo.rate=0.25"], WideRecipe)
    assert changes == {"ppo.inner.depth": 9, "ppo.learning_rate": 0.25}
    for key in ("ppo.inner.plies", "ppo.inner.depth"):
        assert resolve("wide", {"algorithm": "wide", **former}, {key: 9}).ppo.inner.depth == 9
    with pytest.raises(RecipeError, match="'plies' is the former name of 'depth'; give only one"):
        wide_recipe({"ppo": {"inner": {"plies": 7, "depth": 7}}})
    with pytest.raises(RecipeError, match=r"ppo\.inner\.depth = 0"):
        wide_recipe({"ppo": {"inner": {"plies": 0}}})


@pytest.mark.parametrize(
    ("recipe", "former", "present"),
    [
        ("engine", "learn.batch", "learn.minibatch"),
        ("tdleaf", "tdleaf.batch", "tdleaf.minibatch"),
        ("tdleaf", "tdleaf.trace", "tdleaf.lambda_"),
        ("kpk-paper", "dqn.batch", "dqn.replay_ratio"),
    ],
)
def test_former_names_of_shipped_recipes(recipe: str, former: str, present: str) -> None:
    section, name = present.split(".")
    changed = load_recipe(recipe, {former: 1})
    assert getattr(getattr(changed, section), name) == 1


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("ppo.learing_rate=1", ["did you mean 'ppo.learning_rate'"]),
        ("ppo.learning_rate", ["key=value"]),
        ("=1", ["key=value"]),
        ("ppo=1", ["unknown key 'ppo'"]),
        ("ppo.learning_rate=quick", ["ppo.learning_rate", "'quick'"]),
        ("ppo.learning_rate=-1", ["ppo.learning_rate", "greater than 0"]),
        ("run.seed=1.5", ["run.seed"]),
        ("algorithm=dqn", ["algorithm=dqn", "another recipe"]),
    ],
)
def test_bad_set_options(setting: str, words: list[str]) -> None:
    with pytest.raises(RecipeError) as caught:
        resolve("wide", {"algorithm": "wide"}, parse_changes([setting], WideRecipe))
    for word in words:
        assert word in str(caught.value)


def test_complete_recipe_reads_back() -> None:
    recipe = wide_recipe({"summary": 'a "quoted"\n# text'}, ppo__limit=4, ppo__name="\x7f\\")
    text = dump_recipe(recipe)
    content = tomllib.loads(text)
    assert resolve("wide", content, {}) == recipe
    assert set(content) == {"name", "algorithm", "summary", "result", "board", "run", "ppo"}
    assert "# All random streams of the run come from it." in text


def test_differences_leave_out_what_may_change_freely() -> None:
    old = wide_recipe().model_dump(mode="json")
    new = wide_recipe({"run": {"budget": "1h", "workers": 2}}).model_dump(mode="json")
    assert differences(old, new) == []
    new = wide_recipe({"run": {"seed": 2}, "ppo": {"flag": True}}).model_dump(mode="json")
    assert differences(old, new) == ["run.seed: 1 -> 2", "ppo.flag: False -> True"]


def test_bad_files(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="no recipe file"):
        load_recipe(str(tmp_path / "none.toml"))
    for text, message in (
        ("algorithm = ", "not valid TOML"),
        ("summary = 'x'", "does not name its algorithm"),
        ("algorithm = 'widee'", "did you mean 'wide'"),
        ("algorithm = 5", "does not name its algorithm"),
        ("algorithm = 'wide'\nwhen = 2020-01-01", "unknown key 'when'"),
    ):
        with pytest.raises(ValueError, match=message):
            load_recipe(write_recipe(tmp_path, text))
    with pytest.raises(RecipeError, match="unknown recipe 'no-such'"):
        load_recipe("no-such")


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    assert load_recipe(write_recipe(tmp_path, "\ufeffalgorithm = 'wide'")).algorithm == "wide"


def test_a_recipe_cannot_bring_code(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    text = f"algorithm = 'os:system'\nsummary = '!!python/object/apply:os.system [touch {canary}]'"
    with pytest.raises(ValueError, match="unknown algorithm"):
        load_recipe(write_recipe(tmp_path, text))
    assert not canary.exists()


def test_all_shipped_recipes_are_sound() -> None:
    listed = list_recipes()
    assert [row["name"] for row in listed] == recipe_names()
    for row in listed:
        recipe = load_recipe(row["name"])
        assert recipe.summary, f"{recipe.name} does not say what it is for"
        assert recipe.result
        dump_recipe(recipe)


def test_kpk_keeps_little_on_disk() -> None:
    """A checkpoint has 33 MB: one a minute, of which two are kept, is what a laptop can take."""
    run = load_recipe("kpk").run
    assert run.checkpoint_seconds >= 60 and run.keep_checkpoints <= 2


def test_listing_needs_neither_torch_nor_pydantic() -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['pydantic'] = None\n"
        "from rookery.cli import main; sys.exit(main(['recipes', '--json']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert isinstance(json.loads(done.stdout)["recipes"], list)


def test_missing_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from rookery.cli import main; sys.exit(main(['train', 'ppo']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "pip install -c constraints.txt '.[train]'" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--set", "tiny.learing_rate=1"],
        ["--set", "tiny.learning_rate=-1"],
        ["--budget", "never"],
        ["--seed", "-1"],
        ["--workers", "1000"],
    ],
)
def test_command_line_mistakes_are_one_line(tmp_path: Path, words: list[str]) -> None:
    recipe = write_recipe(tmp_path)
    run = str(tmp_path / "run")
    status, output, errors = run_to_end(tmp_path, "train", recipe, "--run", run, *words, "--json")
    assert status == 1
    assert len(errors.strip().splitlines()) == 1
    assert json.loads(output)["error"] in errors
    assert not (tmp_path / "run").exists()


def test_recipes_command_explains_one(tmp_path: Path) -> None:
    status, output, _ = run_to_end(tmp_path, "recipes", write_recipe(tmp_path))
    assert status == 0
    assert tomllib.loads(output)["tiny"]["games"] == 4
    assert "# Games played at the same time." in output


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("30m", Budget(seconds=1800)),
        ("2h", Budget(seconds=7200)),
        ("1h30m", Budget(seconds=5400)),
        ("45s", Budget(seconds=45)),
        ("0.5h", Budget(seconds=1800)),
        ("1000it", Budget(iterations=1000)),
        ("500000samples", Budget(samples=500000)),
        ("2000games", Budget(games=2000)),
    ],
)
def test_budgets(text: str, budget: Budget) -> None:
    assert parse_budget(text) == budget
    assert parse_budget(str(budget)) == budget


def test_more_budget_counts_from_what_is_done() -> None:
    done = Counters(seconds=600, iterations=7, samples=50, games=3)
    assert parse_budget("+1h", done) == Budget(seconds=4200)
    assert parse_budget("+5it", done) == Budget(iterations=12)
    assert parse_budget("+50samples", done) == Budget(samples=100)
    assert parse_budget("+1games", done) == Budget(games=4)
    assert Budget(iterations=14).progress(done) == 0.5
    assert Budget(samples=200).progress(done) == 0.25
    assert Budget(games=6).progress(done) == 0.5
    assert parse_budget("0it").progress(Counters()) == 1.0  # the untrained network
    assert Budget(seconds=10).progress(done) == 1.0


@pytest.mark.parametrize(
    "text", ["", "0s", "-3m", "1e3it", "10", "it", "5 minutes", "1.5it", "nanm", "9" * 40]
)
def test_bad_budgets(text: str) -> None:
    with pytest.raises(ValueError, match="budget"):
        parse_budget(text)


@given(st.floats(0.01, 1e8))
def test_durations_read_back(seconds: float) -> None:
    assert math.isclose(parse_budget(duration(seconds)).seconds or 0, seconds, rel_tol=0.1)


VALUES = st.recursive(
    st.text() | st.integers(-(2**60), 2**60) | st.booleans() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.text(), VALUES | st.dictionaries(st.text(), VALUES, max_size=3)))
def test_toml_reads_back(content: dict[str, Any]) -> None:
    assert tomllib.loads(to_toml(content)) == content
