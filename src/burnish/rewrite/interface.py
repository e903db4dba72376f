"""Change what a model takes, where the user asks for it: narrower integers, names of axes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import onnx_ir as ir

from burnish.core.errors import UsageError
from burnish.core.nearest import suggestion
from burnish.infer import walk
from burnish.infer.constants import sizes
from burnish.rewrite.passes.names import FixNames

_WIDE, _NARROW = ir.DataType.INT64, ir.DataType.INT32


def with_i32_inputs(model: ir.Model) -> tuple[ir.Model, tuple[str, ...]]:
    """Return a copy whose i64 inputs are i32, and their names; a Cast behind each widens it again.

    So every reader gets what it got before, whatever types it takes.
    """
    copy = model.clone()
    graph = copy.graph
    wide = [value for value in graph.inputs if value.dtype == _WIDE]
    if not wide:
        raise UsageError(
            "--int32-inputs: the model has no input of i64", hint="leave --int32-inputs away"
        )
    for value in wide:
        _require_free(value)
    for value in wide:
        made = _cast(value, _WIDE, f"{value.name}/i64")
        for reader, position in tuple(value.uses()):
            if reader is not made:
                reader.replace_input_with(position, made.outputs[0])
        value.type = ir.TensorType(_NARROW)
        if len(graph):
            graph.insert_before(graph[0], made)
    FixNames()(copy)
    return copy, tuple(value.name or "" for value in wide)


def _require_free(value: ir.Value) -> None:
    """Raise if an input is more than an input."""
    if value.is_initializer():
        raise UsageError(
            f"--int32-inputs: the input {value.name!r} has a default of i64 in the model",
            hint="take the default out of the model, or leave --int32-inputs away",
        )
    if value.is_graph_output():
        raise UsageError(
            f"--int32-inputs: the input {value.name!r} is also an output, whose type would change",
            hint="leave --int32-inputs away",
        )


def with_axes_renamed(model: ir.Model, names: Mapping[str, str]) -> ir.Model:
    """Return a copy whose inputs and outputs call their axes by new names.

    Two axes that get the same name are promised to be equally long: callers must keep that.
    """
    known = {
        size
        for value in (*model.graph.inputs, *model.graph.outputs)
        for size in sizes(value) or ()
        if isinstance(size, str)
    }
    for name in names:
        if name not in known:
            raise UsageError(
                f"--rename-axis: no input or output has an axis {name!r}",
                hint=suggestion(name, sorted(known)),
            )
    copy = model.clone()
    made = itertools.chain.from_iterable(node.outputs for node in walk.nodes(copy))
    for value in (*copy.graph.inputs, *made):
        have = sizes(value)
        if have is not None and any(isinstance(size, str) and size in names for size in have):
            value.shape = ir.Shape(
                [names.get(size, size) if isinstance(size, str) else size for size in have]
            )
    return copy


def with_interface_of(model: ir.Model, original: ir.Model) -> ir.Model:
    """Return a copy that takes and gives the element types of the original, by casts outside.

    Inputs and outputs must have the same names and order in both.
    """
    copy = model.clone()
    graph = copy.graph
    for index, (value, wanted) in enumerate(zip(graph.inputs, original.graph.inputs, strict=True)):
        if value.dtype != wanted.dtype and value.dtype is not None:
            outer = ir.Value(name=value.name, type=wanted.type, shape=value.shape)
            cast = _cast(outer, value.dtype, f"{value.name}/inside")
            value.replace_all_uses_with(cast.outputs[0], replace_graph_outputs=True)
            graph.inputs[index] = outer
            if len(graph):
                graph.insert_before(graph[0], cast)
            else:
                graph.append(cast)
    pairs = zip(tuple(graph.outputs), original.graph.outputs, strict=True)
    for index, (value, wanted) in enumerate(pairs):
        if value.dtype != wanted.dtype and wanted.dtype is not None:
            name, value.name = value.name or "", f"{value.name}/inside"
            cast = _cast(value, wanted.dtype, name)
            graph.append(cast)
            graph.outputs[index] = cast.outputs[0]
    FixNames()(copy)
    return copy


def _cast(value: ir.Value, wanted: ir.DataType, name: str) -> ir.Node:
    made = ir.node("Cast", [value], attributes={"to": int(wanted)}, name=f"{name}/Cast")
    made.outputs[0].name = name
    made.outputs[0].type, made.outputs[0].shape = ir.TensorType(wanted), value.shape
    return made
