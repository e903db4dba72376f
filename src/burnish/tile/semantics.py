"""How an ONNX operator becomes loop nests: the registry of meanings, and what they build with.

A meaning is a function of a `NestBuilder` and a `Node`. It declares each output of a node as nests
over the node's inputs; everything else (execution, cost, kernels) is read off these nests. Where a
form of it is not covered it raises `NotCoveredError` with the reason, and the node stays with
the library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnish.core.arrays import Array
from burnish.core.registry import Registry
from burnish.tile.expr import Argument, Expr
from burnish.tile.graph import Combine, Read, TensorType, TileOp, constant_type
from burnish.tile.index import Axis, Index, at, bounds, fetches_of, flatten, unflatten

ELEMENT_TYPES = frozenset(
    {"f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool"}
)
"""The element types that nests compute with."""
_WHOLE = ("i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8")
MOST_ELEMENTS = 2**40
"""Of a tensor that is worth a kernel: a terabyte of single bytes."""


class NotCoveredError(Exception):
    """This node has no tile semantics; the text says which form of it was met."""


@dataclass(frozen=True, slots=True)
class Node:
    """What a meaning sees of an ONNX node."""

    name: str
    op_type: str
    inputs: tuple[str, ...]
    """Empty text for an input that is left out."""
    outputs: tuple[str, ...]
    """Empty text for an output that nobody wants."""
    attributes: Mapping[str, Any]
    """Python values: int, float, str, lists of them, or arrays."""
    opset: int

    def input(self, position: int) -> str | None:
        """Return the name of an input; None where it is left out."""
        name = self.inputs[position] if position < len(self.inputs) else ""
        return name or None

    def output(self, position: int) -> str | None:
        """Return the name of an output; None where nobody wants it."""
        name = self.outputs[position] if position < len(self.outputs) else ""
        return name or None


@dataclass(frozen=True, slots=True)
class Reduction:
    """Which axes a nest reduces, how, and what follows (default: the reduction itself)."""

    axes: Sequence[Axis]
    combine: Combine | None
    finish: Expr | None = None


class NestBuilder:
    """Collects the nests of one graph; knows the types of all tensors, and constant values."""

    def __init__(
        self,
        tensors: Mapping[str, TensorType],
        constants: Mapping[str, Array],
        wanted: Mapping[str, TensorType] | None = None,
        *,
        counts: bool = False,
    ) -> None:
        """Start from the types of inputs and constants; `wanted` are the nodes' outputs, if known.

        Where shape inference has told the type of an output, the nest must have exactly that.
        `counts`: comparing all pairs of a row is cheap where these nests are to run, and so are
        many small kernels.
        """
        self.counts = counts
        self.tensors = dict(tensors)
        self.constants = dict(constants)
        self.wanted = dict(wanted or {})
        self.ops: list[TileOp] = []
        self._node = ""

    def begin(self, node: Node) -> None:
        """Make `node` the one whose work the next nests are."""
        self._node = node.name

    def type(self, tensor: str) -> TensorType:
        """Return the type of a tensor that is an input, a constant, or already computed."""
        return self.tensors[tensor]

    def constant(self, tensor: str | None, what: str) -> Array:
        """Return the value of an input that must be known when compiling."""
        if tensor is None or tensor not in self.constants:
            raise NotCoveredError(f"{what} is not a constant")
        return self.constants[tensor]

    def add_constant(self, array: Array, hint: str) -> str:
        """Return the name of a new constant."""
        name = self.fresh(hint)
        self.constants[name] = np.ascontiguousarray(array).reshape(np.shape(array))
        self.tensors[name] = constant_type(array)
        return name

    def fresh(self, hint: str) -> str:
        """Return a tensor name that is not taken; `hint` says what it holds."""
        number = 0
        while (name := f"{hint}${number}") in self.tensors or name in self.wanted:
            number += 1
        return name

    def add(
        self,
        output: str,
        spatial: Sequence[Axis],
        reads: Iterable[Read],
        body: Expr,
        over: Reduction | None = None,
    ) -> str:
        """Add one nest, and return the tensor it writes."""
        reduction = over or Reduction((), None)
        op = TileOp(
            output, tuple(spatial), tuple(reads), body,
            tuple(reduction.axes), reduction.combine, reduction.finish,
            nodes=(self._node,) if self._node else (),
        )  # fmt: skip
        for fetch in (fetch for read in op.reads for i in read.indices for fetch in fetches_of(i)):
            if self.tensors[fetch.tensor].dtype not in _WHOLE:
                raise NotCoveredError(
                    f"{fetch.tensor!r}, which holds places, is of no whole numbers"
                )
        for read in op.reads if op.points else ():
            self._require_inside(read)
        found = TensorType(op.dtype, op.shape)
        if min(op.shape, default=0) < 0 or found.size > MOST_ELEMENTS:
            raise NotCoveredError(f"its output of {list(op.shape)} elements fits no memory")
        if self.wanted.get(output, found) != found:
            raise NotCoveredError(
                f"its output {output!r} is {self.wanted[output]} in the model,"
                f" and comes out as {found}"
            )
        self.ops.append(op)
        self.tensors[output] = found
        return output

    def _require_inside(self, read: Read) -> None:
        """Raise if a read may leave its tensor: kernels would read what lies beside it."""
        shape = self.tensors[read.tensor].shape
        if read.guards or 0 in shape:
            return
        for index, size in zip(read.index, shape, strict=True):
            low, high = bounds(index)
            if low <= high and (low < 0 or high >= size):
                raise NotCoveredError(
                    f"it reads {read.tensor!r} at {low} to {high} of a dimension of {size}"
                )

    def view(self, output: str, source: str, index: Sequence[Index], axes: Sequence[Axis]) -> str:
        """Add the nest that only moves elements: `output[axes] = source[index]`."""
        read = Read(source, tuple(index))
        return self.add(output, axes, [read], Argument(0, self.type(source).dtype))

    def reshape(self, output: str, source: str, shape: Sequence[int]) -> str:
        """Add the nest that gives the same elements, in row-major order, another shape."""
        axes = axes_for(shape)
        position = flatten([at(axis) for axis in axes], shape)
        return self.view(output, source, unflatten(position, self.type(source).shape), axes)


Meaning = Callable[[NestBuilder, Node], None]

SEMANTICS: Registry[Meaning] = Registry("operator", package="burnish.operators.families")
"""By operator name; those of other domains as `com.microsoft.Gelu`. It is the column `loops` of the
records in `burnish.operators`, whose family files register themselves here."""


def axes_for(shape: Sequence[int], prefix: str = "i") -> tuple[Axis, ...]:
    """Return one axis per dimension, named by position."""
    return tuple(Axis(f"{prefix}{position}", extent) for position, extent in enumerate(shape))


def broadcast_index(shape: Sequence[int], axes: Sequence[Axis]) -> tuple[Index, ...]:
    """Return how a tensor of `shape` is read when it is broadcast to `axes` (NumPy's rule)."""
    last = axes[len(axes) - len(shape) :]
    return tuple(
        at(axis) if extent != 1 else Index() for extent, axis in zip(shape, last, strict=True)
    )
