"""Make a model static: every size a number, and what is computed from sizes a constant."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.core.errors import ModelError, UsageError
from burnish.core.nearest import suggestion
from burnish.feeds import dimension
from burnish.infer import walk
from burnish.infer.constants import Constants
from burnish.infer.onnx_inference import ask_onnx
from burnish.infer.opsets import inherit_opsets
from burnish.infer.shapes import Shapes
from burnish.rewrite.passes.branches import condition_of, take
from burnish.rewrite.passes.constants import LiftConstants
from burnish.rewrite.passes.fold import FoldLimits, folded
from burnish.rewrite.passes.names import FixNames, SortNodes
from burnish.rewrite.turns import turns_of
from burnish.store import onnx_files
from burnish.store.element_types import DATA_TYPES
from burnish.store.inlining import inline
from burnish.store.interface import ANY_RANK

LARGEST_FOLDED_BYTES = 1 << 18
"""What is computed from shapes is smaller, and larger results are better computed."""


def static(model: ir.Model, sizes: Mapping[str, int]) -> ir.Model:
    """Return a copy of the model in which shapes are numbers and functions are inlined.

    `sizes` gives every symbolic dimension of the inputs a size. What follows from shapes and
    constants alone becomes a constant. A shape that depends on the values of inputs (NonZero)
    stays open; `tile.lower.cover` then says so.
    """
    copy = model.clone()
    inline(copy)
    inherit_opsets(copy)
    for step in (SortNodes(), FixNames(), LiftConstants()):
        step(copy)
    _compute_outputs(copy)
    _bind_inputs(copy, sizes)
    _bind_stated(copy, sizes)
    _settle(copy)
    return copy


def _settle(model: ir.Model) -> None:
    """Give every value its shape, and its value where it is constant; take known branches."""
    _settle_graph(model.graph, Shapes(Constants(model), ask_onnx))


def _settle_graph(graph: ir.Graph, shapes: Shapes) -> None:
    limits = FoldLimits(LARGEST_FOLDED_BYTES, LARGEST_FOLDED_BYTES)
    waiting = deque(graph)
    while waiting:
        node = waiting.popleft()
        condition = condition_of(node, shapes)
        if condition is not None and (taken := take(node, condition)) is not None:
            waiting.extendleft(reversed(taken))
            continue
        _settle_branches(node, shapes)
        shapes.follow(node)
        _settle_turns(node, shapes)
        for value in node.outputs:
            _state(value, shapes)
        results = folded(node, shapes, limits)
        if results is not None:
            _make_constant(node, results)


def _settle_branches(node: ir.Node, shapes: Shapes) -> None:
    """Settle both branches of an If; what they give alike, the node gives."""
    if not walk.is_standard(node, "If"):
        return
    branches = [node.attributes[name].as_graph() for name in ("then_branch", "else_branch")]
    for branch in branches:
        _settle_graph(branch, shapes)
    for value, *given in zip(node.outputs, *(each.outputs for each in branches), strict=False):
        kinds = [(each.dtype, each.shape) for each in given]
        if kinds[0] == kinds[1] and None not in kinds[0]:
            value.type = value.type or ir.TensorType(kinds[0][0])
            value.shape = ir.Shape(kinds[0][1])


def _settle_turns(node: ir.Node, shapes: Shapes) -> None:
    """Settle the body of a Scan or a Loop too, if each turn finds what the first finds."""
    try:
        found = turns_of(node, shapes)
    except walk.CONTRADICTIONS:  # what a node says of its body need not fit that
        return
    if found is None:
        return
    _settle_graph(found.body, shapes)
    if found.is_steady():
        node.attributes["body"] = ir.AttrGraph("body", found.body)
        for value, kind in zip(node.outputs, found.results(), strict=False):
            value.type = value.type or ir.TensorType(kind.dtype)
            shapes.state(value, kind.sizes)


def _state(value: ir.Value, shapes: Shapes) -> None:
    """Write the type and the shape of a value; a size that is not a number is not known."""
    dtype, shape = shapes.dtype(value), shapes.of(value)
    if value.type is None and dtype is not None:
        value.type = ir.TensorType(DATA_TYPES[dtype])
    if shape is not None:
        value.shape = ir.Shape([size if isinstance(size, int) else None for size in shape])


def _compute_outputs(model: ir.Model) -> None:
    """Let a node give each output: one that is a constant is written as any other is."""
    graph = model.graph
    for index, value in enumerate(graph.outputs):
        if value.is_initializer() and not value.is_graph_input():
            copied = ir.node("Identity", [value], name=f"{value.name}/copied")
            graph.append(copied)
            graph.outputs[index] = copied.outputs[0]
            copied.outputs[0].type, copied.outputs[0].shape = value.type, value.shape
            copied.outputs[0].name, name = value.name, f"{value.name}/constant"
            value.name = name


def _bind_inputs(model: ir.Model, sizes: Mapping[str, int]) -> None:
    inputs = onnx_files.interface(model).inputs
    known = dict.fromkeys(
        symbol for spec in inputs for dim in spec.symbols for symbol in dimension.atoms(dim)
    )
    for name in sizes:
        if name not in known:
            raise UsageError(
                f"--shape {name}: no input has such a dimension", hint=suggestion(name, known)
            )
    values = {value.name: value for value in model.graph.inputs}
    for spec in inputs:
        if ANY_RANK in spec.shape:
            raise ModelError(
                f"input {spec.name!r}: the model does not say how many dimensions it has",
                hint="export the model again with the shapes of its inputs",
            )
        shape = [
            dim if isinstance(dim, int) else _size(spec.name, position, dim, sizes)
            for position, dim in enumerate(spec.shape)
        ]
        values[spec.name].shape = ir.Shape(shape)


def _size(name: str, position: int, dim: str, sizes: Mapping[str, int]) -> int:
    missing = [symbol for symbol in dimension.atoms(dim) if symbol not in sizes]
    if missing:
        raise UsageError(
            f"input {name!r}: dimension {position} ({dim!r}) has no size, and code is generated"
            " for known sizes only",
            hint=f"bind it: --shape {','.join(f'{symbol}=SIZE' for symbol in missing)}",
        )
    return dimension.evaluate(dim, sizes)


def _bind_stated(model: ir.Model, sizes: Mapping[str, int]) -> None:
    """Bind what the model itself says of its inner values: for operators that nobody knows."""
    for node in walk.nodes(model):
        for value in node.outputs:
            if value.shape is not None:
                value.shape = ir.Shape([_bound(size, sizes) for size in value.shape])


def _bound(size: int | ir.SymbolicDim, sizes: Mapping[str, int]) -> int | None:
    if isinstance(size, int):
        return size if size >= 0 else None
    text = size.value
    if not text or any(symbol not in sizes for symbol in dimension.atoms(text)):
        return None
    try:
        return dimension.evaluate(text, sizes)
    except dimension.NoSizeError:
        return None


def _make_constant(node: ir.Node, results: Sequence[Array]) -> None:
    """Let the node's readers read constants; the node itself stays if it gives an output."""
    graph = node.graph
    assert graph is not None
    for value, result in zip(node.outputs, results, strict=True):
        value.const_value = ir.Tensor(result, name=value.name)
        value.type = ir.TensorType(value.const_value.dtype)
        value.shape = ir.Shape(result.shape)
    if any(value.is_graph_output() for value in node.outputs):
        return
    for value in node.outputs:
        held = ir.Value(
            name=value.name, type=value.type, shape=value.shape, const_value=value.const_value
        )
        value.replace_all_uses_with(held)
        if held.name:
            graph.register_initializer(held)
    graph.remove(node, safe=True)
