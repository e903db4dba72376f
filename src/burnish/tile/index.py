"""Index expressions: affine in the axes of a nest, plus division and remainder by constants.

Expressions are kept canonical, so that equal indices are equal objects: terms are sorted, what is
known from the extents of the axes is simplified, and `c·(x // c) + x % c` is `x` again. A `Fetch`
is an index that is itself read from a tensor (Gather).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import gcd


@dataclass(frozen=True, slots=True)
class Axis:
    """One loop of a nest: it runs over 0 … extent - 1."""

    name: str
    extent: int


@dataclass(frozen=True, slots=True)
class Div:
    """`of // by`, rounded down; `by` is positive."""

    of: Index
    by: int


@dataclass(frozen=True, slots=True)
class Mod:
    """`of mod by`, never negative; `by` is positive."""

    of: Index
    by: int


@dataclass(frozen=True, slots=True)
class Fetch:
    """The element of an integer tensor, as an index into a dimension of size `extent`.

    Elements are in -extent … extent - 1; negative ones count from the end, as in ONNX.
    """

    tensor: str
    index: tuple[Index, ...]
    extent: int
    forward: bool = False
    """Whether negative ones are none, as its operator has it; whoever fetches need not know."""


Atom = Axis | Div | Mod | Fetch


@dataclass(frozen=True, slots=True)
class Index:
    """A sum of integer multiples of atoms and a constant; build it with the functions below."""

    terms: tuple[tuple[Atom, int], ...] = ()
    constant: int = 0

    def __add__(self, other: Index | int) -> Index:
        if isinstance(other, int):
            return Index(self.terms, self.constant + other)
        if not self.terms or not other.terms:
            return Index(self.terms or other.terms, self.constant + other.constant)
        return _sum((*self.terms, *other.terms), self.constant + other.constant)

    def __sub__(self, other: Index | int) -> Index:
        return self + other * -1

    def __mul__(self, factor: int) -> Index:
        if factor == 0:
            return Index()
        return Index(tuple((a, c * factor) for a, c in self.terms), self.constant * factor)

    def __str__(self) -> str:
        parts = [_term_text(atom, factor) for atom, factor in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")


def at(axis: Axis) -> Index:
    """Return the index that is the axis itself; an axis of extent one is always zero."""
    return Index(((axis, 1),)) if axis.extent != 1 else Index()


def number(value: int) -> Index:
    """Return a constant index."""
    return Index((), value)


def fetched(tensor: str, index: Iterable[Index], extent: int, *, forward: bool = False) -> Index:
    """Return the index that an integer tensor holds at `index`."""
    return Index(((Fetch(tensor, tuple(index), extent, forward), 1),))


@lru_cache(maxsize=100_000)
def floor_divide(of: Index, by: int) -> Index:
    """Return `of // by`, simplified with what the extents of the axes tell."""
    if by == 1:
        return of
    for whole, rest in (_split(of, by), _split_near(of, by)):
        low, high = bounds(rest)
        if low // by == high // by:
            return whole + low // by
    whole, rest = _split(of, by)
    common = gcd(by, *(factor for _, factor in rest.terms))
    if common > 1:
        inner = Index(
            tuple((atom, factor // common) for atom, factor in rest.terms), rest.constant // common
        )
        return whole + floor_divide(inner, by // common)
    match rest:
        case Index(((Div(inner_of, inner_by), 1),), constant):
            return whole + floor_divide(inner_of + constant * inner_by, inner_by * by)
    return whole + _small_part_dropped(rest, by)


@lru_cache(maxsize=100_000)
def remainder(of: Index, by: int) -> Index:
    """Return `of mod by`, simplified with what the extents of the axes tell."""
    if by == 1:
        return Index()
    for _, rest in (_split(of, by), _split_near(of, by)):
        low, high = bounds(rest)
        if low // by == high // by:
            return rest - by * (low // by)
    _, rest = _split(of, by)
    common = gcd(by, *(factor for _, factor in rest.terms))
    if common > 1:
        inner = Index(
            tuple((atom, factor // common) for atom, factor in rest.terms), rest.constant // common
        )
        return remainder(inner, by // common) * common + rest.constant % common
    match rest:
        case Index(((Mod(inner_of, inner_by), 1),), 0) if inner_by % by == 0:
            return remainder(inner_of, by)
    small, multiple, step = _separated(rest, by)
    if multiple is not None:
        return remainder(multiple, by // step) * step + small
    return Index(((Mod(rest, by), 1),))


def bounds(index: Index, ranges: Mapping[Axis, tuple[int, int]] | None = None) -> tuple[int, int]:
    """Return the least and the greatest value; `ranges` narrows some axes (both ends included)."""
    low = high = index.constant
    for atom, factor in index.terms:
        ends = tuple(factor * end for end in _atom_bounds(atom, ranges or {}))
        low, high = low + min(ends), high + max(ends)
    return low, high


def axes_of(index: Index) -> frozenset[Axis]:
    """Return the axes that the index depends on, those of fetched indices included."""
    found: set[Axis] = set()
    for atom, _ in index.terms:
        match atom:
            case Axis():
                found.add(atom)
            case Div(of, _) | Mod(of, _):
                found |= axes_of(of)
            case Fetch(_, inner, _):
                found.update(*(axes_of(part) for part in inner))
    return frozenset(found)


def fetches_of(index: Index) -> tuple[Fetch, ...]:
    """Return every fetched index in the expression, inner ones first."""
    found: list[Fetch] = []
    for atom, _ in index.terms:
        match atom:
            case Div(of, _) | Mod(of, _):
                found += fetches_of(of)
            case Fetch(_, inner, _):
                found += [fetch for part in inner for fetch in fetches_of(part)]
                found.append(atom)
    return tuple(dict.fromkeys(found))


def substitute(index: Index, values: Mapping[Axis, Index]) -> Index:
    """Return the index with axes replaced, simplified again."""
    if len(index.terms) == 1:
        ((atom, factor),) = index.terms
        part = _substituted(atom, values)
        if factor == 1 and not index.constant:
            return part
        terms = part.terms if factor == 1 else tuple((a, c * factor) for a, c in part.terms)
        return Index(terms, part.constant * factor + index.constant)
    result = number(index.constant)
    for atom, factor in index.terms:
        part = _substituted(atom, values)
        result = result + (part if factor == 1 else part * factor)
    return result


def flatten(index: Iterable[Index], shape: Iterable[int]) -> Index:
    """Return the row-major position of an index in a tensor of this shape."""
    result = Index()
    for part, extent in zip(index, shape, strict=True):
        result = result * extent + part
    return result


def unflatten(position: Index, shape: tuple[int, ...]) -> tuple[Index, ...]:
    """Return the index whose row-major position in a tensor of this shape is `position`."""
    parts: list[Index] = []
    inner = 1
    for axis, extent in reversed(tuple(enumerate(shape))):
        part = floor_divide(position, max(inner, 1))
        parts.append(part if axis == 0 else remainder(part, max(extent, 1)))
        inner *= extent
    return tuple(reversed(parts))


def coefficient(index: Index, axis: Axis) -> int | None:
    """Return how much the index grows with each step of the axis; None: not evenly."""
    steady = 0
    for atom, factor in index.terms:
        if atom == axis:
            steady = factor
        elif axis in axes_of(Index(((atom, 1),))):
            return None
    return steady


def _substituted(atom: Atom, values: Mapping[Axis, Index]) -> Index:
    match atom:
        case Axis():
            found = values.get(atom)
            return Index(((atom, 1),)) if found is None else found
        case Div(of, by):
            return floor_divide(substitute(of, values), by)
        case Mod(of, by):
            return remainder(substitute(of, values), by)
        case Fetch(tensor, inner, extent):
            return fetched(tensor, (substitute(part, values) for part in inner), extent)


def _atom_bounds(atom: Atom, ranges: Mapping[Axis, tuple[int, int]]) -> tuple[int, int]:
    match atom:
        case Axis(_, extent):
            return ranges.get(atom, (0, max(extent - 1, 0)))
        case Div(of, by):
            low, high = bounds(of, ranges)
            return low // by, high // by
        case Mod(of, by):
            low, high = bounds(of, ranges)
            return (low % by, high % by) if low // by == high // by else (0, by - 1)
        case Fetch(_, _, extent):
            return 0, max(extent - 1, 0)


def _split(index: Index, by: int) -> tuple[Index, Index]:
    """Return `index / by` of the terms that `by` divides, and the rest of the index."""
    whole = tuple((atom, factor // by) for atom, factor in index.terms if factor % by == 0)
    rest = tuple((atom, factor) for atom, factor in index.terms if factor % by)
    return Index(whole, index.constant // by), Index(rest, index.constant % by)


def _split_near(index: Index, by: int) -> tuple[Index, Index]:
    """Return the index as by · whole + rest, where the rest has factors close to zero.

    So a step of `by - 1` is one of `by` and one back: what relative positions are shifted by.
    """
    parts = [(atom, (factor + by // 2) // by, factor) for atom, factor in index.terms]
    whole = tuple((atom, times) for atom, times, _ in parts if times)
    rest = ((atom, factor - by * times) for atom, times, factor in parts)
    return (
        _sum(whole, index.constant // by),
        _sum((term for term in rest if term[1]), index.constant % by),
    )


def _separated(rest: Index, by: int) -> tuple[Index, Index | None, int]:
    """Return `rest` as small + step · multiple, where step divides `by` and 0 ≤ small < step."""
    steps = sorted({gcd(factor, by) for _, factor in rest.terms} - {1}, reverse=True)
    for step in steps:
        large = tuple((atom, factor // step) for atom, factor in rest.terms if factor % step == 0)
        small = Index(tuple(term for term in rest.terms if term[1] % step), rest.constant % step)
        low, high = bounds(small)
        if low >= 0 and high < step:
            return small, Index(large, rest.constant // step), step
    return rest, None, 1


def _small_part_dropped(rest: Index, by: int) -> Index:
    _, multiple, step = _separated(rest, by)
    if multiple is not None:
        return floor_divide(multiple, by // step)
    return Index(((Div(rest, by), 1),))


def _sum(terms: Iterable[tuple[Atom, int]], constant: int) -> Index:
    factors: dict[Atom, int] = {}
    for atom, factor in terms:
        factors[atom] = factors.get(atom, 0) + factor
    for atom in list(factors):
        if isinstance(atom, Mod) and factors.get(atom):
            quotient = floor_divide(atom.of, atom.by)
            joined = _joined(factors, atom, quotient) or _joined_remainders(factors, atom)
            if joined is not None:
                return _sum(joined.terms, constant + joined.constant)
    kept = ((atom, factor) for atom, factor in factors.items() if factor)
    return Index(tuple(sorted(kept, key=_order)), constant)


def _joined(factors: Mapping[Atom, int], atom: Mod, quotient: Index) -> Index | None:
    """Return the terms with `k·(x % c) + k·c·(x // c)` written as `k·x`, where they are there."""
    factor = factors[atom]
    if not quotient.terms:
        return None
    wanted = {part: each * atom.by * factor for part, each in quotient.terms}
    if any(factors.get(part) != each for part, each in wanted.items()):
        return None
    rest = [(part, each) for part, each in factors.items() if part != atom and part not in wanted]
    whole = [(part, each * factor) for part, each in atom.of.terms]
    return Index((*rest, *whole), factor * (atom.of.constant - atom.by * quotient.constant))


def _joined_remainders(factors: Mapping[Atom, int], atom: Mod) -> Index | None:
    """Return `k·(x % a) + k·a·((x // a + c) % b)` written as `k·((x + c·a) % (a·b))`."""
    factor = factors[atom]
    for other, times in factors.items():
        match other:
            case Mod(Index(((Div(of, by), 1),), shift), outer) if (of, by) == (atom.of, atom.by):
                if times == factor * by:
                    rest = {part: n for part, n in factors.items() if part not in (atom, other)}
                    whole = remainder(of + shift * by, by * outer) * factor
                    return Index((*rest.items(), *whole.terms), whole.constant)
    return None


def _order(term: tuple[Atom, int]) -> tuple[int, str]:
    return -abs(term[1]), _atom_text(term[0])


@lru_cache(maxsize=100_000)
def _atom_text(atom: Atom) -> str:
    match atom:
        case Axis(name, _):
            return name
        case Div(of, by):
            return f"({of}) // {by}"
        case Mod(of, by):
            return f"({of}) % {by}"
        case Fetch(tensor, inner, _):
            return f"{tensor}[{', '.join(map(str, inner))}]"


def _term_text(atom: Atom, factor: int) -> str:
    text = _atom_text(atom)
    return text if factor == 1 else f"{factor}*{text}"
