"""Recipes: what `rookery train NAME` runs.

A recipe is a TOML file that names an algorithm and lists the settings that differ from the
defaults. Every section is a `Section` (a pydantic model): unknown keys, wrong types and values out
of range are refused with a one-line error. An algorithm adds its sections to `Recipe`:

    class Settings(Section):
        learning_rate: float = Field(default=3e-4, gt=0)
        \"\"\"Step size of the optimiser.\"\"\"

    class MyRecipe(Recipe):
        mine: Settings = Settings()
"""

from __future__ import annotations

import difflib
import json
import tomllib
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, ValidationError, model_validator

from rookery._core import STANDARD_BOARD, Game
from rookery.base.registry import load
from rookery.base.section import Section
from rookery.base.toml import to_toml
from rookery.cluster.pool import check_address
from rookery.runs.algorithms import ALGORITHMS
from rookery.training.budget import parse_budget
from rookery.training.listing import NOT_MEASURED, SUFFIX, recipe_bytes, recipe_names

FORMER_NAMES = {"tdleaf-giraffe": "giraffe"}  # recipes that were renamed


class RecipeError(ValueError):
    """A recipe cannot be used; the message names the key and the remedy."""


def _budget(text: str) -> str:
    if text.startswith("+"):
        raise ValueError(f"budget {text!r} of a recipe is a total and has no '+'")
    parse_budget(text)
    return text


def _milestones(texts: list[str]) -> list[str]:
    return [_budget(text) for text in texts]


def _cluster(address: str) -> str:
    return check_address(address) if address else address


class RunSettings(Section):
    """How the run is carried out, for every algorithm."""

    seed: int = Field(default=1, ge=0, lt=1 << 63)
    """All random streams of the run come from it."""
    budget: Annotated[str, AfterValidator(_budget)] = "10m"
    """Total length of the run: 30m, 2h, 1000it (iterations), 500000samples or 2000games."""
    clock: Literal["wall", "processor"] = "wall"
    """What a budget in time counts: wall, the time of day; processor, only the run's own work."""
    workers: int = Field(default=1, ge=0, le=4096)
    """Processor cores to use; 0: all. With 1, equal seeds give equal weights."""
    changes: list[str] = Field(default=[])
    """Settings that change during the run, such as "40it: ppo.clip=0.1; ppo.entropy=0.02"."""
    cluster: Annotated[str, AfterValidator(_cluster)] = ""
    """Ray cluster that plays the games: auto, local or HOST:PORT; empty: this machine plays."""
    cluster_checks: float = Field(default=0.01, ge=0, le=1)
    """Share of a cluster's pieces that two nodes play, to compare their results."""
    device: Literal["auto", "cpu", "cuda", "mps"] = "cpu"
    """Where torch learns; auto: a GPU if there is one. Native algorithms accept only the CPU."""
    checkpoint_seconds: float = Field(default=30.0, gt=0, le=60)
    """Seconds of work between checkpoints, the most that a crash can lose."""
    keep_checkpoints: int = Field(default=3, ge=2)
    """Newest checkpoints to keep for resuming; of older ones only the milestones are kept."""
    milestones: Annotated[list[str], AfterValidator(_milestones)] = Field(default=[])
    """More checkpoints to keep: the first after 1m, 100it, 500samples, 20games; 0it: untrained."""
    track: Literal["", "wandb"] = ""
    """Where else the numbers go, besides TensorBoard: wandb (Weights & Biases, offline)."""
    evaluations: int = Field(default=10, ge=0)
    """Evaluations at equal intervals, besides one at the start; their checkpoints are kept."""
    evaluation_share: float = Field(default=0.25, ge=0, le=1)
    """Largest share of a budget in time for evaluations; matches end early for it."""
    opponents: list[str] = Field(default=[])
    """Further opponents of the evaluations: any players, such as "stockfish,nodes=1000"."""
    opponent_games: int = Field(default=20, ge=2, multiple_of=2)
    """Games against each of them, with balanced random openings."""
    play_as: str = ""
    """Options of the run's own player in these games, such as "nodes=1000"."""


def planned_changes(recipe: Recipe) -> dict[int, dict[str, Any]]:
    """The entries of `run.changes`: iteration -> changes as dotted keys, in order."""
    planned: dict[int, dict[str, Any]] = {}
    for entry in recipe.run.changes:
        when, colon, settings = entry.partition(":")
        number = when.strip().removesuffix("it")
        if not colon or not number.isdigit():
            raise RecipeError(f"run.changes {entry!r} is not of the form '40it: key=value; ...'")
        parts = [part.strip() for part in settings.split(";") if part.strip()]
        if any(part.startswith("run.") for part in parts):
            raise RecipeError(f"run.changes {entry!r}: keys of [run] do not change during a run")
        planned.setdefault(int(number), {}).update(parse_changes(parts, type(recipe)))
    return dict(sorted(planned.items()))


def recipe_at(recipe: Recipe, iteration: int) -> Recipe:
    """The recipe with the planned changes up to an iteration."""
    changes: dict[str, Any] = {}
    for when, settings in planned_changes(recipe).items():
        if when <= iteration:
            changes |= settings
    content = recipe.model_dump(mode="json", exclude_none=True)
    return resolve(recipe.name, content, changes) if changes else recipe


# What may differ between a checkpoint and the session that resumes it without --accept-changes.
FREE_KEYS = {f"run.{key}" for key in RunSettings.model_fields} - {"run.seed", "run.clock"}
FREE_KEYS |= {"summary", "result"}


class Recipe(Section):
    """The base of all recipes; each algorithm derives its own and adds sections."""

    name: str = ""
    """Name of the recipe: the file's name."""
    algorithm: str
    """The algorithm that trains."""
    summary: str = ""
    """What the recipe is for, in one sentence."""
    result: str = NOT_MEASURED
    """The measured result, and how it was measured."""
    board: str = STANDARD_BOARD
    """What the games are played on: a name such as gardner, or a description (docs/boards.md)."""
    run: RunSettings = RunSettings()

    ANY_BOARD: ClassVar[bool] = False
    """Whether the algorithm trains on boards other than the standard one."""

    @model_validator(mode="after")
    def _check_board(self) -> Recipe:
        Game(board=self.board)  # raises for an unknown board, or one without a start position
        if self.board != STANDARD_BOARD and not self.ANY_BOARD:
            raise ValueError(f"{self.algorithm} trains on the standard board only")
        return self


def load_recipe(source: str, changes: Mapping[str, Any] | None = None) -> Recipe:
    """Read a recipe by its name or from a file, with changes given as dotted keys."""
    name, content = read_recipe(source)
    return resolve(name, content, changes or {})


def resolve(name: str, content: Mapping[str, Any], changes: Mapping[str, Any]) -> Recipe:
    """Fill in the defaults and check everything."""
    model = recipe_model(content, name)
    copied = json.loads(json.dumps({"name": name, **content}, default=str))
    try:
        merged = model.present_names(copied)
    except ValueError as error:
        raise RecipeError(f"{error} (recipe {name!r})") from None
    for key, value in changes.items():
        _set(merged, key, value, model)
    try:
        return model.model_validate_json(json.dumps(merged))
    except ValidationError as error:
        raise RecipeError(_first(error, model, name)) from None


def parse_changes(settings: Sequence[str], model: type[Recipe]) -> dict[str, Any]:
    """Read `--set key=value` options; the value is TOML, or text where the key takes text."""
    changes = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        key = model.present_key(key.strip())
        if not equals or not key:
            raise RecipeError(f"--set {setting!r} is not of the form key=value")
        fields = dict(_leaves(model))
        if key not in fields:
            raise RecipeError(_unknown(key, fields))
        if key == "algorithm":
            raise RecipeError(
                f"--set {setting!r}: a recipe's algorithm is fixed; use another recipe"
            )
        changes[key] = _value(text.strip(), fields[key])
    return changes


def recipe_model(content: Mapping[str, Any], name: str) -> type[Recipe]:
    """The pydantic model of a recipe's algorithm."""
    if not isinstance(content.get("algorithm"), str):
        raise RecipeError(f"recipe {name!r} does not name its algorithm, as in algorithm = 'ppo'")
    model: type[Recipe] = load(ALGORITHMS.find(content["algorithm"]).recipe)
    return model


def read_recipe(source: str) -> tuple[str, dict[str, Any]]:
    """Name and content of a recipe as written, by its name or by the path of a TOML file."""
    if source.endswith(SUFFIX) or "/" in source:
        path = Path(source)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise RecipeError(f"there is no recipe file {source!r}") from None
        return path.stem, _parse(data, source)
    source = FORMER_NAMES.get(source, source)
    names = recipe_names()
    if source not in names:
        near = difflib.get_close_matches(source, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names) or 'none'}"
        raise RecipeError(f"unknown recipe {source!r}; {hint} (or give the path of a .toml file)")
    return source, _parse(recipe_bytes(source), source)


def dump_recipe(recipe: Recipe) -> str:
    """The complete recipe as TOML, every key with its meaning as a comment."""
    text = to_toml(recipe.model_dump(mode="json", exclude_none=True), descriptions(type(recipe)))
    # A run folder must not get a recipe that cannot be read back.
    again = type(recipe).model_validate_json(json.dumps(tomllib.loads(text)))
    if again != recipe:
        raise RecipeError(f"recipe {recipe.name!r} cannot be written as TOML and read back")
    return text


def flatten(content: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A nested mapping with dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in content.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Differences between two resolved recipes, one text per key, without the free keys."""
    before, after = flatten(old), flatten(new)
    return [
        f"{key}: {before.get(key, 'absent')} -> {after.get(key, 'absent')}"
        for key in {**before, **after}
        if key not in FREE_KEYS and before.get(key) != after.get(key)
    ]


def descriptions(model: type[Section]) -> dict[str, str]:
    """Descriptions of all keys, by dotted name."""
    return {key: field.description or "" for key, field in _leaves(model)}


def _leaves(model: type[Section], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted name and field of every key that is not a section."""
    for name, field in model.model_fields.items():
        section = model.section(name)
        if section is None:
            yield f"{prefix}{name}", field
        else:
            yield from _leaves(section, f"{prefix}{name}.")


def _unknown(key: str, fields: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(key, fields, 1, 0.6)
    if not near:  # a forgotten section: 'learning_rate' for 'ppo.learning_rate'
        near = [known for known in fields if known.rpartition(".")[2] == key][:1]
    hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(fields)}"
    return f"unknown key {key!r}; {hint}"


def _set(content: dict[str, Any], key: str, value: Any, model: type[Section]) -> None:
    key, fields = model.present_key(key), dict(_leaves(model))
    if key not in fields:
        raise RecipeError(_unknown(key, fields))
    *path, last = key.split(".")
    for part in path:
        content = content.setdefault(part, {})
    content[last] = value


def _value(text: str, field: Any) -> Any:
    """A value from the command line: TOML, or the text itself where the key takes text."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value if isinstance(value, str) or str not in _kinds(field.annotation) else text


def _kinds(annotation: Any) -> set[Any]:
    """The plain types in an annotation; a Literal has the types of its values."""
    if typing.get_origin(annotation) is typing.Literal:
        return {type(value) for value in typing.get_args(annotation)}
    arguments = typing.get_args(annotation)
    if typing.get_origin(annotation) in (list, tuple, dict) or not arguments:
        return {annotation}
    return set().union(*(_kinds(argument) for argument in arguments))


def _parse(data: bytes, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8-sig"))  # editors on Windows may mark UTF-8
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecipeError(f"recipe {source!r} is not valid TOML: {error}") from None


def _first(error: ValidationError, model: type[Section], name: str) -> str:
    """The first error in one line; unknown keys come first, as they explain others."""
    detail = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")
    key, found = ".".join(map(str, detail["loc"])), detail["input"]
    if detail["type"] == "extra_forbidden":
        key = next(iter(flatten({key: found})), key)  # of an unknown section, its first key
        return f"{_unknown(key, dict(_leaves(model)))} (recipe {name!r})"
    if detail["type"] == "missing":
        return f"recipe {name!r} lacks the key {key!r}"
    if detail["type"] == "model_type":
        return f"{key!r} in recipe {name!r} is a section, not {found!r}"
    message = detail["msg"].removeprefix("Value error, ")
    message = f"{message[:1].lower()}{message[1:]}"
    if isinstance(found, dict):  # an error of a whole section or recipe
        return f"{f'section {key} of ' if key else ''}recipe {name!r}: {message}"
    return f"{key} = {found!r} in recipe {name!r}: {message}"
