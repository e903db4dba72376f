"""Find what a rotary embedding does: x · cos + turned(x) · sin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.operators.size import multiply
from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.rotary.pairs import (
    AxisPart,
    Pairing,
    is_repeated,
    kept_part,
    pairs_with,
    part,
)
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
    paired: bool = False
    """The two numbers of a pair are the last axis of x, for themselves."""
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
    if not _on_last_axis(join, facts):
        return None
    merges = _readers(join.outputs[0], "Reshape")
    return next((node for node in merges if shapes.of(node.outputs[0]) == shape), None)


def _on_last_axis(node: ir.Node, facts: Facts) -> bool:
    rank = len(shapes_of(facts).of(node.outputs[0]) or ())
    return node.attributes.get_int("axis", 0) in (-1, rank - 1)


def by_difference(node: ir.Node, facts: Facts) -> Turn | Refusal | None:
    """Read (first · cos - second · sin, second · cos + first · sin), from its Sub."""
    return _as_halves(node, facts) or _side_by_side(node, facts) or _not_joined(node, facts)


def _as_halves(node: ir.Node, facts: Facts) -> Turn | None:
    """Return the turn whose first and second numbers a Concat makes halves of.

    They need not be halves of one value before: their join is turned, then. Joined the other way
    round, they are turned backwards.
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


def _side_by_side(node: ir.Node, facts: Facts) -> Turn | None:
    """Return the turn whose first and second numbers are neighbours, before as after."""
    for widen in _readers(node.outputs[0], "Unsqueeze"):
        for join in _readers(widen.outputs[0], "Concat"):
            parts = list(join.inputs)
            backwards = parts[0] is not widen.outputs[0]
            beside = _unsqueezed(parts[0 if backwards else 1]) if len(parts) == 2 else None
            plus = None if beside is None or not beside.inputs[0] else beside.inputs[0].producer()
            if beside is None or plus is None or not is_standard(plus, "Add"):
                continue
            for apart in _readings(node, plus, backwards, facts):
                found = _neighbours(apart, facts)
                if found is None:
                    continue
                merge = _merged(join, turned_shape(found, facts), facts)
                if merge is not None:
                    nodes = (*found.nodes, widen, beside, join, merge)
                    return replace(found, output=merge.outputs[0], nodes=nodes)
    return None


def _neighbours(found: Turn, facts: Facts) -> Turn | None:
    """Return a turn of two values as one of that whose neighbours they are."""
    whole = _whole(found, "neighbours", facts)
    source = pairs_with(found.x, found.second, facts) if whole is None else whole
    if source is None:
        return None
    return replace(found, x=source, second=None, pairing="neighbours", paired=whole is None)


def turned_shape(found: Turn, facts: Facts) -> Shape | None:
    """Return the shape of what is turned, both numbers of each pair in one axis."""
    shape = shapes_of(facts).of(found.x)
    if not shape or (found.second is None and not found.paired):
        return shape
    ahead = shape[:-1] if found.paired else shape
    return (*ahead[:-1], multiply(ahead[-1], 2))


def _not_joined(minus: ir.Node, facts: Facts) -> Refusal | None:
    """Return why pairs of one value that are surely turned are no rotary embedding."""
    for plus in _crosswise(minus):
        for found in _readings(minus, plus, False, facts):
            one = part(found.x, facts)
            whole = None if one is None else _whole(found, one.pairing, facts)
            whole = whole or pairs_with(found.x, found.second, facts)
            if whole is None:
                continue
            after = [use.node for value in (minus, plus) for use in value.outputs[0].uses()]
            names = " and ".join(dict.fromkeys(f"{node.op_type} {node.name!r}" for node in after))
            return Refusal(
                f"{minus.op_type} {minus.name!r} and {plus.op_type} {plus.name!r} turn the pairs of"
                f" {whole.name!r}, and {names or 'outputs of the graph'} do not join them to"
                " halves, nor to pairs as they were",
                "join them by Concat(first, second) of the last axis, or by"
                " torch.stack((first, second), -1).flatten(-2)",
            )
    return None


def _crosswise(minus: ir.Node) -> list[ir.Node]:
    """Return sums of products with the factors of a difference of products."""
    factors = [value for given in minus.inputs for value in _two_factors(given) or ()]
    products = [node for value in factors for node in _readers(value, "Mul")]
    return list(dict.fromkeys(s for node in products for s in _readers(node.outputs[0], "Add")))


def _multiplied(minus: ir.Node, plus: ir.Node, backwards: bool, facts: Facts) -> Turn | None:
    """Return (a · cos - b · sin, b · cos + a · sin), a and b being as wide as the results."""
    shapes = shapes_of(facts)
    for found in _readings(minus, plus, backwards, facts):
        whole = _whole(found, "halves", facts)
        if whole is not None:
            return replace(found, x=whole, second=None)
        if shapes.of(found.cos) != shapes.of(found.x):
            return found
    return None


def _whole(found: Turn, pairing: Pairing, facts: Facts) -> ir.Value | None:
    """Return of what a turn's first and second numbers are those of all pairs, in that order."""
    one, two = part(found.x, facts), part(found.second, facts)
    if one is None or one != AxisPart(one.whole, pairing, False):
        return None
    return one.whole if two == AxisPart(one.whole, pairing, True) else None


def _readings(minus: ir.Node, plus: ir.Node, backwards: bool, facts: Facts) -> Iterator[Turn]:
    """Yield every way to read a difference and a sum as one turn, of two values."""
    left, right = (_two_factors(value) for value in minus.inputs)
    sums = [set(pair) for value in plus.inputs if (pair := _two_factors(value)) is not None]
    if left is None or right is None:
        return
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
            yield Turn(first, cos, sin, False, "halves", minus.outputs[0], order, second,
                       backwards=backwards)  # fmt: skip


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
