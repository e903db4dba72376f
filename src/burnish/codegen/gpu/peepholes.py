"""Expressions as a GPU computes them best, where that changes nothing that anyone may rely on."""

from __future__ import annotations

from burnish.codegen.gpu import spelling
from burnish.tile.expr import Call, Constant, Expr


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
