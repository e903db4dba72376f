"""Query, key and value as attention reads them: some value, with its axes in another order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import ints, is_standard
from burnish.operators.record import Shape
from burnish.operators.size import multiply
from burnish.rewrite.facts import Facts, keeps_shape

HEADS_LAST = (0, 2, 1, 3)
"""Swaps (batch, heads, length, size) and (batch, length, heads, size), both ways."""


@dataclass(frozen=True, slots=True)
class Operand:
    """factor · Transpose(value, perm)."""

    value: ir.Value
    perm: tuple[int, ...]
    factor: float = 1.0
    nodes: tuple[ir.Node, ...] = ()
    """What computes the operand from `value`, each after those it reads."""

    def shape(self, facts: Facts) -> Shape | None:
        """Return the sizes of the axes in the order in which attention reads them."""
        found = shapes_of(facts).of(self.value)
        return None if found is None else tuple(found[axis] for axis in self.perm)


@dataclass(frozen=True, slots=True)
class Turned:
    """How a product reads one of its factors: FusedMatMul can turn them first."""

    swapped: bool = False
    """The last two axes change places."""
    rows_first: bool = False
    """The first axis has the rows, those behind it are the batch."""


def turned(node: ir.Node, side: Literal["A", "B"]) -> Turned:
    """Return how a MatMul or FusedMatMul turns a factor before it multiplies."""
    if not node.domain:
        return Turned()
    number = node.attributes.get_int
    return Turned(bool(number(f"trans{side}", 0)), bool(number(f"transBatch{side}", 0)))


def operand(value: ir.Value, facts: Facts, how: Turned = Turned()) -> Operand | None:  # noqa: B008
    """Return an operand of a product, as it is after it was turned.

    Transposes and factors between the product and its source are read, in any order.
    """
    shape = shapes_of(facts).of(value)
    if shape is None or len(shape) < 3:
        return None
    axes = list(range(len(shape)))
    if how.rows_first:
        axes = [*axes[1:-1], 0, axes[-1]]
    if how.swapped:
        axes[-2:] = axes[-1], axes[-2]
    found = Operand(value, tuple(axes))
    while True:
        inner = _through(found, facts)
        if inner is None:
            return found
        found = inner


def _through(outer: Operand, facts: Facts) -> Operand | None:
    node = outer.value.producer()
    if node is None or not is_standard(node, "Transpose", "Mul", "Div", "Reshape"):
        return None
    if node.op_type == "Reshape":
        return _swapped_within(outer, node, facts)
    if node.op_type == "Transpose":
        perm, source = ints(node, "perm"), node.inputs[0]
        if perm is None or source is None:
            return None
        joined = tuple(perm[axis] for axis in outer.perm)
        return Operand(source, joined, outer.factor, (node, *outer.nodes))
    scaled = scaled_value(node, facts)
    if scaled is None:
        return None
    source, factor = scaled
    return Operand(source, outer.perm, outer.factor * factor, (node, *outer.nodes))


def _swapped_within(outer: Operand, node: ir.Node, facts: Facts) -> Operand | None:
    """Read past Reshape(Transpose(Reshape(x))) that swaps the last two axes, the others merged."""
    turn = None if node.inputs[0] is None else node.inputs[0].producer()
    if turn is None or not is_standard(turn, "Transpose") or ints(turn, "perm") != (0, 2, 1):
        return None
    merge = None if turn.inputs[0] is None else turn.inputs[0].producer()
    if merge is None or not is_standard(merge, "Reshape"):
        return None
    shapes, source = shapes_of(facts), merge.inputs[0]
    before, merged, after = (
        shapes.of(value) for value in (source, merge.outputs[0], node.outputs[0])
    )
    if source is None or before is None or merged is None or after is None:
        return None
    if before[-2:] != merged[-2:] or after != (*before[:-2], before[-1], before[-2]):
        return None
    swap = (*range(len(before) - 2), len(before) - 1, len(before) - 2)
    joined = tuple(swap[axis] for axis in outer.perm)
    return Operand(source, joined, outer.factor, (merge, turn, node, *outer.nodes))


def scaled_value(node: ir.Node, facts: Facts) -> tuple[ir.Value, float] | None:
    """Return x and c where a node is c · x, with c a number that stretches nothing."""
    if not is_standard(node, "Mul", "Div") or len(node.inputs) != 2:
        return None
    for index in (1, 0) if node.op_type == "Mul" else (1,):
        constant, other = node.inputs[index], node.inputs[1 - index]
        number, array = facts.scalar(constant), facts.array(constant)
        if number is None or array is None or other is None or not keeps_shape(array.shape, other):
            continue
        if node.op_type == "Div" and number == 0:
            continue
        return other, number if node.op_type == "Mul" else 1 / number
    return None


def joined_heads(found: Operand, facts: Facts) -> ir.Value | None:
    """Return the value of shape (batch, length, heads · size) that an operand is cut from."""
    if found.perm != HEADS_LAST:
        return None
    node = found.value.producer()
    source = node.inputs[0] if node is not None and is_standard(node, "Reshape") else None
    shapes = shapes_of(facts)
    whole, parts = shapes.of(source), shapes.of(found.value)
    if source is None or whole is None or parts is None or len(whole) != 3:
        return None
    return source if whole == (*parts[:2], multiply(parts[2], parts[3])) else None


def splits(parts: Iterable[Operand], facts: Facts) -> tuple[ir.Node, ...]:
    """Return the nodes that cut operands from joined heads, which need not be cut any more."""
    cut = (part.value.producer() for part in parts if joined_heads(part, facts) is not None)
    return tuple(node for node in cut if node is not None)


def without_repeats(found: Operand, facts: Facts) -> Operand | None:
    """Return keys or values before each of their heads was repeated for a group of queries.

    rewrite:
        Reshape(Expand(Unsqueeze(x, 2), (batch, heads, group, length, size)))
        -->
        x of shape (batch, heads, length, size)
    """
    merge = found.value.producer()
    if merge is None or not is_standard(merge, "Reshape") or len(found.perm) != 4:
        return None
    repeat = None if merge.inputs[0] is None else merge.inputs[0].producer()
    if repeat is None or not is_standard(repeat, "Expand", "Tile"):
        return None
    add_axis = None if repeat.inputs[0] is None else repeat.inputs[0].producer()
    if add_axis is None or not is_standard(add_axis, "Unsqueeze"):
        return None
    source = add_axis.inputs[0]
    shapes = shapes_of(facts)
    before, wide, after = (shapes.of(value) for value in (
        source, merge.inputs[0], merge.outputs[0]))  # fmt: skip
    if source is None or before is None or wide is None or after is None:
        return None
    axis = found.perm[1]
    if len(wide) != 5 or len(before) != 4 or facts.axes(add_axis) not in ((axis + 1,), (axis - 4,)):
        return None
    expected = (*before[: axis + 1], wide[axis + 1], *before[axis + 1 :])
    merged = (*wide[:axis], multiply(wide[axis], wide[axis + 1]), *wide[axis + 2 :])
    if wide != expected or after != merged:
        return None
    nodes = (add_axis, repeat, merge, *found.nodes)
    return replace(found, value=source, nodes=nodes)
