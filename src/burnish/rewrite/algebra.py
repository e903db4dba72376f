"""What a value means: a sum of products of powers of other values.

`0.5 * x * (1 + erf(x / sqrt(2)))` can be spelled in hundreds of ways. All of them expand to the
same polynomial, 0.5·x + 0.5·x·E with E for the erf, whatever the order, the grouping, the rank
of the constants, and whether Mul, Div, Pow, Sqrt or Reciprocal was used. Rules compare
polynomials, and never ask how they were spelled.

Only real identities are used: √(x²) is not x, and a constant that would stretch the shape of
its partner is no plain number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import onnx_ir as ir

from burnish.operators.record import STANDARD_DOMAINS
from burnish.rewrite.facts import FLOATS, Facts, keeps_shape

Monomial = frozenset[tuple[ir.Value, float]]
"""Values and their powers; empty: the constant term."""
Polynomial = Mapping[Monomial, float]

ONE: Monomial = frozenset()
_MOST_TERMS = 12
_MOST_NODES = 48

TOLERANCES: Mapping[ir.DataType, float] = {
    ir.DataType.DOUBLE: 1e-4,
    ir.DataType.FLOAT: 1e-4,
    ir.DataType.FLOAT16: 1e-3,
    ir.DataType.BFLOAT16: 8e-3,
}
"""How far a constant may be from what a rule expects, relative to it. People write √½ as 0.7071
(1e-5 off), and narrow types round: f16 to 11 digits (5e-4), bf16 to 8 (4e-3)."""


def tolerance(value: ir.Value) -> float:
    """Return how exact the constants around a value can be expected to be."""
    return TOLERANCES.get(value.dtype or ir.DataType.FLOAT, 1e-4)


def close(found: float, expected: float, relative: float) -> bool:
    """Return whether a constant is the expected one, but for rounding."""
    return math.isclose(found, expected, rel_tol=relative, abs_tol=1e-12)


def power(value: ir.Value, exponent: float = 1.0) -> Monomial:
    """Return one value to a power."""
    return frozenset({(value, exponent)}) if exponent else ONE


def product(*parts: Monomial) -> Monomial:
    """Return the product of monomials."""
    parts = tuple([part for part in parts if part])
    if len(parts) < 2:
        return parts[0] if parts else ONE
    powers: dict[ir.Value, float] = {}
    for part in parts:
        for value, exponent in part:
            powers[value] = powers.get(value, 0.0) + exponent
    return frozenset((value, exponent) for value, exponent in powers.items() if exponent)


def equal(found: Polynomial, expected: Polynomial, relative: float) -> bool:
    """Return whether two polynomials are the same, but for rounding of their coefficients."""
    return found.keys() == expected.keys() and all(
        close(found[term], coefficient, relative) for term, coefficient in expected.items()
    )


def text(polynomial: Polynomial, names: Mapping[ir.Value, str]) -> str:
    """Return a polynomial for people: `0.5·x + 0.5·x·erf`."""
    terms = [_term_text(term, coefficient, names) for term, coefficient in polynomial.items()]
    return " + ".join(sorted(terms)) or "0"


def _term_text(term: Monomial, coefficient: float, names: Mapping[ir.Value, str]) -> str:
    factors = [
        names.get(value, value.name or "?") + ("" if exponent == 1 else f"^{exponent:g}")
        for value, exponent in term
    ]
    return "·".join([f"{coefficient:.6g}", *sorted(factors)])


@dataclass(frozen=True, slots=True)
class Expansion:
    """A value as a polynomial, and the nodes that compute it from the atoms."""

    polynomial: Polynomial
    nodes: tuple[ir.Node, ...]
    """Each after those it reads."""


def expand(value: ir.Value, atoms: Iterable[ir.Value], facts: Facts) -> Expansion:
    """Return a value as a polynomial in `atoms` and whatever else it is computed from."""
    expander = _Expander(frozenset(atoms), facts)
    polynomial = expander.expand(value)
    return Expansion(polynomial, tuple(expander.nodes))


class _Expander:
    def __init__(self, atoms: frozenset[ir.Value], facts: Facts) -> None:
        self._atoms = atoms
        self._facts = facts
        self._known: dict[ir.Value, Polynomial] = {}
        self._nodes_left = _MOST_NODES
        self.nodes: list[ir.Node] = []

    def expand(self, value: ir.Value) -> Polynomial:
        if value not in self._known:
            self._known[value] = self._expand(value)
        return self._known[value]

    def _expand(self, value: ir.Value) -> Polynomial:
        node = value.producer()
        if value in self._atoms:
            return {power(value): 1.0}
        if node is None or not self._nodes_left or not is_arithmetic(node):
            return {power(value): 1.0}
        self._nodes_left -= 1
        polynomial = self._by_operator(node)
        if polynomial is None or len(polynomial) > _MOST_TERMS:
            return {power(value): 1.0}
        self.nodes.append(node)
        return polynomial

    def _by_operator(self, node: ir.Node) -> Polynomial | None:
        match node.op_type:
            case "Identity" | "Cast":
                return self._operand(node, 0)
            case "Neg":
                return _scaled(self._operand(node, 0), -1.0)
            case "Reciprocal":
                return _raised(self._operand(node, 0), -1.0)
            case "Sqrt":
                return _raised(self._operand(node, 0), 0.5)
            case "Pow":
                exponent = self._facts.scalar(node.inputs[1])
                if exponent is None or not self._keeps_shape(node, 1):
                    return None
                return _raised(self._operand(node, 0), exponent)
            case _:
                return self._by_two_operands(node)

    def _by_two_operands(self, node: ir.Node) -> Polynomial | None:
        if len(node.inputs) != 2:
            return None
        left, right = self._operand(node, 0), self._operand(node, 1)
        if left is None or right is None:
            return None
        match node.op_type:
            case "Add" | "Sum":
                return _sum(left, right)
            case "Sub":
                return _sum(left, _scaled(right, -1.0) or {})
            case "Mul":
                return _product(left, right)
            case _:
                inverse = _raised(right, -1.0)
                return None if inverse is None else _product(left, inverse)

    def _operand(self, node: ir.Node, index: int) -> Polynomial | None:
        value = node.inputs[index]
        if value is None:
            return None
        number = self._number(node, index)
        return self.expand(value) if number is None else _clean({ONE: number})

    def _number(self, node: ir.Node, index: int) -> float | None:
        """Return an operand as a plain number, if it is one and stretches nothing."""
        value = node.inputs[index]
        number = self._facts.scalar(value)
        if number is None or value in self._atoms or not self._keeps_shape(node, index):
            return None
        return number

    def _keeps_shape(self, node: ir.Node, index: int) -> bool:
        array = self._facts.array(node.inputs[index])
        other = node.inputs[1 - index] if len(node.inputs) == 2 else None
        return array is not None and other is not None and keeps_shape(array.shape, other)


_ARITHMETIC = frozenset(
    {"Add", "Cast", "Div", "Identity", "Mul", "Neg", "Pow", "Reciprocal", "Sqrt", "Sub", "Sum"}
)


def is_arithmetic(node: ir.Node) -> bool:
    """Return whether `expand` looks through a node."""
    if node.op_type not in _ARITHMETIC or node.domain not in STANDARD_DOMAINS:
        return False
    if node.op_type == "Cast":
        source = node.inputs[0]
        return source is not None and {source.dtype, node.outputs[0].dtype} <= FLOATS
    return True


def _clean(terms: Mapping[Monomial, float]) -> Polynomial:
    return {term: coefficient for term, coefficient in terms.items() if coefficient}


def _sum(left: Polynomial, right: Polynomial) -> Polynomial:
    terms = dict(left)
    for term, coefficient in right.items():
        terms[term] = terms.get(term, 0.0) + coefficient
    return _clean(terms)


def _scaled(polynomial: Polynomial | None, factor: float) -> Polynomial | None:
    if polynomial is None:
        return None
    return {term: factor * coefficient for term, coefficient in polynomial.items()}


def _product(left: Polynomial, right: Polynomial) -> Polynomial | None:
    if len(left) * len(right) > 2 * _MOST_TERMS:
        return None
    terms: dict[Monomial, float] = {}
    for one, a in left.items():
        for other, b in right.items():
            term = product(one, other)
            terms[term] = terms.get(term, 0.0) + a * b
    return _clean(terms)


def _raised(polynomial: Polynomial | None, exponent: float) -> Polynomial | None:
    if not polynomial:
        return None
    if len(polynomial) > 1:
        return _multiplied(polynomial, exponent)
    ((term, coefficient),) = polynomial.items()
    whole = exponent == int(exponent)
    if not whole and (coefficient < 0 or not _is_single_root(term)):
        return None
    powers = frozenset((value, own * exponent) for value, own in term) if exponent else ONE
    try:
        return {powers: float(coefficient**exponent)}
    except (OverflowError, ZeroDivisionError):
        return None


def _is_single_root(term: Monomial) -> bool:
    """Return whether a fractional power of a term is a plain power: √x is, √(x²) is |x|."""
    return len(term) == 0 or (len(term) == 1 and abs(next(iter(term))[1]) <= 1)


def _multiplied(polynomial: Polynomial, exponent: float) -> Polynomial | None:
    if exponent not in (2.0, 3.0):
        return None
    result: Polynomial | None = polynomial
    for _ in range(int(exponent) - 1):
        result = None if result is None else _product(result, polynomial)
    return result


def sources(value: ir.Value, *, most: int = 24) -> Iterator[ir.Value]:
    """Yield a value and those it is computed from by arithmetic, the nearest first."""
    waiting, seen = [value], {value}
    while waiting and len(seen) <= most:
        current = waiting.pop(0)
        yield current
        node = current.producer()
        if node is None or not is_arithmetic(node):
            continue
        fresh = [source for source in node.inputs if source is not None and source not in seen]
        seen.update(fresh)
        waiting.extend(fresh)


def results(
    value: ir.Value, go_on: Callable[[ir.Value], bool], *, most: int = 32
) -> Iterator[ir.Value]:
    """Yield values that are computed from one by arithmetic, the nearest first.

    What is computed from a result is looked at only where `go_on` says so of the result.
    """
    waiting, seen = [value], {value}
    while waiting and len(seen) <= most:
        for reader, _ in waiting.pop(0).uses():
            result = reader.outputs[0]
            if result in seen or not is_arithmetic(reader):
                continue
            seen.add(result)
            yield result
            if go_on(result):
                waiting.append(result)
