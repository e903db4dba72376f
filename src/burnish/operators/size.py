"""A size of an axis: a number, or a sum of products of unknown sizes with whole coefficients.

Two sizes that are equal as sums are equal whatever the unknown sizes turn out to be, so
`batch · heads · 64` from one part of a model can be compared with the size in another.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

Product = frozenset[tuple[Hashable, int]]
"""Unknown sizes and their powers; empty: the number alone."""

_ALONE: Product = frozenset()


@dataclass(frozen=True, slots=True)
class Sum:
    """A size that is not a plain number."""

    terms: frozenset[tuple[Product, int]]


Size = int | Sum


@dataclass(frozen=True, slots=True)
class Least:
    """The smaller one of two sizes, as what a slice of limited length gives."""

    limit: Size
    wanted: Size


@dataclass(frozen=True, slots=True)
class Quotient:
    """dividend // divisor, the rest dropped; no term of the dividend has a whole multiple in it."""

    dividend: Sum
    divisor: int


def unknown(key: Hashable) -> Sum:
    """Return the size that stands for itself; equal keys are equal sizes."""
    return Sum(frozenset({(frozenset({(key, 1)}), 1)}))


def add(left: Size, right: Size) -> Size:
    """Return the sum of two sizes."""
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    terms = dict(_terms(left))
    for product, count in _terms(right).items():
        terms[product] = terms.get(product, 0) + count
    return _normal(terms)


def subtract(left: Size, right: Size) -> Size:
    """Return the difference of two sizes."""
    return add(left, multiply(right, -1))


def multiply(left: Size, right: Size) -> Size:
    """Return the product of two sizes."""
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    terms: dict[Product, int] = {}
    for one, a in _terms(left).items():
        for other, b in _terms(right).items():
            both = _joined(one, other)
            terms[both] = terms.get(both, 0) + a * b
    return _normal(terms)


def total(sizes: Iterable[Size]) -> Size:
    """Return the product of all sizes."""
    result: Size = 1
    for size in sizes:
        result = multiply(result, size)
    return result


def divide(left: Size, right: Size) -> Size | None:
    """Return the quotient, if there is no rest whatever the unknown sizes are."""
    if left == right:
        return 1
    divisor = _terms(right)
    if len(divisor) != 1:
        return None
    ((below, by),) = divisor.items()
    if by == 0:
        return None
    terms: dict[Product, int] = {}
    for product, count in _terms(left).items():
        rest = _without(product, below)
        if rest is None or count % by:
            return None
        terms[rest] = terms.get(rest, 0) + count // by
    return _normal(terms)


def floor_divide(left: Size, right: int) -> Size:
    """Return the quotient without its rest, as // gives it; the divisor is more than 0.

    Whole multiples are taken out, so that (s - 1) // 2 + 1 is (s + 1) // 2, and what is left
    below the line is not negative.
    """
    parts = {product: divmod(count, right) for product, count in _terms(left).items()}
    whole = _normal({product: times for product, (times, _) in parts.items()})
    rest = _normal({product: left_over for product, (_, left_over) in parts.items()})
    return whole if isinstance(rest, int) else add(whole, unknown(Quotient(rest, right)))


def remainder(left: Size, right: int) -> Size:
    """Return what `floor_divide` leaves, which is not negative."""
    return subtract(left, multiply(floor_divide(left, right), right))


def is_countable(size: Size) -> bool:
    """Return whether a size is surely not negative.

    What is taken away as a quotient is no more than its dividend over its divisor, with the rest:
    so s - 127·s // 128, the number of blocks of 128 that hold s, is no less than s / 128.
    """
    if isinstance(size, int):
        return size >= 0
    if all(count > 0 for _, count in size.terms):
        return True
    least: dict[Product, Fraction] = {}
    for product, count in size.terms:
        quotient = _as_quotient(product) if count < 0 else None
        above = {product: 1} if quotient is None else _terms(quotient.dividend)
        share = Fraction(count, 1 if quotient is None else quotient.divisor)
        for part, times in above.items():
            least[part] = least.get(part, Fraction()) + share * times
    return all(count >= 0 for count in least.values())


def _as_quotient(product: Product) -> Quotient | None:
    ((key, power),) = product if len(product) == 1 else ((None, 0),)
    return key if isinstance(key, Quotient) and power == 1 else None


def text(size: Size) -> str:
    """Return a size as a formula of names, in which ? stands for a size that has none."""
    if isinstance(size, int):
        return str(size)
    parts = []
    for product, count in size.terms:
        factors = [_factor(key) for key, power in product for _ in range(power)]
        sign, times = "-" if count < 0 else "+", [] if abs(count) == 1 and factors else [abs(count)]
        parts.append((sign, " * ".join((*map(str, times), *sorted(factors)))))
    first, *rest = sorted(parts)
    start = first[1] if first[0] == "+" else f"-{first[1]}"
    return " ".join((start, *(f"{sign} {part}" for sign, part in rest)))


def _factor(key: Hashable) -> str:
    match key:
        case str():
            return key
        case Quotient(dividend, divisor):
            return f"(({text(dividend)}) // {divisor})"
        case Least(limit, wanted):
            return f"min({text(limit)}, {text(wanted)})"
    return "?"


def broadcast(left: Size, right: Size) -> Size | None:
    """Return the size of an axis that two operands share; None: it depends."""
    if right in (left, 1):
        return left
    if left == 1:
        return right
    if isinstance(left, int) or isinstance(right, int):
        return left if isinstance(left, int) else right
    for one, other in ((left, right), (right, left)):
        least = _as_least(one)
        if least is not None and least.wanted == other and least.limit != 1:
            return other
    return None


def _as_least(size: Sum) -> Least | None:
    if len(size.terms) != 1:
        return None
    ((product, count),) = size.terms
    key = next(iter(product))[0] if len(product) == 1 and count == 1 else None
    return key if isinstance(key, Least) else None


@cache
def named(name: str) -> Size:
    """Return the size that a name such as `batch` or `past + length` stands for."""
    try:
        found = _parsed(ast.parse(name, mode="eval").body)
    except SyntaxError:
        found = None
    return unknown(name) if found is None else found


def _parsed(tree: ast.expr) -> Size | None:
    match tree:
        case ast.Name(id=name):
            return unknown(name)
        case ast.Constant(value=int(number)):
            return number
        case ast.BinOp(
            left=left,
            op=ast.Sub(),
            right=ast.Call(func=ast.Name(id="Max"), args=[ast.Constant(value=0), cut]),
        ):
            return _limited(_parsed(left), _parsed(cut))
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _combined(ast.Mult(), -1, _parsed(inner))
        case ast.Call(func=ast.Name(id="PythonMod" | "Mod"), args=[left, right]):
            return _combined(ast.Mod(), _parsed(left), _parsed(right))
        case ast.BinOp(left=left, op=operator, right=right):
            return _combined(operator, _parsed(left), _parsed(right))
    return None


def _combined(operator: ast.operator, a: Size | None, b: Size | None) -> Size | None:
    if a is None or b is None:
        return None
    match operator:
        case ast.Add():
            return add(a, b)
        case ast.Sub():
            return subtract(a, b)
        case ast.Mult():
            return multiply(a, b)
        case ast.FloorDiv() if isinstance(b, int) and b > 0:
            return floor_divide(a, b)
        case ast.Mod() if isinstance(b, int) and b > 0:
            return remainder(a, b)
    return None


def _limited(limit: Size | None, cut: Size | None) -> Size | None:
    """Return limit - max(0, cut), as PyTorch names what a slice leaves; an axis is not empty."""
    if limit is None or cut is None:
        return None
    return 1 if limit == 1 else unknown(Least(limit, subtract(limit, cut)))


def _terms(size: Size) -> Mapping[Product, int]:
    return {_ALONE: size} if isinstance(size, int) else dict(size.terms)


def _normal(terms: Mapping[Product, int]) -> Size:
    left = {product: count for product, count in terms.items() if count}
    if not left:
        return 0
    if left.keys() == {_ALONE}:
        return left[_ALONE]
    return Sum(frozenset(left.items()))


def _joined(one: Product, other: Product) -> Product:
    powers = dict(one)
    for key, power in other:
        powers[key] = powers.get(key, 0) + power
    return frozenset(powers.items())


def _without(product: Product, below: Product) -> Product | None:
    powers = dict(product)
    for key, power in below:
        left = powers.get(key, 0) - power
        if left < 0:
            return None
        powers[key] = left
    return frozenset((key, power) for key, power in powers.items() if power)
