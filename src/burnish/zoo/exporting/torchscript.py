"""PyTorch's older exporter: the module is run once, and what it did is written down."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from burnish.process.scratch import scratch
from burnish.store import onnx_files
from burnish.zoo.entry import BuiltModel
from burnish.zoo.exporting.graph import ExportedGraph, example, output_axes, require_opset, tidied

Shapes = Sequence[Sequence[Sequence[int]]]


def export(built: BuiltModel, *, opset: int, shapes: Shapes) -> ExportedGraph:
    """Return the graph of a module; `shapes` are those of its outputs for both inputs."""
    import torch

    inputs = example(built)
    axes = {**built.dynamic_axes, **output_axes(built, shapes)} if built.dynamic_axes else {}
    with scratch("torchscript") as folder:
        path = folder / "model.onnx"
        torch.onnx.export(
            built.module,
            tuple(inputs.values()),
            path,
            dynamo=False,
            opset_version=opset,
            input_names=list(inputs),
            output_names=list(built.output_names),
            dynamic_axes=axes,
        )
        model = _in_memory(onnx_files.read(path))
    require_opset(model, opset)
    return ExportedGraph(tidied(model))


def _in_memory(model: ir.Model) -> ir.Model:
    """Load weights that lie in files which are about to go, in place."""
    ir.external_data.load_to_model(model)
    return model
