"""Where the axes of a value come from: reshapes and transposes read as one order of axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import ints, is_standard
from burnish.operators.record import Shape
from burnish.operators.size import Size, multiply
from burnish.rewrite.facts import Facts

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
