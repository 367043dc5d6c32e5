from __future__ import annotations

import gzip

import chess
import numpy as np
import pytest

from rookery import FenError, Game
from rookery.data import kpk_levels
from rookery.data.kpk_levels import LEVELS, kpk_fen, kpk_fens, kpk_squares
from rookery.data.paths import MissingDataError
from rookery.data.position_files import read_positions
from rookery.data.starts import FenList, KpkLevel, Material, start_positions
from rookery.data.tablebases import find_tablebases

# Level: positions, and how many of them are won with the pawn side to move (exact counts).
LEVEL_COUNTS = {
    "all": (136_140, 98_900),
    "easy": (44_812, 43_774),
    "intermediate": (3_420, 2_538),
    "hard": (1_860, 744),
}
PAPER_003_TABLE_4 = {"all": 73, "easy": 98, "intermediate": 74, "hard": 40}


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("level", LEVELS)
def test_kpk_levels_are_legal_positions(level: str) -> None:
    squares = kpk_squares(level)
    assert len(squares) == LEVEL_COUNTS[level][0]
    for row in squares[:: max(1, len(squares) // 500)]:
        board = chess.Board(kpk_fen(row))
        assert board.is_valid() and board.turn and not board.is_game_over()
        assert Game(kpk_fen(row, "black")).fen() == board.mirror().fen()


@pytest.mark.parametrize("level", LEVELS)
def test_kpk_levels_have_the_won_shares_of_table_4(level: str) -> None:
    tables = find_tablebases()
    if "KPvK" not in tables.endings():
        pytest.skip("needs endgame tables: install Debian's gaviotatb")
    won = 0
    with tables:
        for row in kpk_squares(level):
            if row[1] % 8 < 4:  # the other half of the board is its mirror image
                probe = tables.probe(kpk_fen(row))
                assert probe is not None
                won += 2 * (probe.result == 1)
    assert (len(kpk_squares(level)), won) == LEVEL_COUNTS[level]
    assert round(100 * won / len(kpk_squares(level))) == PAPER_003_TABLE_4[level]


@pytest.mark.parametrize("level", LEVELS)
def test_the_documented_table_is_true(level: str) -> None:
    (row,) = [
        [cell.strip() for cell in line.split("|")]
        for line in (kpk_levels.__doc__ or "").splitlines()
        if line.startswith(f"| {level} ")
    ]
    positions, won = LEVEL_COUNTS[level]
    assert row[4:7] == [
        f"{positions:,}",
        f"{100 * won / positions:.1f} %",
        f"{PAPER_003_TABLE_4[level]} %",
    ]


def test_kpk_fens_name_all_positions_once() -> None:
    fens = kpk_fens("hard")
    assert len(set(fens)) == len(fens) == len(kpk_squares("hard"))
    with pytest.raises(ValueError, match="green"):
        kpk_fens("hard", "green")


def test_same_seed_same_positions() -> None:
    for what in ("random:2-8", "KRvK:random", "kpk:hard", ["8/8/8/8/8/k7/8/KR6 w - - 0 1"] * 3):

        def draw(seed: int, what=what) -> list[str]:
            start, rng = start_positions(what), generator(seed)
            return [start.sample(rng).fen() for _ in range(5)]

        assert draw(5) == draw(5)
        assert (draw(5) != draw(6)) == isinstance(what, str)  # the list holds one position


def test_random_plies_keep_the_history() -> None:
    start = start_positions("random:3-5")
    lengths = {start.sample(rng).ply for rng in map(generator, range(50))}
    assert lengths == {3, 4, 5}
    assert start_positions("standard").sample(generator()).fen() == chess.STARTING_FEN


@pytest.mark.parametrize("signature", ["KRvK", "KPvK:black", "KQvKR:random", "KvKP"])
def test_material_starts(signature: str) -> None:
    start = start_positions(signature)
    assert isinstance(start, Material)
    for seed in range(20):
        game = start.sample(generator(seed))
        assert game.material() == signature.split(":")[0]
        assert chess.Board(game.fen()).is_valid()
        assert game.outcome() is None
        if signature.endswith("black"):
            assert not game.turn


def test_kpk_texts() -> None:
    assert start_positions("kpk:easy") == KpkLevel("easy")
    game = start_positions("kpk:hard:black").sample(generator())
    assert game.material() == "KvKP" and not game.turn


def test_files_of_fens_and_epds(tmp_path) -> None:
    lines = (
        "# a comment\n\n"
        "8/8/8/8/8/k7/8/KR6 w - - 3 40\n"
        '8/8/8/8/8/k7/8/KQ6 w - - bm Qb3+; id "one";\n'
        "8/8/8/8/8/k7/8/KB5P w - - hmvc 0; fmvn 1;\n"
    )
    path = tmp_path / "starts.epd"
    path.write_text(lines)
    numbers, fens = zip(*read_positions(path), strict=True)
    assert numbers == (3, 4, 5)
    assert fens == (
        "8/8/8/8/8/k7/8/KR6 w - - 3 40",
        "8/8/8/8/8/k7/8/KQ6 w - - 0 1",
        "8/8/8/8/8/k7/8/KB5P w - - 0 1",
    )
    packed = tmp_path / "starts.epd.gz"
    packed.write_bytes(gzip.compress(lines.encode()))
    assert read_positions(packed) == read_positions(path)
    with pytest.raises(FenError, match=r"starts\.epd, line 5: .*h1"):  # a pawn on the first rank
        start_positions(str(path))
    path.write_text("8/8/8/8/8/k7/8/KR6 w\n")
    with pytest.raises(FenError, match="line 1"):
        read_positions(path)
    with pytest.raises(MissingDataError, match=r"absent\.epd"):
        read_positions(tmp_path / "absent.epd")


def test_files_that_cannot_be_used_are_named(tmp_path) -> None:
    packed = gzip.compress(b"8/8/8/8/8/k7/8/KR6 w - - 3 40\n" * 1000)
    wrong = packed[:30] + bytes(len(packed) - 30)
    contents = {
        "binary.epd": b"\x00\xff\xfe" * 100,
        "cut.epd.gz": packed[:-20],
        "wrong.epd.gz": wrong,
        "empty.epd": b"# nothing but this\n",
    }
    for name, content in contents.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(ValueError, match=name):
            start_positions(str(path))
    path = tmp_path / "plain.epd.gz"  # some browsers unpack what they download
    path.write_text("8/8/8/8/8/k7/8/KR6 w - - 3 40\n")
    assert start_positions(str(path)) == FenList(("8/8/8/8/8/k7/8/KR6 w - - 3 40",))
    path = tmp_path / "over.epd"
    path.write_text("8/8/8/8/8/k7/8/KR6 w - - 3 40\n\n7k/5KQ1/8/8/8/8/8/8 b - - 0 1\n")
    with pytest.raises(FenError, match=r"over\.epd, line 3: the game is over"):
        start_positions(str(path))


def test_names_with_spaces_are_files_too(tmp_path) -> None:
    path = tmp_path / "my own few starts.epd"
    path.write_text("8/8/8/8/8/k7/8/KR6 w - - 3 40\n")
    assert start_positions(str(path)) == FenList(("8/8/8/8/8/k7/8/KR6 w - - 3 40",))


@pytest.mark.parametrize(
    "text", ["x" * 300, "x" * 5000, "x/" * 3000, "8/" * 300 + " w - - 0 1", "\0"]
)
def test_texts_that_cannot_be_file_names_are_refused_briefly(text: str) -> None:
    with pytest.raises(ValueError) as caught:
        start_positions(text)
    assert len(str(caught.value)) < 500


def test_long_texts_do_not_reach_the_file_system(monkeypatch) -> None:
    def look_up(path) -> bool:
        raise AssertionError(f"looked up {str(path)[:40]}")

    monkeypatch.setattr("pathlib.Path.is_file", look_up)
    start_positions(chess.STARTING_FEN)
    for text in ("x" * 5000, "8/8/8/8/8/8/8/8 w - - 0 1"):
        with pytest.raises(ValueError):
            start_positions(text)


def test_real_opening_files(data_dir) -> None:
    start = start_positions(str(data_dir / "openings" / "noob_2moves.epd.gz"))
    assert isinstance(start, FenList) and len(start.fens) == 7314


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("nonsense", "nonsense"),
        ("random:5-2", "need 0 <="),
        ("kpk:simple", "simple"),
        ("kpk:easy:green", "green"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "start position 1"),
        ("7k/5KQ1/8/8/8/8/8/8 b - - 0 1", "over"),
        ([], "empty"),
    ],
)
def test_bad_starts(what, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        start_positions(what)


@pytest.mark.parametrize("signature", ["KvK", "KPPPPPPPPPvK"])
def test_impossible_material(signature: str) -> None:
    with pytest.raises(ValueError, match=signature):
        start_positions(signature).sample(generator())
