"""The elements of small integer values, as sizes: what Shape, Gather and Concat put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import onnx_ir as ir

from burnish.rewrite.edit import is_standard
from burnish.rewrite.facts import Facts
from burnish.rewrite.symbolic import size
from burnish.rewrite.symbolic.size import Size

Elements = tuple[Size | None, ...]


class Known(Protocol):
    """What has been found out so far."""

    facts: Facts

    def of(self, value: ir.Value | None) -> tuple[Size, ...] | None:
        """Return a shape."""
        ...

    def elements(self, value: ir.Value | None) -> Elements | None:
        """Return the elements of a value."""
        ...


def _shape(node: ir.Node, known: Known) -> Elements | None:
    found = known.of(node.inputs[0])
    if found is None:
        return None
    start, end = node.attributes.get_int("start", 0), node.attributes.get_int("end", None)
    return found[start:end]


def _size(node: ir.Node, known: Known) -> Elements | None:
    found = known.of(node.inputs[0])
    return None if found is None else (size.total(found),)


def _gather(node: ir.Node, known: Known) -> Elements | None:
    items, at = known.elements(node.inputs[0]), known.facts.integers(node.inputs[1])
    if items is None or at is None or not all(-len(items) <= i < len(items) for i in at):
        return None
    return tuple(items[i] for i in at)


def _slice(node: ir.Node, known: Known) -> Elements | None:
    items = known.elements(node.inputs[0])
    if items is None or len(node.inputs) < 3:
        return None
    starts, ends = known.facts.integers(node.inputs[1]), known.facts.integers(node.inputs[2])
    steps = known.facts.integers(node.inputs[4]) if len(node.inputs) > 4 else (1,)
    if starts is None or ends is None or steps is None or len(starts) != 1:
        return None
    return items[starts[0] : ends[0] : steps[0]] if steps[0] > 0 else None


def _concat(node: ir.Node, known: Known) -> Elements | None:
    joined: list[Size | None] = []
    for part in node.inputs:
        items = known.elements(part)
        if items is None:
            count = known.of(part)
            if count is None or len(count) != 1 or not isinstance(count[0], int):
                return None
            items = (None,) * count[0]
        joined.extend(items)
    return tuple(joined)


def _same(node: ir.Node, known: Known) -> Elements | None:
    items = known.elements(node.inputs[0])
    rank = known.of(node.outputs[0])
    return items if rank is not None and len(rank) < 2 else None


def _arithmetic(operation: Callable[[Size, Size], Size | None]) -> Reader:
    def read(node: ir.Node, known: Known) -> Elements | None:
        if len(node.inputs) != 2:
            return None
        left, right = known.elements(node.inputs[0]), known.elements(node.inputs[1])
        if left is None or right is None:
            return None
        length = max(len(left), len(right))
        if {len(left), len(right)} - {1, length}:
            return None
        pairs = zip(_long(left, length), _long(right, length), strict=True)
        return tuple(None if a is None or b is None else operation(a, b) for a, b in pairs)

    return read


def _larger(left: Size, right: Size) -> Size | None:
    if isinstance(left, int) and isinstance(right, int):
        return max(left, right)
    return left if left == right else None


def _quotient(left: Size, right: Size) -> Size | None:
    """Return what Div gives, which drops the rest of two numbers."""
    if isinstance(left, int) and isinstance(right, int) and right:
        whole = abs(left) // abs(right)
        return whole if (left < 0) == (right < 0) else -whole
    return size.divide(left, right)


def _long(items: Elements, length: int) -> Elements:
    return items * length if len(items) == 1 else items


def _where(node: ir.Node, known: Known) -> Elements | None:
    """Read Where(Equal(x, -1), 1, x), with which exporters spell "as it is" for Expand."""
    condition = node.inputs[0]
    test = None if condition is None else condition.producer()
    if test is None or not is_standard(test, "Equal"):
        return None
    compared = (known.elements(test.inputs[0]), known.elements(test.inputs[1]))
    chosen, other = known.elements(node.inputs[1]), known.elements(node.inputs[2])
    if compared[0] is None or compared[1] is None or chosen is None or other is None:
        return None
    length = len(other)
    if {len(compared[0]), len(compared[1]), len(chosen)} - {1, length}:
        return None
    rows = zip(
        _long(compared[0], length), _long(compared[1], length), _long(chosen, length), other,
        strict=True,
    )  # fmt: skip
    return tuple(_chosen(*row) for row in rows)


def _chosen(a: Size | None, b: Size | None, yes: Size | None, no: Size | None) -> Size | None:
    if a is None or b is None:
        return None
    if a == b:
        return yes
    difference = size.subtract(a, b)
    return no if size.is_countable(difference) or isinstance(difference, int) else None


def _reduce_product(node: ir.Node, known: Known) -> Elements | None:
    items = known.elements(node.inputs[0])
    if items is None or any(item is None for item in items):
        return None
    return (size.total(item for item in items if item is not None),)


def _filled(node: ir.Node, known: Known) -> Elements | None:
    length = known.facts.integers(node.inputs[0])
    value = node.attributes.get("value")
    if length is None or len(length) != 1 or length[0] > 16 or value is None:
        return None
    array = value.as_tensor().numpy()
    return (int(array.reshape(-1)[0]),) * length[0] if array.dtype.kind in "iu" else None


Reader = Callable[[ir.Node, Known], Elements | None]
READ: Mapping[str, Reader] = {
    "Add": _arithmetic(size.add),
    "Cast": _same,
    "Concat": _concat,
    "ConstantOfShape": _filled,
    "Div": _arithmetic(_quotient),
    "Gather": _gather,
    "Identity": _same,
    "Max": _arithmetic(_larger),
    "Mul": _arithmetic(size.multiply),
    "ReduceProd": _reduce_product,
    "Reshape": _same,
    "Shape": _shape,
    "Size": _size,
    "Slice": _slice,
    "Squeeze": _same,
    "Sub": _arithmetic(size.subtract),
    "Unsqueeze": _same,
    "Where": _where,
}
