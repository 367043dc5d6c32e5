"""Read damaged files: model files, ONNX files and PGN. Each is read, or refused by its own error.

    python benchmarks/file_fuzz.py --files 1000000 --seconds 600
    python benchmarks/file_fuzz.py pgn --files 100000 --seed 7

Small sound files are mutated (bits, bytes, pieces cut out, doubled, spliced, numbers of the header
replaced) and read by all their readers. Anything but the reader's own error is a fault, as is a
process that crashes: files are read by a forked process with limited memory, which is replaced when
it dies. Prints one JSON object and the first faults; exits 1 if there are any.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from rookery._core import Game
from rookery.data.pgn import read_pgn
from rookery.nets import make_network
from rookery.nets.evaluator import (
    EvaluatorError,
    OnnxEvaluator,
    evaluate_position,
    without_torch,
)
from rookery.nets.model_arrays import parse_arrays
from rookery.nets.model_file import ModelFileError, describe, info_of, model_bytes, parse_model
from rookery.nets.native import CoreEvaluator
from rookery.nets.onnx_export import export_onnx
from rookery.players.alphabeta import read_evaluator, read_moves
from rookery.web.analyse.pgn_tree import tree_of_pgn

BATCH = 500  # files per forked process
MEMORY = 6 << 30  # bytes of address space of a reading process
MOST_FAULTS = 10
NETWORKS = (
    ("boardconv", "planes12", "none", {"convolutions": 1, "layers": 1, "width": 1}),
    ("endgame", "planes12", "az4672", {"width": 1, "hidden": 1}),
    ("giraffe", "giraffe363", "none", {"width": 16}),
    ("mlp", "vector66", "az4672", {"hidden": [1]}),
    ("nnue", "nnue768", "none", {"hidden": 16, "buckets": 1}),
    ("pepper", "pepper353", "az4672", {"policy": 1, "value": 1}),
    ("pyramid", "kpk3", "kpk", {"hidden": [1]}),
    ("resnet", "planes19", "az4672", {"blocks": 1, "filters": 2}),
    ("slots", "pepper353", "az4672", {"width": 1, "key_width": 1}),
    ("squares", "tactical70", "az4672", {"width": 2, "key_width": 2}),
    ("twin", "tactical70", "az4672", {"width": 2, "key_width": 2, "hidden": 16, "buckets": 1}),
)
PGN = b"""[Event "a"]
[FEN "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"]
[Result "1-0"]

1. e4 {a comment} e5 (1... c5 2. Nf3 (2. c3)) 2. Qh5!? $3 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0

[Event "b"]
[Variant "Chess960"]

1. O-O-O -- 2. e8=Q+ ; rest
*

"""
NUMBERS = (b"0", b"-1", b"1e999", b"99999999999999999999", b"NaN", b'"x"', b"[]", b"{}", b"null")


def mutate(data: bytes, rng: random.Random) -> bytes:
    """One to four mutations, most of them at the start, where the structure is."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        length = len(data)
        if not length:
            return data
        near = min(length, 4096) if rng.random() < 0.8 else length
        at = rng.randrange(near)
        end = min(length, at + rng.choice((1, 2, 4, 8, 64, 1024)))
        kind = rng.randrange(8)
        if kind == 0:
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at] + rng.randbytes(end - at) + data[end:]
        elif kind == 2:
            data = data[:at] + data[end:]
        elif kind == 3:
            data = data[:end] + data[at:end] * rng.choice((1, 2, 50)) + data[end:]
        elif kind == 4:
            data = data[:at]
        elif kind == 5:
            other = rng.randrange(length)
            data = data[:at] + data[other : other + end - at] + data[end:]
        elif kind == 6:
            data = data[:at] + rng.choice((b"\0", b"\xff" * 8, b"\x7f" * 8, b"[", b"{")) + data[at:]
        else:
            found = list(re.finditer(rb"\d+", data[:near]))
            if found:
                place = rng.choice(found)
                data = data[: place.start()] + rng.choice(NUMBERS) + data[place.end() :]
    return data


def read_model(data: bytes, folder: Path) -> bool:
    """Read a model file in every way; whether torch accepts it."""
    accepted = False
    for read in (info_of, parse_arrays, parse_model):
        try:
            read(data, "file")
            accepted = read is parse_model
        except ModelFileError:
            continue
    path = folder / "file.safetensors"
    path.write_bytes(data)
    with contextlib.suppress(ModelFileError, EvaluatorError):
        evaluator = without_torch(str(path))
        if isinstance(evaluator, CoreEvaluator):
            evaluate_position(evaluator, Game(), np.zeros(1, dtype=np.int32))
    for load in (read_evaluator, read_moves):
        with contextlib.suppress(ModelFileError):
            load(str(path))
    return accepted


def read_onnx(data: bytes, folder: Path) -> bool:
    """Load an ONNX file and evaluate a position with it."""
    path = folder / "file.onnx"
    path.write_bytes(data)
    try:
        evaluator = OnnxEvaluator(path)
        evaluate_position(evaluator, Game(), np.zeros(1, dtype=np.int32))
    except (ModelFileError, EvaluatorError):
        return False
    return True


def read_games(data: bytes, folder: Path) -> bool:
    """Read games and replay them; read the first one with its variations."""
    sound = True
    text = data.decode("utf-8", "replace")
    for game in read_pgn(text):
        sound = sound and not game.error
        for _ in game.positions():
            pass
    with contextlib.suppress(ValueError):
        tree_of_pgn(text)
    return sound


def sound_files(kind: str, folder: Path) -> list[bytes]:
    """Files to mutate."""
    if kind == "pgn":
        return [PGN]
    files = []
    for family, observation, actions, sizes in NETWORKS:
        network = make_network(
            family, observation, actions, sizes, torch.Generator().manual_seed(1)
        )
        data = model_bytes(network, describe(network))
        if kind == "model":
            files.append(data)
        elif family in ("mlp", "resnet"):
            (folder / "net.safetensors").write_bytes(data)
            export_onnx(str(folder / "net.safetensors"), folder / "net.onnx")
            files.append((folder / "net.onnx").read_bytes())
    return files


READERS: dict[str, Callable[[bytes, Path], bool]] = {
    "model": read_model,
    "onnx": read_onnx,
    "pgn": read_games,
}


def read_batch(kind: str, files: list[bytes], seeds: range, folder: Path, out: int) -> None:
    """Read one mutated file for each seed; a line per file goes to the descriptor `out`."""
    for seed in seeds:
        os.write(out, f"begin {seed}\n".encode())
        rng = random.Random(seed)
        data = mutate(rng.choice(files), rng)
        try:
            result = "accepted" if READERS[kind](data, folder) else "refused"
        except Exception as error:
            result = f"fault {type(error).__name__}: {' '.join(str(error).split())[:200]}"
        os.write(out, f"{result}\n".encode())


def forked_batch(kind: str, files: list[bytes], seeds: range, folder: Path) -> list[str]:
    """The results of a batch; a crash is the last of them."""
    log = folder / "log"
    pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.alarm(120)
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        read_batch(kind, files, seeds, folder, out)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    lines = log.read_text().splitlines()
    results = [line for line in lines if not line.startswith("begin ")]
    if status != 0:
        results.append(f"crash seed {seeds[len(results)]}: status {status}")
    return results


def fuzz(kind: str, count: int, first: int, end: float) -> tuple[Counter[str], list[str]]:
    """Read `count` files, or fewer until the time is up; counts and faults."""
    counts: Counter[str] = Counter()
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = sound_files(kind, folder)
        for data in files:
            if not READERS[kind](data, folder) and kind != "pgn":
                raise SystemExit(f"file_fuzz: a sound {kind} file is refused")
        at = first
        while at < first + count and time.monotonic() < end:
            seeds = range(at, min(at + BATCH, first + count))
            results = forked_batch(kind, files, seeds, folder)
            for seed, result in zip(seeds, results, strict=False):
                counts[result.split()[0]] += 1
                if not result.startswith(("accepted", "refused")):
                    faults.append(f"{kind} seed {seed}: {result}")
            at += len(results)
    return counts, faults


def main() -> int:
    """Fuzz and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="model, onnx, pgn; default: all")
    parser.add_argument("--files", type=int, default=3000, help="of each kind")
    parser.add_argument("--seconds", type=float, default=3600.0, help="stop each kind after this")
    parser.add_argument("--seed", type=int, default=1, help="of the first file")
    args = parser.parse_args()
    torch.set_num_threads(1)
    report: dict[str, object] = {}
    faults: list[str] = []
    for kind in args.kinds or list(READERS):
        if kind not in READERS:
            parser.error(f"unknown kind {kind!r}; there are {', '.join(READERS)}")
        began = time.monotonic()
        counts, found = fuzz(kind, args.files, args.seed * 10**9, began + args.seconds)
        seconds = round(time.monotonic() - began, 1)
        report[kind] = {"files": counts.total(), **dict(sorted(counts.items())), "seconds": seconds}
        faults += found
        print(f"{kind}: {report[kind]}", file=sys.stderr)
    print(
        json.dumps(
            {**report, "faults": len(faults), "first_faults": faults[:MOST_FAULTS]}, indent=2
        )
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
