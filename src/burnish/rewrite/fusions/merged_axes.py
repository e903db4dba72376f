"""Undo the merging of axes that only a product was written with, as tf2onnx does for Einsum.

rewrite:
    Reshape(MatMul(Reshape(a), Reshape(b)), (batch, heads, rows, columns))
    -->
    MatMul(a, b)        with a: (batch, heads, rows, inner), b: (batch, heads, inner, columns)
    (a factor between the product and the Reshape stays one)

    Reshape(Transpose(Unsqueeze(x, 1), (0, 3, 1, 2, 4)), shape)
    -->
    Reshape(Transpose(x, (0, 2, 1, 3)), shape)

Attention is found in products over batch and heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import ints, is_standard
from burnish.operators.record import Shape
from burnish.operators.size import Size, multiply
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.fusions.attention.operand import Turned, scaled_value, turned
from burnish.rewrite.fusions.attention.scores import is_product
from burnish.rewrite.fusions.new_values import SizedBuilder
from burnish.rewrite.rule import Builder, Match, Rule

_LONGEST = 8
"""How many operators are followed up the graph."""

Groups = tuple[tuple[int, ...], ...]
"""For each axis, the axes of the source that are merged in it, the slowest first."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A value as its source with axes reordered, then merged."""

    source: ir.Value
    groups: Groups
    nodes: tuple[ir.Node, ...]
    """What computes the value from the source, each after those it reads."""

    @property
    def order(self) -> tuple[int, ...]:
        """Return all axes of the source in the order in which the value runs through them."""
        return tuple(axis for group in self.groups for axis in group)


def origin(value: ir.Value, facts: Facts) -> Origin:
    """Return the furthest source of which a value only reorders and merges axes."""
    chain: list[ir.Node] = []
    node = value.producer()
    while node is not None and len(chain) < _LONGEST and _only_moves(node):
        chain.insert(0, node)
        node = None if node.inputs[0] is None else node.inputs[0].producer()
    while chain:
        source = chain[0].inputs[0]
        groups = None if source is None else _followed(source, chain, facts)
        if source is not None and groups is not None:
            return Origin(source, groups, tuple(chain))
        del chain[0]
    rank = len(shapes_of(facts).of(value) or ())
    return Origin(value, tuple((axis,) for axis in range(rank)), ())


def _only_moves(node: ir.Node) -> bool:
    return is_standard(node, "Reshape", "Transpose", "Squeeze", "Unsqueeze")


def _followed(source: ir.Value, chain: Sequence[ir.Node], facts: Facts) -> Groups | None:
    sizes = shapes_of(facts).of(source)
    if sizes is None:
        return None
    groups: Groups | None = tuple((axis,) for axis in range(len(sizes)))
    for node in chain:
        after = shapes_of(facts).of(node.outputs[0])
        if groups is None or after is None:
            return None
        if node.op_type == "Transpose":
            perm = ints(node, "perm") or tuple(range(len(groups)))[::-1]
            groups = tuple(groups[axis] for axis in perm)
        else:
            groups = _regrouped([axis for group in groups for axis in group], sizes, after)
    return groups


def _regrouped(axes: Sequence[int], sizes: Shape, wanted: Shape) -> Groups | None:
    """Return axes put together so that their products are the wanted sizes; None: they are cut."""
    left = [axis for axis in axes if sizes[axis] != 1]
    units = [axis for axis in axes if sizes[axis] == 1]
    groups: list[tuple[int, ...]] = []
    for want in wanted:
        if want == 1:
            groups.append((units.pop(0),) if units else ())
            continue
        group: list[int] = []
        product: Size = 1
        while product != want:
            if not left:
                return None
            group.append(left.pop(0))
            product = multiply(product, sizes[group[-1]])
        groups.append(tuple(group))
    return None if left or units else tuple(groups)


def _product(node: ir.Node, facts: Facts) -> Match | None:
    left, right = node.inputs[0], node.inputs[1]
    scaled, factor, between = _scaled(node.outputs[0], facts)
    split = _only_reader(scaled, "Reshape")
    if not _is_plain(node) or split is None or left is None or right is None:
        return None
    if node.outputs[0].dtype not in FLOATS or not _may_be_merged(left, facts):
        return None
    one, two = origin(left, facts), _second(node, right, facts)
    if not _is_batched(one, two, facts):
        return None
    rows, columns = shapes_of(facts).of(one.source) or (), shapes_of(facts).of(two.source) or ()
    batch = tuple(rows[axis] for axis in one.groups[0])
    wanted = (*batch, rows[one.groups[1][0]], columns[two.groups[2][0]])
    squeeze = _only_reader(split.outputs[0], "Squeeze")
    for last in (split, squeeze):
        if last is not None and shapes_of(facts).of(last.outputs[0]) == wanted:
            ends = (node, *between, split, *(() if last is split else (last,)))
            values = {"left": one.source, "right": two.source}
            nodes = (*one.nodes, *two.nodes, *ends)
            return Match(nodes, last.outputs[0], values, {"factor": factor * _alpha(node)})
    return None


def _is_plain(node: ir.Node) -> bool:
    """Return whether a node is a product, of which at most the second factor is turned."""
    second = turned(node, "B") if is_product(node) else None
    return second in (Turned(), Turned(swapped=True)) and turned(node, "A") == Turned()


def _alpha(node: ir.Node) -> float:
    return (node.attributes.get_float("alpha", 1.0) or 1.0) if node.domain else 1.0


def _second(node: ir.Node, value: ir.Value, facts: Facts) -> Origin:
    """Return where the second factor comes from, as it is after it was turned."""
    found = origin(value, facts)
    if not turned(node, "B").swapped or len(found.groups) != 3:
        return found
    first, rows, columns = found.groups
    return replace(found, groups=(first, columns, rows))


def _scaled(value: ir.Value, facts: Facts) -> tuple[ir.Value, float, tuple[ir.Node, ...]]:
    """Return a product after all numbers that it is multiplied by, those as one, and the nodes."""
    factor = 1.0
    nodes: list[ir.Node] = []
    while True:
        step = _only_reader(value, "Mul") or _only_reader(value, "Div")
        found = None if step is None else scaled_value(step, facts)
        if step is None or found is None or found[0] is not value:
            return value, factor, tuple(nodes)
        factor, value = factor * found[1], step.outputs[0]
        nodes.append(step)


def _may_be_merged(value: ir.Value, facts: Facts) -> bool:
    node, shape = value.producer(), shapes_of(facts).of(value)
    return shape is not None and len(shape) == 3 and node is not None and is_standard(
        node, "Reshape", "Transpose"
    )  # fmt: skip


def _is_batched(one: Origin, two: Origin, facts: Facts) -> bool:
    """Return whether both factors have the same several axes merged in their first."""
    if len(one.groups) != 3 or len(two.groups) != 3 or len(one.groups[0]) < 2:
        return False
    if any(len(group) != 1 for group in (*one.groups[1:], *two.groups[1:])):
        return False
    sizes = [shapes_of(facts).of(part.source) or () for part in (one, two)]
    batches = [[size[axis] for axis in part.groups[0]] for size, part in
               zip(sizes, (one, two), strict=True)]  # fmt: skip
    return batches[0] == batches[1]


def _multiply(match: Match, builder: Builder) -> ir.Value:
    make = SizedBuilder(builder, match.output.dtype or ir.DataType.FLOAT)
    product = next(node for node in match.nodes if is_product(node))
    left, right = product.inputs[0], product.inputs[1]
    if left is None or right is None:
        raise ValueError("both factors are given")
    found = origin(left, builder.facts), _second(product, right, builder.facts)
    factors = [_ordered(each, make) for each in found]
    shape = make.shapes.of(match.output) or ()
    result = make.node("MatMul", factors, shape)
    factor = float(match.attributes["factor"])
    return result if factor == 1.0 else make.node("Mul", [result, make.scalar(factor)], shape)


def _ordered(found: Origin, make: SizedBuilder) -> ir.Value:
    if found.order == tuple(range(len(found.order))):
        return found.source
    sizes = make.shapes.of(found.source) or ()
    shape = tuple(sizes[axis] for axis in found.order)
    dtype = found.source.dtype
    attributes = {"perm": found.order}
    return make.node("Transpose", [found.source], shape, dtype=dtype, attributes=attributes)


def _detour(node: ir.Node, facts: Facts) -> Match | None:
    """Look for a Transpose that also moves axes of size 1, which the Reshape behind it drops."""
    source = node.inputs[0]
    turn = None if source is None else source.producer()
    if source is None or turn is None or not is_standard(turn, "Transpose"):
        return None
    before = None if turn.inputs[0] is None else turn.inputs[0].producer()
    if before is None or not is_standard(before, "Unsqueeze") or not is_standard(node, "Reshape"):
        return None
    wanted = shapes_of(facts).elements(node.inputs[1])
    if wanted is None or any(size is None or size == 0 for size in wanted):
        return None
    found = origin(source, facts)
    if found.source is source or before not in found.nodes or () not in found.groups:
        return None
    values = {"x": found.source, "shape": node.inputs[1]}
    return Match((*found.nodes, node), node.outputs[0], values)


def _straight(match: Match, builder: Builder) -> ir.Value:
    make = SizedBuilder(builder, match.output.dtype or ir.DataType.FLOAT)
    source = match.nodes[-1].inputs[0]
    if source is None:
        raise ValueError("a Reshape has an input")
    turned = _ordered(origin(source, builder.facts), make)
    shape = make.shapes.of(match.output) or ()
    return make.node("Reshape", [turned, match.values["shape"]], shape)


def _only_reader(value: ir.Value, op_type: str) -> ir.Node | None:
    readers = [use.node for use in value.uses() if not is_standard(use.node, "Shape")]
    if value.is_graph_output() or len(readers) != 1:
        return None
    node = readers[0]
    return node if is_standard(node, op_type) and node.inputs[0] is value else None


RULES = (
    Rule(
        "merged-product",
        "Reshape(MatMul(Reshape(a), Reshape(b))) --> MatMul(a, b)",
        anchors=frozenset({"MatMul", "FusedMatMul"}),
        find=_product,
        replace=_multiply,
    ),
    Rule(
        "unit-axes",
        "Reshape(Transpose(Unsqueeze(x))) --> Reshape(Transpose(x))",
        anchors=frozenset({"Reshape"}),
        find=_detour,
        replace=_straight,
    ),
)
