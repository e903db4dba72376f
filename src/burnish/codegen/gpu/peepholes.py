"""Expressions as a GPU computes them best, where that changes nothing that anyone may rely on."""

from __future__ import annotations

import math

from burnish.codegen.gpu import spelling
from burnish.tile.expr import Call, Constant, Expr

ROOT, CLOSE = math.sqrt(0.5), 1e-4
"""What the error function of a GELU is of, and how far a constant may be from it."""


def simpler(expr: Expr, *, exact: bool) -> Expr:
    """Return the expression, or one with the same value and fewer instructions.

    Unless it must be `exact` to the last rounding, a value that the graph rounds to 16 bits and
    widens again stays in f32, which is nearer to what was meant.
    """
    match expr:
        case Call("cast", (Call("cast", (inner,), half),), "f32") if (
            not exact and inner.dtype == "f32" and half in spelling.HALVES
        ):
            return simpler(inner, exact=exact)
        case Call("where", (Call("less", (x, zero), _), other, y), dtype) if (
            zero == other == Constant(0, dtype) and dtype in spelling.FLOATS and x == y
        ):
            return Call("maximum", (x, zero), dtype)
    return expr


def at_once(expr: Call, *, exact: bool, near: bool) -> tuple[str, tuple[Expr, ...], str]:
    """Return a call as its function, arguments and type: of parts of a GELU or SiLU, the whole.

    With the device's own tanh, if that is `near` enough, these take fewer instructions.
    """
    match expr:
        case Call("multiply", (one, other), "f32") if near:
            late = one if exact else _unrounded(one), other if exact else _unrounded(other)
            for function, whole in (("gelu", _gelu_of), ("silu", _silu_of)):
                for left, right in (late, late[::-1]):
                    if (inner := whole(left, right)) is not None:
                        return function, (inner,), "f32"
    return expr.function, expr.arguments, expr.dtype


def _unrounded(expr: Expr) -> Expr:
    """Return an expression whose computed parts are not rounded to 16 bits between."""
    if not isinstance(expr, Call):
        return expr
    plain = simpler(expr, exact=False)
    if not isinstance(plain, Call):
        return plain
    return Call(plain.function, tuple(map(_unrounded, plain.arguments)), plain.dtype)


def _gelu_of(left: Expr, right: Expr) -> Expr | None:
    """Return x where the left is x/2 and the right 1 + erf(x/√2), or x and half of that."""
    halved = _scaled(left, 0.5)
    if halved is not None:
        return halved if _erf_of(right) == halved else None
    half = _scaled(right, 0.5)
    return left if half is not None and _erf_of(half) == left else None


def _erf_of(expr: Expr) -> Expr | None:
    """Return x where an expression is 1 + erf(x/√2)."""
    match expr:
        case Call("add", (Constant(1), Call("erf", (inner,), _)), _) | Call(
            "add", (Call("erf", (inner,), _), Constant(1)), _
        ):
            return _scaled(inner, ROOT)
    return None


def _silu_of(left: Expr, right: Expr) -> Expr | None:
    """Return x where the left is x and the right its sigmoid."""
    match right:
        case Call("sigmoid", (inner,), _) if inner == left:
            return left
    return None


def _scaled(expr: Expr, factor: float) -> Expr | None:
    """Return x where an expression is x times a factor; None: it is not."""
    match expr:
        case Call("multiply", (Constant(value), inner), _) | Call(
            "multiply", (inner, Constant(value)), _
        ) if abs(value - factor) < CLOSE:
            return inner
        case Call("divide", (inner, Constant(value)), _) if abs(value * factor - 1) < CLOSE:
            return inner
    return None
