"""Comparisons, logic, bits, and the choice between two values."""

from __future__ import annotations

from burnish.tile.expr import Expr, call
from burnish.tile.pointwise import elementwise, like
from burnish.tile.semantics import SEMANTICS, Builder, Meaning, Node, NotCoveredError

_BOOLEAN = {
    "Equal": "equal", "Less": "less", "LessOrEqual": "less_equal", "And": "and", "Or": "or",
    "Xor": "xor", "Not": "not", "IsNaN": "is_nan",
}  # fmt: skip
_TURNED = {"Greater": "less", "GreaterOrEqual": "less_equal"}
"""The same question with the operands exchanged: so it stays "no" for NaN."""
_BITS = {
    "BitwiseAnd": "bit_and", "BitwiseOr": "bit_or", "BitwiseXor": "bit_xor",
    "BitwiseNot": "bit_not",
}  # fmt: skip
_SHIFTS = {"LEFT": "shift_left", "RIGHT": "shift_right"}


def _asked(function: str) -> Meaning:
    def meaning(builder: Builder, node: Node) -> None:
        _refuse_old_broadcast(node)
        elementwise(builder, node, lambda *operands: call(function, *operands), "bool")

    return meaning


def _asked_turned(function: str) -> Meaning:
    def meaning(builder: Builder, node: Node) -> None:
        _refuse_old_broadcast(node)
        elementwise(builder, node, lambda x, y: call(function, y, x), "bool")

    return meaning


def _bitwise(function: str) -> Meaning:
    def meaning(builder: Builder, node: Node) -> None:
        elementwise(builder, node, lambda *operands: call(function, *operands))

    return meaning


for _operator, _function in _BOOLEAN.items():
    SEMANTICS.register(_operator)(_asked(_function))
for _operator, _function in _TURNED.items():
    SEMANTICS.register(_operator)(_asked_turned(_function))
for _operator, _function in _BITS.items():
    SEMANTICS.register(_operator)(_bitwise(_function))


@SEMANTICS.register("BitShift")
def bit_shift(builder: Builder, node: Node) -> None:
    """Add the shift of unsigned numbers in the direction that the node names."""
    function = _SHIFTS[node.attributes["direction"]]
    elementwise(builder, node, lambda x, y: call(function, x, y))


@SEMANTICS.register("IsInf")
def is_infinite(builder: Builder, node: Node) -> None:
    """Add the test for the infinities that are asked for."""
    positive = bool(node.attributes.get("detect_positive", 1))
    negative = bool(node.attributes.get("detect_negative", 1))

    def scalar(x: Expr) -> Expr:
        infinite = call("is_infinite", x)
        if positive and negative:
            return infinite
        zero = like(x, 0.0)
        side = call("less", zero, x) if positive else call("less", x, zero)
        nothing = call("and", infinite, call("not", infinite))
        return call("and", infinite, side) if positive or negative else nothing

    elementwise(builder, node, scalar, "bool")


@SEMANTICS.register("Where")
def where(builder: Builder, node: Node) -> None:
    """Add the choice between the second and the third operand."""
    kind = builder.type(node.inputs[1]).dtype
    elementwise(builder, node, lambda asked, x, y: call("where", asked, x, y), kind)


def _refuse_old_broadcast(node: Node) -> None:
    if node.opset < 7 and node.attributes.get("broadcast", 0):
        raise NotCoveredError("broadcasting by an attribute, as before opset 7")
