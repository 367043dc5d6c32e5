"""`rookery export`: write a network in a form that other programs read."""

from __future__ import annotations

import argparse

from rookery.base.json_output import write_json

HELP = "write a network as ONNX"
DESCRIPTION = (
    "Write a network as an ONNX file: observations in, logits over all actions "
    "and values out, for batches of any size."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "player", metavar="PLAYER", help="model file, run folder or shipped network"
    )
    parser.add_argument("--onnx", metavar="FILE", required=True, help="the file to write")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    """Export and say what was written."""
    from pathlib import Path

    from rookery.nets.onnx_export import export_onnx

    path = Path(args.onnx)
    if path.suffix != ".onnx":
        raise ValueError(f"--onnx {args.onnx!r} must end in .onnx")
    info = export_onnx(args.player, path)
    size = path.stat().st_size
    if args.json:
        layouts = {"observation": info.observation, "actions": info.actions}
        write_json({"file": str(path), "bytes": size, "family": info.family, **layouts})
    else:
        print(f"{path}: {info.family} on {info.observation}, {info.actions}, {size:,} bytes")
    return 0
