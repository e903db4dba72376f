"""Tensors in and out of ONNX Runtime, also of types that NumPy lacks."""

from __future__ import annotations

import ctypes
import math
import re
from typing import Any

import numpy as np

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.core.tensors import ONNX_NUMBERS, TensorSpec
from burnish.store.interface import ANY_RANK
from burnish.store.runtime_types import short_name
from burnish.store.stored import StoredModel

_COLLECTION = re.compile(r"(?:seq|map)\(.*?(?P<tensor>tensor\(\w+\))\)+")
_NUMBERS = {name: number for number, name in ONNX_NUMBERS.items()}
OrtValue = Any
"""`onnxruntime.OrtValue`: the package has no types."""


def spec(argument: Any, model: StoredModel) -> TensorSpec:  # noqa: ANN401  (its NodeArg, untyped)
    """Return an input or output of ONNX Runtime as ours; only tensors can be fed and fetched."""
    dtype = short_name(argument.type)
    if dtype is None:
        raise ModelError(
            f"{model.onnx}: {argument.name!r} is a {argument.type}, "
            "which burnish cannot feed or fetch",
            hint="export the model with plain tensors of at least 8 bits as inputs and outputs",
        )
    shape = tuple(
        dim if isinstance(dim, (int, str)) else f"{argument.name}_dim_{index}"
        for index, dim in enumerate(argument.shape)
    )
    return TensorSpec(argument.name, dtype, shape)


def output_spec(argument: Any, model: StoredModel) -> TensorSpec:  # noqa: ANN401  (its NodeArg)
    """Return an output as ours; sequences and maps of numbers are fetched as one tensor."""
    inner = _COLLECTION.fullmatch(argument.type)
    dtype = None if inner is None else short_name(inner["tensor"])
    return spec(argument, model) if dtype is None else TensorSpec(argument.name, dtype, (ANY_RANK,))


def gathered(item: Any) -> Array:  # noqa: ANN401  (whatever ONNX Runtime gives)
    """Return what a run gave as one tensor.

    A map is its numbers in the order of its keys; a sequence is stacked where its items are of
    one shape, else strung together.
    """
    match item:
        case dict():
            return np.asarray([item[key] for key in sorted(item)])
        case list():
            parts = [gathered(each) for each in item]
            if len({part.shape for part in parts}) <= 1:
                return np.asarray(parts)
            return np.concatenate([part.reshape(-1) for part in parts])
        case _:
            return np.asarray(item)


def is_native(dtype: str) -> bool:
    """Return whether NumPy itself has this type, without `ml_dtypes`."""
    return array_type(dtype).isbuiltin == 1


def value_of(array: Array, dtype: str, device: str, device_index: int) -> OrtValue:
    """Return a value in the memory of `device`; on the CPU it shares the array's memory."""
    import onnxruntime

    dense = np.ascontiguousarray(array).reshape(array.shape)
    if is_native(dtype):
        return onnxruntime.OrtValue.ortvalue_from_numpy(dense, device, device_index)
    host = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(dense, _NUMBERS[dtype])
    if device == "cpu":
        return host
    value = onnxruntime.OrtValue.ortvalue_from_shape_and_type(
        array.shape, _NUMBERS[dtype], device, device_index
    )
    onnxruntime.copy_tensors([host], [value])
    return value


def like(value: OrtValue, device: str, device_index: int) -> OrtValue:
    """Return a new value of the same type and shape, with memory of its own."""
    import onnxruntime

    return onnxruntime.OrtValue.ortvalue_from_shape_and_type(
        value.shape(), value.element_type(), device, device_index
    )


def array_of(value: OrtValue, dtype: str) -> Array:
    """Return a copy of a value that lies in host memory."""
    if is_native(dtype):
        return np.asarray(value.numpy())
    shape = tuple(value.shape())
    content = ctypes.string_at(value.data_ptr(), math.prod(shape) * array_type(dtype).itemsize)
    return np.frombuffer(content, dtype=array_type(dtype)).reshape(shape)
