from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch

from rookery.runs.checkpoint import (
    MANIFEST,
    MODEL,
    STATE,
    VALUES,
    CheckpointError,
    Checkpoints,
    Counters,
    FutureFormatError,
    folder_name,
)
from rookery.runs.state import State, StateError, seed_of


def make_state(number: int) -> State:
    state = State()
    state.put_tensors("weights", {"a": torch.full((7,), float(number)), "scalar": torch.tensor(1)})
    state.values["number"] = number
    return state


def save(checkpoints: Checkpoints, step: int, milestone: bool = False) -> None:
    counters = Counters(iterations=step, samples=10 * step)
    checkpoints.save(make_state(step), b"model %d" % step, counters, {"name": "x"}, milestone)


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    messages: list[str] = []
    made = Checkpoints(tmp_path, messages.append)
    made.messages = messages  # type: ignore[attr-defined]
    for step in (10, 20):
        save(made, step)
    return made


def test_round_trip(checkpoints: Checkpoints) -> None:
    found = checkpoints.newest()
    assert found is not None
    checkpoint, state = found
    assert (checkpoint.step, checkpoint.counters.samples) == (20, 200)
    assert checkpoint.recipe == {"name": "x"}
    assert state.value("number") == 20
    assert torch.equal(state.get_tensors("weights")["a"], torch.full((7,), 20.0))
    assert checkpoints.newest_model() == (checkpoint.path / MODEL, b"model 20")


def test_no_checkpoints_at_all(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path / "none").newest() is None
    assert Checkpoints(tmp_path / "none").newest_model() is None


def content(checkpoints: Checkpoints, step: int) -> object:
    """Everything that a checkpoint says, or None if it is refused."""
    try:
        checkpoint = checkpoints.read(step)
        files = {name: checkpoint.read(name) for name in checkpoint.files}
        checkpoint.load_state()
    except CheckpointError:
        return None
    return checkpoint, files


def test_every_flipped_bit_is_noticed(checkpoints: Checkpoints) -> None:
    """A bit in each byte, every bit of each eleventh byte."""
    good = content(checkpoints, 20)
    assert good is not None
    flips = 0
    for name in (MANIFEST, STATE, VALUES, MODEL):
        path = checkpoints.folder / folder_name(20) / name
        data = path.read_bytes()
        with path.open("r+b", buffering=0) as file:
            for place in range(len(data)):
                for bit in range(8) if place % 11 == 0 else (place * 3 % 8,):
                    os.pwrite(file.fileno(), bytes([data[place] ^ 1 << bit]), place)
                    assert content(checkpoints, 20) is None, (name, place, bit)
                    flips += 1
                os.pwrite(file.fileno(), data[place : place + 1], place)
    assert flips > 1000
    assert content(checkpoints, 20) == good


@pytest.mark.parametrize("name", [MANIFEST, STATE, VALUES, MODEL])
def test_every_truncation_is_noticed(checkpoints: Checkpoints, name: str) -> None:
    path = checkpoints.folder / folder_name(20) / name
    good = path.read_bytes()
    for length in {0, 1, 7, len(good) // 2, len(good) - 2}:
        path.write_bytes(good[:length])
        with pytest.raises(CheckpointError):
            checkpoint = checkpoints.read(20)
            checkpoint.read(MODEL)
            checkpoint.load_state()


@pytest.mark.parametrize("name", [MANIFEST, STATE, VALUES, MODEL])
@pytest.mark.parametrize("damage", ["flip", "cut", "missing"])
def test_falls_back_one_generation_and_says_so(
    checkpoints: Checkpoints, name: str, damage: str
) -> None:
    path = checkpoints.folder / folder_name(20) / name
    good = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        middle = len(good) // 2
        flipped = good[:middle] + bytes([good[middle] ^ 64]) + good[middle + 1 :]
        path.write_bytes(flipped if damage == "flip" else good[:middle])
    found = checkpoints.newest()
    assert found is not None
    assert found[0].step == 10
    text = " ".join(checkpoints.messages)  # type: ignore[attr-defined]
    assert "00000020 is damaged" in text
    assert "from checkpoint 00000010" in text
    # The damaged one is kept for whoever wants to look at it, and its step can be written again.
    assert (checkpoints.folder / "00000020.damaged").is_dir()
    save(checkpoints, 20)
    assert checkpoints.newest()[0].step == 20  # type: ignore[index]


def test_nothing_sound_is_an_error_and_not_a_new_beginning(checkpoints: Checkpoints) -> None:
    for step in (10, 20):
        (checkpoints.folder / folder_name(step) / STATE).write_bytes(b"")
    with pytest.raises(CheckpointError, match="all checkpoints"):
        checkpoints.newest()


def test_future_format_is_refused_and_not_taken_for_damage(checkpoints: Checkpoints) -> None:
    from rookery.runs.checkpoint import _canonical, checksum

    path = checkpoints.folder / folder_name(20) / MANIFEST
    content = json.loads(path.read_bytes())
    del content["sha256"]
    content["format"] = 2
    content["news"] = True
    content["sha256"] = checksum(_canonical(content))
    path.write_text(json.dumps(content))
    with pytest.raises(FutureFormatError, match=r"format 2.*reads 1"):
        checkpoints.newest()


def test_nan_is_never_saved(checkpoints: Checkpoints) -> None:
    state = make_state(30)
    state.tensors["weights.a"][3] = float("nan")
    with pytest.raises(StateError, match=r"weights\.a"):
        checkpoints.save(state, b"", Counters(iterations=30), {})
    state.tensors["weights.a"][3] = float("inf")
    with pytest.raises(StateError, match=r"weights\.a"):
        checkpoints.save(state, b"", Counters(iterations=30), {})
    assert checkpoints.steps() == [10, 20]


def test_thinning_keeps_the_newest_and_the_models_of_milestones(checkpoints: Checkpoints) -> None:
    for step in (30, 40, 50):
        save(checkpoints, step, milestone=step == 30)
    checkpoints.thin(2)
    assert checkpoints.steps() == [30, 40, 50]
    milestone = checkpoints.read(30)
    assert not milestone.resumable
    assert milestone.read(MODEL) == b"model 30"
    assert sorted(os.listdir(milestone.path)) == [MANIFEST, MODEL]
    for step in (40, 50):
        (checkpoints.folder / folder_name(step) / STATE).write_bytes(b"")
    with pytest.raises(CheckpointError, match="all checkpoints"):  # a model is not enough
        checkpoints.newest()


def test_amending_changes_counters_only(checkpoints: Checkpoints) -> None:
    counters = Counters(iterations=20, samples=200, rounds=3)
    checkpoints.amend(20, counters, milestone=True)
    found = checkpoints.newest()
    assert found is not None
    assert found[0].counters == counters
    assert found[0].milestone


def test_state_restores_everything_exactly() -> None:
    torch.manual_seed(1)
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    optimizer = torch.optim.Adam(module.parameters(), 1e-3, betas=(0.8, 0.9))
    numpy_rng, torch_rng = np.random.default_rng(5), torch.Generator().manual_seed(6)
    other_rng = np.random.Generator(np.random.MT19937(7))
    for _ in range(3):
        module(torch.randn(5, 3)).square().sum().backward()
        optimizer.step()
        numpy_rng.random(), other_rng.random(), torch.rand(1, generator=torch_rng)
    state = State()
    state.put_module("net", module)
    state.put_optimizer("opt", optimizer)
    for name, rng in (("n", numpy_rng), ("t", torch_rng), ("m", other_rng)):
        state.put_generator(name, rng)  # type: ignore[arg-type]
    state.put_bytes("games", b"\x00\x01\xff")
    state.put_bytes("empty", b"")
    state.values = json.loads(json.dumps(state.values))  # as a file gives it back

    twin = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    twin_optimizer = torch.optim.Adam(twin.parameters(), 0.5)
    state.get_module("net", twin)
    state.get_optimizer("opt", twin_optimizer)
    assert twin_optimizer.param_groups[0]["betas"] == (0.8, 0.9)
    fresh = np.random.default_rng(0), torch.Generator(), np.random.Generator(np.random.MT19937(0))
    for name, rng in zip("ntm", fresh, strict=True):
        state.get_generator(name, rng)  # type: ignore[arg-type]
    assert fresh[0].random() == numpy_rng.random()
    assert fresh[2].random() == other_rng.random()
    assert torch.rand(1, generator=fresh[1]) == torch.rand(1, generator=torch_rng)
    assert state.get_bytes("games") == b"\x00\x01\xff"
    assert state.get_bytes("empty") == b""
    inputs = torch.randn(5, 3)
    for net, opt in ((module, optimizer), (twin, twin_optimizer)):
        opt.zero_grad()
        net(inputs).square().sum().backward()
        opt.step()
    for ours, theirs in zip(module.parameters(), twin.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_a_state_that_does_not_fit_says_what() -> None:
    state = State()
    state.put_module("net", torch.nn.Linear(2, 3))
    with pytest.raises(StateError, match="net"):
        state.get_module("net", torch.nn.Linear(2, 4))
    with pytest.raises(StateError, match="'other'"):
        state.get_module("other", torch.nn.Linear(2, 3))
    with pytest.raises(StateError, match="'epsilon'"):
        state.value("epsilon")


def test_seeds_of_purposes_are_unrelated() -> None:
    seeds = {seed_of(seed, *names) for seed in (1, 2) for names in ((), ("a",), ("a", 1), ("a1",))}
    assert len(seeds) == 8
    assert all(0 <= seed < 1 << 63 for seed in seeds)
    assert seed_of(1, "a") == seed_of(1, "a")


def test_moments_of_other_shapes_are_refused() -> None:
    """torch would take them, and fail or learn nonsense in the next step."""
    layers = [torch.nn.Linear(3, 2), torch.nn.Linear(4, 2)]
    optimizers = [torch.optim.Adam(layer.parameters()) for layer in layers]
    layers[0](torch.ones(1, 3)).sum().backward()
    optimizers[0].step()
    state = State()
    state.put_optimizer("opt", optimizers[0])
    with pytest.raises(StateError, match=r"exp_avg has the shape \[2, 3\] for weights of \[2, 4\]"):
        state.get_optimizer("opt", optimizers[1])
