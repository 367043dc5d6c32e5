"""Move generation counted against published numbers."""

from __future__ import annotations

from pathlib import Path

import chess
import pytest

import perft_suites
from rookery._core import perft, perft_divide

START = chess.STARTING_FEN
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"

# Node counts by depth from 1 up: chessprogramming.org, Martin Sedlak's and Peterson's positions.
WELL_KNOWN = {
    "start": (START, [20, 400, 8902, 197281, 4865609]),
    "kiwipete": (KIWIPETE, [48, 2039, 97862, 4085603]),
    "en passant pins": (
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        [14, 191, 2812, 43238, 674624],
    ),
    "promotions with castling": (
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        [6, 264, 9467, 422333],
    ),
    "the same for Black": (
        "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1",
        [6, 264, 9467, 422333],
    ),
    "pawn on d7": (
        "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
        [44, 1486, 62379, 2103487],
    ),
    "middle game": (
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
        [46, 2079, 89890, 3894594],
    ),
    "promotions": ("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", [24, 496, 9483, 182838, 3605103]),
}
# One depth only.
WELL_KNOWN_AT_DEPTH = [
    ("3k4/3p4/8/K1P4r/8/8/8/8 b - - 0 1", 6, 1134888),  # en passant uncovers check
    ("8/8/4k3/8/2p5/8/B2P2K1/8 w - - 0 1", 6, 1015133),
    ("8/8/1k6/2b5/2pP4/8/5K2/8 b - d3 0 1", 6, 1440467),  # en passant gives check
    ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", 6, 661072),  # castling gives check
    ("3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", 6, 803711),
    ("r3k2r/1b4bq/8/8/8/8/7B/R3K2R w KQkq - 0 1", 4, 1274206),  # rights lost by capture
    ("r3k2r/8/3Q4/8/8/5q2/8/R3K2R b KQkq - 0 1", 4, 1720476),  # castling through check
    ("2K2r2/4P3/8/8/8/8/8/3k4 w - - 0 1", 6, 3821001),  # promotion out of check
    ("8/8/1P2K3/8/2n5/1q6/8/5k2 b - - 0 1", 5, 1004658),  # discovered check
    ("4k3/1P6/8/8/8/8/K7/8 w - - 0 1", 6, 217342),  # promotion gives check
    ("8/P1k5/K7/8/8/8/8/8 w - - 0 1", 6, 92683),  # under-promotion gives check
    ("K1k5/8/P7/8/8/8/8/8 w - - 0 1", 6, 2217),  # self-stalemate
    ("8/k1P5/8/1K6/8/8/8/8 w - - 0 1", 7, 567584),  # stalemate and mate
    ("8/8/2k5/5q2/5n2/8/5K2/8 b - - 0 1", 4, 23527),
    ("8/8/8/8/k1p4R/8/3P4/3K4 w - - 0 1", 6, 1134888),  # the first one with colours swapped
]
CHESS960 = [
    ("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", [21, 528, 12189, 326672]),
    ("2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9", [21, 807, 18002, 667366]),
    ("r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq - 0 1", [23, 522, 12333, 285754]),
    ("8/8/8/4B2b/6nN/8/5P2/2R1K2k w Q - 0 1", [34, 318, 9002, 118388]),
    ("4r3/3k4/8/8/8/8/6PP/qR1K1R2 w KQ - 0 1", [19, 628, 12858, 405636]),
]

SUITES = [
    "standard.epd",
    "tricky.epd",
    "chess960.epd",
    "double_checks.epd",
    "single_checks.epd",
    "enpassant.epd.gz",
    "marcel_random.epd.gz",
]
NODE_CAP = 300_000  # per line; benchmarks/perft_suites.py counts the lines in full


@pytest.mark.parametrize("name", WELL_KNOWN)
def test_well_known_positions(name: str) -> None:
    fen, counts = WELL_KNOWN[name]
    assert [perft(fen, depth) for depth in range(1, len(counts) + 1)] == counts


@pytest.mark.parametrize(("fen", "depth", "nodes"), WELL_KNOWN_AT_DEPTH)
def test_well_known_traps(fen: str, depth: int, nodes: int) -> None:
    assert perft(fen, depth) == nodes


@pytest.mark.parametrize(("fen", "counts"), CHESS960)
def test_chess960(fen: str, counts: list[int]) -> None:
    found = [perft(fen, depth, chess960=True) for depth in range(1, len(counts) + 1)]
    assert found == counts


def test_depth_zero_counts_the_position_itself() -> None:
    assert perft(START, 0) == 1


def test_negative_depth_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        perft(START, -1)


def test_divide_splits_the_count_by_first_move() -> None:
    split = perft_divide(KIWIPETE, 3)
    board = chess.Board(KIWIPETE)
    assert set(split) == {move.uci() for move in board.legal_moves}
    assert sum(split.values()) == 97862
    for uci in ("e1g1", "e5g6", "a2a4"):
        board.push_uci(uci)
        assert split[uci] == perft(board.fen(), 2)
        board.pop()


@pytest.mark.parametrize("name", SUITES)
def test_every_line_of_the_suites(name: str, data_dir: Path) -> None:
    path = data_dir / "perft" / name
    if not path.exists():
        pytest.skip(f"needs the data folder: perft/{name}")
    tested = 0
    for line in perft_suites.read_suite(path):
        depth = line.deepest(NODE_CAP)
        if depth is not None:
            found = perft(line.fen, depth, chess960=line.chess960)
            assert found == line.nodes[depth], f"{line.fen} at depth {depth}"
        else:  # only a large count is given: compare moves and replies with python-chess
            board = chess.Board(line.fen, chess960=line.chess960)
            assert perft(line.fen, 2, chess960=line.chess960) == count_two_plies(board), line.fen
        tested += 1
    assert tested > 0


def count_two_plies(board: chess.Board) -> int:
    nodes = 0
    for move in list(board.legal_moves):
        board.push(move)
        nodes += board.legal_moves.count()
        board.pop()
    return nodes
