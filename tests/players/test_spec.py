"""The language of players and the registry."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rookery.engines.faults import EngineFault
from rookery.players.base import Player
from rookery.players.mixed import MixedPlayer
from rookery.players.programs.uci_engine import UciPlayer
from rookery.players.registry import check_player, make_player, named_kinds
from rookery.players.spec import (
    PlayerSpec,
    SpecError,
    boolean,
    large_int,
    parse_spec,
    positive_int,
    probability,
    seconds,
    whole,
)
from support.needs import needs_stockfish, needs_sunfish


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("random", "random", {}),
        (" stockfish , depth = 1 ", "stockfish", {"depth": "1"}),
        (r"uci,command=a\,b c", "uci", {"command": "a,b c"}),
        ('uci,command="a,b; c",nodes=5', "uci", {"command": "a,b; c", "nodes": "5"}),
        ("x,a=b=c", "x", {"a": "b=c"}),
    ],
)
def test_parsing(text: str, name: str, options: dict[str, str]) -> None:
    spec = parse_spec(text)
    assert (spec.name, dict(spec.options)) == (name, options)
    assert parse_spec(str(spec)) == spec


@pytest.mark.parametrize("text", ["", ",", "=", "a=b", "x,y", "x,=3", "x,a=1,a=2", 'x,a="b'])
def test_malformed(text: str) -> None:
    with pytest.raises(SpecError):
        parse_spec(text)


def test_kinds_of_values() -> None:
    assert positive_int("12") == 12 and whole(0, 20)("0") == 0
    assert seconds("50ms") == seconds("0.05") == seconds("0.05s") == 0.05
    assert probability("25%") == probability("0.25") == 0.25
    assert boolean("Yes") and not boolean("off")
    for parse, wrong in (
        (positive_int, ("0", "-1", "x", "1.5", "", "\u00b2", "2147483648", "9" * 5000)),
        (whole(0, 20), ("21", "-1", "x")),
        (seconds, ("0", "-1", "1m", "")),
        (probability, ("2", "-0.1", "x", "101%", "nan")),
        (boolean, ("maybe",)),
    ):
        for text in wrong:
            with pytest.raises(ValueError, match="expected"):
                parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stokfish", "did you mean 'stockfish'"),
        ("greedysafe", "did you mean 'greedy-safe'"),
        ("qqqqqq", "there are alphazero, beginner, book"),
        ("stockfish,dept=1", "did you mean 'depth'"),
        ("stockfish,depth=one", "depth='one': expected a whole number"),
        ("stockfish,skill=21", "from 0 to 20"),
        ("stockfish,elo=1500,skill=3", "either elo or skill"),
        ("random,random=7", "expected a number from 0 to 1"),
        ("uci", "uci,command="),
        ("runs/none", "no such file or folder"),
        ("uci,command='a", "No closing quotation"),
    ],
)
def test_errors_name_the_way_out(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        make_player(text)


NUMBERS = [
    (kind.name, option.name, (1 << 62) if option.parse is large_int else (1 << 31) - 1)
    for kind in named_kinds()
    for option in kind.options
    if option.parse in (positive_int, large_int)
]


@pytest.mark.parametrize(("kind", "option", "largest"), NUMBERS)
def test_numbers_that_do_not_fit_are_refused_in_one_line(
    kind: str, option: str, largest: int
) -> None:
    for number in (largest + 1, 10**30):
        with pytest.raises(SpecError) as caught:
            make_player(f"{kind},{option}={number}")
        assert str(caught.value) == (
            f"player {kind!r}: {option}='{number}': expected a whole number from 1 to {largest}"
        )


def test_the_largest_numbers_reach_native_code() -> None:
    """They play, or are refused by its own limits."""
    for text in ("rookery,network=material,nodes={},movetime=0.01", "solver,moves=1,nodes={}"):
        make_player(text.format(1 << 62)).close()
    for text in ("rookery,network=material,threads={}", "rookery,network=material,hash={}"):
        with pytest.raises(SpecError, match=r"1 to (256|1048576)"):
            make_player(text.format((1 << 31) - 1))


def test_every_kind_is_a_player() -> None:
    for name in (kind.name for kind in named_kinds()):
        if name == "uci":
            continue
        try:
            player = make_player(name)
        except (SpecError, FileNotFoundError) as error:
            # An engine or a table that is not installed: the message says how to get it.
            assert "install" in str(error) or "ROOKERY" in str(error)
            continue
        assert isinstance(player, Player)
        assert player.name
        player.close()
        player.close()


def test_random_share_is_a_modifier_of_every_player() -> None:
    player = make_player("greedy,random=0.5")
    assert isinstance(player, MixedPlayer) and player.random == 0.5
    assert player.name == "greedy,random=0.5"
    assert check_player("greedy, random=0.5") == "greedy,random=0.5"


def test_no_shell_is_involved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    echo = shutil.which("echo")
    assert echo is not None
    for command in (f"{echo} 'with space'; touch canary", f"{echo} `touch canary` $(touch canary)"):
        player = make_player(f"uci,command={command}")
        assert isinstance(player, UciPlayer)
        assert next(iter(player.settings.command)) == echo
        with pytest.raises(EngineFault, match="crash"):
            player.new_game()  # it is started, prints its arguments and leaves
        player.close()
    assert not Path("canary").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('uci,command=engine --name "My engine",nodes=5', ["engine", "--name", "My engine"]),
        ('uci,command="/a b/engine" --fast', ["/a b/engine", "--fast"]),
        ("uci,command='/a b/engine' 'c d'", ["/a b/engine", "c d"]),
        ('uci,command="/a b/engine"', ["/a", "b/engine"]),  # the spec's own quotes
        (r'uci,command="\"/a b/engine\" x,y"', ["/a b/engine", "x,y"]),
        ('uci,command=engine a="b c"', ["engine", "a=b c"]),
    ],
)
def test_quotes_of_a_command(text: str, words: list[str]) -> None:
    player = make_player(text)
    assert isinstance(player, UciPlayer)
    assert player.settings.command == words
    again = make_player(str(parse_spec(text)))
    assert isinstance(again, UciPlayer) and again.settings.command == words


def test_normal_form_of_a_spec() -> None:
    assert str(PlayerSpec("x", {"a": 'b,"c'})) == 'x,a="b,\\"c"'


@needs_stockfish
@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("stockfish,elo=1500", {"UCI_LimitStrength": "true", "UCI_Elo": "1500"}),
        ("stockfish,skill=3,movetime=50ms", {"Skill Level": "3"}),
    ],
)
def test_stockfish_options(text: str, options: dict[str, str]) -> None:
    player = make_player(text)
    assert isinstance(player, UciPlayer)
    assert options.items() <= dict(player.settings.options).items()
    assert player.settings.options["Threads"] == "1"
    player.new_game()  # Stockfish accepts them
    player.close()


@needs_stockfish
def test_an_option_out_of_range_is_a_fault() -> None:
    player = make_player("stockfish,elo=5")
    with pytest.raises(EngineFault, match="UCI_Elo=5 is outside"):
        player.new_game()
    player.close()


@needs_sunfish
def test_sunfish_plays() -> None:
    import numpy as np

    from rookery._core import Game

    player = make_player("sunfish,nodes=200")
    player.new_game()
    game = Game()
    decision = player.choose(game, np.random.default_rng(0))
    assert game.is_legal(decision.move)
    player.close()
