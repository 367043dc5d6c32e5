"""Export a network to ONNX.

Write an ONNX model that maps observations to logits over all actions and to values, for any
batch size.
"""

from __future__ import annotations

import argparse

from rookery.commands._common import output_file, print_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "player", metavar="PLAYER", help="model file, run folder or shipped network"
    )
    parser.add_argument("--onnx", metavar="FILE", required=True, help="file to write")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Export the network."""
    from rookery.nets.onnx_export import export_onnx

    path = output_file("onnx", args.onnx, ".onnx")
    info = export_onnx(args.player, path)
    size = path.stat().st_size
    layouts = {"observation": info.observation, "actions": info.actions}
    result = {"file": str(path), "bytes": size, "family": info.family, **layouts}
    text = f"{path}: {info.family} on {info.observation}, {info.actions}, {size:,} bytes"
    return print_result(args, result, text)
