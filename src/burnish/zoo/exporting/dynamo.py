"""PyTorch's newer exporter: `torch.export`, then ONNX."""

from __future__ import annotations

from typing import Any

from burnish.zoo.entry import BuiltModel
from burnish.zoo.exporting.graph import (
    ExportedGraph,
    example,
    require_dynamic,
    require_opset,
    tidied,
)


def export(built: BuiltModel, *, opset: int, infer_axes: bool = False) -> ExportedGraph:
    """Return the graph of a module; with `infer_axes`, let PyTorch find how sizes depend.

    Fails if the graph is not in `opset`, or if an axis that should be dynamic is not.
    """
    import torch

    inputs = example(built)
    program = torch.onnx.export(
        built.module,
        tuple(inputs.values()),
        dynamo=True,
        opset_version=opset,
        verbose=False,
        input_names=list(inputs),
        output_names=list(built.output_names),
        dynamic_shapes=_shapes(built, infer_axes=infer_axes),
    )
    model = tidied(program.model)
    require_opset(model, opset)
    require_dynamic(model, built.dynamic_axes)
    return ExportedGraph(_renamed(model, built) if infer_axes else model)


def _shapes(built: BuiltModel, *, infer_axes: bool) -> dict[str, dict[int, Any]] | None:
    """Return which axes are dynamic: by name, or all as PyTorch finds them."""
    import torch

    if not built.dynamic_axes:
        return None
    return {
        name: {
            axis: torch.export.Dim.AUTO if infer_axes else symbol
            for axis, symbol in built.dynamic_axes.get(name, {}).items()
        }
        for name in built.inputs
    }


def _renamed(model: Any, built: BuiltModel) -> Any:  # noqa: ANN401  (an ir.Model)
    """Give the axes of the inputs and outputs the names they were asked for by, in place."""
    import onnx_ir as ir

    names: dict[str, str] = {}
    for value in model.graph.inputs:
        for axis, symbol in built.dynamic_axes.get(value.name, {}).items():
            names.setdefault(str(value.shape[axis].value), symbol)
    for value in (*model.graph.inputs, *model.graph.outputs):
        if value.shape is not None:
            value.shape = ir.Shape(
                [
                    dim if isinstance(dim, int) else names.get(str(dim.value), dim.value)
                    for dim in value.shape
                ]
            )
    return model
