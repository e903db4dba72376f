"""Arithmetic of one, two and any number of operands."""

from __future__ import annotations

from functools import reduce

from burnish.tile.expr import Constant, Expr, call, cast
from burnish.tile.pointwise import elementwise, like, wide_type
from burnish.tile.semantics import SEMANTICS, Builder, Meaning, Node, NotCoveredError

_FUNCTIONS = {
    "Abs": "absolute", "Neg": "negative", "Sign": "sign", "Reciprocal": "reciprocal",
    "Sqrt": "sqrt", "Exp": "exp", "Log": "log", "Erf": "erf", "Sin": "sin", "Cos": "cos",
    "Tan": "tan", "Asin": "asin", "Acos": "acos", "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh",
    "Tanh": "tanh", "Asinh": "asinh", "Acosh": "acosh", "Atanh": "atanh", "Floor": "floor",
    "Ceil": "ceil", "Round": "round", "Sigmoid": "sigmoid",
    "Add": "add", "Sub": "subtract", "Mul": "multiply", "Div": "divide",
}  # fmt: skip
"""Operators that are one function of their operands."""


def _one_function(function: str) -> Meaning:
    def meaning(builder: Builder, node: Node) -> None:
        _refuse_old_broadcast(node)
        elementwise(builder, node, lambda *operands: call(function, *operands))

    return meaning


for _operator, _function in _FUNCTIONS.items():
    SEMANTICS.register(_operator)(_one_function(_function))


@SEMANTICS.register("Pow")
def power(builder: Builder, node: Node) -> None:
    """Add `base ** exponent`, in the base's type; whole numbers go through f64, as in C."""
    _refuse_old_broadcast(node)
    base = builder.type(node.inputs[0]).dtype
    elementwise(builder, node, lambda x, y: _power(x, y, base))


def _power(x: Expr, y: Expr, base: str) -> Expr:
    match y:
        case Constant(value, _) if value in (1, 2, 3):
            # A product of so few is exact where a general power is not, and ORT does the same.
            return reduce(lambda a, b: call("multiply", a, b), [x] * int(value))
        case Constant(0.5, _) if base[0] in "fb":
            return call("sqrt", x)
    common = wide_type(base) if base[0] in "fb" and y.dtype != "f64" else "f64"
    return call("power", cast(x, common), cast(y, common))


@SEMANTICS.register("Mod")
def modulo(builder: Builder, node: Node) -> None:
    """Add the remainder: with the divisor's sign, or with `fmod` the dividend's."""
    function = "fmod" if node.attributes.get("fmod", 0) else "modulo"
    elementwise(builder, node, lambda x, y: call(function, x, y))


def _folded(function: str) -> Meaning:
    def meaning(builder: Builder, node: Node) -> None:
        def scalar(*operands: Expr) -> Expr:
            return reduce(lambda x, y: call(function, x, y), operands)

        elementwise(builder, node, scalar)

    return meaning


for _operator, _function in {"Min": "minimum", "Max": "maximum", "Sum": "add"}.items():
    SEMANTICS.register(_operator)(_folded(_function))


@SEMANTICS.register("Mean")
def mean(builder: Builder, node: Node) -> None:
    """Add the mean of all operands."""

    def scalar(*operands: Expr) -> Expr:
        total = reduce(lambda x, y: call("add", x, y), operands)
        return call("divide", total, like(total, len(operands)))

    elementwise(builder, node, scalar)


def _refuse_old_broadcast(node: Node) -> None:
    """Refuse the broadcasting of opset 6 and before, which named an axis."""
    if node.opset < 7 and node.attributes.get("broadcast", 0):
        raise NotCoveredError("broadcasting by an attribute, as before opset 7")
