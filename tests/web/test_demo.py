"""`rookery demo`, `rookery play` and `rookery watch` as commands."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from rookery.web.demo import describe, invitation
from rookery.web.serve import has_screen, require_assets
from support.web_parts import Client, eventually

ROOKERY = str(Path(sys.executable).with_name("rookery"))
RECIPE = """
algorithm = "ppo"
summary = "for tests"
[run]
evaluations = 1
[network.mlp]
hidden = [8]
[ppo]
games = 4
plies = 8
[evaluation]
games = 2
"""


@pytest.fixture(autouse=True)
def assets() -> None:
    try:
        require_assets()
    except ValueError as error:
        pytest.skip(str(error))


class Command:
    """A command whose output is read while it runs."""

    def __init__(self, folder: Path, *words: str, browser: str = "true") -> None:
        # A group of its own, so that signals can be sent as a terminal sends them: to all.
        self.process = subprocess.Popen(
            [ROOKERY, *words],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "BROWSER": browser},
        )
        self.lines: list[str] = []
        self.errors: list[str] = []
        self.readers = [
            threading.Thread(target=self._read, args=(stream, lines), daemon=True)
            for stream, lines in (
                (self.process.stdout, self.lines),
                (self.process.stderr, self.errors),
            )
        ]
        for reader in self.readers:
            reader.start()

    def _read(self, stream: Iterator[str], lines: list[str]) -> None:
        for line in stream:
            lines.append(line)

    def wait_for(self, words: str, seconds: float = 120.0) -> str:
        def found() -> bool:
            assert self.process.poll() is None or words in "".join(self.lines), self.errors
            return words in "".join(self.lines)

        eventually(found, f"{words!r} in {self.lines} {self.errors}", seconds)
        return next(line for line in self.lines if words in line)

    def interrupt(self) -> int:
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(60)


@contextlib.contextmanager
def command(folder: Path, *words: str, browser: str = "true") -> Iterator[Command]:
    started = Command(folder, *words, browser=browser)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            os.killpg(started.process.pid, signal.SIGKILL)
        started.process.wait(20)


class Address:
    """What a client needs to know of a server in another process."""

    def __init__(self, line: str) -> None:
        self.url = next(word for word in line.split() if word.startswith("http")).partition("#")[0]


def client_of(line: str) -> Client:
    return Client(Address(line))


def test_play_serves_until_interrupted(tmp_path: Path) -> None:
    with command(tmp_path, "play", "greedy", "--no-browser", "--port", "0") as play:
        client = client_of(play.wait_for("Rookery is at"))
        assert client.hello()["start"]["player"] == "greedy"
        assert client.ask("POST", "/api/demo/train", {})[0] == 400  # there is no demo
        seat = client.play(player="greedy", color="white")
        seat.state()
        seat.move("e4")
        seat.until(2)
        assert play.interrupt() == 0
    assert not "".join(play.errors).strip()


def test_play_with_a_player_in_words(tmp_path: Path) -> None:
    with command(
        tmp_path, "play", "greedy,random=0.5", "--no-browser", "--port", "0", "--color", "black"
    ) as play:
        session = client_of(play.wait_for("Rookery is at")).hello()
        assert session["start"] == {"player": "given", "color": "black", "position": ""}
        assert session["players"][0]["title"] == "greedy,random=0.5"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("play", "gredy", "--no-browser"), "did you mean 'greedy'"),
        (("watch", "--no-browser"), "there is no run"),
        (("watch", "nowhere", "--no-browser"), "not a run folder"),
        (("demo", "--budget", "soon"), "budget 'soon'"),
        (("demo", "--host", "0.0.0.0", "--no-browser"), "--token"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    result = subprocess.run(
        [ROOKERY, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 1
    assert message in result.stderr and len(result.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "runs").exists()


def test_watch_shows_a_run_by_its_path(tmp_path: Path) -> None:
    run = tmp_path / "elsewhere" / "first"
    run.mkdir(parents=True)
    (run / "recipe.toml").write_text('name = "tiny"\n')
    with command(tmp_path, "watch", str(run), "--no-browser", "--port", "0") as watch:
        client = client_of(watch.wait_for("Rookery is at"))
        session = client.hello()
        assert session["start"] == {"tab": "watch", "run": "first"}
        assert client.ask("GET", "/api/runs/first")[0] == 200


def test_demo_trains_measures_and_invites(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "tiny.toml").write_text(RECIPE)
    words = ("--recipe", "./tiny.toml", "--budget", "2it", "--games", "2")
    with command(tmp_path, "demo", *words, "--no-browser", "--port", "0") as demo:
        client = client_of(demo.wait_for("Watch the training at"))
        assert client.hello()["start"]["tab"] == "watch"
        demo.wait_for("Play it at")
        table = "".join(demo.lines)
        assert "before training" in table and "after 2it" in table
        run = tmp_path / "runs" / "demo"
        results = json.loads((run / "demo.json").read_text())["matches"]
        assert [(row["when"], row["against"]) for row in results] == [
            ("before", "random"),
            ("before", "greedy-safe"),
            ("after", "random"),
            ("after", "greedy-safe"),
            ("after", "its own start"),
        ]
        session = client.hello()
        assert session["start"]["player"] == "run:demo" and session["start"]["tab"] == "play"
        ids = [player["id"] for player in session["players"]]
        assert {"run:demo", "run:demo@2", "run:demo@start"} <= set(ids)
        seat = client.play(player="run:demo@start", color="white")
        seat.state()
        seat.move("e4")
        seat.until(2)
        shown = json.loads(client.ask("GET", "/api/runs/demo")[2])
        assert shown["iteration"] == 2 and shown["hasStart"] and shown["more"]
        # "Train on": as much again, then measured again.
        assert client.ask("POST", "/api/demo/train", {})[0] == 200
        assert client.ask("POST", "/api/demo/train", {})[0] == 400  # it is training
        eventually(lambda: "".join(demo.lines).count("Play it at") == 2, "it invites again", 120)
        assert json.loads((run / "demo.json").read_text())["budget"] == "4it"
        assert json.loads(client.ask("GET", "/api/runs/demo")[2])["iteration"] == 4
        assert demo.interrupt() == 0


def test_the_demo_shows_its_token_to_no_browser(tmp_path: Path) -> None:
    """The list of processes shows a browser's arguments to every user."""
    pytest.importorskip("torch")
    (tmp_path / "tiny.toml").write_text(RECIPE)
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >> {seen}\n')
    browser.chmod(0o755)
    words = ("--recipe", "./tiny.toml", "--budget", "1it", "--games", "2", "--port", "0")
    with command(
        tmp_path, "demo", *words, "--token", "the-right-word", browser=f"{browser} %s"
    ) as demo:
        assert "token=the-right-word#watch" in demo.wait_for("Watch the training at")
        eventually(seen.is_file, "the browser is opened")
        page, _, path = seen.read_text().strip().partition("?")
        client = Client(Address(page))
        assert client.ask("GET", f"/?{path.partition('#')[0]}")[0] == 303
        assert client.hello()["start"]["tab"] == "watch"
        assert "token=the-right-word#play" in demo.wait_for("Play it at", 300)
        eventually(lambda: seen.read_text().count("#play") == 1, "it is opened again")
        assert "the-right-word" not in seen.read_text()
        assert demo.interrupt() == 0


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL])
def test_a_killed_demo_leaves_no_trainer(tmp_path: Path, number: signal.Signals) -> None:
    pytest.importorskip("torch")
    (tmp_path / "tiny.toml").write_text(RECIPE)
    words = ("--recipe", "./tiny.toml", "--budget", "10m", "--no-browser", "--port", "0")
    with command(tmp_path, "demo", *words) as demo:
        run = tmp_path / "runs" / "demo"
        eventually(run.is_dir, "the training begins", 60)
        os.kill(demo.process.pid, number)  # alone, not the group
        demo.process.wait(20)
        try:
            for reader in demo.readers:  # until nobody has its output open any more
                reader.join(60)
                assert not reader.is_alive(), "the trainer goes on"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(demo.process.pid, signal.SIGKILL)


def test_before_and_after_stand_side_by_side() -> None:
    counts = {"wins": 1, "draws": 2, "losses": 3}
    matches = [
        {"when": when, "against": against, "score": score, **counts}
        for when, against, score in (
            ("before", "random", 0.5),
            ("after", "random", 1.0),
            ("after", "its own start", 0.95),
        )
    ]
    heading, *rows = describe(matches, "5m").splitlines()
    assert heading.split() == ["score", "against", "before", "training", "after", "5m"]
    assert " ".join(rows[0].split()) == "random 50.0 % +1 =2 -3 100.0 % +1 =2 -3"
    assert rows[1].startswith("its own start") and rows[1].split()[3] == "95.0"
    note = invitation(matches, "5m")
    assert "100 % against random (before: 50 %), 95 % against its own start" in note
    assert invitation([], "5m") == ""


def test_no_browser_is_started_without_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert not has_screen()
    monkeypatch.setenv("DISPLAY", ":0")
    assert has_screen()
    monkeypatch.delenv("DISPLAY")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert has_screen()
