from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.papers.salisch2023.claims import Claim, compare, verdict
from rookery.report.alarms import alarms
from rookery.report.chart import (
    Bar,
    Series,
    bar_chart,
    line_chart,
    log_ticks,
    mean_series,
    short,
    thinned,
    ticks,
)
from rookery.report.document import drawings
from rookery.report.evaluations import rating_chart, score_chart, score_interval, sentence
from rookery.report.groups import group_runs, net_wins
from rookery.report.page import make_page
from rookery.report.read import RunData, read_run, read_runs
from rookery.training.folder import RunError
from rookery.training.session import start
from support.runs import QuietView, run_to_end, write_recipe

VOID = {"meta", "br", "input"}


class Checker(HTMLParser):
    """Notes elements and attributes, and that every element is closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.scripts: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.stack.append(tag)
        self.attributes += [(key, value or "") for key, value in attrs]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(key, value or "") for key, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.stack and self.stack[-1] in ("script", "style"):
            self.scripts.append(data)
        else:
            self.texts.append(data)


def checked(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert not checker.stack
    return checker


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("reported")
    recipe = write_recipe(folder)
    for name, seed, rate in (("one", 1, 0.01), ("<b>two</b>", 2, 0.05)):
        path = str(folder / name.replace("/", ""))
        settings = [f"tiny.learning_rate={rate}"]
        start(recipe, path, "12it", seed, settings=settings, view=QuietView())
    return [folder / "one", folder / "<b>two<b>"]


@pytest.fixture(scope="module")
def page(runs: list[Path]) -> str:
    return make_page(read_runs(runs))


def test_page_is_whole_and_needs_nothing_from_elsewhere(page: str) -> None:
    checker = checked(page)
    for key, value in checker.attributes:
        assert not key.startswith("on"), (key, value)
        assert key != "style"
        if key in ("src", "href", "action", "data"):
            assert value.startswith("#"), (key, value)
    without_namespace = page.replace('"http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", without_namespace)


def test_policy_admits_style_and_script_by_their_hashes(page: str) -> None:
    policy = page.split('Content-Security-Policy" content="')[1].split('"')[0]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for element, directive in (("style", "style-src"), ("script", "script-src")):
        content = re.findall(rf"<{element}>(.*?)</{element}>", page, re.DOTALL)
        assert len(content) == 1
        digest = base64.b64encode(hashlib.sha256(content[0].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy


def test_everything_from_a_run_is_escaped(page: str) -> None:
    assert "<b>two" not in page
    assert "&lt;b&gt;two" in page
    assert "<script>alert" not in page


def test_page_tells_what_it_should(page: str) -> None:
    text = " ".join(checked(page).texts)
    for word in (
        "Training time in minutes",
        "Score in per cent, with 95 % intervals",
        "Against random",
        "as White",
        "Differences",
        "tiny.learning_rate",
        "0.05",
        "The same in all runs",
        "Positions per second",
    ):
        assert word in text, word
    assert page.count('class="chart"') >= 6
    highlighted = page.split('class="different"')[1].split("</table>")[0]
    assert "tiny.learning_rate" in highlighted
    assert "run.seed" in highlighted
    assert "tiny.games" not in highlighted


def test_games_can_be_stepped_through(page: str) -> None:
    data = re.search(r'id="games-data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    games = json.loads(data[1])
    assert games
    assert games[0]["moves"][0] == "e4"
    assert len(games[0]["placements"]) == len(games[0]["moves"]) + 1
    assert games[0]["placements"][-1].startswith("r1bqkb1r/pppp1Qpp")
    assert page.count("<use ") == 31  # the final position, even without scripts


STUB = """
const made = [];
function element(id) {
  const e = { id, children: [], attributes: {}, listeners: {}, dataset: {}, className: "",
    textContent: "", offsetTop: 0, clientHeight: 0, scrollTop: 0, value: "0",
    setAttribute(k, v) { this.attributes[k] = v; },
    appendChild(c) { this.children.push(c); },
    replaceChildren(...c) { this.children = c; },
    addEventListener(n, f) { this.listeners[n] = f; },
    querySelector(s) { return this.children.find((c) => c.className === s.slice(1)) || null; } };
  made.push(e);
  return e;
}
const named = {};
for (const id of ["games-data", "pieces", "moves", "place", "game", "viewer"]) {
  named[id] = element(id);
}
named["games-data"].textContent = process.argv[2];
const buttons = ["first", "-1", "1", "last"].map((step) => {
  const b = element("button");
  b.dataset.step = step;
  return b;
});
globalThis.document = { getElementById: (id) => named[id], createElement: () => element("li"),
  createElementNS: () => element("use"), querySelectorAll: () => buttons };
"""
CHECK = """
const placed = () => named.pieces.children.length;
const log = [placed(), named.place.textContent];
buttons[0].listeners.click();
log.push(placed(), named.place.textContent);
buttons[2].listeners.click();
buttons[1].listeners.click();
buttons[1].listeners.click();
log.push(named.place.textContent);
named.moves.children[2].listeners.click();
log.push(named.place.textContent, named.moves.children[2].className);
console.log(JSON.stringify(log));
"""


def test_script_steps_through_games(page: str) -> None:
    if shutil.which("node") is None:
        pytest.skip("needs Node: install Debian's nodejs")
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)[0]
    data = re.search(r'id="games-data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    done = subprocess.run(
        ["node", "-e", STUB + script + CHECK, "x", data[1]], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    log = json.loads(done.stdout)
    assert log[0] == 31
    assert log[1].startswith("Position 7 of 7")
    assert log[2] == 32
    assert log[3].startswith("Position 0 of 7")
    assert log[4].startswith("Position 0 of 7")
    assert log[5].startswith("Position 3 of 7")
    assert log[6] == "now"


def test_runs_in_progress_or_damaged(runs: list[Path], tmp_path: Path) -> None:
    run = tmp_path / "copy"
    shutil.copytree(runs[0], run)
    with (run / "metrics.jsonl").open("ab") as file:
        file.write(b'{"iteration": 13, "los')
    (run / "ratings.json").unlink()
    (run / "games" / "99999999-x.pgn").write_bytes(b"\xff\xfe[Event \x00 1. e4 e5 2. Ke8 nonsense")
    checked(make_page(read_runs([run])))
    (run / "ratings.json").write_text("{broken")
    (run / "timing.jsonl").unlink()
    page = make_page(read_runs([run]))
    assert "No evaluation yet" in page
    shutil.rmtree(run / "games")
    assert "No sample games" in make_page(read_runs([run]))
    (run / "metrics.jsonl").unlink()
    with pytest.raises(RunError, match="nothing to report"):
        read_run(run)
    with pytest.raises(RunError, match="not a run folder"):
        read_run(tmp_path)


def test_a_rating_without_an_end_is_no_estimate(runs: list[Path], tmp_path: Path) -> None:
    """A run that won every game has a lower bound, and no dot on the ladder."""
    run = tmp_path / "strong"
    shutil.copytree(runs[0], run)
    match = {"opponent": "greedy-safe", "games": 100, "score": 1.0, "wins": 100}
    match |= {"draws": 0, "losses": 0, "elo": 920.0, "elo_low": 566.0}
    rows = [{**match, "iteration": step, "elo_high": 4000.0} for step in (6, 12)]
    rows[0]["elo_high"] = 1137.0
    (run / "ratings.json").write_text(json.dumps({"evaluations": rows}))
    data = read_run(run)
    page = make_page([data])
    assert "above +566" in page and "+4000" not in page
    ladder = rating_chart([data])
    assert ladder.count("<circle") == 1 and ladder.count('class="error') == 1


def test_a_run_without_anything_is_left_out(runs: list[Path], tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    shutil.copy(runs[0] / "recipe.toml", empty)
    other, file = tmp_path / "figures", tmp_path / "log.txt"
    other.mkdir()
    file.touch()
    reasons: list[str] = []
    found = read_runs([empty, other, file, runs[0]], reasons.append)
    assert [run.name for run in found] == ["one"]
    assert len(reasons) == 3 and f"{empty} has nothing to report yet" in reasons[0]
    assert all(f"{path} is not a run folder" in reasons[i] for i, path in ((1, other), (2, file)))
    with pytest.raises(RunError, match="missing is not a run folder"):
        read_runs([tmp_path / "missing", runs[0]], reasons.append)
    with pytest.raises(RunError, match="nothing to report yet"):
        read_runs([empty], reasons.append)
    with pytest.raises(RunError, match="nothing to report yet"):
        read_runs([empty, runs[0]])


def test_several_seeds_are_a_mean_in_a_band(tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path)
    for seed in (1, 2, 3):
        start(recipe, str(tmp_path / f"run-{seed}"), "5it", seed, view=QuietView())
    page = make_page(read_runs([tmp_path / f"run-{seed}" for seed in (1, 2, 3)]))
    checked(page)
    assert 'class="band s0"' in page and "mean of runs that differ only in their seed" in page
    lines = [Series("a", [(0, 1.0), (1, 2.0), (2, 9.0)]), Series("b", [(0, 3.0), (1, 6.0)])]
    mean = mean_series("both", lines)
    assert mean.points == [(0, 2.0), (1, 4.0)]  # only where all have a value
    assert mean.band == [(0, 1.0, 3.0), (1, 2.0, 6.0)]


def test_strange_rows_do_no_harm(runs: list[Path], tmp_path: Path) -> None:
    run = tmp_path / "copy"
    shutil.copytree(runs[0], run)
    rows = [
        {"iteration": 1, "losses": {"a": None, "b": "x", "c": True}, "results": "none"},
        {"iteration": "two", "losses": {"a": 1.0}},
        {"iteration": 3, "losses": {"</script><script>": 1e300, "a": 1}, "endings": {"x": 0}},
        {"evaluation": 5},
    ]
    text = "\n".join(json.dumps(row) for row in [*rows, [1], 5]) + "\nnull\n"
    (run / "metrics.jsonl").write_text(text)
    odd = [{"opponent": "<x>", "games": 3}, {"opponent": 5, "games": "many"}, {}]
    (run / "ratings.json").write_text(json.dumps({"evaluations": odd}))
    page = make_page(read_runs([run]))
    checked(page)
    assert "</script><script>" not in page


def test_command(runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    words = ["report", *map(str, runs), "--out", str(out), "--title", "A <title>", "--json"]
    status, output, errors = run_to_end(tmp_path, *words)
    assert status == 0, errors
    found = {"file": str(out), "bytes": out.stat().st_size, "runs": 2, "left_out": []}
    assert json.loads(output) == found
    assert "A &lt;title&gt;" in out.read_text()
    status, _, errors = run_to_end(tmp_path, "report", str(tmp_path), "--out", str(out))
    assert status == 1
    assert "not a run folder" in errors


def test_wins_minus_losses_are_scaled() -> None:
    assert net_wins({"wins": 30, "losses": 10, "games": 100}) == 200.0
    assert net_wins({}) == 0.0
    row = {"as_white": {"wins": 3, "draws": 1, "losses": 0}, "as_black": None}
    assert net_wins(row, "as_white", 500.0) == 375.0
    assert net_wins(row, "as_black", 500.0) == 0.0


def evaluated(name: str, recipe: str, seed: int, gains: list[int], **changes: object) -> RunData:
    """A run of 1000 iterations; at each tenth it wins so many more games than it loses."""
    settings = {"name": recipe, "algorithm": "ppo", "run.seed": seed, "ppo.value_clip": 10.0}
    settings |= changes
    rows = []
    for number, gain in enumerate(gains, 1):
        white = {"wins": 100 + gain, "draws": 300, "losses": 100 - gain}
        black = {"wins": 100, "draws": 300, "losses": 100}
        total = {key: white[key] + black[key] for key in white}
        rows.append({
            "iteration": 100 * number, "seconds": 60.0 * number, "opponent": "random",
            "games": 1000, **total, "as_white": white, "as_black": black,
        })  # fmt: skip
    last = {"iteration": 1000, "seconds": 60.0 * len(gains)}
    return RunData(name, settings, rows=[last], evaluations=rows)


def test_runs_belong_together_only_if_nothing_but_the_seed_differs(runs: list[Path]) -> None:
    made = [
        evaluated("a", "ppo-v5", 1, [10]),
        evaluated("b", "ppo-v5", 2, [30]),
        evaluated("c", "ppo-v5", 1, [50], **{"ppo.value_clip": 0.0}),
        evaluated("d", "ppo-v9", 1, [50]),
    ]
    groups = group_runs(made)
    assert [[run.name for run in group.runs] for group in groups] == [["a", "b"], ["c"], ["d"]]
    names = ["ppo-v5", "ppo-v5 (ppo.value_clip=0.0)", "ppo-v9"]
    assert [group.name for group in groups] == names
    lone = group_runs([made[2], evaluated("e", "ppo-v5", 2, [50], **{"ppo.value_clip": 0.0})])
    assert [group.name for group in lone] == ["ppo-v5 (ppo.value_clip=0.0)"]  # not the recipe
    network = {"network.family": "mlp", "network.resnet.norm": "batch"}  # sizes it does not use
    other = {**network, "network.resnet.norm": "group"}
    pair = [evaluated("f", "mine", 1, [1], **network), evaluated("g", "mine", 2, [1], **other)]
    assert len(group_runs(pair)) == 1
    other["network.mlp.hidden"] = [8]
    assert len(group_runs([pair[0], evaluated("h", "mine", 2, [1], **other)])) == 2
    page = make_page(made)
    assert page.count("(2 runs)") >= 2
    # Of real runs with two learning rates none share a bar.
    assert "(2 runs)" not in make_page(read_runs(runs))


def test_more_runs_than_colours_are_coloured_by_group() -> None:
    made = [evaluated(f"run {n}", f"ppo-v{n % 4 + 1}", n, [n]) for n in range(12)]
    page = make_page(made)
    checked(page)
    assert [run.colour for run in made] == [0, 1, 2, 3] * 3
    made = [evaluated(f"run {n}", "ppo-v1", n, [n]) for n in range(3)]
    make_page(made)
    assert [run.colour for run in made] == [0, 1, 2]


def test_the_study_of_paper_000_stands_next_to_its_published_figures() -> None:
    better = [10 * n for n in range(10)]  # ends at 2 * 90
    made = [
        evaluated("v9", "ppo-v9", 1, better),
        evaluated("v9b", "ppo-v9", 2, [n + 5 for n in better]),
        evaluated("v8", "ppo-v8", 1, [-20] * 10),
        evaluated("v4", "ppo-v4", 1, [0] * 10),
    ]
    page = make_page(made)
    checked(page)
    text = " ".join(checked(page).texts)
    for heading in ("Figure 4.19", "Figure 4.20", "table 4.1"):
        assert heading in text
    cells = [re.sub("<[^>]*>", "|", row) for row in re.findall("<tr>.*?</tr>", page)]
    assert any("+135 at 800" in row and "+185 (+180 to +190)" in row for row in cells)
    ends = {name: row for row in cells for name in ("ppo-v4", "ppo-v8", "ppo-v9") if name in row}
    assert "ends above" in next(row for row in cells if "+135 at 800" in row)
    assert "not above" in next(row for row in cells if "+2 at 400" in row)
    assert "below +74 (v3)" in next(row for row in cells if "self-play" in row)
    assert len(ends) == 3
    # Table 4.1, the row of iteration 400: the paper's version 8 beside ours.
    row = next(row for row in cells if row.startswith("||400|"))
    assert "-12 / +14" in row and "-40 / +0" in row
    assert "Salisch 2023" not in make_page([evaluated("x", "ppo", 1, better)])


def test_runs_of_different_length_are_compared_where_all_have_been() -> None:
    made = [
        evaluated("a", "ppo-v5", 1, [0, 10, 40]),  # on the way to 1000 iterations
        evaluated("b", "ppo-v5", 2, [4, 10]),
        evaluated("c", "ppo-v4", 1, [0, 0, 40]),
        evaluated("d", "ppo-v4", 2, [2, 4]),
        evaluated("e", "ppo-v4", 3, [999, 999], **{"ppo.value_clip": 0.0}),
        evaluated("f", "ppo-v4", 4, []),  # not evaluated yet
    ]
    page = make_page(made)
    cells = [re.sub("<[^>]*>", "|", row) for row in re.findall("<tr>.*?</tr>", page)]
    ends = next(row for row in cells if "no KL penalty" in row and "+98 at 900" in row)
    assert "+80 at 300, 1 of 2 runs" in ends
    claim = next(row for row in cells if "leaving out the KL penalty" in row)
    # Means over two checkpoints: 10, 14 and 0, 6; variances 8 and 18, 1.74 degrees of freedom.
    half = 12.71 * math.sqrt(8 / 2 + 18 / 2)
    assert f"+9 [{9 - half:+.0f}, {9 + half:+.0f}]" in claim and "not shown" in claim
    assert "|2, 2|" in claim.replace("||", "|")


def test_texts_beside_bars_have_room() -> None:
    chart = bar_chart("scores", [Bar("a", 100.0, 90.0, 100.0, 0, "(3 runs, 1,200 games)")])
    end = re.search(r'x="([\d.]+)" y="\d+">(100 .*?)</text>', chart)
    assert end is not None and float(end[1]) + 6.2 * len(end[2]) < 560


def curves_of(*ends: float) -> list[dict[int, float]]:
    return [{100: 0.0, 200: 2 * end} for end in ends]


@pytest.mark.parametrize(
    ("new", "old", "answer"),
    [
        ((50, 52, 54), (0, 2, 4), "supported"),
        ((0, 2, 4), (50, 52, 54), "contradicted"),
        ((0, 2, 40), (1, 5, 39), "not shown"),
        ((50,), (0, 2, 4), "open: one run is not enough"),
    ],
)
def test_a_claim_is_judged_by_the_spread_between_seeds(
    new: tuple[float, ...], old: tuple[float, ...], answer: str
) -> None:
    found = compare(curves_of(*new), curves_of(*old))
    assert found is not None and found.checkpoints == 2
    helps = Claim("this helps", 5, 4)
    assert verdict(helps, found) == answer
    opposite = {"supported": "contradicted", "contradicted": "supported"}
    hurts = Claim("this hurts", 5, 4, better=False)
    assert verdict(hurts, found) == opposite.get(answer, answer)


def test_the_interval_of_a_difference_is_welchs() -> None:
    # Equal variances of 4 and three runs each: four degrees of freedom, t = 2.78.
    found = compare(curves_of(50, 52, 54), curves_of(0, 2, 4))
    assert found is not None
    assert found.value == 50.0
    assert found.margin == pytest.approx(2.78 * math.sqrt(4 / 3 + 4 / 3))
    assert compare(curves_of(1), [{300: 1.0}]) is None
    assert compare([], curves_of(1)) is None


@given(st.floats(-1e12, 1e12), st.floats(0, 1e12))
def test_ticks_cover_and_are_few(low: float, width: float) -> None:
    marks = ticks(low, low + width)
    slack = 1e-7 * max(width, abs(low)) + 1e-100
    assert marks[0] <= low + slack
    assert marks[-1] >= low + width - slack
    assert marks == sorted(set(marks))
    assert 2 <= len(marks) <= 9


def test_charts_of_unusual_data() -> None:
    assert line_chart("none", [Series("a", [])], "x") == ""
    assert bar_chart("none", []) == ""
    checked(line_chart("one", [Series("a", [(0.0, 5.0)])], "x"))
    checked(line_chart("flat", [Series("a<", [(0, 2.0), (1, 2.0)], marked=True)], "x & y"))
    checked(bar_chart("b", [Bar("n<", -3.0, -5.0, 2.0), Bar("m", 0.0, 0.0, 0.0)]))
    many = [(float(i), float(i)) for i in range(10_000)]
    assert len(thinned(many)) == 300
    assert short(1234567) == "1.23M"


def test_bars_with_long_names_keep_their_place() -> None:
    name = "x" * 90
    chart = bar_chart("title", [Bar(name, 1.0, 1.0, 1.0), Bar("short", 2.0, 2.0, 2.0)])
    checked(chart)
    assert f">{'x' * 43}\u2026</text>" in chart  # what is drawn
    assert f"{name}: 1" in chart  # what the tooltip says


def test_measures_that_are_zero_throughout_are_not_drawn() -> None:
    run = evaluated("a", "ppo", 1, [1])
    run.rows = [
        {"iteration": n, "values": {"kl_coefficient": 0.0, "entropy": 3.0}} for n in range(3)
    ]
    page = make_page([run])
    assert "entropy" in page
    assert "kl_coefficient" not in page


def test_alarms_are_raised_by_draws_cut_off_games_and_falling_scores() -> None:
    run = evaluated("a", "ppo", 1, [1])
    assert list(alarms(run)) == []
    good = {"results": {"wins": 40, "draws": 60}}
    bad = {"results": {"wins": 5, "draws": 75, "cut off": 20}}
    run.rows = [good] * 90 + [bad] * 10
    run.evaluations = [
        {"opponent": "greedy", "iteration": 10 * n, "score": score}
        for n, score in enumerate([0.5, 0.93, 0.9, 0.85])
    ]
    assert list(alarms(run)) == [
        "75% of the training games of the last 10 iterations were drawn: there is little to learn "
        "from",
        "20% of the training games of the last 10 iterations were cut off without a result",
        "against greedy it ends with a score of 85.0%, after 93.0% at iteration 10",
    ]
    assert "were drawn: there is little" in make_page([run])
    run.rows = [bad] * 90 + [good] * 10
    assert len(list(alarms(run))) == 1


def test_a_single_changed_run_is_named_by_itself_in_charts() -> None:
    made = [
        evaluated("plain", "ppo-v5", 1, [10]),
        evaluated("critic", "ppo-v5", 1, [50], **{"ppo.value_clip": 0.0}),
    ]
    assert [group.label for group in group_runs(made)] == ["ppo-v5", "critic"]


def test_the_page_opens_with_a_sentence_and_a_figure(page: str) -> None:
    before = page.split("<h2>")[0]
    assert "trained for" in before and "in the end it scored" in before
    assert before.count('class="chart"') == 1


def test_scores_are_as_played_and_have_intervals() -> None:
    row = {"wins": 6, "draws": 2, "losses": 2}
    interval = score_interval(row)
    assert interval is not None
    score, low, high = interval
    assert score == 70.0 and 30 < low < 60 and 80 < high < 100
    perfect = score_interval({"wins": 10, "draws": 0, "losses": 0})
    assert perfect is not None and perfect[0] == perfect[2] == 100.0 and perfect[1] < 95
    assert score_interval({}) is None and score_interval({"wins": -3, "losses": 5}) is None
    run = RunData("a", {}, evaluations=[{**row, "opponent": "random", "iteration": 3}])
    drawing = score_chart([run], "random", "iteration", "iterations")
    assert drawing.count('class="error') == 1
    assert "+6 =2 -2 in 10 games" in sentence(run)


def test_a_logarithmic_axis_has_equal_steps_for_equal_ratios() -> None:
    marks = [1.0, 2.0, 4.0, 8.0]
    line = Series("a <line>", [(1.0, 0.0), (8.0, 1.0)])
    drawing = line_chart("t", [line], "x", log_x=marks, names=True)
    places = [float(x) for x in re.findall(r'<text class="tick middle" x="([\d.]+)"', drawing)]
    steps = [b - a for a, b in pairwise(places)]
    assert len(places) == 4 and max(steps) - min(steps) < 0.2
    assert '<text class="name s0"' in drawing and "a &lt;line&gt;</text>" in drawing


def test_ticks_of_a_logarithmic_axis_cover_the_values() -> None:
    marks = log_ticks([0.7, 3.0, 42.0])
    assert marks == [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
    assert log_ticks([]) == []


def test_charts_are_files_of_their_own() -> None:
    line = Series("a", [(0.0, 0.0), (1.0, 1.0)])
    page = line_chart("Elo & more", [line], "x") + line_chart("Elo & more", [line], "x")
    found = drawings(page)
    assert list(found) == ["elo-more", "elo-more.2"]
    for text in found.values():
        root = ElementTree.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert any("stroke" in (style.text or "") for style in root.iter() if "style" in style.tag)
