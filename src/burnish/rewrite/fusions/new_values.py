"""New values of a replacement: their nodes, and sizes that are read when the model runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.infer.constants import sizes
from burnish.infer.shapes import shapes_of, stated
from burnish.operators.record import Shape
from burnish.operators.size import Product, Quotient, Size, Sum
from burnish.rewrite.facts import Facts
from burnish.rewrite.rule import Builder, Scalar

_AXES_AS_INPUT: Mapping[str, int] = {
    "ReduceMax": 18,
    "ReduceSum": 13,
    "Squeeze": 13,
    "Unsqueeze": 13,
}


class SizedBuilder:
    """Makes nodes whose shapes are given as sizes."""

    def __init__(
        self, builder: Builder, dtype: ir.DataType, near: Iterable[ir.Value | None] = ()
    ) -> None:
        self.builder = builder
        self._near = tuple(near)
        self.shapes = shapes_of(builder.facts)
        self.dtype = dtype

    def node(
        self,
        op_type: str,
        inputs: Sequence[ir.Value | None],
        shape: Shape,
        *,
        dtype: ir.DataType | None = None,
        domain: str = "",
        attributes: Mapping[str, Scalar | Sequence[int]] | None = None,
    ) -> ir.Value:
        """Return the output of a new node."""
        like = ir.Value(type=ir.TensorType(dtype or self.dtype), shape=stated(shape))
        value = self.builder.node(
            op_type,
            inputs,
            like=like,
            domain=domain,
            attributes=attributes,  # type: ignore[arg-type]
        )
        self.shapes.state(value, shape)
        return value

    def over_axes(
        self, op_type: str, value: ir.Value, axes: Sequence[int], shape: Shape
    ) -> ir.Value:
        """Return the output of Unsqueeze, Squeeze or a reduction, as the opset spells its axes.

        A reduction keeps its axes if the shape has as many as the value.
        """
        attributes: dict[str, Scalar | Sequence[int]] = {}
        if op_type.startswith("Reduce"):
            attributes["keepdims"] = int(len(shape) == len(self.shapes.of(value) or ()))
        if self.builder.opset >= _AXES_AS_INPUT[op_type]:
            inputs = [value, self.numbers(axes)]
            return self.node(op_type, inputs, shape, dtype=value.dtype, attributes=attributes)
        attributes["axes"] = tuple(axes)
        return self.node(op_type, [value], shape, dtype=value.dtype, attributes=attributes)

    def scalar(self, number: float) -> ir.Value:
        """Return a constant of the replacement's floating type."""
        return self.builder.constant("number", np.array(number, self.dtype.numpy()))

    def numbers(self, items: Sequence[int] | Array) -> ir.Value:
        """Return a constant list of integers."""
        return self.builder.constant("numbers", np.asarray(items, np.int64))

    def shape(self, wanted: Shape) -> ir.Value:
        """Return a shape as a value; sizes that are not numbers are read from other values."""
        if all(isinstance(size, int) for size in wanted):
            return self.numbers([size for size in wanted if isinstance(size, int)])
        parts = [self._size(size) for size in wanted]
        rank = (len(wanted),)
        return self.node("Concat", parts, rank, dtype=ir.DataType.INT64, attributes={"axis": 0})

    def _size(self, size: Size) -> ir.Value:
        if isinstance(size, int):
            return self.numbers([size])
        if not _stated((size,), self.builder.facts.model.graph):
            found = _beside(size, self._near, self.builder.facts)
            if found is not None:
                return self._read(*found)
        total: ir.Value | None = None
        for product, count in sorted(size.terms, key=lambda term: -term[1]):
            part = self._product(product, count)
            total = part if total is None else self._whole("Add", [total, part])
        if total is None:
            raise ValueError("a sum without terms is a number")
        return total

    def _product(self, product: Product, count: int) -> ir.Value:
        result: ir.Value | None = None if count == 1 and product else self.numbers([count])
        for key, power in product:
            for _ in range(power):
                factor = self._unknown(key)
                result = factor if result is None else self._whole("Mul", [result, factor])
        if result is None:
            raise ValueError("an empty product is a number")
        return result

    def _unknown(self, key: object) -> ir.Value:
        if isinstance(key, Quotient):
            return self._whole("Div", [self._size(key.dividend), self.numbers([key.divisor])])
        found = witness(key, self.builder.facts.model.graph)
        if found is None:
            raise ValueError(f"the size {key} is stated nowhere")
        return self._read(*found)

    def _read(self, value: ir.Value, axis: int) -> ir.Value:
        whole = (len(self.shapes.of(value) or ()),)
        shape = self.node("Shape", [value], whole, dtype=ir.DataType.INT64)
        at = self.numbers([axis])
        return self._whole("Gather", [shape, at])

    def _whole(self, op_type: str, inputs: Sequence[ir.Value]) -> ir.Value:
        return self.node(op_type, inputs, (1,), dtype=ir.DataType.INT64)


def witness(key: object, graph: ir.Graph) -> tuple[ir.Value, int] | None:
    """Return a value and its axis that has an unknown size: an input of the graph, at best."""
    if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], ir.Value):
        return key[0], int(key[1])
    for value in graph.inputs:
        for axis, size in enumerate(sizes(value) or ()):
            if size == key:
                return value, axis
    return None


def can_be_read(wanted: Shape, facts: Facts, near: Iterable[ir.Value | None] = ()) -> bool:
    """Return whether all sizes of a shape can be read when the model runs.

    They are read from inputs of the graph, or else from `near`, which the replacement reads.
    """
    values = tuple(near)
    return all(
        _stated((size,), facts.model.graph) or _beside(size, values, facts) is not None
        for size in wanted
    )


def _stated(wanted: Shape, graph: ir.Graph) -> bool:
    keys = (
        key
        for size in wanted
        if isinstance(size, Sum)
        for product, _ in size.terms
        for key, _ in product
    )
    return all(
        _stated((key.dividend,), graph)
        if isinstance(key, Quotient)
        else witness(key, graph) is not None
        for key in keys
    )


def _beside(
    size: Size, near: Iterable[ir.Value | None], facts: Facts
) -> tuple[ir.Value, int] | None:
    """Return one of some values, and which of its axes has a size."""
    shapes = shapes_of(facts)
    for value in near:
        for axis, own in enumerate(shapes.of(value) or ()):
            if value is not None and own == size:
                return value, axis
    return None
