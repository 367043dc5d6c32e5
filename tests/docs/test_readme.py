"""README.md is executed: its Python, its commands, its links, its map and its make targets."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support.paths import PROJECT

ROOT = PROJECT
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language, in the order of the page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands() -> list[tuple[str, str]]:
    """Each `$ rookery ...` line of the page with the output shown below it."""
    found = []
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            if command.startswith("rookery "):
                found.append((command, output.strip()))
    return found


def map_paths() -> list[str]:
    """The paths of the map of files: first words of its lines, folders ending in a slash."""
    (file_map,) = blocks("text files")
    folder = ""
    paths = []
    for line in file_map.splitlines():
        name = line.split()[0]
        if line.startswith("  "):
            paths.append(folder + name)
        else:
            folder = name if name.endswith("/") else ""
            paths.append(name)
    return paths


@pytest.mark.parametrize("code", blocks("python"), ids=lambda code: code.splitlines()[0])
def test_python_block_runs(code: str) -> None:
    # Each block alone, as a reader would paste it; a fresh process leaves nothing behind.
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=120)


@pytest.mark.parametrize(("command", "output"), commands(), ids=lambda text: text.split("\n")[0])
def test_command_runs(command: str, output: str) -> None:
    arguments = shlex.split(command, comments=True)
    arguments[0] = str(Path(sys.executable).with_name("rookery"))
    result = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    # "..." stands for output that the page leaves out or that differs between machines.
    pattern = ".*".join(map(re.escape, output.split("...")))
    assert re.fullmatch(pattern, result.stdout.strip(), re.DOTALL), result.stdout


@pytest.mark.parametrize("path", map_paths())
def test_map_names_what_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_map_is_complete() -> None:
    package = ROOT / "src" / "rookery"
    modules = {path.name for path in package.glob("*.py") if path.name != "__init__.py"}
    packages = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    named = {path.removeprefix("src/rookery/") for path in map_paths()}
    missing = sorted((modules | packages) - named)
    assert not missing, f"add to the map of files in README.md: {missing}"


@pytest.mark.parametrize("target", sorted(set(re.findall(r"`make ([a-z-]+)", README))))
def test_make_target_exists(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)#:]+)\)", README))
def test_link_leads_somewhere(target: str) -> None:
    assert (ROOT / target).exists()
