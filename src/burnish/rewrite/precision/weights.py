"""Constant matrices as integers of 8 bits: one scale per column, or per row of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from burnish.core.arrays import Array
from burnish.infer.constants import constant_tensor
from burnish.store.external_data import let_go

Bits = Literal[7, 8]
"""How much of an 8-bit integer weights use: 7 where sums of two products must fit 16 bits."""

_LARGEST: dict[Bits, int] = {7: 64, 8: 127}
_EAGER_BYTES = 1 << 20
"""Larger weights are turned into integers when they are written, one at a time."""
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class IntegerWeights:
    """A constant as `integers * scale`; the scale has one element per kept axis."""

    integers: ir.TensorProtocol
    scale: NDArray[np.float32]


def flaw(value: ir.Value | None, *, rank: int) -> str | None:
    """Return why a value cannot be stored as integers; None: it can."""
    tensor = None if value is None else constant_tensor(value)
    if tensor is None:
        return "its weights are no constant"
    if tensor.dtype != ir.DataType.FLOAT:
        return f"its weights are {tensor.dtype}, not f32"
    if len(tensor.shape) != rank:
        return f"its weights have {len(tensor.shape)} axes, not {rank}"
    if 0 in tensor.shape.numpy():
        return "its weights are empty"
    if not _is_finite(tensor):
        return "its weights have numbers that are not finite"
    return None


def as_integers(
    value: ir.Value, *, axis: int, bits: Bits, transposed: bool = False
) -> IntegerWeights:
    """Return a matrix as integers, with a scale for each place along `axis` of what is returned.

    The scale maps the largest magnitude to the largest integer. `transposed` swaps the two axes.
    """
    tensor = constant_tensor(value)
    if tensor is None:
        raise ValueError(f"{value.name} is not constant")
    source = tensor
    largest = _LARGEST[bits]

    def matrix() -> NDArray[np.float32]:
        array = source.numpy().astype(np.float32, copy=False)
        return array.T if transposed else array

    own = matrix()
    # without a copy of them all: of a large model, weights are what fills the memory
    top = np.maximum(own.max(axis=1 - axis), -own.min(axis=1 - axis))
    let_go(source)
    scale = np.where(top > 0, top / largest, 1.0).astype(np.float32)
    along = np.expand_dims(scale, 1 - axis)

    def integers() -> ir.Tensor[Array]:
        steps = matrix() / along
        np.clip(np.rint(steps, out=steps), -largest, largest, out=steps)
        let_go(source)
        return ir.Tensor(np.ascontiguousarray(steps.astype(np.int8)))

    if source.nbytes <= _EAGER_BYTES:
        return IntegerWeights(integers(), scale)
    sizes = tuple(int(size) for size in source.shape.numpy())
    shape = ir.Shape(sizes[::-1] if transposed else sizes)
    return IntegerWeights(ir.LazyTensor(integers, dtype=ir.DataType.INT8, shape=shape), scale)


def _is_finite(tensor: ir.TensorProtocol) -> bool:
    flat = tensor.numpy().reshape(-1)
    finite = all(
        bool(np.isfinite(flat[start : start + _PIECE]).all())
        for start in range(0, flat.size, _PIECE)
    )
    let_go(tensor)
    return finite
