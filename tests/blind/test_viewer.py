"""The page of a recorded game shows what each side knew, and nothing that it could not know."""

import json
from pathlib import Path

import pytest

from rookery.blind.arena import BlindSettings, run_blind_match
from rookery.blind.players import RandomPlayer
from rookery.blind.viewer import page_of, read_record, steps_of
from rookery.cli import main


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "games.jsonl"
    settings = BlindSettings(games=2, seed=4, turn_limit=6, records=path)
    run_blind_match((RandomPlayer, RandomPlayer), ("random", "random"), settings)
    return path


def test_views_agree_with_the_truth_where_something_is_known(records: Path) -> None:
    record = read_record(records, 1)
    steps = steps_of(record)
    assert len(steps) == len(record["turns"]) + 1
    for step in steps[:-1]:
        for white, view in zip((True, False), step.views, strict=True):
            own = {at: p for at, p in step.truth.items() if p.isupper() == white}
            if step.white == white:
                assert view.own == own
                for square in view.window:  # seen this very turn: certain
                    truth = step.truth.get(square)
                    theirs = truth is not None and truth.isupper() != white
                    assert view.others.get(square) == ((truth, 1.0) if theirs else None)
            else:
                assert not view.window
            assert all(piece.isupper() != white for piece, _ in view.others.values())


def test_the_page_is_one_file_that_a_name_cannot_break(records: Path) -> None:
    record = read_record(records, 1) | {"white": "</script><b>"}
    page = page_of(record)
    assert page.count("</script>") == 2 and "http" not in page
    data = page.split('id="data">')[1].split("</script>")[0]
    assert json.loads(data)["white"] == "</script><b>"


def test_command(tmp_path: Path, records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "page.html"
    assert main(["blind", "view", str(records), "--game", "2", "--out", str(out)]) == 0
    assert "The true board" in out.read_text()
    assert main(["blind", "view", str(records), "--game", "3"]) == 1
    assert "there is no game 3" in capsys.readouterr().err
    broken = tmp_path / "broken.jsonl"
    for text in ("xx", '{"white": "random"}', "[]"):
        broken.write_text(text)
        assert main(["blind", "view", str(broken)]) == 1
        assert f"{broken}, line 1: not a game" in capsys.readouterr().err
