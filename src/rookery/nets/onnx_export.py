"""Model files as ONNX: inputs `observations` [B, *shape], outputs `logits` [B, A], `values` [B]."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

from rookery.base.extras import how_to_install
from rookery.base.storage import atomic_write
from rookery.encodings import OBSERVATIONS
from rookery.nets import ActionValueNetwork, PolicyValueNetwork, ValueNetwork
from rookery.nets.evaluator import read_model
from rookery.nets.model_file import KEY, ModelInfo, info_text, parse_model
from rookery.nets.registry import FAMILIES

OPSET = 17


def export_onnx(source: str, path: Path) -> ModelInfo:
    """Write the network of a model file, run folder or shipped network to an .onnx file."""
    try:
        import onnx
        import torch  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"exporting needs {error.name}; install it with: {how_to_install('train')}"
        ) from None
    origin, data = read_model(source)
    network, info = parse_model(data, origin)
    if not FAMILIES[info.family].onnx:
        raise ValueError(
            f"{source}: networks of family {info.family!r} have no ONNX form; those of "
            f"{', '.join(name for name in FAMILIES if FAMILIES[name].onnx)} do, such as 'ppo' and "
            "'alphazero'"
        )
    graph = onnx.load_from_string(onnx_bytes(network))
    for key, value in {KEY: info_text(info), "bounded": str(network.bounded).lower()}.items():
        graph.metadata_props.add(key=key, value=value)
    onnx.checker.check_model(graph)
    atomic_write(path, graph.SerializeToString())
    return info


def onnx_bytes(network: PolicyValueNetwork | ActionValueNetwork | ValueNetwork) -> bytes:
    """The network as ONNX with a dynamic batch size.

    `logits` are Q values for an action-value network and have no columns for a value network.
    """
    import torch

    class Dense(torch.nn.Module):
        """All logits, legal or not."""

        def __init__(self) -> None:
            super().__init__()
            self.network: Any = network  # a submodule, so that its weights are exported

        def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            if not isinstance(network, ValueNetwork):
                return network.dense(observations)
            values = network.values(observations)
            return values.new_zeros(len(values), 0), values

    example = torch.zeros(2, *OBSERVATIONS[network.observation].shape)
    target = io.BytesIO()
    names = ["observations", "logits", "values"]
    with warnings.catch_warnings():
        # The newer exporter would add a dependency, onnxscript.
        warnings.simplefilter("ignore", DeprecationWarning)
        # Group normalisation checks sizes that do not depend on the batch.
        warnings.simplefilter("ignore", torch.jit.TracerWarning)  # type: ignore[attr-defined]
        torch.onnx.export(
            Dense().eval(),
            (example,),
            target,  # type: ignore[arg-type] # a file object is documented
            input_names=names[:1],
            output_names=names[1:],
            dynamic_axes={name: {0: "batch"} for name in names},
            opset_version=OPSET,
            dynamo=False,
        )
    return target.getvalue()
