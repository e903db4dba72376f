"""Make a model static: every size a number, and what is computed from sizes a constant."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnx_ir.passes.common as common_passes

from burnish.core.arrays import Array
from burnish.core.errors import ModelError, UsageError
from burnish.core.nearest import suggestion
from burnish.feeds import dimension
from burnish.store import onnx_files
from burnish.store.element_types import DATA_TYPES, SHORT_NAMES
from burnish.store.inlining import inline
from burnish.store.interface import ANY_RANK
from burnish.tile.branches import take_branch
from burnish.tile.graph import TensorType
from burnish.tile.lower import STANDARD_DOMAINS, add, constant, tensor_type
from burnish.tile.semantics import Builder, NotCoveredError

logger = logging.getLogger(__name__)

Proto = Any
"""A protobuf message of onnx, which has no type information."""

LARGEST_FOLDED = 1 << 16
"""Elements; what is computed from shapes is smaller, and larger results are better computed."""

_LARGEST_SEEN = 1024
"""Elements; larger constants are weights: inference reads no size or axis from them."""

_FIRST_WITH_DEFAULTS = 4
"""Before this IR version every initializer had to be an input, too; since then that means that it
is a default which callers may override."""

_NOT_FOLDED = frozenset(
    {
        "Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
        "RandomUniformLike",
    }
)  # fmt: skip
"""Operators that give something else each time."""

_GROWING = frozenset(
    {
        "Range", "ConstantOfShape", "Expand", "Tile", "OneHot", "Pad", "Resize", "Upsample",
        "EyeLike", "CenterCropPad", "Col2Im", "HannWindow", "HammingWindow", "BlackmanWindow",
        "MelWeightMatrix",
    }
)  # fmt: skip
"""Operators whose few inputs may ask for any number of elements: without a shape, none are made."""

_INFERENCE_ERRORS = (
    onnx.shape_inference.InferenceError, onnx.checker.ValidationError, RuntimeError, ValueError,
    KeyError, TypeError,
)  # fmt: skip


def static(model: ir.Model, sizes: Mapping[str, int]) -> ir.Model:
    """Return a copy of the model in which shapes are numbers and functions are inlined.

    `sizes` gives every symbolic dimension of the inputs a size. What follows from shapes and
    constants alone becomes a constant. A shape that depends on the values of inputs (NonZero)
    stays open; `lower.cover` then says so.
    """
    copy = model.clone()
    inline(copy)
    if copy.ir_version < _FIRST_WITH_DEFAULTS:
        common_passes.RemoveInitializersFromInputsPass()(copy)
    common_passes.NameFixPass()(copy)
    copy.graph.sort()
    _compute_outputs(copy)
    _bind_inputs(copy, sizes)
    waiting = deque(copy.graph)
    while waiting:
        node = waiting.popleft()
        condition = _condition(node)
        if condition is None:
            _settle(node, copy, sizes)
        else:
            waiting.extendleft(reversed(take_branch(node, condition)))
    return copy


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


def _condition(node: ir.Node) -> Array | None:
    """Return the condition of an If that is known; None for all other nodes."""
    if node.op_type != "If" or node.domain not in STANDARD_DOMAINS or node.inputs[0] is None:
        return None
    return constant(node.inputs[0])


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


def _settle(node: ir.Node, model: ir.Model, sizes: Mapping[str, int]) -> None:
    """Give the outputs of a node their shapes, and their values where they are constant."""
    _take_types(node, _inferred(node, model))
    if any(_is_open(value) for value in node.outputs):
        _take_types(node, _lowered(node))
    if any(_is_open(value) for value in node.outputs):
        _take_types(node, _stated(node, sizes))
    results = _folded(node, model)
    if results is not None:
        _make_constant(node, results)


def _inferred(node: ir.Node, model: ir.Model) -> dict[str, TensorType]:
    """Return what ONNX's own inference tells of one node."""
    domain = "" if node.domain in STANDARD_DOMAINS else node.domain
    opset = model.opset_imports.get(domain, model.opset_imports.get("ai.onnx", 1))
    if not onnx.defs.has(node.op_type, opset, domain):
        return {}
    schema = onnx.defs.get_schema(node.op_type, opset, domain)
    given = [value for value in node.inputs if value is not None and value.name]
    imports = [onnx.helper.make_opsetid(name, n) for name, n in model.opset_imports.items()]
    try:
        types = {value.name: _type_proto(value) for value in _seen(node)}
        data = {value.name: found for value in given if (found := _tensor_proto(value)) is not None}
        found = onnx.shape_inference.infer_node_outputs(
            schema, ir.serde.serialize_node(node), types, data, opset_imports=imports,
            ir_version=model.ir_version,
        )  # fmt: skip
    except _INFERENCE_ERRORS as error:
        logger.debug("the outputs of %s are not inferred: %s", node.name, error)
        return {}
    return {name: kind for name, proto in found.items() if (kind := _from_proto(proto)) is not None}


def _seen(node: ir.Node) -> list[ir.Value]:
    """Return the inputs of a node, and what its bodies read from around them."""
    bodies = [
        graph
        for attribute in node.attributes.values()
        if attribute.type == ir.AttributeType.GRAPH and not attribute.is_ref()
        for graph in (attribute.as_graph(),)
    ]
    inner = [value for body in bodies for each in body.all_nodes() for value in each.inputs]
    found = (value for value in (*node.inputs, *inner) if value is not None and value.name)
    return list(dict.fromkeys(found))


def _stated(node: ir.Node, sizes: Mapping[str, int]) -> dict[str, TensorType]:
    """Return what the model itself says of a node's outputs, with its symbols bound."""
    found: dict[str, TensorType] = {}
    for value in node.outputs:
        if value.name and value.shape is not None and value.dtype is not None:
            shape = [_bound(size, sizes) for size in value.shape]
            numbers = tuple(size for size in shape if size is not None)
            short = SHORT_NAMES.get(value.dtype)
            if len(numbers) == len(shape) and short is not None:
                found[value.name] = TensorType(short, numbers)
    return found


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


def _lowered(node: ir.Node) -> dict[str, TensorType]:
    """Return what the node's own meaning gives: so operators outside ONNX get their shapes."""
    inputs = [value for value in node.inputs if value is not None and value.name]
    types = {value.name or "": tensor_type(value) for value in inputs}
    known = {name: kind for name, kind in types.items() if kind is not None}
    arrays = {value.name or "": constant(value) for value in inputs}
    constants = {name: array for name, array in arrays.items() if array is not None}
    if len(known) < len(types):
        return {}
    builder = Builder(known, constants)
    try:
        add(builder, node)
    except NotCoveredError as reason:
        logger.debug("the outputs of %s are not known: %s", node.name, reason)
        return {}
    names = {value.name for value in node.outputs}
    return {name: kind for name, kind in builder.tensors.items() if name in names}


def _take_types(node: ir.Node, types: Mapping[str, TensorType]) -> None:
    for value in node.outputs:
        found = types.get(value.name or "")
        if found is not None:
            value.type = ir.TensorType(DATA_TYPES[found.dtype])
            value.shape = ir.Shape(found.shape)


def _is_open(value: ir.Value) -> bool:
    return bool(value.name) and tensor_type(value) is None


def _folded(node: ir.Node, model: ir.Model) -> Sequence[Array] | None:
    """Return the outputs of a node whose inputs are constants; None where that is not for us."""
    if node.domain not in STANDARD_DOMAINS or node.op_type in _NOT_FOLDED or _has_body(node):
        return None
    if any(_elements(value) > LARGEST_FOLDED for value in node.outputs if value.name):
        return None
    if node.op_type in _GROWING and any(map(_is_open, node.outputs)):
        return None
    if node.op_type in ("Shape", "Size"):
        return _of_shape(node)
    arrays = {value.name: constant(value) for value in node.inputs if value is not None}
    if any(array is None or array.size > LARGEST_FOLDED for array in arrays.values()):
        return None
    return _evaluated(node, model, arrays)


def _of_shape(node: ir.Node) -> Sequence[Array] | None:
    source = node.inputs[0]
    kind = None if source is None else tensor_type(source)
    if kind is None:
        return None
    if node.op_type == "Size":
        return [np.asarray(kind.size, np.int64)]
    start, end = node.attributes.get_int("start", 0), node.attributes.get_int("end", None)
    return [np.asarray(kind.shape[start:end], np.int64)]


def _evaluated(
    node: ir.Node, model: ir.Model, arrays: Mapping[str | None, Array | None]
) -> Sequence[Array] | None:
    from onnx.reference import ReferenceEvaluator

    feeds = {name: array for name, array in arrays.items() if name}
    try:
        opsets = dict(model.opset_imports)
        runner = ReferenceEvaluator(ir.serde.serialize_node(node), opsets=opsets)
        results = runner.run(None, feeds)
    except Exception as error:
        # The evaluator raises whatever its operators raise: such a node is left to be run.
        logger.debug("%s is not folded: %s", node.name, error)
        return None
    if not all(isinstance(result, np.ndarray | np.generic) for result in results):
        return None
    found = [np.asarray(result) for result in results]
    return None if any(array.dtype.kind in "OSU" for array in found) else found


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


def _has_body(node: ir.Node) -> bool:
    kinds = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)
    return any(attribute.type in kinds for attribute in node.attributes.values())


def _elements(value: ir.Value) -> int:
    kind = tensor_type(value)
    return 0 if kind is None else kind.size


def _type_proto(value: ir.Value) -> Proto:
    if value.type is None:
        return onnx.TypeProto()
    proto = ir.serde.serialize_type(value.type)
    if value.shape is not None and isinstance(value.type, ir.TensorType):
        ir.serde.serialize_shape_into(proto, value.shape)
    return proto


def _tensor_proto(value: ir.Value) -> Proto:
    """Return a small constant, from which inference may read sizes and axes."""
    array = None if _elements(value) > _LARGEST_SEEN else constant(value)
    if array is None or array.dtype.kind in "OSU":  # no size, and no axis, is text
        return None
    return onnx.numpy_helper.from_array(np.asarray(array))


def _from_proto(proto: Proto) -> TensorType | None:
    tensor = proto.tensor_type
    if not tensor.HasField("shape") or not tensor.elem_type:
        return None
    sizes = [dim.dim_value for dim in tensor.shape.dim if dim.HasField("dim_value")]
    sizes = [size for size in sizes if size >= 0]
    short = SHORT_NAMES.get(ir.DataType(tensor.elem_type))
    if len(sizes) < len(tensor.shape.dim) or short is None:
        return None
    return TensorType(short, tuple(sizes))
