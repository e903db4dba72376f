"""What an operator gives for constant inputs; None where that is not for us to say.

Only operators whose result is fully defined by ONNX are here: nothing random, no quantisation,
no control flow, and no conversions whose result the standard leaves open.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.rewrite.edit import ints

logger = logging.getLogger(__name__)

Inputs = Sequence[Array | None]
Evaluator = Callable[[ir.Node, Inputs], Array | None]

BY_REFERENCE = frozenset({
    "Abs", "And", "Ceil", "Clip", "Cos", "CumSum", "Equal", "Erf", "Exp", "Floor", "GatherElements",
    "GatherND", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Log", "MatMul", "Max", "Mean",
    "Min", "NonZero", "Not", "OneHot", "Or", "Pad", "ReduceL2", "ReduceMax", "ReduceMean",
    "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Relu", "Round", "ScatterElements",
    "ScatterND", "Sigmoid", "Sign", "Sin", "Size", "Softmax", "Split", "Tanh", "Tile", "Trilu",
    "Xor",
})  # fmt: skip
"""Operators that ONNX's own reference evaluates; the common ones are faster below."""

_GROWING = frozenset({"Tile", "Pad", "OneHot", "GatherElements", "GatherND", "MatMul"})
_BROADCASTING = frozenset({
    "Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean",
    "Min", "Mod", "Mul", "Or", "Pow", "Sub", "Where", "Xor",
})  # fmt: skip


def evaluate(
    node: ir.Node, inputs: Inputs, *, opset: int, limit_bytes: int
) -> tuple[Array, ...] | None:
    """Return the outputs of a standard operator; None: not evaluated, or above the limit."""
    evaluator = _EVALUATORS.get(node.op_type)
    try:
        with np.errstate(all="ignore"):
            if node.op_type in _BROADCASTING and _broadcast_bytes(inputs) > limit_bytes:
                return None
            if evaluator is not None:
                results = _single(evaluator(node, inputs))
            elif node.op_type in BY_REFERENCE:
                results = _by_reference(node, inputs, opset, limit_bytes)
            else:
                return None
    except (ArithmeticError, IndexError, TypeError, ValueError) as error:
        logger.debug("%s %s is not folded: %s", node.op_type, node.name, error)
        return None
    if results is None or sum(array.nbytes for array in results) > limit_bytes:
        return None
    return results if _types_agree(node, results) else None


def _single(result: Array | None) -> tuple[Array, ...] | None:
    return None if result is None else (np.asarray(result),)


def _broadcast_bytes(inputs: Inputs) -> int:
    arrays = [array for array in inputs if array is not None]
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    return math.prod(shape) * max(array.itemsize for array in arrays)


def _types_agree(node: ir.Node, results: Sequence[Array]) -> bool:
    """Return whether the results have the types that the model declares."""
    return all(
        output.dtype is None or output.dtype == ir.DataType.from_numpy(result.dtype)
        for output, result in zip(node.outputs, results, strict=False)
    )


def _by_reference(
    node: ir.Node, inputs: Inputs, opset: int, limit_bytes: int
) -> tuple[Array, ...] | None:
    from onnx.reference import ReferenceEvaluator

    if node.op_type in _GROWING and _declared_bytes(node) > limit_bytes:
        return None
    proto = ir.serde.serialize_node(node)
    names = [name for name in proto.input if name]
    arrays = [array for array in inputs if array is not None]
    runner = ReferenceEvaluator(proto, opsets={"": opset})
    results = runner.run(None, dict(zip(names, arrays, strict=True)))
    return tuple(np.asarray(result) for result in results)


def _declared_bytes(node: ir.Node) -> float:
    """Return the size of the outputs by the shapes the model states; unknown is infinite."""
    total = 0.0
    for output in node.outputs:
        if output.shape is None or output.dtype is None or not output.shape.is_static():
            return math.inf
        total += math.prod(output.shape.numpy()) * output.dtype.itemsize
    return total


def _operand(inputs: Inputs, index: int) -> Array:
    array = inputs[index] if index < len(inputs) else None
    if array is None:
        raise ValueError(f"input {index} is missing")
    return array


def _two(operation: Callable[[Array, Array], Array]) -> Evaluator:
    def run(_: ir.Node, inputs: Inputs) -> Array:
        left, right = _operand(inputs, 0), _operand(inputs, 1)
        return np.asarray(operation(left, right)).astype(left.dtype, copy=False)

    return run


def _one(operation: Callable[[Array], Array]) -> Evaluator:
    def run(_: ir.Node, inputs: Inputs) -> Array:
        array = _operand(inputs, 0)
        return np.asarray(operation(array)).astype(array.dtype, copy=False)

    return run


def _divide(_: ir.Node, inputs: Inputs) -> Array | None:
    left, right = _operand(inputs, 0), _operand(inputs, 1)
    if left.dtype.kind not in "iu":
        return np.asarray(np.divide(left, right)).astype(left.dtype, copy=False)
    if not right.all():
        return None
    quotient = np.floor_divide(np.abs(left), np.abs(right))
    return np.asarray(np.sign(left) * np.sign(right) * quotient).astype(left.dtype, copy=False)


def _modulo(node: ir.Node, inputs: Inputs) -> Array | None:
    left, right = _operand(inputs, 0), _operand(inputs, 1)
    if left.dtype.kind in "iu" and not right.all():
        return None
    operation = np.fmod if node.attributes.get_int("fmod", 0) else np.mod
    return np.asarray(operation(left, right))


def _cast(node: ir.Node, inputs: Inputs) -> Array | None:
    array = _operand(inputs, 0)
    target = ir.DataType(node.attributes["to"].as_int())
    if target in _UNFOLDED_TYPES or ir.DataType.from_numpy(array.dtype) in _UNFOLDED_TYPES:
        return None
    dtype = target.numpy()
    if dtype.kind in "iu" and array.dtype.kind not in "iub":
        limits = np.iinfo(dtype)
        wide = array.astype(np.float64)
        # Outside the range the standard leaves the result open; 2**63 is not below the limit.
        if not ((wide >= float(limits.min)) & (wide < float(limits.max) + 1)).all():
            return None
    return array.astype(dtype)


_UNFOLDED_TYPES = frozenset(
    kind for kind in ir.DataType
    if kind.name.startswith(("FLOAT8", "FLOAT4", "INT4", "UINT4", "INT2", "UINT2"))
    or kind in (ir.DataType.STRING, ir.DataType.UNDEFINED)
)  # fmt: skip


def _reshape(node: ir.Node, inputs: Inputs) -> Array | None:
    array = _operand(inputs, 0)
    wanted = [int(size) for size in _operand(inputs, 1)]
    if not node.attributes.get_int("allowzero", 0):
        wanted = [array.shape[i] if size == 0 else size for i, size in enumerate(wanted)]
    return array.reshape(wanted)


def _transpose(node: ir.Node, inputs: Inputs) -> Array:
    return np.transpose(_operand(inputs, 0), ints(node, "perm"))


def _axes(node: ir.Node, inputs: Inputs) -> tuple[int, ...]:
    attribute = ints(node, "axes")
    if attribute is not None:
        return attribute
    given = inputs[1] if len(inputs) > 1 else None
    return () if given is None else tuple(int(axis) for axis in given.reshape(-1))


def _unsqueeze(node: ir.Node, inputs: Inputs) -> Array:
    return np.expand_dims(_operand(inputs, 0), _axes(node, inputs))


def _squeeze(node: ir.Node, inputs: Inputs) -> Array:
    return np.squeeze(_operand(inputs, 0), _axes(node, inputs) or None)


def _concat(node: ir.Node, inputs: Inputs) -> Array:
    parts = [array for array in inputs if array is not None]
    return np.concatenate(parts, axis=node.attributes["axis"].as_int())


def _gather(node: ir.Node, inputs: Inputs) -> Array:
    axis = node.attributes.get_int("axis", 0)
    return np.take(_operand(inputs, 0), _operand(inputs, 1).astype(np.int64), axis=axis)


def _slice(node: ir.Node, inputs: Inputs) -> Array | None:
    if "starts" in node.attributes:
        return None
    array, starts, ends = (_operand(inputs, index) for index in range(3))
    axes = inputs[3] if len(inputs) > 3 else None
    steps = inputs[4] if len(inputs) > 4 else None
    where = range(len(starts)) if axes is None else axes
    strides = [1] * len(starts) if steps is None else steps
    index: list[slice] = [slice(None)] * array.ndim
    for axis, start, end, step in zip(where, starts, ends, strides, strict=True):
        index[int(axis)] = _python_slice(int(start), int(end), int(step), array.shape[int(axis)])
    return array[tuple(index)]


def _python_slice(start: int, end: int, step: int, size: int) -> slice:
    """Return ONNX's slice as Python's: here an end before the first element is None."""
    start = start + size if start < 0 else start
    end = end + size if end < 0 else end
    if step > 0:
        return slice(min(max(start, 0), size), min(max(end, 0), size), step)
    end = min(max(end, -1), size - 1)
    return slice(min(max(start, 0), size - 1), None if end < 0 else end, step)


def _shape(node: ir.Node, inputs: Inputs) -> Array:
    start, end = node.attributes.get_int("start", 0), node.attributes.get_int("end", None)
    return np.array(_operand(inputs, 0).shape[start:end], np.int64)


def _expand(_: ir.Node, inputs: Inputs) -> Array:
    array = _operand(inputs, 0)
    wanted = tuple(int(size) for size in _operand(inputs, 1))
    return np.broadcast_to(array, np.broadcast_shapes(array.shape, wanted))


def _constant_of_shape(node: ir.Node, inputs: Inputs) -> Array:
    attribute = node.attributes.get("value")
    fill = np.zeros(1, np.float32) if attribute is None else attribute.as_tensor().numpy()
    return np.broadcast_to(fill.reshape(()), tuple(int(size) for size in _operand(inputs, 0)))


def _range(_: ir.Node, inputs: Inputs) -> Array | None:
    start, limit, delta = (_operand(inputs, index).reshape(()) for index in range(3))
    if not delta:
        return None
    count = max(math.ceil((float(limit) - float(start)) / float(delta)), 0)
    if count > 1 << 24:
        return None
    steps = np.arange(count).astype(start.dtype)
    return np.asarray(start + steps * delta).astype(start.dtype, copy=False)  # type: ignore[operator]


def _where(_: ir.Node, inputs: Inputs) -> Array:
    return np.where(_operand(inputs, 0), _operand(inputs, 1), _operand(inputs, 2))


def _power(_: ir.Node, inputs: Inputs) -> Array:
    base, exponent = _operand(inputs, 0), _operand(inputs, 1)
    return np.asarray(np.power(base, exponent)).astype(base.dtype, copy=False)


_EVALUATORS: Mapping[str, Evaluator] = {
    "Add": _two(np.add),
    "Cast": _cast,
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Div": _divide,
    "Expand": _expand,
    "Gather": _gather,
    "Identity": lambda _, inputs: _operand(inputs, 0),
    "Mod": _modulo,
    "Mul": _two(np.multiply),
    "Neg": _one(np.negative),
    "Pow": _power,
    "Range": _range,
    "Reciprocal": _one(np.reciprocal),
    "Reshape": _reshape,
    "Shape": _shape,
    "Slice": _slice,
    "Sqrt": _one(np.sqrt),
    "Squeeze": _squeeze,
    "Sub": _two(np.subtract),
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Where": _where,
}

FOLDABLE = frozenset(_EVALUATORS) | BY_REFERENCE
"""Operators that `evaluate` knows."""
