"""Infer element types and shapes, and fold what is computed from known shapes."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir

from burnish.rewrite import edit
from burnish.rewrite.facts import Facts, sizes
from burnish.rewrite.passes.counted import Counted, InPlacePass, counted
from burnish.rewrite.passes.inference_proto import Proto, inference_proto

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class InferShapes(InPlacePass):
    """Fill in types and shapes by ONNX's own inference; stated ones of outputs are kept.

    Weights are not serialised, so that a model of any size is inferred in the memory that its
    graph takes.
    """

    def call(self, model: ir.Model) -> Counted:
        """Infer once over the whole model."""
        import onnx

        proto = inference_proto(model)
        try:
            inferred = onnx.shape_inference.infer_shapes(proto, data_prop=True)
        except (
            onnx.shape_inference.InferenceError, onnx.checker.ValidationError, RuntimeError,
            ValueError,
        ) as error:  # fmt: skip
            logger.warning("shapes could not be inferred, so fewer rules can fire: %s", error)
            return counted(model, 0)
        return counted(model, _merge(model.graph, inferred.graph, keep=set(model.graph.outputs)))


def _merge(graph: ir.Graph, inferred: Proto, *, keep: set[ir.Value]) -> int:
    """Copy what was inferred to values that are less known; return how many got better."""
    found = {info.name: info.type.tensor_type for info in inferred.value_info}
    count = 0
    for index, node in enumerate(graph):
        for output in node.outputs:
            if output.name in found and output not in keep:
                count += _improve(output, found[output.name])
        if edit.may_hold_bodies(node):
            given = inferred.node[index].attribute
            bodies = [attribute.g for attribute in given if attribute.HasField("g")]
            for body, inner in zip(edit.bodies(node), bodies, strict=False):
                count += _merge(body, inner, keep=set())
    return count


def _improve(value: ir.Value, tensor: Proto) -> int:
    better = 0
    if value.dtype is None and tensor.elem_type:
        value.type = ir.TensorType(ir.DataType(tensor.elem_type))
        better = 1
    if not tensor.HasField("shape"):
        return better
    dims = [_size(dim) for dim in tensor.shape.dim]
    have = sizes(value)
    if have is None:
        value.shape = ir.Shape(dims)
        return 1
    if len(have) != len(dims):
        return better
    merged = [mine if isinstance(mine, int) else new for mine, new in zip(have, dims, strict=True)]
    merged = [mine if new is None else new for mine, new in zip(have, merged, strict=True)]
    # A name that was stated says more than a name that inference made up.
    merged = [
        mine if isinstance(mine, str) and isinstance(new, str) else new
        for mine, new in zip(have, merged, strict=True)
    ]
    if tuple(merged) == have:
        return better
    value.shape = ir.Shape(merged)
    return 1


def _size(dim: Proto) -> int | str | None:
    if dim.HasField("dim_value"):
        return int(dim.dim_value)
    return str(dim.dim_param) or None


Elements = tuple[int | None, ...]
"""The elements of an integer value of rank 0 or 1, as far as they are known."""


@dataclass(frozen=True)
class FoldShapes(InPlacePass):
    """Make values that are computed from known sizes constants.

    rewrite:
        s = Shape(x); d = Gather(s, 2)      with x: float[batch, length, 768]
        -->
        d = 768
    """

    facts: Facts

    def call(self, model: ir.Model) -> Counted:
        """Follow sizes forward through each graph once."""
        count = 0
        for graph in edit.graphs(model):
            known: dict[ir.Value, Elements] = {}
            sizes_of = _Sizes(self.facts, known)
            doomed = [node for node in graph if self._fold(node, known, sizes_of)]
            edit.remove(doomed)
            count += len(doomed)
        return counted(model, count)

    def _fold(self, node: ir.Node, known: dict[ir.Value, Elements], sizes_of: _Sizes) -> bool:
        follow = _FOLLOWED.get(node.op_type)
        if follow is None or node.domain not in edit.STANDARD_DOMAINS or len(node.outputs) != 1:
            return False
        output = node.outputs[0]
        try:
            elements = follow(node, sizes_of)
        except edit.CONTRADICTIONS as error:
            logger.debug("nothing follows from %s (%s): %s", node.name, node.op_type, error)
            return False
        if elements is None:
            return False
        known[output] = elements
        whole = [element for element in elements if element is not None]
        rank = None if output.shape is None else len(output.shape)
        if len(whole) < len(elements) or rank is None or output.is_graph_output():
            return False
        if output.dtype not in (ir.DataType.INT64, ir.DataType.INT32):
            return False
        array = np.array(whole, output.dtype.numpy())
        edit.replace_by_constant(output, array if rank else array.reshape(()))
        return True


@dataclass(frozen=True)
class _Sizes:
    """Looks up the known elements of integer values."""

    facts: Facts
    known: Mapping[ir.Value, Elements]

    def of(self, value: ir.Value | None) -> Elements | None:
        if value is None:
            return None
        return self.known[value] if value in self.known else self.facts.integers(value)

    def constant(self, value: ir.Value | None) -> tuple[int, ...] | None:
        found = self.of(value)
        if found is None or None in found:
            return None
        return tuple(element for element in found if element is not None)


def _shape(node: ir.Node, _: _Sizes) -> Elements | None:
    source = node.inputs[0]
    found = None if source is None else sizes(source)
    if found is None:
        return None
    window = slice(node.attributes.get_int("start", 0), node.attributes.get_int("end", None))
    return tuple(size if isinstance(size, int) else None for size in found[window])


def _gather(node: ir.Node, sizes_of: _Sizes) -> Elements | None:
    elements, indices = sizes_of.of(node.inputs[0]), sizes_of.constant(node.inputs[1])
    if elements is None or indices is None or _is_scalar(node.inputs[0]):
        return None
    if not all(-len(elements) <= index < len(elements) for index in indices):
        return None
    return tuple(elements[index] for index in indices)


def _slice(node: ir.Node, sizes_of: _Sizes) -> Elements | None:
    elements = sizes_of.of(node.inputs[0])
    if elements is None or "starts" in node.attributes or len(node.inputs) < 3:
        return None
    bounds = [sizes_of.constant(value) for value in node.inputs[1:]]
    starts, ends = bounds[:2]
    steps = bounds[3] if len(bounds) > 3 else (1,)
    if starts is None or ends is None or steps is None or len(starts) != 1 or steps[0] < 1:
        return None
    return elements[starts[0] : ends[0] : steps[0]]


def _concat(node: ir.Node, sizes_of: _Sizes) -> Elements | None:
    parts = [sizes_of.of(value) for value in node.inputs]
    if any(part is None for part in parts):
        return None
    return tuple(element for part in parts if part is not None for element in part)


def _same(node: ir.Node, sizes_of: _Sizes) -> Elements | None:
    return sizes_of.of(node.inputs[0])


def _same_if_one(node: ir.Node, sizes_of: _Sizes) -> Elements | None:
    """Follow a Squeeze or Unsqueeze between rank 0 and rank 1."""
    elements = sizes_of.of(node.inputs[0])
    output = node.outputs[0].shape
    fits = elements is not None and len(elements) == 1 and output is not None and len(output) < 2
    return elements if fits else None


def _cast(node: ir.Node, sizes_of: _Sizes) -> Elements | None:
    wanted = ir.DataType(node.attributes["to"].as_int())
    is_integer = wanted in (ir.DataType.INT64, ir.DataType.INT32)
    return sizes_of.of(node.inputs[0]) if is_integer else None


def _arithmetic(operation: Callable[[int, int], int]) -> Callable[[ir.Node, _Sizes], Any]:
    def follow(node: ir.Node, sizes_of: _Sizes) -> Elements | None:
        if len(node.inputs) != 2:
            return None
        left, right = (sizes_of.of(value) for value in node.inputs)
        if left is None or right is None:
            return None
        return _elementwise(operation, left, right)

    return follow


def _elementwise(
    operation: Callable[[int, int], int], left: Elements, right: Elements
) -> Elements | None:
    length = max(len(left), len(right))
    if {len(left), len(right)} - {1, length}:
        return None
    pairs: Iterable[tuple[int | None, int | None]] = zip(
        _stretched(left, length), _stretched(right, length), strict=True
    )
    return tuple(None if a is None or b is None else operation(a, b) for a, b in pairs)


def _product(node: ir.Node, sizes_of: _Sizes) -> Elements | None:
    """Follow a ReduceProd over all elements."""
    elements = sizes_of.constant(node.inputs[0])
    does_nothing = node.attributes.get_int("noop_with_empty_axes", 0)
    return None if elements is None or does_nothing else (math.prod(elements),)


def _stretched(elements: Elements, length: int) -> Sequence[int | None]:
    return elements * length if len(elements) == 1 else elements


def _is_scalar(value: ir.Value | None) -> bool:
    return value is None or value.shape is None or len(value.shape) == 0


_FOLLOWED: Mapping[str, Callable[[ir.Node, _Sizes], Elements | None]] = {
    "Add": _arithmetic(lambda a, b: a + b),
    "Cast": _cast,
    "Concat": _concat,
    "Gather": _gather,
    "Identity": _same,
    "Max": _arithmetic(max),
    "Mul": _arithmetic(lambda a, b: a * b),
    "ReduceProd": _product,
    "Shape": _shape,
    "Slice": _slice,
    "Squeeze": _same_if_one,
    "Sub": _arithmetic(lambda a, b: a - b),
    "Unsqueeze": _same_if_one,
}
