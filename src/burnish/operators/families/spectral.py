"""Fourier transforms, DFT and STFT, as products with a table of sines and cosines.

A transform of a known length is a product of the signal with a constant matrix. A fast transform
takes fewer operations, but products run many times as fast, and lengths in models are short.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from burnish.operators.loops.products import contract
from burnish.operators.record import Operands, Operator, Partial, Shape, register
from burnish.operators.size import Size, multiply, subtract
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at
from burnish.tile.pointwise import positive_axis
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError

MOST_ELEMENTS = 2**22
"""Of a table: 16 MiB of f32. Beyond it a fast transform is faster than reading the table."""

Table = NDArray[np.float64]

_COMPLEX = 2
"""Parts of a number: real and imaginary."""

_AXIS_IS_INPUT = 20
"""The opset from which on DFT takes its axis as an input."""


def dft(builder: NestBuilder, node: Node) -> None:
    """Add the transform of one dimension; the last one holds real and imaginary parts."""
    shape = builder.type(node.inputs[0]).shape
    axis = positive_axis(_axis(builder, node), len(shape))
    if axis == len(shape) - 1:
        raise NotCoveredError("it transforms real and imaginary parts")
    given, length = node.input(1), shape[axis]
    if given is not None:
        length = int(np.asarray(builder.constant(given, "its length")).reshape(()))
    inverse = bool(node.attributes.get("inverse", 0))
    onesided = bool(node.attributes.get("onesided", 0))
    if inverse and onesided:
        held = _table_back(
            length if given is not None else 2 * (length - 1), shape[axis], shape[-1]
        )
    else:
        terms = min(shape[axis], length)
        held = _table(length, terms, shape[-1], onesided=onesided, inverse=inverse)
    n, p, k, c = (Axis(name, extent) for name, extent in zip("npkc", held.shape, strict=True))
    rest = [Axis(f"i{place}", size) for place, size in enumerate(shape[:-1])]
    spatial = [*rest[:axis], k, *rest[axis + 1 :], c]
    source: list[Index] = [*map(at, rest), at(p)]
    source[axis] = at(n)
    _product(builder, node, spatial, source, held, (n, p, k, c))


def stft(builder: NestBuilder, node: Node) -> None:
    """Add the transform of parts of a signal: row, part, frequency, real or imaginary."""
    batch, length, parts = builder.type(node.inputs[0]).shape
    step = int(np.asarray(builder.constant(node.inputs[1], "its step")).reshape(()))
    window = node.input(2)
    values = None if window is None else builder.constant(window, "its window")
    size = len(values) if values is not None else 0
    if (given := node.input(3)) is not None:
        size = int(np.asarray(builder.constant(given, "the length of its parts")).reshape(()))
    if size < 1 or step < 1 or size > length:
        raise NotCoveredError(f"parts of {size} elements, every {step}, of {length}")
    onesided = bool(node.attributes.get("onesided", 1))
    held = _table(size, size, parts, onesided=onesided, inverse=False)
    if values is not None:
        held = held * np.asarray(values, np.float64).reshape(-1, 1, 1, 1)
    b, f = Axis("b", batch), Axis("f", 1 + (length - size) // step)
    n, p, k, c = (Axis(name, extent) for name, extent in zip("npkc", held.shape, strict=True))
    place = (at(b), at(f) * step + at(n), at(p))
    _product(builder, node, [b, f, k, c], place, held, (n, p, k, c))


def _axis(builder: NestBuilder, node: Node) -> int:
    if node.opset < _AXIS_IS_INPUT:
        return int(node.attributes.get("axis", 1))
    given = node.input(2)
    return -2 if given is None else int(np.asarray(builder.constant(given, "its axis")).reshape(()))


def _table(length: int, terms: int, parts: int, *, onesided: bool, inverse: bool) -> Table:
    """Return what each element adds: place, its part, frequency, part of the result."""
    count = length // 2 + 1 if onesided else length
    if parts not in (1, 2):
        raise NotCoveredError(f"numbers of {parts} parts")
    if terms * parts * count * 2 > MOST_ELEMENTS:
        raise NotCoveredError(f"a length of {length:,} is beyond what a table is good for")
    # places and frequencies are multiplied as whole numbers: angles stay exact
    turns = np.outer(np.arange(terms), np.arange(count)) % length
    angles = 2 * np.pi * turns / length
    sine = np.sin(angles) if inverse else -np.sin(angles)
    real = np.stack([np.cos(angles), sine], axis=-1)
    imaginary = np.stack([-sine, np.cos(angles)], axis=-1)
    found: Table = np.stack([real, imaginary][:parts], axis=1)
    return found / length if inverse else found


def _table_back(length: int, given: int, parts: int) -> Table:
    """Return what each of the first half of all frequencies adds to a signal of real numbers.

    The other half mirrors it: all but the first and, of an even length, the last count twice.
    """
    if length < 1 or given != length // 2 + 1 or parts != _COMPLEX:
        # here engines and NumPy differ
        raise NotCoveredError(f"{given} frequencies of {parts} parts for {length} real elements")
    held = _table(length, given, parts, onesided=False, inverse=True)
    held[1 : given - (length % 2 == 0)] *= 2
    return held[..., :1]


def _product(
    builder: NestBuilder,
    node: Node,
    spatial: list[Axis],
    place: list[Index] | tuple[Index, ...],
    table: Table,
    axes: tuple[Axis, Axis, Axis, Axis],
) -> None:
    """Add the product of a signal with a table."""
    dtype = builder.type(node.inputs[0]).dtype
    held = builder.add_constant(
        table.astype(np.float64 if dtype == "f64" else np.float32), f"{node.name}.turns"
    )
    reads = [Read(node.inputs[0], tuple(place)), Read(held, tuple(map(at, axes)))]
    contract(builder, node.outputs[0], spatial, reads, axes[:2])


def _one(at: Operands, index: int) -> int | None:
    """Return the only element of an input that is known."""
    found = at.integers(index)
    return found[0] if found else None


def _dft_shape(at: Operands) -> Sequence[Partial | None]:
    shape = at.shape(0)
    axis = at.number("axis", 1) if "axis" in at.attributes or not at.given(2) else _one(at, 2)
    if shape is None or axis is None:
        return [None]
    # without an axis the default depends on the opset: for three dimensions it is the same one
    if len(shape) != _ROWS and "axis" not in at.attributes and not at.given(2):
        return [None]
    length = _one(at, 1) if at.given(1) else shape[axis]
    if at.number("onesided", 0) and at.number("inverse", 0):
        signal: list[Size | None] = [*shape[:-1], 1]
        signal[axis] = length if at.given(1) else multiply(2, subtract(shape[axis], 1))
        return [tuple(signal)]
    return [_with_bins(shape, axis, length, onesided=bool(at.number("onesided", 0)))]


_ROWS = 3
"""Dimensions of a signal: row, time, part."""


def _with_bins(shape: Shape, axis: int, length: Size | None, *, onesided: bool) -> Partial:
    found: list[Size | None] = [*shape[:-1], 2]
    if onesided:
        length = length // 2 + 1 if isinstance(length, int) else None
    found[axis] = length
    return tuple(found)


def _stft_shape(at: Operands) -> Sequence[Partial | None]:
    shape, window = at.shape(0), at.shape(2)
    if shape is None:
        return [None]
    size = _one(at, 3) if at.given(3) else (window[0] if window else None)
    step, length = _one(at, 1), shape[1]
    frames = None
    if isinstance(size, int) and step and isinstance(length, int):
        frames = 1 + (length - size) // step
    count = size
    if at.number("onesided", 1):
        count = size // 2 + 1 if isinstance(size, int) else None
    return [(shape[0], frames, count, 2)]


def _work(at: Operands) -> float:
    """Return what a fast transform takes: five operations for each doubling of the length."""
    length = max(at.out[-2], 2)
    return 5 * math.prod(at.out[:-1]) * math.log2(length)


register({
    "DFT": Operator(_dft_shape, work=_work, loops=dft),
    "STFT": Operator(_stft_shape, work=_work, loops=stft),
})  # fmt: skip
