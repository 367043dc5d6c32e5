"""Whole races, small: trained, killed, resumed, rated, asked, shown."""

from __future__ import annotations

import json
import re
import shutil
import signal
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rookery.cli import main
from rookery.commands import race as command
from rookery.players.registry import make_player
from rookery.race.methods import METHODS, WAYS
from rookery.race.page import sample_games
from rookery.race.plan import Entrant, Race, RaceSettings
from rookery.race.results import Estimate, RatedPoint, gather, over_seeds
from rookery.race.skills import chance, cost_of, positions
from support.needs import needs_stockfish
from support.paths import PROJECT
from support.runs import Child, rows
from support.tiny_recipes import TINY_RECIPES

ANCHORS = {"random": -200.0, "greedy-safe": 1021.0}
METHODS_HERE = ("ppo", "alphazero")


def words(out: Path, *more: str, methods: tuple[str, ...] = METHODS_HERE) -> list[str]:
    """The command of a race in which a run takes seconds."""
    tiny = [f"{name}:{each}" for name in METHODS_HERE for each in TINY_RECIPES[name].settings]
    settings = [word for each in tiny for word in ("--set", each)]
    return ["race", "--budget", "2s", "--seeds", "1", "--methods", ",".join(methods),
            "--out", str(out), "--games", "bare=6,fixed=4", "--ways", "bare,fixed",
            "--evaluations", "20", "--checks", "1", *settings, *more]  # fmt: skip


@pytest.fixture(autouse=True)
def two_rungs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No Stockfish: two rungs that the core plays."""
    monkeypatch.setattr(command, "anchors", lambda: ANCHORS)
    yield


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A race whose training was killed twice and resumed."""
    out = tmp_path_factory.mktemp("race") / "race"
    for method, least in (("ppo", 3), ("alphazero", 2)):
        child = Child(out.parent, *words(out, "--stage", "train"))
        child.wait_for(lambda m=method, n=least: rows(out / f"{m}-seed1") >= n)  # type: ignore[misc]
        child.send(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
    child = Child(out.parent, *words(out, "--stage", "train"))
    assert child.wait() == 0, child.err.read_text()
    return out


def test_a_killed_training_ends_with_all_its_time_and_checkpoints(trained: Path) -> None:
    race = Race.open(trained)
    assert all(run.spent().finished for run in race.runs())
    for method in METHODS_HERE:
        found = [each for each in race.entrants() if each.method == method]
        assert found[0].minutes == 0 and found[0].point == 0
        times = [each.minutes for each in found]
        assert times == sorted(times) and len(found) >= 3
        assert found[-1].point == race.settings.points()[-1]
        assert 60 * found[-1].minutes == pytest.approx(2.0, rel=0.5)
        assert all(make_player(race.player(found[-1], way)) for way in WAYS)


def test_a_killed_pool_goes_on_as_if_nothing_had_happened(trained: Path, tmp_path: Path) -> None:
    straight, killed = tmp_path / "straight", tmp_path / "killed"
    for copy in (straight, killed):
        shutil.copytree(trained, copy)
    stage = ("--stage", "play")
    assert main(words(straight, *stage)) == 0
    child = Child(tmp_path, *words(killed, *stage))
    journal = killed / "pool-bare.jsonl"
    child.wait_for(lambda: journal.exists() and journal.read_bytes().count(b"\n") >= 4)
    child.send(signal.SIGKILL)
    child.wait()
    with journal.open("ab") as file:
        file.write(b'{"first": "torn')  # as if it had died while writing
    assert main(words(killed, *stage)) == 0
    for way in ("bare", "fixed"):
        name = f"pool-{way}.jsonl"
        assert (killed / name).read_bytes() == (straight / name).read_bytes()


@pytest.fixture(scope="module")
def played(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A race with games, answers and a page."""
    out = tmp_path_factory.mktemp("played") / "race"
    shutil.copytree(trained, out)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "anchors", lambda: ANCHORS)
        assert main(words(out)) == 0
    return out


class Outline(HTMLParser):
    """Collects what a page refers to, and checks that elements are closed."""

    VOID = frozenset({"meta", "br", "link", "img", "input", "hr", "line", "rect", "use", "circle"})

    def __init__(self) -> None:
        super().__init__()
        self.references: list[str] = []
        self.open: list[str] = []
        self.titles: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.references += [v or "" for k, v in attrs if k in ("src", "href", "xlink:href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "h2":
            self.titles.append(data)


def test_the_page_stands_alone_and_begins_with_the_answer(played: Path) -> None:
    page = (played / "race.html").read_text()
    outline = Outline()
    outline.feed(page)
    assert not outline.open
    assert all(each.startswith("#") for each in outline.references)
    assert not re.search(r"https?://(?!www\.w3\.org)|@import|url\(", page)
    assert {"Strength", "What each reached", "What each can do early", "Pairs of games", "Games",
            "What is unequal"} <= set(outline.titles)  # fmt: skip
    first = page[: page.index("<h2>")]
    assert 'class="answer"' in first and "AlphaZero" in first and "PPO" in first
    assert "2 seconds of processor time" in first and "by the network alone" in first.lower()
    assert page.count('<svg class="chart') >= 8
    for file in played.glob("*.svg"):
        assert ElementTree.parse(file).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert len(list(played.glob("elo-*.svg"))) == 2


def test_results_have_the_keys_that_others_rely_on(played: Path) -> None:
    found = json.loads((played / "results.json").read_text())
    assert {row["name"] for row in found["methods"]} == set(METHODS_HERE)
    for row in found["methods"]:
        assert row["seed"] == 1 and row["points"]
        for point in row["points"]:
            assert point["mode"] in ("bare", "fixed") and point["core_minutes"] >= 0
            assert point["elo_low"] <= point["elo"] <= point["elo_high"]
    assert found["runs_finished"] == found["runs_planned"] == 2
    assert found["faults"] == {"bare": 0, "fixed": 0, "timed": 0}
    assert len(found["checks"]) == 1


def test_every_checkpoint_was_asked_everything(played: Path) -> None:
    results = gather(Race.open(played), ANCHORS)
    asked = {(row.player, row.skill) for row in results.skills}
    for entrant in results.entrants:
        for skill in ("mates", "tactics", "endings", "kqk", "kqk-search"):
            assert (entrant.name, skill) in asked
    costs = {row.skill: row for row in results.skills if row.skill.startswith("cost-")}
    assert costs["cost-bare"].total == 1
    assert costs["cost-fixed"].total <= 20


def test_a_partial_race_has_a_page_and_can_be_extended(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "race"
    shutil.copytree(trained, out)
    shutil.rmtree(out / "alphazero-seed1")
    (out / "parts" / "alphazero-seed1.json").unlink()
    assert main(words(out, "--stage", "page", "--json")) == 0
    assert json.loads(capsys.readouterr().out)["runs_finished"] == 1
    page = (out / "race.html").read_text()
    assert "Not answered yet." in page and "No games have been rated yet." in page
    # --for stops between checkpoints, and says so.
    stage = ("--stage", "train", "--for", "0.001s")
    assert main(words(out, *stage)) == 0
    assert "the same command continues it" in capsys.readouterr().out
    assert (
        main(["report", str(out), "--out", str(tmp_path / "r.html"), "--svg", str(tmp_path)]) == 0
    )
    assert "ppo-seed1" in (tmp_path / "r.html").read_text()
    assert list(tmp_path.glob("*.svg"))


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--stage", "trains"], "--stage 'trains' is unknown"),
        (["--methods", "poo"], "--methods 'poo' is unknown"),
        (["--budget", "10it"], "not a time such as 30m"),
        (["--set", "ppo.games=3"], "not of the form METHOD:key=value"),
        (["--games", "bare"], "not of the form bare=80"),
        (["--budget", "3s"], "holds another race (budget: 2.0 -> 3.0)"),
    ],
)
def test_a_mistake_is_explained_in_one_line(
    trained: Path, more: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = [] if "--stage" in more else ["--stage", "play"]
    assert main([*words(trained), *stage, *more]) == 1
    text = capsys.readouterr().err
    assert says in text and text.count("\n") == 1


def small_files(race: Path, folder: Path) -> Path:
    """What of a race travels to another machine: everything but the runs."""
    shutil.copytree(race, folder, ignore=shutil.ignore_patterns("*-seed1"))
    return folder


def ratings(race: Path) -> dict[tuple[str, str], tuple[float, int]]:
    """Elo and games of each checkpoint by way."""
    points = gather(Race.open(race), ANCHORS).points
    return {(p.entrant.name, p.way): (p.estimate.elo, p.games) for p in points}


def test_a_race_keeps_its_results_without_its_networks(played: Path, tmp_path: Path) -> None:
    elsewhere = small_files(played, tmp_path / "elsewhere")
    assert ratings(elsewhere) == ratings(played)
    before = (elsewhere / "pool-bare.jsonl").read_bytes()
    assert main(words(elsewhere)) == 0  # there is nothing to train, and nobody to play
    assert (elsewhere / "pool-bare.jsonl").read_bytes() == before
    assert json.loads((elsewhere / "results.json").read_text())["runs_finished"] == 2


def test_games_whose_moves_were_not_kept_count_but_are_not_shown(
    played: Path, tmp_path: Path
) -> None:
    kept = small_files(played, tmp_path / "kept")
    for way, moves in (("bare", ["", ""]), ("fixed", ["f2f3 e7e5 g2g4 d8h4", ""])):
        path = kept / f"pool-{way}.jsonl"
        changes = {"moves": moves, "reasons": ["checkmate", "checkmate"]}
        lines = [json.loads(line) | changes for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert ratings(kept) == ratings(played)
    shown = sample_games(gather(Race.open(kept), ANCHORS))
    assert {len(game.moves) for game in shown} == {4}


def test_races_of_two_machines_are_joined(
    played: Path, trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here, there = tmp_path / "here", small_files(played, tmp_path / "there")
    shutil.copytree(trained, here)
    shutil.rmtree(here / "alphazero-seed1")
    (here / "parts" / "alphazero-seed1.json").unlink()
    (here / "entrants.jsonl").unlink()
    assert main(words(here, "--join", str(there), "--stage", "page", methods=("ppo",))) == 0
    assert "alphazero-seed1" in capsys.readouterr().err
    assert ratings(here) == ratings(played)
    assert {each.here for each in Race.open(here).entrants() if each.method == "ppo"} == {True}
    # Once more changes nothing.
    assert main(words(here, "--join", str(there), "--stage", "page")) == 0
    assert ratings(here) == ratings(played)
    # The same run with other networks, or other conditions, cannot be joined.
    entrants = there / "entrants.jsonl"
    entrants.write_text(entrants.read_text().replace("ppo-seed1@00000000", "ppo-seed1@99999999"))
    assert main(words(here, "--join", str(there))) == 1
    assert "ppo-seed1 is in" in capsys.readouterr().err
    settings = there / "race.json"
    settings.write_text(settings.read_text().replace('"budget": 2.0', '"budget": 3.0'))
    assert main(words(here, "--join", str(there))) == 1
    assert "budget: 2.0 -> 3.0" in capsys.readouterr().err


def test_only_some_seeds_are_trained(trained: Path, tmp_path: Path) -> None:
    out = tmp_path / "race"
    shutil.copytree(trained, out)
    asked = words(out, "--stage", "train", methods=("ppo",))
    asked[asked.index("--seeds") + 1] = "3"
    assert main([*asked, "--only-seeds", "3"]) == 0
    assert (out / "ppo-seed3").is_dir() and not (out / "ppo-seed2").exists()
    assert main([*asked, "--only-seeds", "4"]) == 1


@needs_stockfish
def test_labels_count_as_time(tmp_path: Path) -> None:
    settings = [word for each in TINY_RECIPES["supervised"].settings for word in
                ("--set", f"supervised:{each}")]  # fmt: skip
    out = tmp_path / "race"
    asked = ["race", "--budget", "3s", "--seeds", "1", "--methods", "supervised", "--out", str(out),
             "--stage", "train", *settings]  # fmt: skip
    assert main([*asked, "--for", "1s"]) == 0
    assert main(asked) == 0
    race = Race.open(out)
    (run,) = race.runs()
    spent = run.spent()
    assert spent.finished and spent.labels > 100 and spent.label_seconds >= 0.9 * 3
    assert all(each.minutes >= spent.label_seconds / 60 for each in race.entrants())
    assert race.entrants()[-1].samples > 0


def test_every_method_makes_players_in_all_ways() -> None:
    networks = {"alphazero-pretrained": "alphazero", "supervised": "alphazero", "tdleaf": "rookery",
                "engine": "rookery"}  # fmt: skip
    rng_free = [(name, networks.get(name, name)) for name in METHODS]
    for name, player in rng_free:
        for way in WAYS:
            options = METHODS.find(name).options(way, 30, 0.01)
            seconds, evaluations = cost_of(made := make_player(f"{player},{options}"))
            made.close()
            assert seconds < 1 and evaluations >= 1
            assert way != "fixed" or evaluations <= 30


@pytest.mark.parametrize("name", ["mates", "tactics", "endings"])
def test_positions_have_right_moves_and_wrong_ones(name: str) -> None:
    found = positions(name)
    assert len({each.fen for each in found}) == 100
    assert 0.01 < chance(name) < 0.4
    if name == "mates":
        from rookery import Game

        for each in found:
            game = Game(each.fen)
            mating = set()
            for move in game.legal_moves():
                game.push(move)
                if game.outcome() is not None and game.outcome()[0] == "checkmate":
                    mating.add(move)
                game.pop()
            assert mating == each.best


def test_the_interval_over_seeds_is_that_of_the_seeds_or_of_the_games() -> None:
    entrant = Entrant("a", "ppo", 1, 1, 1.0, 1.0, 0, 0, "")

    def points(*elos: float, half: float) -> list[RatedPoint]:
        return [
            RatedPoint(entrant, "bare", Estimate(elo, elo - half, elo + half), 1, 0.5)
            for elo in elos
        ]

    alike = over_seeds(points(100, 100, 100, half=30))
    assert alike.high - alike.elo == pytest.approx(30 / 3**0.5)
    apart = over_seeds(points(0, 100, 200, half=1))
    assert apart.high - apart.elo == pytest.approx(4.30 * 100 / 3**0.5)
    assert over_seeds(points(5, half=30)) == Estimate(5, -25, 35, 1)


def test_settings_are_kept_and_only_grow(tmp_path: Path) -> None:
    Race.open(tmp_path, RaceSettings(methods=("ppo",), seeds=2))
    race = Race.open(tmp_path, RaceSettings(methods=("ddqn",), seeds=1))
    assert race.settings.methods == ("ppo", "ddqn") and race.settings.seeds == 2
    assert Race.open(tmp_path).settings == race.settings
    with pytest.raises(ValueError, match=r"another race \(movetime: 0.1 -> 0.2\)"):
        Race.open(tmp_path, RaceSettings(methods=("ppo",), movetime=0.2))
    with pytest.raises(ValueError, match="is not a race"):
        Race.open(tmp_path / "empty")


def test_the_page_of_the_docs_lists_every_method() -> None:
    text = (PROJECT / "docs" / "race.md").read_text()
    rows = re.findall(r"^\| `([a-z-]+)` \| \[`([a-z-]+)`\]", text, re.M)
    assert rows == [(method.name, method.recipe) for method in METHODS.values()]
