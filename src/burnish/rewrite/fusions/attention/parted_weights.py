"""What is downstream of a softmax whose weights are cut apart: products with several values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.size import Size, add
from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.attention.operand import Turned, turned
from burnish.rewrite.fusions.attention.scores import is_product


@dataclass(frozen=True, slots=True)
class PartedWeights:
    """The sum of products of parts of the weights, each with values of its own."""

    values: tuple[tuple[range, ir.Value], ...]
    """Which sets of scores weigh which values, in the order of the sets."""
    output: ir.Value
    nodes: tuple[ir.Node, ...]
    factor: float = 1.0
    """What all products are multiplied by."""

    def is_whole(self, first: int, last: int) -> bool:
        """Return whether these sets, and no others, weigh values."""
        weighed = [index for parts, _ in self.values for index in parts]
        return weighed == list(range(first, last + 1))


def parted(softmax: ir.Node, widths: Sequence[Size], facts: Facts) -> PartedWeights | None:
    """Return what the weights of several sets of scores are multiplied with."""
    weights = softmax.outputs[0]
    cuts: list[tuple[range, ir.Node, ir.Node | None]] = []
    if weights.is_graph_output():
        return None
    for use in weights.uses():
        found = _cut(use.node, weights, widths, facts)
        if found is None:
            return None
        cuts.extend(found)
    weighing = sorted(
        ((parts, cut, product) for parts, cut, product in cuts if product is not None),
        key=lambda item: item[0].start,
    )
    output = _summed([product for _, _, product in weighing])
    if output is None:
        return None
    value, adding = output
    values = tuple((parts, product.inputs[1]) for parts, _, product in weighing)
    factors = {_factor(product) for _, _, product in weighing}
    if any(item is None for _, item in values) or len(factors) != 1:
        return None
    nodes = dict.fromkeys((*(cut for _, cut, _ in cuts), *(p for _, _, p in weighing), *adding))
    known = tuple((parts, item) for parts, item in values if item is not None)
    return PartedWeights(known, value, tuple(nodes), factors.pop())


def _cut(
    node: ir.Node, weights: ir.Value, widths: Sequence[Size], facts: Facts
) -> list[tuple[range, ir.Node, ir.Node | None]] | None:
    """Return which sets of scores a reader of the weights takes, and the product that reads those.

    No product: nobody reads them.
    """
    if _weighs(node, weights):
        return [(range(len(widths)), node, node)]
    if not is_standard(node, "Slice", "Split"):
        return None
    found = []
    shape = shapes_of(facts).of(weights)
    start: Size | None = 0 if node.op_type == "Split" else _start(node, facts)
    if shape is None or not _along_last(node, len(shape), facts):
        return None
    for output in node.outputs:
        own = shapes_of(facts).of(output)
        parts = None if own is None or start is None else _covered(start, own[-1], widths)
        readers = [use.node for use in output.uses()]
        if parts is None or output.is_graph_output() or len(readers) > 1:
            return None
        product = readers[0] if readers else None
        if product is not None and not _weighs(product, output):
            return None
        found.append((parts, node, product))
        start = add(start or 0, (own or (0,))[-1])
    return found


def _weighs(node: ir.Node, weights: ir.Value) -> bool:
    plain = is_product(node) and turned(node, "A") == turned(node, "B") == Turned()
    return plain and node.inputs[0] is weights


def _factor(node: ir.Node) -> float:
    return (node.attributes.get_float("alpha", 1.0) or 1.0) if node.domain else 1.0


def _along_last(node: ir.Node, count: int, facts: Facts) -> bool:
    """Return whether a node cuts along the last axis alone, and leaves nothing in between out."""
    if node.op_type == "Split":
        return node.attributes.get_int("axis", 0) % count == count - 1
    axes = facts.integers(node.inputs[3]) if len(node.inputs) > 3 else None
    steps = facts.integers(node.inputs[4]) if len(node.inputs) > 4 else (1,)
    return axes is not None and len(axes) == 1 and axes[0] % count == count - 1 and steps == (1,)


def _start(node: ir.Node, facts: Facts) -> Size | None:
    """Return where a Slice begins, if that is a place counted from the front."""
    found = shapes_of(facts).elements(node.inputs[1]) if len(node.inputs) > 1 else None
    first = found[0] if found is not None and len(found) == 1 else None
    return None if isinstance(first, int) and first < 0 else first


def _covered(start: Size, width: Size, widths: Sequence[Size]) -> range | None:
    """Return the sets of scores that begin and end where a cut does; None: it cuts through one."""
    ends: list[Size] = [0]
    for own in widths:
        ends.append(add(ends[-1], own))
    stop = add(start, width)
    if start not in ends or stop not in ends:
        return None
    return range(ends.index(start), ends.index(stop))


def _summed(products: Sequence[ir.Node]) -> tuple[ir.Value, tuple[ir.Node, ...]] | None:
    """Return the sum of one product, or of two that are read by nobody else."""
    if len(products) == 1:
        return products[0].outputs[0], ()
    if len(products) != 2 or any(len(each.outputs[0].uses()) != 1 for each in products):
        return None
    readers = {use.node for each in products for use in each.outputs[0].uses()}
    total = readers.pop()
    if readers or not is_standard(total, "Add"):
        return None
    return total.outputs[0], (total,)
