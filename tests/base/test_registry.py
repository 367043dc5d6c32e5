"""Registries: names, hints, and plug-ins that are sound, broken, or called like something else."""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from rookery.base.registry import Registry, load


@dataclass(frozen=True)
class Tool:
    name: str
    use: str = ""


def registry() -> Registry[Tool]:
    return Registry("tool", "rookery.tests", Tool, (Tool("hammer"), Tool("saw", "cut")))


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two packages with entry points: sound ones, broken ones, and two whose names are taken."""
    module = type(sys)("tests_tools")
    vars(module).update(drill=Tool("drill"), saw=Tool("saw"), other=Tool("misnamed"))
    monkeypatch.setitem(sys.modules, "tests_tools", module)
    for package, lines in {
        "good": ("drill = tests_tools:drill", "saw = tests_tools:saw"),
        "poor": (
            "absent = tests_tools:nothing",
            "drill = tests_tools:other",
            "missing = no_such_module:tool",
            "nail = tests_tools:other",
            "number = sys:maxsize",
        ),
    }.items():
        folder = tmp_path / f"{package}-1.2.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
        (folder / "entry_points.txt").write_text("\n".join(("[rookery.tests]", *lines)))
    monkeypatch.syspath_prepend(str(tmp_path))


def test_names_are_found_or_the_nearest_is_named() -> None:
    tools = registry()
    assert list(tools) == ["hammer", "saw"] and tools["saw"].use == "cut"
    assert tools.find("hammer") is tools["hammer"]
    with pytest.raises(ValueError, match="unknown tool 'hamer'; did you mean 'hammer'"):
        tools.find("hamer")
    with pytest.raises(ValueError, match="unknown tool 'qqq'; there are hammer, saw"):
        tools.find("qqq")


def test_a_process_registers_its_own() -> None:
    tools = registry()
    tools.register(Tool("axe"))
    tools.register(Tool("axe"))  # once more changes nothing
    assert "axe" in tools and len(tools) == 3
    with pytest.raises(ValueError, match="already a tool 'axe'"):
        tools.register(Tool("axe", "split"))


@pytest.mark.usefixtures("plugins")
def test_plugins_are_loaded_and_broken_ones_named_once(caplog: pytest.LogCaptureFixture) -> None:
    tools = registry()
    with caplog.at_level(logging.WARNING):
        assert tools["saw"].use == "cut"
        assert tools["drill"].name == "drill"
        assert list(tools) == list(tools) == ["hammer", "saw", "drill"]
    said = sorted(record.getMessage() for record in caplog.records)
    assert said == [
        "tool 'absent' of poor 1.2 (tests_tools:nothing) cannot be used: AttributeError: module "
        "'tests_tools' has no attribute 'nothing'",
        "tool 'drill' of poor 1.2 (tests_tools:other) is ignored: good 1.2 (tests_tools:drill) has "
        "a tool of that name",
        "tool 'missing' of poor 1.2 (no_such_module:tool) cannot be used: ModuleNotFoundError: No "
        "module named 'no_such_module'",
        "tool 'nail' of poor 1.2 (tests_tools:other) cannot be used: ValueError: tests_tools:other "
        "calls itself 'misnamed'",
        "tool 'number' of poor 1.2 (sys:maxsize) cannot be used: TypeError: sys:maxsize is not a "
        "Tool",
        "tool 'saw' of good 1.2 (tests_tools:saw) is ignored: Rookery itself has a tool of that "
        "name",
    ]


@pytest.mark.usefixtures("plugins")
def test_a_broken_plugin_that_is_asked_for_says_why(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ValueError, match=r"'missing' of poor 1\.2 .* No module named"):
        registry().find("missing")
    assert not [record for record in caplog.records if "missing" in record.getMessage()]


def test_references_that_lead_nowhere_are_named() -> None:
    assert load("pathlib:Path") is Path
    with pytest.raises(ImportError, match="there is no 'pathlib:Pth'"):
        load("pathlib:Pth")
    with pytest.raises(ImportError, match="no_such_module"):
        load("no_such_module:thing")
