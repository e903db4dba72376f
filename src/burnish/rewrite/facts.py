"""What is known about the values of a model: constants, element types, shapes.

Everything is looked up when it is asked for and remembered, so that a rule may ask as often as
it likes. Constants above a size limit are never read: weights stay on disk.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.rewrite import opsets
from burnish.rewrite.edit import STANDARD_DOMAINS, is_standard
from burnish.rewrite.evaluate import evaluate
from burnish.rewrite.options import OptimizeOptions

_DEFAULTS = OptimizeOptions()
FLOATS = frozenset(
    {ir.DataType.DOUBLE, ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.BFLOAT16}
)
_DEEPEST_CONSTANT = 8
"""How many operators are followed down to the constants that a value is computed from."""


class Facts:
    """What can be known about a model without running it."""

    def __init__(self, model: ir.Model, options: OptimizeOptions = _DEFAULTS) -> None:
        self.model = model
        self.options = options
        self._constant_bytes = options.fold_input_bytes
        self._raise_opset = options.raise_opset
        self._arrays: dict[ir.Value, Array | None] = {}
        self._scalars: dict[ir.Value, float | None] = {}
        self._obstacles: dict[int, str | None] = {}
        self.memory: dict[object, object] = {}
        """What others have worked out from the model and want to find again, by their own keys."""

    @property
    def opset(self) -> int:
        """Return the version of ONNX's own operators that the model declares."""
        return opsets.declared(self.model)

    def opset_obstacle(self, wanted: int) -> str | None:
        """Return why operators of opset `wanted` cannot be used; None: they can."""
        if self.opset >= wanted:
            return None
        if wanted not in self._obstacles:
            self._obstacles[wanted] = (
                opsets.obstacle(self.model, wanted)
                if self._raise_opset
                else f"the model declares opset {self.opset}, and raising it was not allowed"
            )
        return self._obstacles[wanted]

    def array(self, value: ir.Value | None) -> Array | None:
        """Return the elements of a constant; None: not constant, text, or too large to read."""
        if value is None:
            return None
        return self._array(value, _DEEPEST_CONSTANT)

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
        if tensor.dtype == ir.DataType.STRING or tensor.nbytes > self._constant_bytes:
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
        results = evaluate(node, arrays, opset=self.opset, limit_bytes=self._constant_bytes)
        return None if results is None else results[value.index() or 0]

    def scalar(self, value: ir.Value | None) -> float | None:
        """Return the one number that all elements of a floating or integer constant have."""
        if value is None:
            return None
        if value not in self._scalars:
            self._scalars[value] = _uniform(self.array(value))
        return self._scalars[value]

    def integers(self, value: ir.Value | None) -> tuple[int, ...] | None:
        """Return the elements of an integer constant of rank 0 or 1."""
        array = self.array(value)
        if array is None or array.ndim > 1 or array.dtype.kind not in "iu":
            return None
        return tuple(int(element) for element in array.reshape(-1))

    def axes(self, node: ir.Node, *, index: int = 1) -> tuple[int, ...] | None:
        """Return axes given as an attribute or as the input at `index`; (): none are given.

        None: they are computed when the model runs.
        """
        attribute = node.attributes.get("axes")
        if attribute is not None:
            return tuple(attribute.as_ints())
        given = node.inputs[index] if len(node.inputs) > index else None
        return () if given is None else self.integers(given)


def constant_tensor(value: ir.Value) -> ir.TensorProtocol | None:
    """Return the tensor of an initializer or a Constant node.

    An initializer that is also a graph input is a default that callers may override, and so
    not a constant.
    """
    if value.is_initializer():
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


def _uniform(array: Array | None) -> float | None:
    if array is None or array.size == 0 or array.dtype.kind in "bcSUO":
        return None
    flat = array.reshape(-1)
    if array.size > 1 and not bool((flat == flat[0]).all()):
        return None
    number = float(flat[0])
    return number if math.isfinite(number) else None


def rank(value: ir.Value) -> int | None:
    """Return the number of axes, if it is known."""
    return None if value.shape is None else len(value.shape)


def sizes(value: ir.Value) -> tuple[int | str | None, ...] | None:
    """Return the size of each axis: a number, a name, or None; None for all: rank unknown."""
    if value.shape is None:
        return None
    return tuple([dim if isinstance(dim, int) else dim.value for dim in value.shape.dims])


def static_sizes(value: ir.Value) -> tuple[int, ...] | None:
    """Return the shape, if all of it is known."""
    found = sizes(value)
    if found is None or not all(isinstance(size, int) for size in found):
        return None
    return tuple(size for size in found if isinstance(size, int))


def keeps_shape(constant_shape: Sequence[int], other: ir.Value) -> bool:
    """Return whether broadcasting `other` against a constant surely leaves its shape alone."""
    if len(constant_shape) == 0:
        return True
    known = sizes(other)
    if known is None or len(constant_shape) > len(known):
        return False
    pairs = zip(reversed(constant_shape), reversed(known), strict=False)
    return all(size in (1, theirs) for size, theirs in pairs)
