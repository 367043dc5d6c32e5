"""Levels of strength: their table, and how lines are chosen."""

from __future__ import annotations

import importlib.util
import sys
import types
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rookery._core import Game
from rookery.arena.limits import Adjudication
from rookery.arena.match import MatchSettings, run_match
from rookery.nets import make_network
from rookery.nets.model_file import describe, save_model
from rookery.players import levels
from rookery.players.base import Player
from rookery.players.beginners import player as beginner
from rookery.players.levels import (
    HIGHEST_ELO,
    LEVELS,
    LOWEST_ELO,
    choose_line,
    elo_parameters,
    level_parameters,
)
from rookery.players.registry import make_player
from rookery.players.spec import SpecError
from rookery.players.thinking import Thinker
from support.paths import PROJECT


def test_levels_grow() -> None:
    assert len(LEVELS) == 20
    for lower, upper in pairwise(LEVELS):
        assert lower.elo < upper.elo and lower.nodes < upper.nodes
        assert lower.noise >= upper.noise and lower.lines >= upper.lines


def test_elo_lies_between_its_levels() -> None:
    for level in LEVELS:
        assert elo_parameters(level.elo) == level
    low, high = level_parameters(5), level_parameters(6)
    middle = elo_parameters((low.elo + high.elo) // 2)
    assert low.nodes < middle.nodes < high.nodes and high.noise < middle.noise < low.noise
    for elo in (LOWEST_ELO - 1, HIGHEST_ELO + 1):
        with pytest.raises(ValueError, match=str(LOWEST_ELO)):
            elo_parameters(elo)
    for level in (0, 21):
        with pytest.raises(ValueError, match="from 1 to 20"):
            level_parameters(level)


def test_noise_hides_small_differences_only() -> None:
    rng = np.random.default_rng(1)
    chosen = Counter(choose_line([30, 20, -900], 50.0, rng) for _ in range(2000))
    assert chosen[0] > chosen[1] > 600  # exp(-10/50) = 0.82 of the best
    assert chosen[2] == 0
    assert choose_line([30, 20], 0.0, rng) == 0


def test_the_weakest_level_mates_in_one_and_differs_from_game_to_game() -> None:
    player = make_player("rookery,network=material,level=1")
    mate = Game("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1")
    assert player.choose(mate, np.random.default_rng(0)).move == "d1d8"
    firsts = {player.choose(Game(), np.random.default_rng(seed)).move for seed in range(20)}
    assert len(firsts) > 3
    again = set()
    for _ in range(3):
        player.new_game()
        again.add(player.choose(Game(), np.random.default_rng(7)).move)
    assert len(again) == 1
    player.close()


def test_higher_levels_win() -> None:
    def player(level: int) -> Callable[[], Player]:
        return lambda: make_player(f"rookery,network=material,level={level}")

    settings = MatchSettings(games=12, seed=3, concurrency=1, adjudication=Adjudication(0.9))
    result = run_match(player(9), player(1), settings, names=("nine", "one"))
    assert result.tally.count("wins") >= 9


def test_the_table_is_written_as_measured() -> None:
    path = PROJECT / "benchmarks" / "calibrate_levels.py"
    spec = importlib.util.spec_from_file_location("calibrate_levels", path)
    assert spec is not None and spec.loader is not None
    calibrate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(calibrate)
    assert calibrate.growing([1.0, 3.0, 2.0, 4.0], [1.0, 1.0, 3.0, 1.0]) == [1.0, 2.25, 2.25, 4.0]
    measured = {1: 700.0, 10: 1700.0, 12: 1600.0, 20: 2800.0}
    rows = calibrate.table(measured, dict.fromkeys(measured, 100.0))
    source = Path(levels.__file__).read_text()
    changed = calibrate.replace_table(source, rows, "f" * 64)
    assert 'CALIBRATED_FOR = "ffff' in changed
    found: dict[str, Any] = {"__name__": "written"}
    module = types.ModuleType("written")  # dataclasses look their module up
    sys.modules["written"] = module
    try:
        exec(compile(changed, "levels.py", "exec"), found)
    finally:
        del sys.modules["written"]
    elos = [level.elo for level in found["LEVELS"]]
    assert elos[0] == 700 and elos[-1] == 2800 and len(elos) == 20
    assert all(lower < upper for lower, upper in pairwise(elos))
    assert [(level.nodes, level.noise, level.lines) for level in found["LEVELS"]] == [
        (level.nodes, level.noise, level.lines) for level in LEVELS
    ]
    with pytest.raises(ValueError, match="no table"):
        calibrate.replace_table("", rows, "")
    skills = calibrate.skill_table({0.0: 312.0, 0.5: 700.0, 1.0: 640.0})
    assert "    (0, 310),\n    (0.5, 670),\n    (1, 670),\n" in skills
    source = Path(beginner.__file__).read_text()
    assert skills in calibrate.put_table(source, skills)


@pytest.mark.parametrize("spec", ["level=0", "level=21", "elo=100", "elo=9999", "level=3,elo=900"])
def test_impossible_levels_are_refused(spec: str) -> None:
    with pytest.raises(SpecError):
        make_player(f"rookery,network=material,{spec}")


def test_elo_is_offered_for_the_measured_network_alone(tmp_path: Path) -> None:
    """A network that nobody has rated has levels, but neither UCI_Elo nor elo=."""
    shipped = PROJECT / "src" / "rookery" / "networks" / "rookery.safetensors"
    if not shipped.is_file():
        pytest.skip("needs the shipped engine: src/rookery/networks/rookery.safetensors")
    copy, other = tmp_path / "copy.safetensors", tmp_path / "other.safetensors"
    copy.write_bytes(shipped.read_bytes())
    save_model(other, network := make_network("nnue", "nnue768", "none", {"hidden": 16}),
               describe(network, {"algorithm": "engine"}))  # fmt: skip
    for spec, rated in (("rookery", True), (str(copy), True), (str(other), False)):
        player = make_player(spec)
        assert isinstance(player, Thinker)
        names = {setting.name for setting in player.settings}
        assert "Level" in names
        assert ({"UCI_Elo", "UCI_LimitStrength"} <= names) == rated
        player.close()
    make_player("rookery,elo=1200").close()
    with pytest.raises(SpecError, match="not been measured in Elo; give level=1 to 20"):
        make_player(f"{other},elo=1200")
