"""Sizes that are written as arithmetic on other sizes, as exporters do: `past + sequence`."""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction

from burnish.core.errors import UsageError

Number = int | Fraction

_LONGEST = 500
"""Characters of the longest arithmetic that anybody writes; more is a name, or a trap."""
_MOST_BITS = 64
"""A size that needs more is none, and powers of powers would never be worked out."""
_HYPHENATED_NAME = re.compile(r"[A-Za-z_]\w*(-[A-Za-z_]\w*)+")
_OPERATORS: Mapping[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: Fraction(a) / Fraction(b),
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, b: _power(a, b),
}
_FUNCTIONS: Mapping[str, Callable[..., Number]] = {
    "max": max,
    "min": min,
    "floor": math.floor,
    "ceil": math.ceil,
    "ceiling": math.ceil,
    "mod": lambda a, b: a % b,
    "floordiv": lambda a, b: a // b,
    "ceildiv": lambda a, b: -(-a // b),
}
"""By name in lower case: PyTorch writes some as SymPy does, `Max(1, s0)`."""


class NoSizeError(UsageError):
    """With these sizes, a dimension has none."""


def atoms(text: str) -> tuple[str, ...]:
    """Return the names that a dimension is computed from: itself, if it is no arithmetic."""
    tree = _arithmetic(text)
    if tree is None:
        return (text,)
    calls = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return tuple(dict.fromkeys(node.id for node in names if id(node) not in calls))


def evaluate(text: str, sizes: Mapping[str, int]) -> int:
    """Return the size of a dimension, rounded down, from the sizes of all its atoms.

    Where these give none, for they divide by zero or grow beyond bounds, `NoSizeError` is raised.
    """
    tree = _arithmetic(text)
    if tree is None:
        return sizes[text]
    try:
        return math.floor(_value(tree, sizes))
    except (ArithmeticError, TypeError) as error:
        names = atoms(text)
        known = ", ".join(f"{name}={sizes[name]}" for name in names)
        raise NoSizeError(
            f"the dimension {text!r} cannot have a size with {known or 'these numbers'}",
            hint=f"bind other sizes: --shape {','.join(f'{name}=SIZE' for name in names)}",
        ) from error


def _arithmetic(text: str) -> ast.expr | None:
    """Return the expression that `text` is; None: it is a name that merely looks like one."""
    if _HYPHENATED_NAME.fullmatch(text) or len(text) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `2if` is a name here, and a warning to Python
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None  # the last two: brackets in brackets
    return tree if _is_arithmetic(tree) else None


def _is_arithmetic(node: ast.expr) -> bool:
    match node:
        case ast.Name():
            return True
        case ast.Constant(value=value):
            return type(value) is int
        case ast.BinOp(left=left, op=op, right=right):
            return type(op) in _OPERATORS and _is_arithmetic(left) and _is_arithmetic(right)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_arithmetic(operand)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return name.lower() in _FUNCTIONS and all(map(_is_arithmetic, arguments))
        case _:
            return False


def _value(node: ast.expr, sizes: Mapping[str, int]) -> Number:
    match node:
        case ast.Name(id=name):
            return sizes[name]
        case ast.Constant(value=int(value)):
            return value
        case ast.BinOp(left=left, op=op, right=right):
            return _bounded(_OPERATORS[type(op)](_value(left, sizes), _value(right, sizes)))
        case ast.UnaryOp(operand=operand):
            return -_value(operand, sizes)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _FUNCTIONS[name.lower()](*(_value(argument, sizes) for argument in arguments))
        case _:
            raise TypeError(f"{ast.dump(node)} is no arithmetic")


def _power(base: Number, exponent: Number) -> Number:
    if not -_MOST_BITS <= exponent <= _MOST_BITS:
        raise OverflowError(f"{base} to the power of {exponent}")
    return Fraction(base) ** int(exponent)


def _bounded(number: Number) -> Number:
    numerator, denominator = number.numerator, number.denominator
    if max(abs(numerator), denominator).bit_length() > _MOST_BITS * _MOST_BITS:
        raise OverflowError("more digits than any size")
    return number
