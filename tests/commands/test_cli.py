from __future__ import annotations

import json
import signal
import subprocess
import sys
import types

import pytest

from rookery import cli
from rookery.base.json_output import write_json

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


def run(capsys, *words: str) -> tuple[int, str, str]:
    """Run a command; return status, standard output and standard error."""
    try:
        status = cli.main(words)
    except SystemExit as exit:  # argparse leaves like this
        status = int(exit.code or 0)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_perft(capsys) -> None:
    status, out, err = run(capsys, "perft", KIWIPETE, "3")
    assert status == 0 and out.startswith("97862 nodes") and err == ""
    status, out, _ = run(capsys, "perft", "startpos", "4", "--json")
    result = json.loads(out)
    assert (status, result["nodes"], result["depth"]) == (0, 197281, 4)


def test_perft_divide(capsys) -> None:
    status, out, _ = run(capsys, "perft", "startpos", "2", "--divide")
    assert status == 0 and "e2e4: 20" in out and "400 nodes" in out
    status, out, _ = run(capsys, "perft", KIWIPETE, "1", "--divide", "--json")
    divided = json.loads(out)["divide"]
    assert len(divided) == 48 and divided["e1g1"] == 1


FISCHER = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"


def test_perft_chess960(capsys) -> None:
    status, out, _ = run(capsys, "perft", FISCHER, "3", "--chess960", "--json")
    assert status == 0 and json.loads(out)["nodes"] == 12189


def test_the_bare_command_shows_help(capsys) -> None:
    status, out, err = run(capsys)
    assert status == 0 and "Train, measure and play chess engines." in out and err == ""


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["perft", "nonsense", "3"], 1, "nonsense"),
        (["perft", "startpos", "-1"], 1, "-1"),
        (["perft", "startpos", "65"], 1, "from 0 to 64"),
        (["perft", "startpos", "3000000000"], 1, "3000000000"),
        (["perft", "\udcff\udcfe", "1"], 1, "FEN"),
        (["perft", "8/8/8/8/8/8/8/8 w \udcff - 0 1", "1"], 1, "FEN"),
        (["\udcff"], 2, "unknown command"),
        (["perft", "startpos", "0", "--divide"], 1, "--divide"),
        (["perft", "startpos", "deep"], 2, "deep"),
        (["perft", "startpos"], 2, "DEPTH"),
        (["perf", "startpos", "1"], 2, "did you mean 'perft'"),
        (["zzz"], 2, "doctor"),
        (["perft", FISCHER, "1"], 1, "pass --chess960"),
        (
            ["perft", "startpos", "1", "--jsn"],
            2,
            "did you mean '--json'? (see 'rookery perft --help",
        ),
        (
            ["data", "pgn", "a.pgn", "--lest-elo=3"],
            2,
            "'--least-elo'? (see 'rookery data pgn --help",
        ),
        (["perft", "startpos", "1", "2"], 2, "unrecognized arguments: 2 (see 'rookery perft"),
    ],
)
def test_errors_are_one_line_with_a_status(capsys, words, status: int, message: str) -> None:
    got, out, err = run(capsys, *words)
    assert got == status and out == ""
    assert message in err and len(err.splitlines()) == 1


def test_errors_with_json(capsys) -> None:
    status, out, err = run(capsys, "perft", "nonsense", "3", "--json")
    assert status == 1 and "nonsense" in json.loads(out)["error"] and "nonsense" in err


@pytest.mark.parametrize(
    "words",
    [
        ["perft", "startpos", "deep", "--json"],
        ["perft", "--json"],
        ["perft", "startpos", "1", "--json", "--jsn"],
        ["perf", "--json"],
        ["--json"],
    ],
)
def test_wrong_usage_with_json(capsys, words) -> None:
    status, out, err = run(capsys, *words)
    assert status == 2 and len(err.splitlines()) == 1
    assert json.loads(out)["error"] in err


def test_huge_and_odd_fens(capsys) -> None:
    for fen in ("8" * 10_000_000, "\0", "\uff18/8/8/8/8/8/8/8 w - - 0 1", ""):
        status, out, err = run(capsys, "perft", fen, "1")
        assert status == 1 and out == "" and len(err) < 2000


def test_doctor(capsys) -> None:
    status, out, _ = run(capsys, "doctor", "--json")
    assert status == 0 and "machine" in json.loads(out)
    status, out, _ = run(capsys, "doctor")
    assert status == 0 and "Machine" in out


def test_bench_passes_its_arguments_on(capsys, monkeypatch) -> None:
    seen = []
    fake = types.ModuleType("rookery.bench")
    fake.main = lambda names, json: seen.append((names, json)) or 3  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "rookery.bench", fake)
    monkeypatch.setattr("rookery.bench", fake, raising=False)
    assert run(capsys, "bench", "perft", "env", "--json")[0] == 3
    assert seen == [(["perft", "env"], True)]


def test_a_missing_peer_is_reported_in_one_line(capsys, monkeypatch) -> None:
    from rookery import bench
    from rookery.bench.peer_process import PeerMissingError

    def fails(name: str):
        raise PeerMissingError("some_chess", "the peer exited unexpectedly")

    monkeypatch.setattr(bench, "run", fails)
    status, out, err = run(capsys, "bench", "env", "--json")
    assert status == 1 and "exited unexpectedly" in json.loads(out)["error"]
    assert "Traceback" not in err and "exited unexpectedly" in err


def test_help_and_version(capsys) -> None:
    status, out, _ = run(capsys, "--help")
    assert status == 0
    for name in cli.command_names():
        assert f"    {name}" in out
        status, text, _ = run(capsys, name, "--help")
        assert status == 0 and "usage: rookery" in text
        assert "(default: True)" not in text  # of an option that switches something off
    status, out, _ = run(capsys, "--version")
    assert status == 0 and out.startswith("rookery ")


def test_interruption_and_programming_errors(capsys, monkeypatch) -> None:
    from rookery.commands import perft

    def interrupted(args) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(perft, "run", interrupted)
    status, out, err = run(capsys, "perft", "startpos", "1", "--json")
    assert status == 130 and json.loads(out) == {"error": "interrupted"} and "interrupted" in err

    def broken(args) -> int:
        raise TypeError("a bug")

    monkeypatch.setattr(perft, "run", broken)
    with pytest.raises(TypeError):
        cli.main(["perft", "startpos", "1"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_a_deep_perft(number: signal.Signals) -> None:
    code = (
        "import sys\n"
        "from rookery import _core\n"
        "from rookery.cli import main\n"
        "count = _core.perft\n"
        "def announced(*arguments, **options):\n"
        "    _core.perft = count\n"
        "    print('counting', file=sys.stderr, flush=True)\n"
        "    return count(*arguments, **options)\n"
        "_core.perft = announced\n"
        "sys.exit(main(['perft', 'startpos', '14', '--json']))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None and process.stderr.readline() == "counting\n"
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and json.loads(out) == {"error": "interrupted"}
    assert "interrupted" in err and len(err.splitlines()) == 1


def test_a_deep_perft_is_split_into_short_calls(capsys, monkeypatch) -> None:
    from rookery import _core

    calls = []
    real = _core.perft

    def counted(fen: str, depth: int, chess960: bool = False) -> int:
        calls.append(depth)
        return real(fen, depth, chess960)

    monkeypatch.setattr(_core, "perft", counted)
    monkeypatch.setattr("rookery.commands.perft.MOST_NODES", 48**2)
    status, out, _ = run(capsys, "perft", KIWIPETE, "4", "--json")
    assert status == 0 and json.loads(out)["nodes"] == 4085603
    assert max(calls) == 2 and len(calls) > 2000


def test_tracebacks_on_request(monkeypatch) -> None:
    monkeypatch.setenv("ROOKERY_TRACEBACK", "1")
    with pytest.raises(ValueError, match="nonsense"):
        cli.main(["perft", "nonsense", "1"])


def test_json_has_no_infinities(capsys) -> None:
    write_json({"elo": float("inf"), "pairs": (1, float("nan")), "name": "a"})
    assert json.loads(capsys.readouterr().out) == {"elo": None, "pairs": [1, None], "name": "a"}


def test_commands_import_nothing_heavy() -> None:
    code = (
        "import sys; from rookery import cli; cli.make_parser(cli.command_names()); "
        "heavy = {'torch', 'ray', 'gymnasium', 'pettingzoo'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def run_in_shell(words: list[str], redirection: str) -> tuple[int, str]:
    """Run a command with its output redirected; return status and standard error."""
    code = f"from rookery.cli import main; import sys; sys.exit(main({words}))"
    done = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -c "{code}" {redirection}; exit ${{PIPESTATUS[0]}}'],
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stderr


def test_a_closed_pipe_causes_no_traceback() -> None:
    assert run_in_shell(["doctor"], "| true") == (1, "")


@pytest.mark.parametrize("redirection", ["| true", "> /dev/full", ">&-"])
def test_errors_that_nobody_reads_cause_no_traceback(redirection: str) -> None:
    status, err = run_in_shell(["perft", "nonsense", "1", "--json"], redirection)
    assert status == 1 and err.startswith("rookery: error: bad FEN") and err.count("\n") == 1


def test_closed_streams_are_replaced(tmp_path) -> None:
    # Otherwise the file of a command would get the number of standard output, and its text.
    path = tmp_path / "games.pgn"
    words = ["arena", "random", "greedy", "--games", "2", "--pgn", str(path)]
    assert run_in_shell(words, ">&-") == (0, "")
    assert path.read_text().startswith("[Event") and "Elo difference" not in path.read_text()
