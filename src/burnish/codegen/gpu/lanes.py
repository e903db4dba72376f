"""What kernels compute with, as far as addresses go: whole numbers by lane, for many programs.

A number is known by its least and its greatest value; for indices that come from loops and programs
both are the same. Arithmetic is exact, and lanes that 32 bits could not hold are remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Whole = np.ndarray[Any, Any]
"""An array of whole numbers or conditions."""

_EDGE = 2**31


@dataclass(frozen=True, slots=True)
class IndexType:
    """An element type: the bits of a whole number that may be an index; zero: of all others."""

    bits: int = 0


class Data:
    """A value that no address depends on, or one of which too little is known."""

    dtype = IndexType()

    def __init__(self, least: int | None = None) -> None:
        self.least = least

    def __call__(self, *_: object, **__: object) -> Data:
        """Return what a function makes of data: data."""
        return DATA

    def __getattr__(self, _: str) -> Data:
        return DATA

    def __getitem__(self, _: object) -> Data:
        return self

    def to(self, _: object) -> Data:
        """Return the value in another type."""
        return DATA


DATA = Data()


@dataclass(frozen=True, slots=True, eq=False)
class BlockLanes:
    """Whole numbers of a block: programs first, then the dimensions of the block."""

    low: Whole
    high: Whole
    """The same object as `low` where the numbers are known."""
    bits: int
    """32 or 64; one: it is a condition."""
    wrapped: Whole
    """Lanes that were computed in 32 bits and do not fit them."""

    @property
    def dtype(self) -> IndexType:
        """Return the element type."""
        return IndexType(self.bits)

    def __getitem__(self, key: object) -> BlockLanes:
        places = (slice(None), *(key if isinstance(key, tuple) else (key,)))
        return self._moved(lambda values: values[places])

    def _moved(self, move: Callable[[Whole], Whole]) -> BlockLanes:
        low = move(self.low)
        high = low if self.low is self.high else move(self.high)
        return BlockLanes(low, high, self.bits, move(self.wrapped))

    def ranked(self, most: int) -> BlockLanes:
        """Return the numbers with so many dimensions: a program's own vary along none of them."""
        if self.low.ndim == most:
            return self
        new = [1] * (most - self.low.ndim)
        return self._moved(lambda values: values.reshape(len(values), *new, *values.shape[1:]))

    def to(self, kind: object) -> BlockLanes | Data:
        """Return the numbers in another type; what is no index any more is data."""
        if not isinstance(kind, IndexType) or not kind.bits:
            return DATA
        numbers = self._moved(lambda values: values.astype(np.int64)) if self.bits == 1 else self
        return checked(numbers.low, numbers.high, kind.bits, self.wrapped)


def known(values: Whole, bits: int = 32) -> BlockLanes:
    """Return numbers that are what they are."""
    return BlockLanes(values, values, bits, np.zeros([1] * values.ndim, bool))


def between(low: int, high: int, bits: int = 32) -> BlockLanes:
    """Return a number of which a least and a greatest value are known."""
    return BlockLanes(np.array([low]), np.array([high]), bits, np.zeros(1, bool))


def checked(low: Whole, high: Whole, bits: int, wrapped: Whole) -> BlockLanes:
    """Return numbers, those remembered that do not fit their type."""
    if bits == 32 and (low.min(initial=0) < -_EDGE or high.max(initial=0) >= _EDGE):
        wrapped = wrapped | (low < -_EDGE) | (high >= _EDGE)
    return BlockLanes(low, high, bits, wrapped)


def lanes_of(value: object) -> BlockLanes | None:
    """Return what is a whole number as lanes; None: it is none."""
    if isinstance(value, BlockLanes):
        return value
    if isinstance(value, bool):
        return known(np.array([value]), 1)
    if isinstance(value, int):
        return known(np.array([int(value)]), 32 if -_EDGE <= value < _EDGE else 64)
    return None


def chosen(condition: object, yes: object, no: object) -> BlockLanes | Data:
    """Return `tl.where`: one of both where it is known which, else all from one to the other."""
    given = [lanes_of(yes), lanes_of(no), lanes_of(condition) or between(0, 1, 1)]
    first, second, which = aligned(*(each for each in given if each)) if all(given) else (None,) * 3
    if first is None or second is None or which is None:
        return DATA
    sure, never = which.low != 0, which.high == 0
    least = np.minimum(first.low, second.low), np.maximum(first.high, second.high)
    low = np.where(sure, first.low, np.where(never, second.low, least[0]))
    high = np.where(sure, first.high, np.where(never, second.high, least[1]))
    wrapped = first.wrapped | second.wrapped | which.wrapped
    return checked(low, high, max(first.bits, second.bits), wrapped)


def larger(a: object, b: object, *_: object, **__: object) -> BlockLanes | Data:
    """Return `tl.maximum`: of unknown numbers, the least value is known from then on."""
    if isinstance(a, Data) and isinstance(b, int):
        return Data(least=b)
    return _both(a, b, _rising(np.maximum))


def smaller(a: object, b: object, *_: object, **__: object) -> BlockLanes | Data:
    """Return `tl.minimum`: of numbers with a least value, both ends are known from then on."""
    if isinstance(a, Data) and isinstance(a.least, int) and isinstance(b, int):
        return between(min(a.least, b), b, 64)
    return _both(a, b, _rising(np.minimum))


def aligned(*given: BlockLanes) -> tuple[BlockLanes, ...]:
    """Return numbers with the same count of dimensions."""
    most = max(each.low.ndim for each in given)
    return tuple(each.ranked(most) for each in given)


Two = Callable[[BlockLanes, BlockLanes], "BlockLanes | Data"]


def _both(a: object, b: object, compute: Two) -> BlockLanes | Data:
    first, second = lanes_of(a), lanes_of(b)
    if first is None or second is None:
        return DATA
    return compute(*aligned(first, second))


def _made(a: BlockLanes, b: BlockLanes, low: Whole, high: Whole, bits: int = 0) -> BlockLanes:
    return checked(low, high, bits or max(a.bits, b.bits, 32), a.wrapped | b.wrapped)


def _rising(function: Callable[[Whole, Whole], Whole]) -> Two:
    """Return a function that grows with both of its arguments."""

    def compute(a: BlockLanes, b: BlockLanes) -> BlockLanes:
        low = function(a.low, b.low)
        certain = a.low is a.high and b.low is b.high
        return _made(a, b, low, low if certain else function(a.high, b.high))

    return compute


def _difference(a: BlockLanes, b: BlockLanes) -> BlockLanes:
    return _made(a, b, a.low - b.high, a.high - b.low)


def _product(a: BlockLanes, b: BlockLanes) -> BlockLanes:
    if a.low is a.high and b.low is b.high:
        exact = a.low * b.low
        return _made(a, b, exact, exact)
    ends = a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high
    return _made(a, b, np.minimum.reduce(ends), np.maximum.reduce(ends))


def _quotient(a: BlockLanes, b: BlockLanes) -> BlockLanes | Data:
    if not _positive(b):
        return DATA
    low = _towards_zero(a.low, b.low)
    return _made(a, b, low, low if a.low is a.high else _towards_zero(a.high, b.low))


def _rest(a: BlockLanes, b: BlockLanes) -> BlockLanes | Data:
    if not _positive(b):
        return DATA
    turns = _towards_zero(a.low, b.low), _towards_zero(a.high, b.low)
    low, high = a.low - turns[0] * b.low, a.high - turns[1] * b.low
    same = (turns[0] == turns[1]) & ((a.low >= 0) | (a.high <= 0))
    return _made(
        a, b,
        np.where(same, low, np.where(a.low < 0, 1 - b.low, 0)),
        np.where(same, high, np.where(a.high > 0, b.low - 1, 0)),
    )  # fmt: skip


def _positive(b: BlockLanes) -> bool:
    return b.low is b.high and bool((b.low > 0).all())


def _towards_zero(of: Whole, by: Whole) -> Whole:
    """Return a quotient as Triton rounds it."""
    result: Whole = np.sign(of) * (np.abs(of) // by)
    return result


def _less(a: BlockLanes, b: BlockLanes) -> BlockLanes:
    return _made(a, b, a.high < b.low, a.low < b.high, 1)


def _at_most(a: BlockLanes, b: BlockLanes) -> BlockLanes:
    return _made(a, b, a.high <= b.low, a.low <= b.high, 1)


def _equal(a: BlockLanes, b: BlockLanes) -> BlockLanes:
    certain = (a.low == a.high) & (b.low == b.high) & (a.low == b.low)
    return _made(a, b, certain, (a.low <= b.high) & (b.low <= a.high), 1)


def _unequal(a: BlockLanes, b: BlockLanes) -> BlockLanes:
    same = _equal(a, b)
    return _made(a, b, ~same.high, ~same.low, 1)


def _logical(function: Callable[[Whole, Whole], Whole]) -> Two:
    def compute(a: BlockLanes, b: BlockLanes) -> BlockLanes | Data:
        if a.bits != 1 or b.bits != 1:
            return DATA
        return _made(a, b, function(a.low, b.low), function(a.high, b.high), 1)

    return compute


def _unknown(_: BlockLanes, __: BlockLanes) -> Data:
    return DATA


_OPERATORS: dict[str, Two] = {
    "add": _rising(np.add), "sub": _difference, "mul": _product, "floordiv": _quotient,
    "mod": _rest, "lt": _less, "le": _at_most, "gt": lambda a, b: _less(b, a),
    "ge": lambda a, b: _at_most(b, a), "eq": _equal, "ne": _unequal,
    "and": _logical(np.logical_and), "or": _logical(np.logical_or), "xor": _unknown,
    "truediv": _unknown, "lshift": _unknown, "rshift": _unknown,
}  # fmt: skip
_SIGNS: dict[str, Callable[[Any], BlockLanes | Data]] = {
    "neg": lambda a: _both(0, a, _difference),
    "pos": lambda a: _both(0, a, _rising(np.add)),
    "invert": lambda _: DATA,
    "abs": lambda _: DATA,
}


def _define(name: str, compute: Two) -> None:
    def forward(self: object, other: object) -> BlockLanes | Data:
        return _both(self, other, compute)

    def backward(self: object, other: object) -> BlockLanes | Data:
        return _both(other, self, compute)

    for kind in (BlockLanes, Data):
        setattr(kind, f"__{name}__", forward)
        setattr(kind, f"__r{name}__", backward)


for _name, _compute in _OPERATORS.items():
    _define(_name, _compute)
for _name, _sign in _SIGNS.items():
    for _kind in (BlockLanes, Data):
        setattr(_kind, f"__{_name}__", _sign)
