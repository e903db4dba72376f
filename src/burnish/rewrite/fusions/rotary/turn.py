"""Find what a rotary embedding does: x · cos + turned(x) · sin."""

from __future__ import annotations

from dataclasses import dataclass, replace

import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.rotary.pairs import AxisPart, Pairing, is_repeated, part
from burnish.rewrite.rule import Refusal


@dataclass(frozen=True, slots=True)
class Turn:
    """(first, second) --> (first · cos - second · sin, second · cos + first · sin)."""

    x: ir.Value
    cos: ir.Value
    sin: ir.Value
    doubled: bool
    """Cosines and sines are given once for each number, not once for each pair."""
    pairing: Pairing
    output: ir.Value
    nodes: tuple[ir.Node, ...]


def by_negation(node: ir.Node, facts: Facts) -> Turn | Refusal | None:
    """Read x · cos + Concat(-second, first) · sin, from its Neg outwards."""
    second = part(node.inputs[0], facts)
    if second is None or not second.second:
        return None
    joined = _joined(node, second, facts)
    if joined is None:
        return None
    turned, nodes = joined
    for product in _readers(turned, "Mul"):
        for output in _readers(product.outputs[0], "Add"):
            other = _other(output, product.outputs[0])
            straight = None if other is None else other.producer()
            if straight is None or not is_standard(straight, "Mul"):
                continue
            cos, sin = _other(straight, second.whole), _other(product, turned)
            if cos is None or sin is None:
                continue
            refusal = _unequal(node, cos, sin, second.pairing, facts)
            if refusal is not None:
                return refusal
            order = (node, *nodes, product, straight, output)
            return Turn(second.whole, cos, sin, True, second.pairing, output.outputs[0], order)
    return Refusal(
        f"the turned halves {turned.name!r} of {second.whole.name!r} do not lead to"
        " x · cos + turned · sin",
        "none: this is not a rotary embedding",
    )


def _unequal(
    node: ir.Node, cos: ir.Value, sin: ir.Value, pairing: Pairing, facts: Facts
) -> Refusal | None:
    for value in (cos, sin):
        if not is_repeated(value, pairing, facts):
            return Refusal(
                f"the two numbers of a pair in {value.name!r} cannot be proven to be turned by the"
                f" same angle (around {node.op_type} {node.name!r})",
                "compute cosines and sines from Concat(angles, angles)",
            )
    return None


def _joined(
    negation: ir.Node, second: AxisPart, facts: Facts
) -> tuple[ir.Value, tuple[ir.Node, ...]] | None:
    """Return (-second, first) as one value."""
    if second.pairing == "halves":
        for join in _readers(negation.outputs[0], "Concat"):
            if _is_pair(join, negation.outputs[0], second, facts) and _on_last_axis(join, facts):
                return join.outputs[0], (join,)
        return None
    for widen in _readers(negation.outputs[0], "Unsqueeze"):
        for join in _readers(widen.outputs[0], "Concat"):
            first = join.inputs[1] if len(join.inputs) == 2 else None
            other = None if first is None else first.producer()
            if other is None or not is_standard(other, "Unsqueeze"):
                continue
            found = part(other.inputs[0], facts)
            for merge in _readers(join.outputs[0], "Reshape"):
                shapes = shapes_of(facts)
                same = shapes.of(merge.outputs[0]) == shapes.of(second.whole)
                flat = (shapes.of(join.outputs[0]) or (0,))[-1] == 2
                first_of = AxisPart(second.whole, second.pairing, False)
                if join.inputs[0] is widen.outputs[0] and found == first_of and same and flat:
                    return merge.outputs[0], (widen, other, join, merge)
    return None


def _is_pair(join: ir.Node, negative: ir.Value, second: AxisPart, facts: Facts) -> bool:
    if len(join.inputs) != 2 or join.inputs[0] is not negative:
        return False
    return part(join.inputs[1], facts) == AxisPart(second.whole, second.pairing, False)


def _on_last_axis(node: ir.Node, facts: Facts) -> bool:
    rank = len(shapes_of(facts).of(node.outputs[0]) or ())
    return node.attributes.get_int("axis", 0) in (-1, rank - 1)


def by_difference(node: ir.Node, facts: Facts) -> Turn | None:
    """Read Concat(first · cos - second · sin, second · cos + first · sin), from its Sub."""
    factors = [_two_factors(value) for value in node.inputs]
    if len(factors) != 2 or factors[0] is None or factors[1] is None:
        return None
    for first, cos in (factors[0], factors[0][::-1]):
        for second, sin in (factors[1], factors[1][::-1]):
            one, two = part(first, facts), part(second, facts)
            if one is None or one.second or one.pairing != "halves":
                continue
            if two == AxisPart(one.whole, one.pairing, True):
                wanted = [{second, cos}, {first, sin}]
                return _completed(node, wanted, Turn(
                    one.whole, cos, sin, False, one.pairing, node.outputs[0], (node,)
                ), facts)  # fmt: skip
    return None


def _completed(node: ir.Node, wanted: list[set[ir.Value]], turn: Turn, facts: Facts) -> Turn | None:
    """Return a turn with its other half, which is joined to the first."""
    for join in _readers(node.outputs[0], "Concat"):
        other = join.inputs[1].producer() if len(join.inputs) == 2 and join.inputs[1] else None
        if other is None or not is_standard(other, "Add") or not _on_last_axis(join, facts):
            continue
        pairs = [_two_factors(value) for value in other.inputs]
        found = [set(pair) for pair in pairs if pair is not None]
        if join.inputs[0] is node.outputs[0] and found in (wanted, wanted[::-1]):
            products = [value.producer() for value in (*node.inputs, *other.inputs) if value]
            order = tuple(item for item in products if item is not None)
            return replace(turn, output=join.outputs[0], nodes=(*order, node, other, join))
    return None


def _two_factors(value: ir.Value | None) -> tuple[ir.Value, ir.Value] | None:
    node = None if value is None else value.producer()
    if node is None or not is_standard(node, "Mul") or len(node.inputs) != 2:
        return None
    left, right = node.inputs
    return None if left is None or right is None else (left, right)


def _readers(value: ir.Value, op_type: str) -> list[ir.Node]:
    return [use.node for use in value.uses() if is_standard(use.node, op_type)]


def _other(node: ir.Node, known: ir.Value) -> ir.Value | None:
    if len(node.inputs) != 2 or known not in node.inputs:
        return None
    return node.inputs[1] if node.inputs[0] is known else node.inputs[0]
