"""What a load fetches: where it takes little of many lines, more than it takes.

A multiprocessor asks for lines, one after the other: 16 bytes of each of 720,000 lines took an H200
as long as all of these lines would have (11 us, and 3.5 to 15 us in four more kernels of that kind,
19 November 2026, all in the second cache).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from burnish.codegen.gpu.blocks import AxisBlock
from burnish.core.tensors import BITS
from burnish.tile.index import Atom, Axis, Div, Index, Mod, axes_of

LINE_BYTES = 128
LINE = LINE_BYTES // 2
"""Elements of 16 bits in one."""
SHORT_BYTES = 64
"""Of a run of memory: longer ones were not seen to cost more than their bytes."""


def unused_bytes(
    offset: Index, blocks: Mapping[Axis, AxisBlock], dims: Iterable[Axis], dtype: str
) -> float:
    """Return what a block's load leaves of the lines that it takes little of."""
    element_bytes = BITS[dtype] / 8
    ways = sorted(_ways(offset, {axis: min(blocks[axis].size, axis.extent) for axis in dims}))
    run, lines = element_bytes, 1
    for step, count in ways:
        if step * element_bytes < LINE_BYTES:
            run += step * element_bytes * (count - 1)
        else:
            lines *= count
    return 0.0 if run >= SHORT_BYTES or lines == 1 else lines * (LINE_BYTES - run)


def first_line(offset: Index) -> int:
    """Return what tells loads apart that begin in other lines, whole steps of their lanes aside.

    A step further another lane has had the same line: the taps of a window, for example.
    """
    steps = [abs(factor) for _, factor in offset.terms if abs(factor) >= LINE]
    return offset.constant % min(steps, default=LINE) // LINE


def _ways(offset: Index, sizes: Mapping[Axis, int]) -> Iterator[tuple[int, int]]:
    """Yield the steps that the lanes of a block take in a tensor, and how many elements each."""
    for atom, factor in offset.terms:
        count = _places(atom, sizes)
        if count > 1:
            yield abs(factor), count


def _places(atom: Atom, sizes: Mapping[Axis, int]) -> int:
    """Return how many values a part of an index has among the lanes of a block, at most."""
    match atom:
        case Axis():
            return sizes.get(atom, 1)
        case Div(of, by):
            return -(-_span(of, sizes) // by)
        case Mod(of, by):
            return min(_span(of, sizes), by)
    lanes = 1
    for axis in axes_of(Index(((atom, 1),))):
        lanes *= sizes.get(axis, 1)
    return lanes


def _span(index: Index, sizes: Mapping[Axis, int]) -> int:
    """Return from how many neighbouring values those of the lanes are."""
    return 1 + sum(abs(factor) * (_places(atom, sizes) - 1) for atom, factor in index.terms)
