"""What a group must compute, judged by NumPy: parts of its outputs, and how far off is right.

Small outputs are judged whole; of large ones corners, lines along every axis and boxes inside. Only
what these parts need is evaluated, so the judge's slowness does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from typing import Any, Literal, TypeVar

import numpy as np

from burnish.closeness import parts
from burnish.closeness.apart import scale_of
from burnish.closeness.parts import Allowed, Box
from burnish.closeness.tolerance import ARITHMETIC, EXACT, Tolerance, arithmetic_of, weaker
from burnish.core.array_types import array_type
from burnish.core.arrays import Array, Arrays
from burnish.core.tensors import FLOATS
from burnish.tile.expr import Call, walk
from burnish.tile.graph import TensorType, TileGraph, TileOp
from burnish.tile.group import Group
from burnish.tile.index import Axis, Index, bounds
from burnish.tile.reference import evaluate_op

T = TypeVar("T")

WHOLE_POINTS = 1 << 20
"""Outputs that take no more evaluations than this are judged whole."""
BOX_POINTS = 1 << 20
"""A part of an output is made shorter until it takes no more evaluations than this."""
_CORNERS = 6
_INSIDE = 4
_EDGE = 3
"""Elements along each axis of a corner or of a box inside."""

_BYTES = 2e-2
"""The same where numbers become bytes on the way: one that is rounded the other way moves all sums
that it is part of."""

_NUMBERS = 0.9
"""Of what must be computed, as much should be numbers."""
_TIES = 0.01
"""Of integers and truth values that come from numbers which were rounded, as many may differ."""


@dataclass(frozen=True, slots=True)
class ExpectedPart:
    """What a part of an output must hold."""

    box: Box
    values: Array


@dataclass(frozen=True, slots=True)
class ExpectedOutput:
    """What an output must hold, and how far off elements may be."""

    parts: tuple[ExpectedPart, ...]
    allowed: Allowed


@dataclass(frozen=True, slots=True)
class Case:
    """Inputs of a group, and what its outputs must hold."""

    inputs: Mapping[str, Array]
    outputs: Mapping[str, ExpectedOutput]


def case(group: Group, graph: TileGraph, *, seed: int = 0) -> Case:
    """Return a case to try kernels of a group with."""
    signs: tuple[Sign, ...] = ("any", "positive")
    inputs = (group_inputs(group, graph, seed=seed, sign=sign) for sign in signs)
    tries = (case_of(group, graph, each, seed=seed) for each in inputs)
    return mostly_numbers(tries, lambda each: each)


def mostly_numbers(tries: Iterable[T], case: Callable[[T], Case]) -> T:
    """Return the first try whose case is mostly numbers; else the one with the most.

    Roots and logarithms of negative numbers are none: NaN everywhere would prove nothing.
    """
    found: list[T] = []
    for each in tries:
        found.append(each)
        if share_finite(case(each)) > _NUMBERS:
            break
    return max(found, key=lambda each: share_finite(case(each)))


def finding(name: str, found: Array, expected: ExpectedOutput) -> str:
    """Return what is wrong with an output; empty: nothing."""
    wanted = ((part.box, part.values) for part in expected.parts)
    return parts.finding(name, found, wanted, expected.allowed)


def parts_to_judge(group: Group, graph: TileGraph, output: str, *, seed: int) -> tuple[Box, ...]:
    """Return the parts of an output that are judged; none where it has no element."""
    shape = graph.tensors[output].shape
    if 0 in shape:
        return ()
    whole = tuple((0, extent) for extent in shape)
    if _points(group, graph, output, whole) <= WHOLE_POINTS:
        return (whole,)
    rng = np.random.default_rng(seed)
    boxes = (*_corners(shape, rng), *_lines(shape, rng), *_inner(shape, rng))
    return tuple(dict.fromkeys(_shortened(group, graph, output, box, rng) for box in boxes))


def needed(group: Group, graph: TileGraph, output: str, box: Box) -> dict[str, Box]:
    """Return the box of each tensor that the group's nests must compute for a box of an output."""
    result = {output: box}
    for op in reversed(group.ops):
        if op.output not in result:
            continue
        pairs = zip(op.spatial, result[op.output], strict=True)
        ranges = {axis: (low, high - 1) for axis, (low, high) in pairs}
        for read in op.reads:
            if read.tensor in group.written:
                part = _clamped(read.index, ranges, graph.tensors[read.tensor].shape)
                result[read.tensor] = _around(result.get(read.tensor), part)
        for fetch in op.fetches:
            if fetch.tensor in group.written:
                # indices are few, and which of them are read may hang on other indices
                result[fetch.tensor] = tuple((0, e) for e in graph.tensors[fetch.tensor].shape)
    return result


def case_of(group: Group, graph: TileGraph, inputs: Arrays, *, seed: int = 0) -> Case:
    """Return a case with given inputs."""
    judge = _Judge(group, graph, inputs)
    outputs = {}
    for name in group.outputs:
        boxes = parts_to_judge(group, graph, name, seed=seed)
        parts = tuple(ExpectedPart(box, judge.values(name, box)) for box in boxes)
        outputs[name] = _expected(group, graph.tensors[name], parts)
    return Case(dict(inputs), outputs)


class _Judge:
    """Evaluates boxes of a group's outputs, nothing twice."""

    def __init__(self, group: Group, graph: TileGraph, inputs: Arrays) -> None:
        self._group = group
        self._graph = graph
        self._inputs = inputs
        self._known: dict[str, list[ExpectedPart]] = {op.output: [] for op in group.ops}

    def values(self, output: str, box: Box) -> Array:
        """Return what the output holds in this box."""
        wanted = needed(self._group, self._graph, output, box)
        found: dict[str, ExpectedPart] = {}
        for op in self._group.ops:
            if op.output in wanted:
                found[op.output] = self._part(op, wanted[op.output], found)
        part = found[output]
        pairs = zip(box, part.box, strict=True)
        return np.array(part.values[tuple(slice(a - c, b - c) for (a, b), (c, _) in pairs)])

    def _part(self, op: TileOp, box: Box, found: Mapping[str, ExpectedPart]) -> ExpectedPart:
        known = next((part for part in self._known[op.output] if _holds(part.box, box)), None)
        if known is None:
            values = {**self._inputs, **{name: part.values for name, part in found.items()}}
            origins = {name: [low for low, _ in part.box] for name, part in found.items()}
            known = ExpectedPart(box, evaluate_op(_shifted(op, origins), values, box))
            self._known[op.output].append(known)
        return known


def _shifted(op: TileOp, origins: Mapping[str, Sequence[int]]) -> TileOp:
    """Return the nest reading parts of tensors whose first elements these are."""
    reads = []
    for read in op.reads:
        origin = origins.get(read.tensor, [0] * len(read.index))
        index = tuple(part - low for part, low in zip(read.index, origin, strict=True))
        reads.append(replace(read, index=index))
    return replace(op, reads=tuple(reads))


def _expected(group: Group, kind: TensorType, known: tuple[ExpectedPart, ...]) -> ExpectedOutput:
    inner = _float_types(group)
    if kind.dtype not in FLOATS:
        return ExpectedOutput(known, Allowed(EXACT, 0.0, _TIES if inner else 0.0))
    told = ARITHMETIC[reduce(weaker, inner, arithmetic_of(kind.dtype))]
    relative = max(told.relative, _BYTES if _to_bytes(group) else 0.0)
    values = [part.values.astype(np.float64).reshape(-1) for part in known]
    scale = scale_of(np.concatenate(values)) if values else 0.0
    # whatever the magnitudes: the inputs are such that nothing is nearly zero by chance
    return ExpectedOutput(known, Allowed(Tolerance(0.0, relative, told.reason), scale))


def _to_bytes(group: Group) -> bool:
    parts = (part for op in group.ops for part in walk(op.finish or op.body))
    return any(isinstance(part, Call) and part.dtype in _FULL_RANGE for part in parts)


def _float_types(group: Group) -> set[str]:
    exprs = [e for op in group.ops for e in (op.body, op.finish) if e is not None]
    types = {part.dtype for expr in exprs for part in walk(expr) if isinstance(part, Call)}
    return types & FLOATS


def share_finite(found: Case) -> float:
    """Return how much of what must be computed is numbers."""
    values = [
        np.isfinite(part.values.astype(np.float64)).mean()
        for output in found.outputs.values()
        for part in output.parts
        if part.values.size
    ]
    return float(np.mean(values)) if values else 1.0


def _points(group: Group, graph: TileGraph, output: str, box: Box) -> int:
    """Return how many evaluations the judge needs for a box."""
    wanted = needed(group, graph, output, box)
    return sum(
        math.prod(high - low for low, high in wanted[op.output]) * op.terms
        for op in group.ops
        if op.output in wanted
    )


def _shortened(
    group: Group, graph: TileGraph, output: str, box: Box, rng: np.random.Generator
) -> Box:
    while _points(group, graph, output, box) > BOX_POINTS:
        lengths = [high - low for low, high in box]
        longest = int(np.argmax(lengths))
        if lengths[longest] == 1:
            return box
        low, high = box[longest]
        half = (high - low + 1) // 2
        start = _kept_end(low, high, half, graph.tensors[output].shape[longest], rng)
        box = (*box[:longest], (start, start + half), *box[longest + 1 :])
    return box


def _kept_end(low: int, high: int, half: int, extent: int, rng: np.random.Generator) -> int:
    """Return where half of a range begins: what lies at an end of the axis stays there."""
    if (low == 0) != (high == extent):
        return low if low == 0 else high - half
    return (low, high - half)[int(rng.integers(0, 2))]


def _corners(shape: tuple[int, ...], rng: np.random.Generator) -> Iterator[Box]:
    ends = [((0, min(_EDGE, e)), (max(e - _EDGE, 0), e)) for e in shape]
    corners = list(product(*ends)) if len(shape) <= 8 else []
    first, *others = [*corners[:1], *corners[-1:], *corners[1:-1]] or [tuple(e[0] for e in ends)]
    yield first
    yield from others[:1]
    rest = others[1:]
    chosen = rng.permutation(len(rest))[: _CORNERS - 2]
    yield from (rest[int(k)] for k in chosen)


def _lines(shape: tuple[int, ...], rng: np.random.Generator) -> Iterator[Box]:
    """Yield the whole length of each axis: it crosses every seam between tiles."""
    for position, extent in enumerate(shape):
        if extent > _EDGE:
            spot = [int(rng.integers(0, e)) for e in shape]
            line = [(s, s + 1) for s in spot]
            line[position] = (0, extent)
            yield tuple(line)


def _inner(shape: tuple[int, ...], rng: np.random.Generator) -> Iterator[Box]:
    for _ in range(_INSIDE):
        spot = [int(rng.integers(0, max(e - _EDGE, 0) + 1)) for e in shape]
        yield tuple((s, min(s + _EDGE, e)) for s, e in zip(spot, shape, strict=True))


def _clamped(
    index: tuple[Index, ...], ranges: Mapping[Axis, tuple[int, int]], shape: tuple[int, ...]
) -> Box:
    ends = [bounds(part, ranges) for part in index]
    # a guarded read may lie outside altogether: it then needs nothing, and element zero will do
    return tuple(
        (min(max(low, 0), max(e - 1, 0)), max(min(high + 1, e), min(e, 1)))
        for (low, high), e in zip(ends, shape, strict=True)
    )


def _around(known: Box | None, part: Box) -> Box:
    if known is None:
        return part
    return tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(known, part, strict=True))


def _holds(outer: Box, inner: Box) -> bool:
    return all(a <= c and d <= b for (a, b), (c, d) in zip(outer, inner, strict=True))


Sign = Literal["any", "positive"]
"""Numbers around zero, or such that roots and logarithms of them exist."""

_FULL_RANGE = ("i8", "u8")
_SMALL = 8
"""Other integers stay below this: sums and products of them overflow nothing."""


def group_inputs(
    group: Group, graph: TileGraph, *, seed: int = 0, sign: Sign = "any"
) -> dict[str, Array]:
    """Return values for what the group reads: its constants, and random ones for the rest."""
    rng = np.random.default_rng(seed)
    limits = _index_limits(group)
    return {
        name: np.asarray(graph.constants[name])
        if name in graph.constants
        else _values(
            graph.tensors[name], limits.get(name), min(limits.values(), default=0), rng, sign
        )
        for name in group.inputs
    }


def _index_limits(group: Group) -> Mapping[str, int]:
    """Return below what the elements of each tensor that holds indices must be."""
    limits: dict[str, int] = {}
    for op in group.ops:
        for fetch in op.fetches:
            limits[fetch.tensor] = min(fetch.extent, limits.get(fetch.tensor, fetch.extent))
    return limits


def _values(
    kind: TensorType, index_limit: int | None, any_limit: int, rng: np.random.Generator, sign: Sign
) -> Array:
    if index_limit is not None:
        return _integers(kind, -index_limit, index_limit, rng)
    if kind.dtype in FLOATS:
        numbers: Any = rng.standard_normal(kind.shape, dtype=np.float32)
        numbers = np.abs(numbers) + np.float32(0.5) if sign == "positive" else numbers
        return np.asarray(numbers.astype(array_type(kind.dtype)))
    if kind.dtype == "bool":
        return rng.integers(0, 2, kind.shape).astype(np.bool_)
    if any_limit:
        # indices may be computed of it: small ones stay inside most ways of doing so
        return _integers(kind, 0, any_limit, rng)
    if kind.dtype in _FULL_RANGE:
        low = 0 if kind.dtype == "u8" else -128
        return _integers(kind, low, low + 256, rng)
    return _integers(kind, -_SMALL, _SMALL, rng)


def _integers(kind: TensorType, low: int, high: int, rng: np.random.Generator) -> Array:
    least = 0 if kind.dtype.startswith("u") else low
    return rng.integers(least, max(high, 1), kind.shape).astype(array_type(kind.dtype))
