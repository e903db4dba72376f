"""Types and shapes that values were seen with, for those that inference says nothing about."""

from __future__ import annotations

from collections.abc import Iterable

import onnx_ir as ir

from burnish.core.arrays import Arrays


def tell_types(values: Iterable[ir.Value], recorded: Arrays) -> None:
    """Give values of unknown type or shape those of the recorded array of their name."""
    for value in values:
        array = recorded.get(value.name or "")
        if array is None:
            continue
        if value.type is None:
            value.type = ir.TensorType(ir.DataType.from_numpy(array.dtype))
        if value.shape is None:
            value.shape = ir.Shape(array.shape)
