"""Our short names of element types, and what ONNX calls the same."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.core.tensors import ONNX_NUMBERS

_KNOWN = frozenset(int(kind) for kind in ir.DataType)
"""Releases of onnx-ir know more and more of them."""

SHORT_NAMES: Mapping[ir.DataType, str] = {
    ir.DataType(number): short for number, short in ONNX_NUMBERS.items() if number in _KNOWN
}

DATA_TYPES: Mapping[str, ir.DataType] = {
    short: data_type for data_type, short in SHORT_NAMES.items()
}


def array_of(tensor: ir.TensorProtocol) -> Array:
    """Return the elements of a constant; text as engines give it, not as the bytes in a file."""
    array: Array = np.asarray(tensor.numpy())
    if tensor.dtype is not ir.DataType.STRING:
        return array
    texts = [t.decode(errors="replace") if isinstance(t, bytes) else t for t in array.flat]
    return np.array(texts, object).reshape(array.shape)
