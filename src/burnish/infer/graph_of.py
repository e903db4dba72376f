"""Read a model into a graph record, with its shapes inferred for given sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx_ir as ir

from burnish.core.tensors import TensorSpec
from burnish.infer.constants import Constants
from burnish.infer.onnx_inference import ask_onnx
from burnish.infer.shapes import Shapes, infer, stated_size
from burnish.store import onnx_files
from burnish.store.graph import GraphRecord
from burnish.store.graph_nodes import nodes_of


def graph_of(
    model: ir.Model,
    bindings: Mapping[str, int],
    *,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> GraphRecord:
    """Return the main graph of `model`, which stays as it is.

    Symbolic sizes in `bindings` are bound before shapes are inferred. `shapes` are those of
    real inputs, for models whose sizes have no names of their own (`past + sequence`).
    """
    interface = onnx_files.interface(model)
    known = _shapes(model, bindings, shapes or {})
    tensors = {spec.name: spec for spec in _tensors(model, known)}
    return GraphRecord(
        name=model.graph.name or "main",
        nodes=nodes_of(model.graph),
        inputs=tuple(tensors.get(spec.name, spec) for spec in interface.inputs),
        outputs=tuple(tensors.get(spec.name, spec) for spec in interface.outputs),
        tensors=tensors,
        constants=frozenset(_constants(model.graph)),
    )


def _constants(graph: ir.Graph) -> Iterator[str]:
    yield from graph.initializers
    for node in graph:
        if node.op_type == "Constant":
            yield from (value.name or "" for value in node.outputs)


def _shapes(
    model: ir.Model, bindings: Mapping[str, int], shapes: Mapping[str, tuple[int, ...]]
) -> Shapes:
    given = {
        value: found
        for value in _values(model.graph)
        if (found := _given(value, bindings, shapes)) is not None
    }
    return infer(Constants(model), ask_onnx, given=given)


def _values(graph: ir.Graph) -> Iterator[ir.Value]:
    yield from graph.inputs
    yield from graph.outputs
    for node in graph:
        yield from node.outputs


def _tensors(model: ir.Model, known: Shapes) -> Iterator[TensorSpec]:
    """Yield all tensors whose type and rank are known; sizes that are not known have names."""
    for value in dict.fromkeys([*_values(model.graph), *model.graph.initializers.values()]):
        dtype, shape = known.dtype(value), known.of(value)
        name = value.name
        if name and dtype is not None and shape is not None:
            dims = [
                size if isinstance(size, int) else stated_size(size) or f"{name}_dim_{axis}"
                for axis, size in enumerate(shape)
            ]
            yield TensorSpec(name, dtype, tuple(dims))


def _given(
    value: ir.Value, bindings: Mapping[str, int], shapes: Mapping[str, tuple[int, ...]]
) -> tuple[int | str | None, ...] | None:
    """Return what is given; what is not known is left to inference."""
    if (value.name or "") in shapes:
        return shapes[value.name or ""]
    return None if value.shape is None else tuple(_bound(dim, bindings) for dim in value.shape)


def _bound(dim: int | ir.SymbolicDim, bindings: Mapping[str, int]) -> int | str | None:
    if isinstance(dim, int):
        return dim if dim >= 0 else None
    return None if dim.value is None else bindings.get(dim.value, dim.value)
