"""Find what a rotary embedding does: x · cos + turned(x) · sin."""

from __future__ import annotations

from dataclasses import dataclass, replace

import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.rotary.pairs import AxisPart, Pairing, is_repeated, kept_part, part
from burnish.rewrite.rule import Refusal


@dataclass(frozen=True, slots=True)
class Turn:
    """(first, second) --> (first · cos - second · sin, second · cos + first · sin)."""

    x: ir.Value
    """What is turned; where that is not one value, its first numbers."""
    cos: ir.Value
    sin: ir.Value
    doubled: bool
    """Cosines and sines are given once for each number, not once for each pair."""
    pairing: Pairing
    output: ir.Value
    nodes: tuple[ir.Node, ...]
    second: ir.Value | None = None
    """The second numbers, where first and second ones are two values."""
    backwards: bool = False
    """By the negative angle: sines count negative."""
    before: tuple[ir.Value, ...] = ()
    """What stands in front of the turned numbers in the output's last axis."""
    after: tuple[ir.Value, ...] = ()
    """What follows them there."""


def by_negation(node: ir.Node, facts: Facts) -> Turn | Refusal | None:
    """Read x · cos + Concat(-second, first) · sin, from its Neg outwards."""
    negated = part(node.inputs[0], facts)
    joined = None if negated is None else _joined(node, negated, facts)
    if negated is None or joined is None:
        return None
    turned, nodes = joined
    for product in _readers(turned, "Mul"):
        for output in _readers(product.outputs[0], "Add"):
            other = _other(output, product.outputs[0])
            straight = None if other is None else other.producer()
            if straight is None or not is_standard(straight, "Mul"):
                continue
            cos, sin = _other(straight, negated.whole), _other(product, turned)
            if cos is None or sin is None:
                continue
            refusal = _unequal(node, cos, sin, negated.pairing, facts)
            if refusal is not None:
                return refusal
            order = (node, *nodes, product, straight, output)
            return Turn(
                negated.whole, cos, sin, True, negated.pairing, output.outputs[0], order,
                backwards=not negated.second,
            )  # fmt: skip
    return Refusal(
        f"the turned halves {turned.name!r} of {negated.whole.name!r} do not lead to"
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
    negation: ir.Node, negated: AxisPart, facts: Facts
) -> tuple[ir.Value, tuple[ir.Node, ...]] | None:
    """Return (-second, first) or (second, -first) as one value."""
    place = 0 if negated.second else 1
    other = AxisPart(negated.whole, negated.pairing, not negated.second)
    if negated.pairing == "halves":
        for join in _readers(negation.outputs[0], "Concat"):
            pair = list(join.inputs)
            if len(pair) != 2 or pair[place] is not negation.outputs[0]:
                continue
            if part(pair[1 - place], facts) == other and _on_last_axis(join, facts):
                return join.outputs[0], (join,)
        return None
    for widen in _readers(negation.outputs[0], "Unsqueeze"):
        for join in _readers(widen.outputs[0], "Concat"):
            pair = list(join.inputs)
            if len(pair) != 2 or pair[place] is not widen.outputs[0]:
                continue
            beside = _unsqueezed(pair[1 - place])
            found = part(beside.inputs[0], facts) if beside else kept_part(pair[1 - place], facts)
            merge = _merged(join, shapes_of(facts).of(negated.whole), facts)
            if found == other and merge is not None:
                return merge.outputs[0], (widen, *([beside] if beside else []), join, merge)
    return None


def _unsqueezed(value: ir.Value | None) -> ir.Node | None:
    node = None if value is None else value.producer()
    return node if node is not None and is_standard(node, "Unsqueeze") else None


def _merged(join: ir.Node, shape: Shape | None, facts: Facts) -> ir.Node | None:
    """Return the Reshape that puts pairs, which are the last axis, side by side."""
    shapes = shapes_of(facts)
    if (shapes.of(join.outputs[0]) or (0,))[-1] != 2 or shape is None:
        return None
    merges = _readers(join.outputs[0], "Reshape")
    return next((node for node in merges if shapes.of(node.outputs[0]) == shape), None)


def _on_last_axis(node: ir.Node, facts: Facts) -> bool:
    rank = len(shapes_of(facts).of(node.outputs[0]) or ())
    return node.attributes.get_int("axis", 0) in (-1, rank - 1)


def by_difference(node: ir.Node, facts: Facts) -> Turn | None:
    """Read Concat(first · cos - second · sin, second · cos + first · sin), from its Sub.

    First and second numbers need not be halves of one value: their join is turned, then. Joined
    the other way round, they are turned backwards.
    """
    for join in _readers(node.outputs[0], "Concat"):
        parts = [value for value in join.inputs if value is not None]
        if len(parts) != len(join.inputs) or not _on_last_axis(join, facts):
            continue
        at = parts.index(node.outputs[0])
        for backwards, beside in ((False, at + 1), (True, at - 1)):
            other = parts[beside].producer() if 0 <= beside < len(parts) else None
            if other is None or not is_standard(other, "Add"):
                continue
            found = _multiplied(node, other, backwards, facts)
            if found is not None:
                start = min(at, beside)
                return replace(
                    found, output=join.outputs[0], nodes=(*found.nodes, join),
                    before=tuple(parts[:start]), after=tuple(parts[start + 2 :]),
                )  # fmt: skip
    return None


def _multiplied(minus: ir.Node, plus: ir.Node, backwards: bool, facts: Facts) -> Turn | None:
    """Return (a · cos - b · sin, b · cos + a · sin), a and b being as wide as the results."""
    left, right = (_two_factors(value) for value in minus.inputs)
    sums = [set(pair) for value in plus.inputs if (pair := _two_factors(value)) is not None]
    if left is None or right is None:
        return None
    products = [value.producer() for value in (*minus.inputs, *plus.inputs) if value]
    order = (*(item for item in products if item is not None), minus, plus)
    shapes = shapes_of(facts)
    for a, cos in (left, left[::-1]):
        for b, sin in (right, right[::-1]):
            wanted = [{b, cos}, {a, sin}]
            wide = shapes.of(a) == shapes.of(b) == shapes.of(minus.outputs[0]) is not None
            if sums not in (wanted, wanted[::-1]) or not wide:
                continue
            first, second = (b, a) if backwards else (a, b)
            turn = Turn(first, cos, sin, False, "halves", minus.outputs[0], order, second,
                        backwards=backwards)  # fmt: skip
            one, two = part(first, facts), part(second, facts)
            if one is not None and (one, two) == _halves(one.whole):
                return replace(turn, x=one.whole, second=None)
            if shapes.of(cos) != shapes.of(a):
                return turn
    return None


def _halves(whole: ir.Value) -> tuple[AxisPart, AxisPart]:
    return AxisPart(whole, "halves", False), AxisPart(whole, "halves", True)


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
