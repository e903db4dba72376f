"""What both exporters give back, and what is tidied in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from burnish.core.arrays import Arrays
from burnish.zoo.entry import BuiltModel, Tensors

_MACHINE_NOTES = ("stack_trace", "fx_node")
"""Metadata that speaks of the machine the exporter ran on."""


@dataclass(frozen=True, slots=True)
class ExportedGraph:
    """A graph, and what its exporter said that a user should know."""

    model: ir.Model
    notes: tuple[str, ...] = ()


class NotDoneError(Exception):
    """The exporter gave something back, but not what it was asked for."""


def tidied(model: ir.Model) -> ir.Model:
    """Remove the exporter's notes about its own insides, in place."""
    for node in model.graph.all_nodes():
        node.doc_string = None
        for key in list(node.metadata_props):
            if key.endswith(_MACHINE_NOTES):
                del node.metadata_props[key]
    return model


def example(built: BuiltModel) -> Tensors:
    """Return the inputs to trace with: those without a dynamic size of 1, which would be fixed."""
    for inputs in (built.inputs, built.second_inputs):
        dynamic = (
            inputs[name].shape[axis] for name, axes in built.dynamic_axes.items() for axis in axes
        )
        if 1 not in dynamic:
            return inputs
    return built.inputs


def require_opset(model: ir.Model, opset: int) -> None:
    """Refuse a graph in another opset: exporters go on when their own converter fails."""
    found = model.opset_imports.get("", 0)
    if found != opset:
        raise NotDoneError(f"opset {opset} was asked for, the exporter wrote opset {found}")


def require_dynamic(model: ir.Model, axes: Mapping[str, Mapping[int, str]]) -> None:
    """Refuse a graph whose axes were fixed to the sizes of the example."""
    fixed = [
        f"{value.name}[{axis}] ({symbol}) is {value.shape[axis]}"
        for value in model.graph.inputs
        if value.shape is not None
        for axis, symbol in axes.get(value.name or "", {}).items()
        if isinstance(value.shape[axis], int)
    ]
    if fixed:
        raise NotDoneError(f"the exporter fixed dynamic axes: {', '.join(fixed)}")


def require_types(model: ir.Model, outputs: Arrays) -> None:
    """Refuse a graph whose outputs have other types than PyTorch's: it mixes types inside."""
    for value in model.graph.outputs:
        name = value.name or ""
        wanted = ir.DataType.from_numpy(outputs[name].dtype) if name in outputs else value.dtype
        if value.dtype != wanted:
            raise NotDoneError(
                f"the exporter wrote the output {name!r} as {value.dtype}, PyTorch gives {wanted}"
            )


def output_axes(
    built: BuiltModel, outputs: Sequence[Sequence[Sequence[int]]]
) -> dict[str, dict[int, str]]:
    """Return the axes of each output that change with the inputs, named after the size they follow.

    `outputs` are the shapes of all outputs for the first and for the second inputs.
    """
    symbols: dict[tuple[int, int], str] = {}
    for name, axes in built.dynamic_axes.items():
        for axis, symbol in axes.items():
            pair = (built.inputs[name].shape[axis], built.second_inputs[name].shape[axis])
            symbols.setdefault((int(pair[0]), int(pair[1])), symbol)
    found: dict[str, dict[int, str]] = {}
    for name, first, second in zip(built.output_names, *outputs, strict=True):
        pairs = enumerate(zip(first, second, strict=True))
        found[name] = {
            axis: symbols.get(pair, f"{name}_dim_{axis}")
            for axis, pair in pairs
            if pair[0] != pair[1]
        }
    return found
