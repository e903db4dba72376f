"""What rules ask about the values of a model: constants, axes, sizes, the opsets allowed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.infer.constants import Constants, sizes
from burnish.rewrite import opsets
from burnish.rewrite.options import OptimizeOptions

_DEFAULTS = OptimizeOptions()
FLOATS = frozenset(
    {ir.DataType.DOUBLE, ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.BFLOAT16}
)


class Facts(Constants):
    """What can be known about a model without running it, under the options of a rewrite."""

    def __init__(self, model: ir.Model, options: OptimizeOptions = _DEFAULTS) -> None:
        super().__init__(model, largest_bytes=options.fold_input_bytes)
        self.options = options
        self._scalars: dict[ir.Value, float | None] = {}
        self._obstacles: dict[int, str | None] = {}

    def opset_obstacle(self, wanted: int) -> str | None:
        """Return why operators of opset `wanted` cannot be used; None: they can."""
        if self.opset >= wanted:
            return None
        if wanted not in self._obstacles:
            self._obstacles[wanted] = (
                opsets.obstacle(self.model, wanted)
                if self.options.raise_opset
                else f"the model declares opset {self.opset}, and raising it was not allowed"
            )
        return self._obstacles[wanted]

    def scalar(self, value: ir.Value | None) -> float | None:
        """Return the one number that all elements of a floating or integer constant have."""
        if value is None:
            return None
        if value not in self._scalars:
            self._scalars[value] = _uniform(self.array(value))
        return self._scalars[value]

    def axes(self, node: ir.Node, *, index: int = 1) -> tuple[int, ...] | None:
        """Return axes given as an attribute or as the input at `index`; (): none are given.

        None: they are computed when the model runs.
        """
        attribute = node.attributes.get("axes")
        if attribute is not None:
            return tuple(attribute.as_ints())
        given = node.inputs[index] if len(node.inputs) > index else None
        return () if given is None else self.integers(given)


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
