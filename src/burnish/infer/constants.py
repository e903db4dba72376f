"""The constants of a model, and what is computed from constants alone.

Everything is looked up when it is asked for and remembered, so that a rule may ask as often as
it likes. Constants above a size limit are never read: weights stay on disk.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.infer.evaluate import evaluate
from burnish.infer.walk import is_standard
from burnish.operators.record import STANDARD_DOMAINS
from burnish.store.operator_rules import opset_of

LARGEST_READ_BYTES = 1 << 20
_DEEPEST = 8
"""How many operators are followed down to the constants that a value is computed from."""


class Constants:
    """The elements of a model's constants."""

    def __init__(self, model: ir.Model, *, largest_bytes: int = LARGEST_READ_BYTES) -> None:
        self.model = model
        self._largest_bytes = largest_bytes
        self._arrays: dict[ir.Value, Array | None] = {}
        self.memory: dict[object, object] = {}
        """What others have worked out from the model and want to find again, by their own keys."""

    @property
    def opset(self) -> int:
        """Return the version of ONNX's own operators that the model declares."""
        return opset_of("", self.model.opset_imports) or 1

    def array(self, value: ir.Value | None) -> Array | None:
        """Return the elements of a constant; None: not constant, text, or too large to read."""
        if value is None:
            return None
        return self._array(value, _DEEPEST)

    def _array(self, value: ir.Value, depth: int) -> Array | None:
        if value in self._arrays:
            return self._arrays[value]
        tensor = constant_tensor(value)
        if tensor is not None:
            found = self._read(tensor)
        elif depth and value.producer() is not None:
            found = self._computed(value, depth - 1)
        else:
            return None
        self._arrays[value] = found
        return found

    def _read(self, tensor: ir.TensorProtocol) -> Array | None:
        if tensor.dtype == ir.DataType.STRING or tensor.nbytes > self._largest_bytes:
            return None
        return tensor.numpy()

    def _computed(self, value: ir.Value, depth: int) -> Array | None:
        node = value.producer()
        if node is None or node.domain not in STANDARD_DOMAINS or not node.inputs:
            return None
        arrays: list[Array | None] = []
        for source in node.inputs:
            array = None if source is None else self._array(source, depth)
            if source is not None and array is None:
                return None
            arrays.append(array)
        results = evaluate(node, arrays, opset=self.opset, limit_bytes=self._largest_bytes)
        return None if results is None else results[value.index() or 0]

    def integers(self, value: ir.Value | None) -> tuple[int, ...] | None:
        """Return the elements of an integer constant of rank 0 or 1."""
        array = self.array(value)
        if array is None or array.ndim > 1 or array.dtype.kind not in "iu":
            return None
        return tuple(int(element) for element in array.reshape(-1))


def constant_tensor(value: ir.Value) -> ir.TensorProtocol | None:
    """Return the tensor of an initializer, a Constant node, or an output that was worked out.

    An initializer that is also a graph input is a default that callers may override, and so
    not a constant.
    """
    if value.is_initializer() or value.const_value is not None:
        return None if value.is_graph_input() else value.const_value
    node = value.producer()
    if node is None or not is_standard(node, "Constant"):
        return None
    return _tensor_of_constant_node(node)


def _tensor_of_constant_node(node: ir.Node) -> ir.TensorProtocol | None:
    attribute = next(iter(node.attributes.values()), None)
    if attribute is None or attribute.is_ref():
        return None
    match attribute.name:
        case "value" if attribute.type == ir.AttributeType.TENSOR:
            # Not `as_tensor()`, which looks at every method that a tensor must have.
            tensor: ir.TensorProtocol = attribute.value
            return tensor
        case "value_int":
            return ir.Tensor(np.array(attribute.as_int(), np.int64))
        case "value_ints":
            return ir.Tensor(np.array(attribute.as_ints(), np.int64))
        case "value_float":
            return ir.Tensor(np.array(attribute.as_float(), np.float32))
        case "value_floats":
            return ir.Tensor(np.array(attribute.as_floats(), np.float32))
        case _:
            return None


def sizes(value: ir.Value) -> tuple[int | str | None, ...] | None:
    """Return the size of each axis: a number, a name, or None; None for all: rank unknown."""
    if value.shape is None:
        return None
    return tuple([dim if isinstance(dim, int) else dim.value for dim in value.shape.dims])
