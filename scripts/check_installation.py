"""Check an installed Rookery: every level, every shipped network, UCI, the page.

python scripts/check_installation.py [SIGNATURE]

Needs nothing but the base install. Prints one line per check and stops at the first that fails.
`scripts/check_wheel.sh` runs it in a new virtual environment.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import chess
import chess.engine

import rookery
from rookery import Game, doctor
from rookery.arena.match import MatchSettings, run_match
from rookery.base.levels import LEVELS
from rookery.players.registry import make_player

HEAVY = ("torch", "safetensors", "pydantic", "pyarrow", "onnxruntime", "gymnasium")
ROOKERY = str(Path(sys.executable).with_name("rookery"))
BENCH = "from rookery import LEVEL, _core; print(LEVEL, _core.KERNELS, _core.bench()[0])"
OPTIONS = {"alphazero": "simulations=20", "pepper": "simulations=20", "rookery": "depth=3"}
OPTIONS |= {"ddqn": "depth=3", "giraffe": "depth=2"}
ENDINGS = {"kpk": "8/8/8/8/4k3/8/4P3/4K3 w - - 0 1", "krk": "8/8/8/4k3/8/8/8/R3K3 w - - 0 1"}
ENDINGS |= {"kqk": "8/8/8/3k4/8/8/8/Q3K3 b - - 0 1", "kpk-mate": ENDINGS["kpk"]}
BLIND = {"blind-paper"}  # networks of blind chess


def main(signature: str) -> int:
    """Run all checks."""
    core = doctor.examine()["core"]
    print(f"rookery {rookery.__version__}, level {core['level']} of {core['levels'] or 'one'}")
    for level in core["levels"] or [core["level"]]:
        if core["levels"] and LEVELS.index(level) > LEVELS.index(core["cpu"]):
            print(f"level {level}: this CPU cannot run it")
            continue
        environment = {**os.environ, "ROOKERY_CPU": level}
        command = [sys.executable, "-c", BENCH]
        found = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        print(f"level {level}: {found.stdout.strip()}")
        assert not signature or found.stdout.split()[-1] == signature, f"not {signature}"
    for path in sorted((Path(rookery.__file__).parent / "networks").glob("*.safetensors")):
        print(f"game of {path.stem}: {play_game(path.stem)}")
    print(f"uci: {play_uci()} moves under python-chess")
    print(f"page: {open_page()}")
    loaded = [name for name in HEAVY if name in sys.modules]
    assert not loaded, f"{loaded} were imported"
    return 0


def play_game(name: str) -> str:
    """A whole game against greedy-safe, or of an ending against itself; its end in words."""
    spec = f"{name},{OPTIONS[name]}" if name in OPTIONS else name
    if name in BLIND:
        command = [ROOKERY, "blind", "arena", spec, "random", "--games", "2", "--seed", "1"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    if name not in ENDINGS:
        match = run_match(
            lambda: make_player(spec),
            lambda: make_player("greedy-safe"),
            MatchSettings(games=2, seed=1, concurrency=1),
            names=(name, "greedy-safe"),
        ).to_json()
        assert not any(match["faults"].values()), match["faults"]
        return f"+{match['wins']} ={match['draws']} -{match['losses']} against greedy-safe"
    import numpy as np

    player, game, rng = make_player(spec), Game(ENDINGS[name]), np.random.default_rng(1)
    while game.outcome() is None and game.material() != "KvK":
        game.push(player.choose(game, rng).move)
    return f"{game.outcome() or 'bare kings'}"


def play_uci() -> int:
    """Some moves of `rookery uci` through python-chess."""
    with chess.engine.SimpleEngine.popen_uci([ROOKERY, "uci"], timeout=120) as engine:
        board = chess.Board()
        while board.ply() < 20 and not board.is_game_over():
            move = engine.play(board, chess.engine.Limit(nodes=2000)).move
            assert move in board.legal_moves
            board.push(move)
        return board.ply()


def open_page() -> str:
    """`rookery play` serves its page and its board."""
    command = [ROOKERY, "play", "--no-browser", "--port", "8123"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found is not None
        address, sizes = found.group().rstrip("/"), []
        for place in ("/", "/static/vendor/chessground/chessground.min.js"):
            with urllib.request.urlopen(address + place, timeout=30) as answer:
                sizes.append(len(answer.read()))
        return f"{sizes} bytes"
    finally:
        server.terminate()
        server.wait(30)


if __name__ == "__main__":
    began = time.perf_counter()
    status = main(*(sys.argv[1:2] or [""]))
    print(json.dumps({"seconds": round(time.perf_counter() - began, 1), "status": status}))
    sys.exit(status)
