"""Initializers that are written sparse, as the dense ones that they stand for."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.store import tensor_data

_MOST_ELEMENTS = 2**28
"""A dense tensor of more is larger than most machines' memory, and one of bytes than a protobuf."""


def make_dense(graph: onnx.GraphProto, path: Path) -> None:
    """Replace the sparse initializers of a graph, which is changed: ONNX IR would drop them."""
    for sparse in graph.sparse_initializer:
        name = sparse.values.name
        try:
            dense = _dense(sparse)
        except (ValueError, TypeError, IndexError) as error:
            raise ModelError(
                f"{path}: the sparse initializer {name!r} {error}",
                hint="export the model again: its file contradicts itself",
            ) from error
        proto = ir.serde.serialize_tensor(ir.Tensor(dense, name=name))
        graph.initializer.append(proto)
    graph.ClearField("sparse_initializer")


def _dense(sparse: onnx.SparseTensorProto) -> Array:
    sizes = tuple(sparse.dims)
    count = math.prod(sizes)
    if any(size < 1 for size in sizes) or count > _MOST_ELEMENTS:
        raise ValueError(f"has the shape {list(sizes)}")
    values, indices = _array(sparse.values), _array(sparse.indices)
    if indices.ndim == 2:
        indices = np.ravel_multi_index(tuple(indices.T), sizes)
    if indices.shape != values.shape:
        raise ValueError(f"has {values.size} values at {indices.size} places")
    dense = np.zeros(count, values.dtype)
    dense[indices] = values
    return dense.reshape(sizes)


def _array(proto: onnx.TensorProto) -> Array:
    tensor = ir.serde.deserialize_tensor(proto)
    finding = tensor_data.flaw(tensor)
    if finding is not None or isinstance(tensor, ir.ExternalTensor):
        raise ValueError(f"has a part that {finding or 'lies beside the model'}")
    array: Array = tensor.numpy()
    return array
