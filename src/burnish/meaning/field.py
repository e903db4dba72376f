"""Exact arithmetic modulo a prime, in which equality of two computations is all but a proof.

Inputs become random elements of the field, constants their exact images (every float is a whole
number times a power of two). Two computations of sums, products and quotients that agree there
are the same polynomial quotient, except with a probability of about its degree over the prime
(Schwartz and Zippel). Exponentials are powers of an element of order q, whose exponents are
kept modulo q beside each number modulo p, so that e^(a+b) = e^a · e^b holds; there is one
exponential on a way. Any other function of numbers is an arbitrary one: equal arguments give
equal results, and nothing else is known of it. The idea is that of Mirage (OSDI 2025).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.core.tensors import FLOATS
from burnish.meaning.node import NotEvaluatedError
from burnish.meaning.numbers import Reals

P = 1_610_612_203
"""The prime that numbers are kept modulo."""
Q = 268_435_367
"""The prime that exponents are kept modulo; it divides P - 1."""
ROOT = 64
"""An element of order Q modulo P: it stands for Euler's number."""

LARGEST_SUM = 1 << 20
"""Terms that a sum of products may have: beyond, f64 would not hold its parts exactly."""


Whole = NDArray[np.int64]
Bits = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Residues:
    """Numbers modulo P, and modulo Q where they may still become exponents."""

    p: Whole
    q: Whole | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the tensor."""
        return self.p.shape


Value = Any
"""`Residues` for floats, a plain array for integers and truths."""


class PrimeField(Reals):
    """Numbers modulo a prime; the seed decides what inputs and unknown functions are."""

    def __init__(self, seed: int) -> None:
        self._salt = int(np.random.default_rng(seed).integers(1 << 62))

    def held(self, array: Array, dtype: str) -> Value:
        """Return a random element for each different number of an input."""
        if dtype not in FLOATS:
            return array
        bits = array.astype(np.float64).view(np.uint64)
        return self._drawn(bits.astype(np.uint64), 0)

    def weight(self, array: Array, dtype: str) -> Value:
        """Return the exact image of each number of a constant."""
        return _images(array.astype(np.float64)) if dtype in FLOATS else array

    def opened(self, value: Value) -> Value:
        """Return the elements: they always have the form that is computed with."""
        return value

    def number(self, number: float, dtype: str) -> Value:
        """Return the exact image of a number."""
        if dtype in FLOATS:
            return _images(np.asarray(number, np.float64))
        return np.asarray(number, array_type(dtype))

    def each(self, move: Callable[[Any], Any], value: Value) -> Value:
        """Return the elements moved."""
        if not isinstance(value, Residues):
            return move(value)
        return Residues(move(value.p), None if value.q is None else move(value.q))

    def merged(self, target: Value, where: tuple[slice, ...], part: Value) -> Value:
        """Return `target` with `part` put in."""
        if not isinstance(target, Residues):
            target[where] = part
            return target
        target.p[where] = part.p
        if target.q is None or part.q is None:
            return Residues(target.p, None)
        target.q[where] = part.q
        return target

    def call(self, function: str, arguments: Sequence[Value], dtype: str) -> Value:
        """Return the function's value: by arithmetic where it has one here, else an arbitrary."""
        if not any(isinstance(each, Residues) for each in arguments):
            return super().call(function, arguments, dtype)
        if function == "where":
            return _chosen(arguments[0], arguments[1], arguments[2])
        if dtype not in FLOATS:
            raise NotEvaluatedError(f"{function} of numbers gives no number")
        if function in _ARITHMETIC:
            return _ARITHMETIC[function](*arguments)
        if function in _SYMMETRIC:
            first, second = (self._unknown(f"{function} of", [each]) for each in arguments)
            return _add(first, second)
        return self._unknown(function, arguments)

    def cast(self, value: Value, source: str, dtype: str) -> Value:
        """Return numbers as they are, and the images of integers; no number becomes an integer."""
        if isinstance(value, Residues):
            if dtype not in FLOATS:
                raise NotEvaluatedError(f"numbers are cut to {dtype}")
            return value
        if dtype not in FLOATS:
            return super().cast(value, source, dtype)
        whole = np.asarray(value).astype(np.int64)
        return Residues(whole % P, whole % Q)

    def reduced(self, combine: str, value: Value, axes: tuple[int, ...], dtype: str) -> Value:
        """Return sums and products; the largest of some is an unknown function of them all."""
        if not isinstance(value, Residues):
            return super().reduced(combine, value, axes, dtype)
        if combine == "prod":
            raise NotEvaluatedError("a product over an axis")
        if combine != "sum":
            value = self._unknown(f"{combine} of", [value])
        q = None if value.q is None else value.q.sum(axis=axes) % Q
        return Residues(value.p.sum(axis=axes) % P, q)

    def product(self, left: Value, right: Value, dtype: str) -> Value:
        """Return the matrix products."""
        if not isinstance(left, Residues) or not isinstance(right, Residues):
            return super().product(left, right, dtype)
        if left.p.shape[-1] > LARGEST_SUM:
            raise NotEvaluatedError(f"a sum of {left.p.shape[-1]:,} products")
        q = None if left.q is None or right.q is None else _matmul(left.q, right.q, Q)
        return Residues(_matmul(left.p, right.p, P), q)

    def array(self, value: Value) -> Array:
        """Return the elements modulo P."""
        return value.p if isinstance(value, Residues) else np.asarray(value)

    def _unknown(self, function: str, arguments: Sequence[Value]) -> Residues:
        """Return an arbitrary function of the elements."""
        state = np.uint64(sum(map(ord, function)) * 2_654_435_761 % (1 << 62))
        mixed: Bits = np.asarray(state)
        for argument in np.broadcast_arrays(*(self.array(each) for each in arguments)):
            mixed = _mixed(mixed ^ argument.astype(np.uint64))
        return self._drawn(mixed, 1)

    def _drawn(self, bits: Bits, purpose: int) -> Residues:
        first = _mixed(bits ^ np.uint64(self._salt + purpose))
        second = _mixed(first ^ np.uint64(0xD1B54A32D192ED03))
        return Residues(_below(first, P), _below(second, Q))


def _mixed(bits: Bits) -> Bits:
    """Return bits that look random, and depend on all bits that are given."""
    with np.errstate(over="ignore"):
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))


def _below(bits: Bits, prime: int) -> Whole:
    return (bits % np.uint64(prime)).astype(np.int64)


def _images(numbers: NDArray[np.float64]) -> Residues:
    """Return floats modulo P and Q: whole numbers times powers of two, exactly."""
    if not np.isfinite(numbers).all():
        raise NotEvaluatedError("a constant is NaN or infinite")
    fractions, exponents = np.frexp(numbers)
    whole = np.ldexp(fractions, 53).astype(np.int64)
    return Residues(
        whole % P * _power_of_two(exponents - 53, P) % P,
        whole % Q * _power_of_two(exponents - 53, Q) % Q,
    )


def _power_of_two(exponents: Whole, prime: int) -> Whole:
    low = int(exponents.min(initial=0))
    table = [pow(2, exponent, prime) for exponent in range(low, int(exponents.max(initial=0)) + 1)]
    return np.array(table, np.int64)[exponents - low]


def _add(a: Residues, b: Residues) -> Residues:
    return _both(a, b, lambda x, y, prime: (x + y) % prime)


def _subtract(a: Residues, b: Residues) -> Residues:
    return _both(a, b, lambda x, y, prime: (x - y) % prime)


def _multiply(a: Residues, b: Residues) -> Residues:
    return _both(a, b, lambda x, y, prime: x * y % prime)


def _both(a: Residues, b: Residues, do: Callable[[Whole, Whole, int], Whole]) -> Residues:
    q = None if a.q is None or b.q is None else do(a.q, b.q, Q)
    return Residues(do(a.p, b.p, P), q)


def _reciprocal(a: Residues) -> Residues:
    return Residues(_power(a.p, P - 2, P), None if a.q is None else _power(a.q, Q - 2, Q))


def _power(base: Whole, exponent: int, prime: int) -> Whole:
    result = np.ones_like(base)
    while exponent:
        if exponent & 1:
            result = result * base % prime
        base = base * base % prime
        exponent >>= 1
    return result


def _exp(a: Residues) -> Residues:
    if a.q is None:
        raise NotEvaluatedError("an exponential of an exponential")
    low = _POWERS[0][a.q & _LOW_BITS]
    return Residues(low * _POWERS[1][a.q >> _BITS] % P, None)


def _sigmoid(a: Residues) -> Residues:
    negated = Residues((-a.p) % P, None if a.q is None else (-a.q) % Q)
    one = _images(np.ones(()))
    return _reciprocal(_add(Residues(one.p, None), _exp(negated)))


def _chosen(condition: Array, first: Residues, second: Residues) -> Residues:
    q = None if first.q is None or second.q is None else np.where(condition, first.q, second.q)
    return Residues(np.where(condition, first.p, second.p), q)


def _matmul(left: Whole, right: Whole, prime: int) -> Whole:
    """Return matrix products modulo a prime, by halves of numbers that f64 multiplies exactly."""
    halves = [
        [(side >> 16).astype(np.float64), (side & 0xFFFF).astype(np.float64)]
        for side in (left, right)
    ]
    parts = [[np.matmul(a, b).astype(np.int64) % prime for b in halves[1]] for a in halves[0]]
    high = parts[0][0] * pow(2, 32, prime) % prime
    middle = (parts[0][1] + parts[1][0]) % prime * (1 << 16) % prime
    return np.asarray((high + middle + parts[1][1]) % prime)


_BITS = 14
_LOW_BITS = (1 << _BITS) - 1


def _powers(step: int) -> Whole:
    found, value = [], 1
    for _ in range((Q >> _BITS) + 1):
        found.append(value)
        value = value * step % P
    return np.array(found, np.int64)


_POWERS = (_powers(ROOT), _powers(pow(ROOT, 1 << _BITS, P)))

_SYMMETRIC = frozenset({"maximum", "minimum"})
_ARITHMETIC: dict[str, Callable[..., Residues]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": lambda a, b: _multiply(a, _reciprocal(b)),
    "reciprocal": _reciprocal,
    "negative": lambda a: Residues((-a.p) % P, None if a.q is None else (-a.q) % Q),
    "exp": _exp,
    "sigmoid": _sigmoid,
}
