"""The interface between networks and their users: a batch of positions in, evaluations out.

An `Evaluator` takes encoded positions and their concatenated legal actions, and returns logits over
the legal actions and a value per position. Searches and players use networks only through this
protocol. `rookery.nets.native.network_evaluator` makes the fastest one.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rookery._core import Game
from rookery.base.extras import how_to_install
from rookery.base.registry import load
from rookery.encodings import ACTIONS, OBSERVATIONS
from rookery.nets import ActionValueNetwork, PolicyValueNetwork
from rookery.nets.model_file import (
    KEY,
    ModelFileError,
    board_of,
    family_of,
    info_of,
    parse_info,
    parse_model,
    require_layouts,
)

Array = NDArray[Any]
Floats = NDArray[np.float32]
Answer = tuple[Floats, Floats]  # logits [L] over the legal actions, values [B] of the side to move


class EvaluatorError(ValueError):
    """An evaluation with a NaN or an infinity, or a malformed batch."""


@runtime_checkable
class Evaluator(Protocol):
    """Evaluates batches of positions."""

    name: str
    observation: str  # layouts of rookery.encodings
    actions: str
    bounded: bool  # whether values are in [-1, 1]; otherwise they are in units of reward

    def evaluate(self, observations: Array, legal_actions: Array, legal_offsets: Array) -> Answer:
        """Evaluate B positions.

        Args:
            observations: [B, *shape], float32 or uint8.
            legal_actions: Integers [L], the legal actions of all positions, concatenated.
            legal_offsets: Integers [B + 1], where the actions of each position begin and end.
        """
        ...


class TorchEvaluator:
    """Evaluates with torch, on the network's device; Q values serve as logits."""

    def __init__(
        self, network: PolicyValueNetwork | ActionValueNetwork, name: str = "network"
    ) -> None:
        """Keep a reference to the network; later changes of its weights take effect."""
        self.name = name
        self.observation = network.observation
        self.actions = network.actions
        self.bounded = network.bounded
        self.board = board_of(network)
        self._module: Any = network  # the protocols do not require a torch module
        self._answer = network.action_values if isinstance(network, ActionValueNetwork) else network

    def evaluate(self, observations: Array, legal_actions: Array, legal_offsets: Array) -> Answer:
        """Evaluate B positions; only the logits of legal actions are computed."""
        import torch

        from rookery.nets.device import device_of, put

        rows = check_batch(self, observations, legal_actions, legal_offsets)
        training = self._module.training
        self._module.eval()
        with torch.inference_mode():
            arrays = (observations, np.asarray(legal_actions, dtype=np.int64), rows)
            device = device_of(self._module)
            logits, values = self._answer(*(put(array, device) for array in arrays))
        self._module.train(training)
        return check_answer(self, logits.cpu().numpy(), values.cpu().numpy())


class OnnxEvaluator:
    """Evaluates an exported network with ONNX Runtime, without torch."""

    def __init__(self, path: Path, threads: int = 1) -> None:
        """Load a file written by `rookery export`."""
        try:
            import onnxruntime
        except ImportError:
            raise ImportError(
                f"an .onnx file needs onnxruntime; install it with: {how_to_install('train')}"
            ) from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        content = path.read_bytes()
        try:
            # Without its fallback, which prints to standard output.
            self._session = onnxruntime.InferenceSession(
                content, options, providers=["CPUExecutionProvider"], enable_fallback=0
            )
        except Exception as error:  # its exception types are not public
            text = " ".join(str(error).split())[:300]
            raise ModelFileError(f"{path} is not a usable ONNX file: {text}") from None
        try:
            metadata = self._session.get_modelmeta().custom_metadata_map
        except UnicodeDecodeError as error:
            raise ModelFileError(f"{path} has damaged metadata: {error}") from None
        if KEY not in metadata:
            raise ModelFileError(f"{path} was not exported by Rookery: it lacks the metadata")
        self.info = parse_info(metadata[KEY], str(path))
        require_layouts(self.info, str(path))
        self.name = path.stem
        self.observation = self.info.observation
        self.actions = self.info.actions
        self.board = self.info.board
        self.bounded = metadata.get("bounded") == "true"
        self._path = path
        # A graph can be sound and not fit its metadata; ask once instead of failing in a game.
        shape = (1, *OBSERVATIONS[self.observation].shape)
        logits, values = self._run(np.zeros(shape, dtype=np.float32))
        if logits.shape != (1, ACTIONS[self.actions].count) or values.shape != (1,):
            raise ModelFileError(
                f"{path} answers one position with logits of shape {logits.shape} and values of "
                f"shape {values.shape}, which is not what {self.actions!r} needs; export it again"
            )

    def evaluate(self, observations: Array, legal_actions: Array, legal_offsets: Array) -> Answer:
        """Evaluate B positions; all logits are computed and the legal ones gathered."""
        rows = check_batch(self, observations, legal_actions, legal_offsets)
        logits, values = self._run(np.ascontiguousarray(observations, dtype=np.float32))
        return check_answer(self, logits[rows, legal_actions], values)

    def _run(self, inputs: Array) -> tuple[Array, Array]:
        """Logits [B, A] and values [B]."""
        try:
            logits, values = self._session.run(None, {"observations": inputs})
            return np.asarray(logits), np.asarray(values)
        except Exception as error:  # its exception types are not public
            text = " ".join(str(error).split())[:300]
            raise ModelFileError(f"{self._path} cannot be evaluated: {text}") from None


class FakeEvaluator:
    """For tests: deterministic pseudo-random evaluations, or those of `function`.

    `function` maps an observation and its legal actions to logits and a value.
    """

    def __init__(
        self,
        observation: str = "planes22",
        actions: str = "az4672",
        function: Callable[[Array, Array], tuple[Any, float]] | None = None,
    ) -> None:
        """Evaluate positions in these layouts."""
        self.name = "fake"
        self.observation = observation
        self.actions = actions
        self.bounded = True
        self._function = function or _arbitrary

    def evaluate(self, observations: Array, legal_actions: Array, legal_offsets: Array) -> Answer:
        """Evaluate B positions, one by one."""
        check_batch(self, observations, legal_actions, legal_offsets)
        logits = np.zeros(len(legal_actions), np.float32)
        values = np.zeros(len(observations), np.float32)
        for index, observation in enumerate(observations):
            part = slice(legal_offsets[index], legal_offsets[index + 1])
            logits[part], values[index] = self._function(observation, legal_actions[part])
        return check_answer(self, logits, values)


def evaluate_position(evaluator: Evaluator, game: Game, legal: Array) -> tuple[Floats, float]:
    """Logits [L] of the legal actions of one position, and its value."""
    observation = game.encode(evaluator.observation)[np.newaxis]
    offsets = np.array([0, len(legal)], dtype=np.int64)
    logits, values = evaluator.evaluate(observation, legal, offsets)
    return logits, float(values[0])


def load_evaluator(source: str, threads: int = 1) -> Evaluator:
    """The evaluator of a model file, an .onnx file, a run folder or a shipped network.

    Native or in NumPy where the family has such a form, otherwise in torch.
    """
    if source.endswith(".onnx"):
        return OnnxEvaluator(Path(source), threads)
    found: Evaluator | None = without_torch(source, threads)
    return found or TorchEvaluator(load_network(source, threads), short_name(source))


def without_torch(source: str, threads: int = 1) -> Any:
    """The evaluator that needs no torch; None if the family of this model has no such form.

    Of the family's own type: an `Evaluator`, or for a value network the core's `BatchEvaluator`.
    """
    from rookery.nets.model_arrays import parse_arrays
    from rookery.nets.native import CoreEvaluator

    origin, data = read_model(source)
    family = family_of(info_of(data, origin), origin)
    if not (family.native or family.arrays):
        return None
    weights, info = parse_arrays(data, origin)
    try:
        if family.arrays:
            return load(family.arrays)(weights, info, short_name(source))
        native = load(family.native)(weights, info)
    except ValueError as error:
        raise ModelFileError(f"{origin}: {error}") from None
    if native is None:
        return None
    return CoreEvaluator(native, info, short_name(source), threads)


def short_name(source: str) -> str:
    """The name of a network loaded from a path: the file name without its suffix."""
    return Path(source).name.removesuffix(".safetensors")


def load_network(source: str, threads: int = 1) -> Any:
    """The torch network of a model file, a run folder or a shipped network.

    Sets torch's number of threads, which is global to the process.
    """
    origin, data = read_model(source)
    try:
        import torch
    except ImportError:
        raise ImportError(
            f"{source} needs torch; install it with: {how_to_install('train')}"
        ) from None
    from rookery.nets.device import player_device

    torch.set_num_threads(threads)
    return parse_model(data, origin)[0].to(player_device())


def read_model(source: str) -> tuple[str, bytes]:
    """Origin and content of the model at a path, or of a shipped network by its name.

    A run folder stands for the model of its newest intact checkpoint, a checkpoint for its own.
    """
    from rookery.runs.checkpoint import Checkpoints

    path = Path(source)
    if path.parent.name == "checkpoints" and (path / "model.safetensors").is_file():
        path = path / "model.safetensors"
    if path.is_dir():
        found = Checkpoints(path / "checkpoints").newest_model()
        if found is None:
            raise ModelFileError(f"{source} is not a run folder, or has no intact checkpoint")
        return str(found[0]), found[1]
    if not path.exists() and "/" not in source:
        shipped = resources.files("rookery") / "networks" / f"{source}.safetensors"
        if shipped.is_file():
            return source, shipped.read_bytes()
    if not path.is_file():
        raise ModelFileError(f"{source} is not a model file, run folder or shipped network")
    return source, path.read_bytes()


def check_batch(
    evaluator: Evaluator, observations: Array, legal_actions: Array, legal_offsets: Array
) -> NDArray[np.int64]:
    """Refuse a malformed batch; return the position of each legal action, [L]."""
    shape = OBSERVATIONS[evaluator.observation].shape
    count = len(observations)
    if observations.shape[1:] != shape:
        raise EvaluatorError(
            f"observations have the shape {observations.shape[1:]}, but {evaluator.name} needs "
            f"{evaluator.observation} of shape {shape}"
        )
    lengths = np.diff(legal_offsets)
    ends = (int(legal_offsets[0]), int(legal_offsets[-1])) if len(legal_offsets) else (0, -1)
    if len(lengths) != count or ends != (0, len(legal_actions)) or (count and lengths.min() < 1):
        raise EvaluatorError(
            f"offsets [{len(legal_offsets)}] do not split {len(legal_actions)} legal actions into "
            f"{count} lists of at least one"
        )
    limit = ACTIONS[evaluator.actions].count
    if len(legal_actions) and not 0 <= int(legal_actions.min()) <= int(legal_actions.max()) < limit:
        raise EvaluatorError(f"a legal action is outside [0, {limit}) of {evaluator.actions}")
    return np.repeat(np.arange(count, dtype=np.int64), lengths)


def check_answer(evaluator: Evaluator, logits: Floats, values: Floats) -> Answer:
    """Refuse NaN and infinities, which would corrupt a search."""
    if not (np.isfinite(logits).all() and np.isfinite(values).all()):
        raise EvaluatorError(f"{evaluator.name} answered with a NaN or an infinity")
    return np.asarray(logits, np.float32), np.asarray(values, np.float32)


def _arbitrary(observation: Array, legal: Array) -> tuple[Any, float]:
    seed = zlib.crc32(np.ascontiguousarray(observation, dtype=np.float32).tobytes())
    # A multiplicative hash: cheap and the same on every machine.
    mixed = (np.asarray(legal, np.uint64) + np.uint64(seed)) * np.uint64(0x9E3779B97F4A7C15)
    logits = (mixed >> np.uint64(40)).astype(np.float64) / (1 << 24) * 4 - 2
    return logits, (seed % 2001 - 1000) / 1000
