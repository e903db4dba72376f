"""Read a matrix as it is, where its elements are gathered one by one and in order.

rewrite:
    Gather(Flatten(x), range(columns) + columns · range(rows))
    -->
    Reshape(x)

Exports of x[row_numbers, column_numbers] with all numbers, as masks are read, look like this.
"""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer.shapes import Shapes, shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.operators.size import Size, multiply
from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.new_values import SizedBuilder, can_be_read
from burnish.rewrite.rule import Builder, Match, Refusal, Rule


@dataclass(frozen=True, slots=True)
class _Steps:
    """0, 1, 2, … along one axis of a value; all its other axes are of size 1."""

    size: Size
    axis: int
    """Counted from the last one, which is -1."""


def _find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    data, indices = node.inputs[:2]
    if not is_standard(node, "Gather") or node.attributes.get_int("axis", 0) != 0:
        return None
    flat = None if data is None else data.producer()
    total = None if indices is None else indices.producer()
    if flat is None or total is None or not is_standard(total, "Add"):
        return None
    source, shapes = flat.inputs[0], shapes_of(facts)
    matrix, result = shapes.of(source), shapes.of(node.outputs[0])
    if not is_standard(flat, "Flatten", "Reshape") or matrix is None or len(matrix) != 2:
        return None
    if not _is_flat(shapes.of(data), matrix) or not _counts(total, matrix, facts) or not result:
        return None
    if not can_be_read(result, facts):
        return Refusal(
            f"a size of what Gather {node.name!r} gives is not that of any input",
            "declare the shapes of the graph's inputs",
        )
    return Match((flat, total, node), node.outputs[0], {"x": source})


def _is_flat(shape: Shape | None, matrix: Shape) -> bool:
    whole = multiply(matrix[0], matrix[1])
    return shape is not None and shape[:1] == (whole,) and all(size == 1 for size in shape[1:])


def _counts(total: ir.Node, matrix: Shape, facts: Facts) -> bool:
    """Return whether a sum is the number of each element of a matrix, row by row."""
    shapes = shapes_of(facts)
    for columns, rows in (total.inputs, total.inputs[::-1]):
        inner, outer = _steps(columns, facts), _multiple(rows, matrix[1], facts, shapes)
        if inner is None or outer is None:
            continue
        if (outer.size, inner.size) == matrix and outer.axis < inner.axis:
            return True
    return False


def _multiple(value: ir.Value | None, factor: Size, facts: Facts, shapes: Shapes) -> _Steps | None:
    """Return the steps that are multiplied by a size."""
    node = None if value is None else value.producer()
    if node is None or not is_standard(node, "Mul"):
        return None
    for steps, other in (node.inputs, node.inputs[::-1]):
        if shapes.elements(other) == (factor,):
            return _steps(steps, facts)
    return None


def _steps(value: ir.Value | None, facts: Facts) -> _Steps | None:
    shapes = shapes_of(facts)
    shape = shapes.of(value)
    node = None if value is None else value.producer()
    while node is not None and is_standard(node, "Unsqueeze", "Squeeze", "Reshape"):
        node = None if node.inputs[0] is None else node.inputs[0].producer()
    if node is None or shape is None or not is_standard(node, "Range"):
        return None
    counted = shapes.of(node.outputs[0])
    if facts.scalar(node.inputs[0]) != 0 or facts.scalar(node.inputs[2]) != 1 or counted is None:
        return None
    long = [axis - len(shape) for axis, size in enumerate(shape) if size != 1]
    if len(long) != 1 or shape[long[0]] != counted[0]:
        return None
    return _Steps(counted[0], long[0])


def _replace(match: Match, builder: Builder) -> ir.Value:
    make = SizedBuilder(builder, match.output.dtype or ir.DataType.FLOAT)
    shape = make.shapes.of(match.output) or ()
    return make.node("Reshape", [match.values["x"], make.shape(shape)], shape)


RULES = (
    Rule(
        "every-element",
        "Gather(Flatten(x), range(columns) + columns · range(rows)) --> Reshape(x)",
        anchors=frozenset({"Gather"}),
        find=_find,
        replace=_replace,
    ),
)
