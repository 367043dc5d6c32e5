"""Numbers and limits into values, values into words, bytes into lines."""

from __future__ import annotations

import pytest

from rookery.base.scales import centipawns_of_value
from rookery.players.base import Decision, Limits
from rookery.players.thinking import Line, Thought
from rookery.uci.commands import Go, read_go, read_number
from rookery.uci.info import decision_line, thought_lines
from rookery.uci.stream import LineBuffer


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("0", 1),
        ("-1", 1),
        ("7", 7),
        ("+7", 7),
        ("007", 7),
        ("101", 100),
        ("9" * 5000, 100),
        ("-" + "9" * 5000, 1),
        ("", None),
        ("1.5", None),
        ("1e3", None),
        ("1_0", None),
        ("\u0663", None),
        ("0x10", None),
        ("--1", None),
        (" 1", None),
    ],
)
def test_numbers(word: str, value: int | None) -> None:
    assert read_number(word, 1, 100) == value


def test_absurd_limits_are_clamped() -> None:
    words = (
        "wtime -5000 btime 99999999999999 winc -1 nodes 9223372036854775808 depth -3 mate 0 "
        "movestogo 0 movetime -7"
    )
    go, complaints = read_go(words.split())
    assert complaints == []
    assert (go.wtime, go.btime, go.winc, go.nodes) == (1, 2**31 - 1, 0, 2**63 - 1)
    assert (go.depth, go.mate, go.movestogo, go.movetime) == (1, 1, 1, 1)
    limits = go.limits(5000)
    assert limits.white_time == 0.001
    assert Go(winc=5, movestogo=3).limits() == Limits()
    assert Go(wtime=5).limits().black_time == 0.005


def test_info_lines() -> None:
    line = Line(("e2e4",), 0.5, centipawns=31, bound="lower")
    mated = Line(("e2e4", "e7e5"), -1.0, mate=-2, win_draw_loss=(0, 0, 1000))
    thought = Thought((line, mated), 7, 9, 1000, 0.5, 1001)
    assert list(thought_lines(thought, True, True)) == [
        "info depth 7 seldepth 9 multipv 1 score cp 31 lowerbound nodes 1000 nps 2000 time 500 "
        "hashfull 1000 pv e2e4",
        "info depth 7 seldepth 9 multipv 2 score mate -2 wdl 0 0 1000 nodes 1000 nps 2000 time 500 "
        "hashfull 1000 pv e2e4 e7e5",
    ]
    decision = Decision("e2e4", 0.1, ("e2e4",), details={"depth": 3, "nodes": 9, "mate": 2})
    assert decision_line(decision, 0.0) == "info depth 3 score mate 2 nodes 9 time 0 pv e2e4"
    assert decision_line(Decision("e2e4"), 0.0) == "info depth 1 nodes 1 time 0 pv e2e4"


@pytest.mark.parametrize(
    ("value", "cp"),
    [(0.0, 0), (1.0, 20000), (-1.0, -20000), (0.25, 89), (2.0, 20000), (float("nan"), 0)],
)
def test_values_as_centipawns(value: float, cp: int) -> None:
    assert centipawns_of_value(value) == cp


def test_lines_are_cut_wherever_the_bytes_arrive() -> None:
    data = b"uci\nisready\r\n\xff\xfe\x00\n\ngo"
    for size in range(1, len(data) + 1):
        buffer = LineBuffer()
        lines = []
        for start in range(0, len(data), size):
            lines += buffer.feed(data[start : start + size])
        lines += buffer.end()
        assert lines == ["uci", "isready\r", "\ufffd\ufffd\x00", "", "go"]


def test_a_line_that_is_too_long_is_dropped() -> None:
    buffer = LineBuffer(longest=100)
    lines: list[str | None] = []
    for _ in range(1000):
        lines += buffer.feed(b"x" * 50)
    assert lines == [] and buffer._size <= 100
    lines += buffer.feed(b"x\nuci\n" + b"y" * 100 + b"\n" + b"z" * 101)
    assert lines == [None, "uci", "y" * 100]
    assert list(buffer.end()) == [None]
    assert list(LineBuffer().end()) == []
