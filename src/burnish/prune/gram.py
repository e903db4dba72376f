"""What a product's operands are like on calibration inputs: their second moments, streamed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from burnish.core.arrays import Array
from burnish.infer import walk
from burnish.prune.axes import kept_places
from burnish.prune.dims import Axis, Dim
from burnish.prune.flow import Flow, Summed

Matrix = NDArray[np.float64]

_MOST_ROWS = 4096
"""Rows taken of one sample: a convolution has one for each pixel, and neighbours are alike."""


@dataclass(frozen=True, slots=True)
class MatrixProduct:
    """A product with weights as one of matrices: rows of data, times K × N weights."""

    summed: Summed
    axis: Axis
    """What is summed over."""
    kernel: int
    """How many rows of the weights belong to one place of the axis: the pixels of a kernel."""
    alone: bool = True
    """Whether no other product, and nothing else, reads the same weights."""

    def rows(self, units: Mapping[Dim, tuple[int, ...]]) -> NDArray[np.int64]:
        """Return the rows of the weights that these units of dims have."""
        places = np.asarray(kept_places(self.axis, units), np.int64)
        return (places[:, None] * self.kernel + np.arange(self.kernel)).reshape(-1)

    def matrix(self, weight: Array) -> Matrix:
        """Return the weights as K × N."""
        front = np.moveaxis(np.asarray(weight, np.float64), self.summed.weight_axis, 0)
        if not self.summed.convolves:
            return front.reshape(len(front), -1)
        return np.moveaxis(front, 1, -1).reshape(len(front) * self.kernel, -1)

    def weight(self, matrix: Matrix, like: Array) -> Array:
        """Return K × N as the weights that they came from."""
        at = self.summed.weight_axis
        if not self.summed.convolves:
            rest = tuple(np.delete(like.shape, at))
            return np.moveaxis(matrix.reshape(like.shape[at], *rest), 0, at).astype(like.dtype)
        window = like.shape[2:]
        apart = matrix.reshape(like.shape[1], *window, like.shape[0])
        return np.moveaxis(np.moveaxis(apart, -1, 0), 1, at).astype(like.dtype)

    def data(self, array: Array, rng: np.random.Generator) -> NDArray[np.float32]:
        """Return what the product reads as rows × K."""
        rows = (
            _patches(array, self.summed.node)
            if self.summed.convolves
            else np.moveaxis(array, self.summed.data_axis, -1).reshape(-1, self._width(array))
        )
        if len(rows) > _MOST_ROWS:
            rows = rows[np.sort(rng.choice(len(rows), _MOST_ROWS, replace=False))]
        return np.asarray(rows, np.float32)

    def _width(self, array: Array) -> int:
        return int(array.shape[self.summed.data_axis])


def products(flow: Flow, sums: Iterable[Summed]) -> tuple[MatrixProduct, ...]:
    """Return products with constant weights as products of matrices."""
    found = []
    readers = Counter(one.weight for one in flow.sums)
    for one in sums:
        axes = flow.of(one.weight)
        shape = flow.shape(one.weight)
        assert axes is not None
        assert shape is not None
        kernel = int(np.prod(shape[2:])) if one.convolves else 1
        alone = readers[one.weight] == 1 and len(list(one.weight.uses())) == 1
        found.append(MatrixProduct(one, axes[one.weight_axis], kernel, alone))
    return tuple(found)


class Observer(Protocol):
    """Whoever wants to see what a product reads."""

    product: MatrixProduct

    def add(self, array: Array) -> None:
        """Take one sample of what the product reads."""


class Norms:
    """The root of the sum of squares of each thing that a product reads."""

    def __init__(self, product: MatrixProduct) -> None:
        self.product = product
        self._squares: Matrix | None = None
        self._rng = np.random.default_rng(0)

    @property
    def norms(self) -> Matrix:
        """Return one number for each row of the weights."""
        assert self._squares is not None
        return np.sqrt(self._squares)

    def add(self, array: Array) -> None:
        """Take one sample of what the product reads."""
        own = np.sum(self.product.data(array, self._rng).astype(np.float64) ** 2, axis=0)
        self._squares = own if self._squares is None else self._squares + own


class GramMoments:
    """The sum of XᵀX over calibration inputs, and how many rows it is of."""

    def __init__(self, product: MatrixProduct) -> None:
        self.product = product
        self.rows = 0
        self._gram: NDArray[np.float32] | None = None
        self._rng = np.random.default_rng(0)

    @property
    def gram(self) -> Matrix:
        """Return XᵀX."""
        assert self._gram is not None
        return self._gram.astype(np.float64)

    def add(self, array: Array) -> None:
        """Take one sample of what the product reads."""
        data = self.product.data(array, self._rng)
        self.rows += len(data)
        own = data.T @ data
        self._gram = own if self._gram is None else self._gram + own


class PairedMoments:
    """Sums of YᵀY and YᵀX: of what a product reads in a changed model, and in the original."""

    def __init__(self, product: MatrixProduct) -> None:
        self.product = product
        self._samples = 0
        self._gram: NDArray[np.float32] | None = None
        self._cross: NDArray[np.float32] | None = None

    @property
    def gram(self) -> Matrix:
        """Return YᵀY."""
        assert self._gram is not None
        return self._gram.astype(np.float64)

    @property
    def cross(self) -> Matrix:
        """Return YᵀX."""
        assert self._cross is not None
        return self._cross.astype(np.float64)

    def add(self, original: Array, changed: Array) -> None:
        """Take one sample of what the product reads in both; the same rows are taken of each."""
        before, now = (
            self.product.data(array, np.random.default_rng(self._samples))
            for array in (original, changed)
        )
        self._samples += 1
        gram, cross = now.T @ now, now.T @ before
        self._gram = gram if self._gram is None else self._gram + gram
        self._cross = cross if self._cross is None else self._cross + cross


def _patches(image: Array, node: ir.Node) -> Array:
    """Return what a convolution of two dimensions multiplies by its kernel, a row per pixel."""
    weight = node.inputs[1]
    assert weight is not None
    assert weight.shape is not None
    window = tuple(int(size) for size in weight.shape[2:])  # type: ignore[arg-type]
    rank = len(window)
    strides = walk.ints(node, "strides") or (1,) * rank
    dilations = walk.ints(node, "dilations") or (1,) * rank
    pads = _pads(node, image.shape[2:], window, strides, dilations)
    padded = np.pad(image, ((0, 0), (0, 0), *pads))
    reach = tuple((w - 1) * d + 1 for w, d in zip(window, dilations, strict=True))
    spatial = tuple(range(2, 2 + rank))
    views = np.lib.stride_tricks.sliding_window_view(padded, reach, axis=spatial)
    steps = tuple(slice(None, None, stride) for stride in strides)
    spread = tuple(slice(None, None, dilation) for dilation in dilations)
    taken = views[(slice(None), slice(None), *steps, *spread)]
    return np.moveaxis(taken, 1, 1 + rank).reshape(-1, image.shape[1] * int(np.prod(window)))


def _pads(
    node: ir.Node,
    size: tuple[int, ...],
    window: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
) -> list[tuple[int, int]]:
    rank = len(window)
    kind = node.attributes["auto_pad"].as_string() if "auto_pad" in node.attributes else "NOTSET"
    if not kind.startswith("SAME"):
        pads = walk.ints(node, "pads") or (0,) * (2 * rank)
        return [(pads[axis], pads[axis + rank]) for axis in range(rank)]
    result = []
    for length, reach, stride, dilation in zip(size, window, strides, dilations, strict=True):
        out = -(-length // stride)
        total = max((out - 1) * stride + (reach - 1) * dilation + 1 - length, 0)
        small, large = total // 2, total - total // 2
        result.append((small, large) if kind == "SAME_UPPER" else (large, small))
    return result
