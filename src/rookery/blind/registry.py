"""Blind players by their specification: `name[,key=value ...]`, as in `trout,nodes=5000`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rookery.blind.players import BlindPlayer, PassingPlayer, RandomPlayer
from rookery.players import spec as kinds
from rookery.players.spec import SpecError, nearest, parse_spec

SHIPPED = Path(__file__).parents[1] / "networks" / "blind-paper.safetensors"


@dataclass(frozen=True)
class BlindKind:
    """A kind of blind player and its options."""

    make: Callable[[dict[str, Any]], BlindPlayer]
    summary: str
    options: Mapping[str, tuple[Callable[[str], Any], str]]  # name: parser, meaning


def _recon(name: str) -> Callable[[dict[str, Any]], BlindPlayer]:
    def make(options: dict[str, Any]) -> BlindPlayer:
        from rookery.blind.recon import ReconPlayer

        return ReconPlayer(name, **options)

    return make


def _strong(options: dict[str, Any]) -> BlindPlayer:
    from rookery.blind.strong import StrongPlayer, StrongSettings

    return StrongPlayer("blind", StrongSettings(**options))


def _network(options: dict[str, Any]) -> BlindPlayer:
    from rookery.blind.policy import PolicyPlayer, load_policy

    path = Path(options["network"]) if "network" in options else SHIPPED
    if not path.is_file():
        raise SpecError(f"there is no model file {path}; train one: rookery train blind-paper")
    return PolicyPlayer("blind-paper", load_policy(path), options.get("temperature", 0.0))


KINDS: dict[str, BlindKind] = {
    "random": BlindKind(lambda options: RandomPlayer(), "senses and moves at random", {}),
    "passing": BlindKind(lambda options: PassingPlayer(), "never senses, never moves", {}),
    "blind": BlindKind(
        _strong,
        "every board that fits what was seen, judged by the engine",
        {
            "nodes": (kinds.large_int, "the engine's nodes a turn (40000)"),
            "capacity": (kinds.positive_int, "boards kept at most (30000)"),
            "boards": (kinds.positive_int, "boards judged for a move (32)"),
            "sense_boards": (kinds.positive_int, "boards judged for a sense (24)"),
            "endangered": (kinds.probability, "share of them with the own king attacked (0.4)"),
            "worst": (kinds.probability, "weight of the worst board (0.3)"),
            "curiosity": (kinds.number(0.0, 10.0), "weight of excluding boards (0.05)"),
            "network": (kinds.words, "the engine's network (rookery)"),
        },
    ),
    "blind-paper": BlindKind(
        _network,
        "the trained network without search",
        {
            "network": (kinds.words, "a model file of 'rookery train blind-paper'"),
            "temperature": (kinds.number(0.0, 100.0), "0 (default): the most probable action"),
        },
    ),
    "attacker": BlindKind(
        _recon("attacker"), "reconchess's AttackerBot: one of four scripted attacks", {}
    ),
    "trout": BlindKind(
        _recon("trout"),
        "reconchess's TroutBot: one board and Stockfish",
        {"nodes": (kinds.large_int, "Stockfish's nodes a move (20000)")},
    ),
}


def make_blind_player(text: str) -> BlindPlayer:
    """Make a player from its specification; the path of a .py file is a reconchess bot."""
    spec = parse_spec(text)
    if spec.name.endswith(".py"):
        if spec.options:
            raise SpecError(f"player {text!r}: a bot's file has no options")
        return _recon(str(Path(os.path.expanduser(spec.name))))({})
    if spec.name not in KINDS:
        raise SpecError(
            f"unknown blind player {spec.name!r}; {nearest(spec.name, KINDS)}; or give the path of "
            "a reconchess bot's file"
        )
    kind = KINDS[spec.name]
    options: dict[str, Any] = {}
    for key, value in spec.options.items():
        if key not in kind.options:
            raise SpecError(f"player {text!r}: no option {key!r}; {nearest(key, kind.options)}")
        try:
            options[key] = kind.options[key][0](value)
        except ValueError as error:
            raise SpecError(f"player {text!r}: {key}={value}: {error}") from None
    return kind.make(options)
