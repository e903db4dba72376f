"""The one folder: what an operator gives for constant inputs; None where that is not for us to say.

Only operators whose records say that ONNX defines their result (`Operator.folds`) are evaluated,
by ONNX's own reference: nothing random, no quantisation, no control flow, and no conversions
whose result the standard leaves open.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from burnish.core.array_types import name_of
from burnish.core.arrays import Array
from burnish.infer.walk import CONTRADICTIONS, attributes_of
from burnish.operators.record import Elements, Movement, Operands, Operator, find
from burnish.tile.semantics import NotCoveredError

logger = logging.getLogger(__name__)

_MOST_COUNTED = 64
"""Elements of an input that a size may be read from."""


def evaluate(
    node: ir.Node, inputs: Sequence[Array | None], *, opset: int, limit_bytes: int
) -> tuple[Array, ...] | None:
    """Return the outputs of a standard operator; None: not evaluated, or above the limit."""
    record = find(node.domain, node.op_type)
    if record is None or record.folds is None:
        return None
    operands = _operands(node, inputs)
    try:
        if not record.folds(operands, inputs) or _given_bytes(record, operands) > limit_bytes:
            return None
        if record.traffic is Movement.VIEW:
            return _viewed(record, operands)
        with np.errstate(all="ignore"):
            results = _by_reference(node, inputs, opset)
    except (*CONTRADICTIONS, NotCoveredError) as error:
        logger.debug("%s %s is not folded: %s", node.op_type, node.name, error)
        return None
    if sum(array.nbytes for array in results) > limit_bytes:
        return None
    return results if _types_agree(node, results) else None


def _operands(node: ir.Node, inputs: Sequence[Array | None]) -> Operands:
    def elements_of(index: int) -> Elements | None:
        array = inputs[index]
        small = array is not None and array.dtype.kind in "iub" and array.size <= _MOST_COUNTED
        return tuple(map(int, array.reshape(-1))) if array is not None and small else None

    return Operands(
        attributes=attributes_of(node),
        inputs=tuple(None if array is None else array.shape for array in inputs),
        types=tuple(None if array is None else name_of(array) for array in inputs),
        wanted=len(node.outputs),
        elements_of=elements_of,
        array_of=lambda index: inputs[index],
    )


def _viewed(record: Operator, operands: Operands) -> tuple[Array, ...] | None:
    """Return the first input in the shape of the output."""
    array, shape = operands.array(0), None if record.shape is None else record.shape(operands)[0]
    whole = [size for size in shape or () if isinstance(size, int)]
    if array is None or shape is None or len(whole) < len(shape):
        return None
    return (array.reshape(whole),)


def _given_bytes(record: Operator, operands: Operands) -> float:
    """Return how much memory the first output takes; 0: its shape does not tell beforehand."""
    found = None if record.shape is None else record.shape(operands)[0]
    numbers = [size for size in found or () if isinstance(size, int)]
    if found is None or len(numbers) < len(found):
        return 0
    widest = max((array_bytes(operands, index) for index in range(len(operands.inputs))), default=8)
    return math.prod(numbers) * widest


def array_bytes(operands: Operands, index: int) -> int:
    """Return the bytes of an element of a constant input; 0 where it is left out."""
    array = operands.array(index)
    return 0 if array is None else array.itemsize


def _by_reference(node: ir.Node, inputs: Sequence[Array | None], opset: int) -> tuple[Array, ...]:
    from onnx.reference import ReferenceEvaluator

    proto = ir.serde.serialize_node(node)
    names = [name for name in proto.input if name]
    arrays = [array for array in inputs if array is not None]
    runner = ReferenceEvaluator(proto, opsets={"": opset})
    results = runner.run(None, dict(zip(names, arrays, strict=True)))
    return tuple(np.asarray(result) for result in results)


def _types_agree(node: ir.Node, results: Sequence[Array]) -> bool:
    """Return whether the results have the types that the model declares."""
    return all(
        output.dtype is None or output.dtype == ir.DataType.from_numpy(result.dtype)
        for output, result in zip(node.outputs, results, strict=False)
    )
