"""Scalar expressions as data: what a nest computes at each of its points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from burnish.tile.functions import FUNCTIONS
from burnish.tile.index import Index

Number = bool | int | float


@dataclass(frozen=True, slots=True)
class Guard:
    """The condition `low <= index < high`."""

    index: Index
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A number of a given element type."""

    value: Number
    dtype: str


@dataclass(frozen=True, slots=True)
class Argument:
    """What the nest's read of this position gives."""

    position: int
    dtype: str


@dataclass(frozen=True, slots=True)
class Accumulated:
    """The finished reduction; only in the expression that follows it."""

    dtype: str


@dataclass(frozen=True, slots=True)
class Coordinate:
    """The value of an index, as i64."""

    index: Index
    dtype: str = "i64"


@dataclass(frozen=True, slots=True)
class Inside:
    """Whether all guards hold."""

    guards: tuple[Guard, ...]
    dtype: str = "bool"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of `FUNCTIONS` applied to arguments of equal type (but for `where`, `cast`)."""

    function: str
    arguments: tuple[Expr, ...]
    dtype: str

    def __post_init__(self) -> None:
        if FUNCTIONS[self.function].arity != len(self.arguments):
            raise ValueError(f"{self.function} takes {FUNCTIONS[self.function].arity} arguments")
        alike = self.arguments[1:] if self.function == "where" else self.arguments
        types = {argument.dtype for argument in alike}
        if len(types) > 1:
            raise ValueError(f"{self.function} of {' and '.join(sorted(types))}")


Expr = Constant | Argument | Accumulated | Coordinate | Inside | Call


def call(function: str, *arguments: Expr) -> Expr:
    """Return a call whose type follows from the function and its arguments."""
    kind = FUNCTIONS[function].result
    dtype = "bool" if kind == "bool" else arguments[-1].dtype
    return Call(function, arguments, dtype)


def cast(value: Expr, dtype: str) -> Expr:
    """Return the value in another element type."""
    return value if value.dtype == dtype else Call("cast", (value,), dtype)


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield the expression and all its parts, outermost first."""
    waiting = [expr]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, Call):
            waiting.extend(reversed(part.arguments))


def transform(expr: Expr, leaf: Callable[[Expr], Expr]) -> Expr:
    """Return the expression with each leaf (what is not a call) replaced by `leaf` of it."""
    if isinstance(expr, Call):
        arguments = tuple(transform(each, leaf) for each in expr.arguments)
        return Call(expr.function, arguments, expr.dtype)
    return leaf(expr)


def renumbered(expr: Expr, numbers: Mapping[int, int]) -> Expr:
    """Return the expression with its arguments at other positions."""

    def leaf(part: Expr) -> Expr:
        return Argument(numbers[part.position], part.dtype) if isinstance(part, Argument) else part

    return transform(expr, leaf)


def operations(expr: Expr) -> int:
    """Return the scalar operations of one evaluation, each function with its weight."""
    return sum(FUNCTIONS[part.function].weight for part in walk(expr) if isinstance(part, Call))
