"""What ONNX's own inference tells of one node: the only place that calls it.

It knows all standard operators, and is asked only where a record leaves something open. It ends
the process on attributes that fit no shape (GatherND with `batch_dims = -100`), so these are looked
at first; nodes whose record found a contradiction are not asked about at all.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

from burnish.infer import walk
from burnish.infer.shapes import Shapes, Told
from burnish.operators.record import Shape
from burnish.operators.size import Size
from burnish.store.element_types import DATA_TYPES, SHORT_NAMES
from burnish.store.operator_rules import is_defined

logger = logging.getLogger(__name__)

Proto = Any
"""A protobuf message of onnx, which has no type information."""

_LARGEST_SEEN = 1024
"""Elements; larger constants are weights: inference reads no size or axis from them."""
_PLACES = ("axis", "axes", "batch_dims", "batch_axis", "time_axis", "perm")
"""Attributes that count dimensions."""
_ERRORS = (
    onnx.shape_inference.InferenceError, onnx.checker.ValidationError, *walk.CONTRADICTIONS,
)  # fmt: skip


def ask_onnx(node: ir.Node, shapes: Shapes) -> Sequence[Told]:
    """Return what ONNX's inference tells of a node's outputs; nothing where it is not asked."""
    model, domain = shapes.constants.model, "" if node.domain == "ai.onnx" else node.domain
    opset = shapes.constants.opset if not domain else model.opset_imports.get(domain, 1)
    if not is_defined(node.op_type, opset, domain) or not _is_safe(node, shapes):
        return ()
    names = _Names()
    seen = _seen(node)
    try:
        types = {value.name: names.type_of(value, shapes) for value in seen}
        data = {
            value.name: held for value in seen if (held := _constant(value, shapes)) is not None
        }
        found = onnx.shape_inference.infer_node_outputs(
            onnx.defs.get_schema(node.op_type, opset, domain), ir.serde.serialize_node(node),
            types, data,
            opset_imports=[onnx.helper.make_opsetid(*one) for one in model.opset_imports.items()],
            ir_version=model.ir_version,
        )  # fmt: skip
    except _ERRORS as error:
        logger.debug("the outputs of %s are not inferred: %s", node.name, error)
        return ()
    return [names.told(found.get(value.name or "")) for value in node.outputs]


def _is_safe(node: ir.Node, shapes: Shapes) -> bool:
    """Return whether attributes that count dimensions stay within those of the operands."""
    attributes = walk.attributes_of(node)
    counts = [
        int(place)
        for name in _PLACES
        if name in attributes
        for place in np.asarray(attributes[name]).reshape(-1)
    ]
    ranks = [len(shape) for value in node.inputs if (shape := shapes.of(value)) is not None]
    most = max(ranks, default=0) + len(counts)
    return all(-most <= count <= most for count in counts)


def _seen(node: ir.Node) -> list[ir.Value]:
    """Return the inputs of a node, and what its bodies read from around them."""
    inner = [
        value for body in walk.bodies(node) for each in body.all_nodes() for value in each.inputs
    ]
    found = (value for value in (*node.inputs, *inner) if value is not None and value.name)
    return list(dict.fromkeys(found))


def _constant(value: ir.Value, shapes: Shapes) -> Proto:
    """Return a small constant, from which inference may read sizes and axes."""
    shape = shapes.of(value)
    if shape is None or any(not isinstance(size, int) for size in shape):
        return None
    if np.prod([size for size in shape if isinstance(size, int)]) > _LARGEST_SEEN:
        return None
    array = shapes.constants.array(value)
    elements, dtype = shapes.elements(value), shapes.dtype(value)
    if array is None and elements is not None and dtype is not None and None not in elements:
        if not all(isinstance(element, int) for element in elements):
            return None
        array = np.array(elements, DATA_TYPES[dtype].numpy()).reshape([len(elements)] * len(shape))
    if array is None or array.dtype.kind in "OSU":  # no size, and no axis, is text
        return None
    return onnx.numpy_helper.from_array(np.asarray(array))


class _Names:
    """Names that stand for sizes while ONNX works with them."""

    def __init__(self) -> None:
        self._sizes: dict[str, Size] = {}

    def type_of(self, value: ir.Value, shapes: Shapes) -> Proto:
        """Return the type of a value as ONNX has it."""
        if value.type is not None and not isinstance(value.type, ir.TensorType):
            return ir.serde.serialize_type(value.type)
        dtype, shape = shapes.dtype(value), shapes.of(value)
        if dtype is None:
            return onnx.TypeProto()
        stated = None if shape is None else self._stated(shape)
        made: Proto = onnx.helper.make_tensor_type_proto(int(DATA_TYPES[dtype]), stated)
        return made

    def _stated(self, shape: Shape) -> list[int | str]:
        return [size if isinstance(size, int) else self._name(size) for size in shape]

    def _name(self, size: Size) -> str:
        name = next((name for name, one in self._sizes.items() if one == size), None)
        if name is None:
            name = f"size{len(self._sizes)}"
            self._sizes[name] = size
        return name

    def told(self, proto: Proto) -> Told:
        """Return what ONNX tells of an output; names that are not ours are not known."""
        if proto is None or not proto.HasField("tensor_type"):
            return Told(None, None)
        tensor = proto.tensor_type
        dtype = SHORT_NAMES.get(ir.DataType(tensor.elem_type)) if tensor.elem_type else None
        if not tensor.HasField("shape"):
            return Told(dtype, None)
        return Told(dtype, tuple(self._size(dim) for dim in tensor.shape.dim))

    def _size(self, dim: Proto) -> Size | None:
        if dim.HasField("dim_value"):
            return int(dim.dim_value) if dim.dim_value >= 0 else None
        return self._sizes.get(dim.dim_param)
