"""Arithmetic, comparisons, logic and bits, element by element; the choice between two values."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np

from burnish.operators import size
from burnish.operators.record import Elements, Operands, Operator, ValueRule, register
from burnish.operators.rules import (
    always,
    broadcast,
    defined,
    each_output,
    long,
    no_zero_below,
    type_of_input,
)
from burnish.operators.size import Size
from burnish.tile.expr import Constant, Expr, call, cast
from burnish.tile.pointwise import elementwise, like, wide_type
from burnish.tile.semantics import Meaning, NestBuilder, Node, NotCoveredError

_FUNCTIONS = {
    "Abs": "absolute", "Neg": "negative", "Sign": "sign", "Reciprocal": "reciprocal",
    "Sqrt": "sqrt", "Exp": "exp", "Log": "log", "Erf": "erf", "Sin": "sin", "Cos": "cos",
    "Tan": "tan", "Asin": "asin", "Acos": "acos", "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh",
    "Tanh": "tanh", "Asinh": "asinh", "Acosh": "acosh", "Atanh": "atanh", "Floor": "floor",
    "Ceil": "ceil", "Round": "round", "Sigmoid": "sigmoid",
    "Add": "add", "Sub": "subtract", "Mul": "multiply", "Div": "divide",
}  # fmt: skip
"""Operators that are one function of their operands."""


def _function(
    named: str | Callable[[Node], str], dtype: str | None = None, *, turned: bool = False
) -> Meaning:
    """Return the loops of one function of the operands, which a node's attributes may choose."""

    def meaning(builder: NestBuilder, node: Node) -> None:
        _refuse_old_broadcast(node)
        function = named if isinstance(named, str) else named(node)
        order = slice(None, None, -1 if turned else 1)
        elementwise(builder, node, lambda *operands: call(function, *operands[order]), dtype)

    return meaning


def _divided(loops: Meaning) -> Meaning:
    """Return the loops of a quotient or a remainder; a library says that there is none by 0."""

    def meaning(builder: NestBuilder, node: Node) -> None:
        divisor = builder.constants.get(node.inputs[1])
        whole = divisor is not None and np.asarray(divisor).dtype.kind in "iu"
        if whole and not np.all(divisor):
            raise NotCoveredError("it divides whole numbers by 0")
        loops(builder, node)

    return meaning


def power(builder: NestBuilder, node: Node) -> None:
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


def _remainder(node: Node) -> str:
    """Return the remainder with the divisor's sign, or with `fmod` the dividend's."""
    return "fmod" if node.attributes.get("fmod", 0) else "modulo"


def _folded(function: str) -> Meaning:
    def meaning(builder: NestBuilder, node: Node) -> None:
        def scalar(*operands: Expr) -> Expr:
            return reduce(lambda x, y: call(function, x, y), operands)

        elementwise(builder, node, scalar)

    return meaning


def mean(builder: NestBuilder, node: Node) -> None:
    """Add the mean of all operands."""

    def scalar(*operands: Expr) -> Expr:
        total = reduce(lambda x, y: call("add", x, y), operands)
        return call("divide", total, like(total, len(operands)))

    elementwise(builder, node, scalar)


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


def is_infinite(builder: NestBuilder, node: Node) -> None:
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


def where(builder: NestBuilder, node: Node) -> None:
    """Add the choice between the second and the third operand."""
    kind = builder.type(node.inputs[1]).dtype
    elementwise(builder, node, lambda asked, x, y: call("where", asked, x, y), kind)


def _refuse_old_broadcast(node: Node) -> None:
    """Refuse the broadcasting of opset 6 and before, which named an axis."""
    if node.opset < 7 and node.attributes.get("broadcast", 0):
        raise NotCoveredError("broadcasting by an attribute, as before opset 7")


def _rows(operation: Callable[..., Size | None]) -> ValueRule:
    """Return the rule of a function of each element, the rows broadcast together."""

    def rule(at: Operands) -> Elements | None:
        rows = [at.elements(index) for index in range(len(at.inputs))]
        known = [row for row in rows if row is not None]
        length = max(map(len, known), default=0)
        if len(known) < len(rows) or {len(row) for row in known} - {1, length}:
            return None
        columns = zip(*(long(row, length) for row in known), strict=True)
        return tuple(None if None in column else operation(*column) for column in columns)

    return rule


def _larger(*sizes: Size) -> Size | None:
    numbers = [each for each in sizes if isinstance(each, int)]
    if len(numbers) == len(sizes):
        return max(numbers)
    return sizes[0] if len(set(sizes)) == 1 else None


def _quotient(left: Size, right: Size) -> Size | None:
    """Return what Div gives, which drops the rest of two numbers."""
    if isinstance(left, int) and isinstance(right, int) and right:
        whole = abs(left) // abs(right)
        return whole if (left < 0) == (right < 0) else -whole
    exact = size.divide(left, right)
    if exact is None and isinstance(right, int) and right > 0 and size.is_countable(left):
        return size.floor_divide(left, right)
    return exact


def _rest(at: Operands) -> Elements | None:
    """Return what Mod gives, which is not negative where the divisor is not."""
    if at.number("fmod", 0):
        return None

    def rest(left: Size, right: Size) -> Size | None:
        if not isinstance(right, int) or right <= 0:
            return None
        return size.remainder(left, right)

    return _rows(rest)(at)


def _equal(left: Size, right: Size) -> Size | None:
    """Return whether two sizes are equal whatever the inputs are; a size is never negative."""
    difference = size.subtract(left, right)
    if isinstance(difference, int):
        return int(difference == 0)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, int) and one < 0 and size.is_countable(other):
            return 0
    return None


def _chosen(at: Operands) -> Elements | None:
    asked, yes, no = at.elements(0), at.elements(1), at.elements(2)
    if asked is None or yes is None or no is None:
        return None
    length = max(len(asked), len(yes), len(no))
    if {len(asked), len(yes), len(no)} - {1, length}:
        return None
    rows = zip(long(asked, length), long(yes, length), long(no, length), strict=True)
    return tuple(None if test is None else a if test else b for test, a, b in rows)


def _negated(value: Size) -> Size | None:
    return 1 - value if isinstance(value, int) else None


_VALUES: dict[str, ValueRule] = {
    "Add": _rows(size.add),
    "Sub": _rows(size.subtract),
    "Mul": _rows(size.multiply),
    "Div": _rows(_quotient),
    "Max": _rows(_larger),
    "Neg": _rows(lambda value: size.multiply(value, -1)),
    "Equal": _rows(_equal),
    "Not": _rows(_negated),
}
_COSTLY = frozenset({
    "Exp", "Log", "Erf", "Tanh", "Sigmoid", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh",
    "Cosh", "Asinh", "Acosh", "Atanh",
})  # fmt: skip
"""About ten operations each, as vector libraries have them."""
_UNFOLDED = frozenset({
    "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "IsNaN", *_BITS,
})  # fmt: skip


def _record(name: str, loops: Meaning, operations: float = 1) -> Operator:
    """Return the record of an operator that is one function of its operands' elements."""
    asks = name in _BOOLEAN or name in _TURNED
    return Operator(
        shape=broadcast,
        types=always("bool") if asks else type_of_input(0),
        value=_VALUES.get(name),
        work=each_output(10 if name in _COSTLY else operations),
        folds=None if name in _UNFOLDED else defined,
        loops=loops,
    )


register({name: _record(name, _function(made)) for name, made in (_FUNCTIONS | _BITS).items()
          if name not in ("Div", "Sqrt")})  # fmt: skip
register({name: _record(name, _function(asked, "bool")) for name, asked in _BOOLEAN.items()})
register({name: _record(name, _function(asked, "bool", turned=True))
          for name, asked in _TURNED.items()})  # fmt: skip
register({
    "Sqrt": _record("Sqrt", _function("sqrt"), 2),
    "Div": Operator(broadcast, value=_VALUES["Div"], work=each_output(1), folds=no_zero_below,
                    loops=_divided(_function("divide"))),
    "Mod": Operator(broadcast, value=_rest, work=each_output(1), folds=no_zero_below,
                    loops=_divided(_function(_remainder))),
    "Pow": Operator(broadcast, work=each_output(10), folds=defined, loops=power),
    "Min": Operator(broadcast, work=each_output(1), folds=defined, loops=_folded("minimum")),
    "Max": Operator(broadcast, value=_VALUES["Max"], work=each_output(1), folds=defined,
                    loops=_folded("maximum")),
    "Sum": Operator(broadcast, work=each_output(2), loops=_folded("add")),
    "Mean": Operator(broadcast, work=each_output(2), folds=defined, loops=mean),
    "BitShift": Operator(broadcast, work=each_output(1),
                         loops=_function(lambda node: _SHIFTS[node.attributes["direction"]])),
    "IsInf": Operator(broadcast, always("bool"), work=each_output(1), loops=is_infinite),
    "Where": Operator(broadcast, type_of_input(1), _chosen, each_output(1), folds=defined,
                      loops=where),
})  # fmt: skip
