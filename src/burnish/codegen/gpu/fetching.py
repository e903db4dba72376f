"""Weights on their way to the second cache while the kernel before is still at work.

A kernel that is started early waits for the one before it ahead of all that it reads, because that
one may write it. Nobody writes constants: each program asks for the lines of those that it is going
to multiply before it waits. With few rows, products wait for their weights more than for all else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from burnish.codegen.gpu.blocks import power_of_two
from burnish.codegen.gpu.writer import KernelWriter
from burnish.core.tensors import BITS
from burnish.tile.index import Axis, Index

LINE_BYTES = 128
"""What one request brings."""
LEAST_LINES, MOST_LINES = 16, 8192
"""Of a constant that a program asks for: few are not worth it, and many would delay it."""
MOST_BYTES = 16 << 20
"""Of a constant: a third of what the second cache of a Hopper has."""


def fetches(writer: KernelWriter) -> Iterator[str]:
    """Yield statements that ask for constants, over what `writer` knows of programs by then."""
    for tensor, offset in dict.fromkeys(writer.constant_loads):
        kind = writer.types[tensor]
        bits = BITS[kind.dtype]
        if kind.size * bits // 8 > MOST_BYTES:
            continue
        ways = _ways(writer, offset, LINE_BYTES * 8 // bits)
        if ways is None or not LEAST_LINES <= math.prod(count for _, count in ways) <= MOST_LINES:
            continue
        yield from _asked(writer, tensor, _first(writer, offset), ways)


def _ways(writer: KernelWriter, offset: Index, line: int) -> list[tuple[int, int]] | None:
    """Return steps and counts that lead to every line of a constant; None: it is more involved."""
    found: list[tuple[int, int]] = []
    for axis, step in offset.terms:
        if not isinstance(axis, Axis) or step < 0:
            return None
        extent = (
            min(writer.blocks[axis].size, axis.extent) if axis in writer.starts else axis.extent
        )
        if step < line:  # neighbours share lines
            found.append((line, -(-extent * step // line)))
        else:
            found.append((step, extent))
    near = [way for way in found if way[0] == line and way[1] > 1]
    return [way for way in found if way[1] > 1] if len(near) <= 1 else None


def _first(writer: KernelWriter, offset: Index) -> str:
    """Return the first element of a program."""
    parts = [str(offset.constant)] if offset.constant else []
    for axis, step in offset.terms:
        assert isinstance(axis, Axis)
        if axis in writer.starts and writer.starts[axis] != "0":
            parts.append(writer.starts[axis] + (f" * {step}" if step > 1 else ""))
    return " + ".join(parts) or "0"


def _asked(
    writer: KernelWriter, tensor: str, first: str, ways: list[tuple[int, int]]
) -> Iterator[str]:
    writer.helpers.add("fetch")
    name, lines = writer.fresh("line"), math.prod(count for _, count in ways)
    yield f"{name} = tl.minimum({writer.lanes(power_of_two(lines))}, {lines - 1})"
    steps, less = [first], 1
    for step, count in ways:
        text = f"({name} // {less})" if less > 1 else name
        less *= count
        steps.append(f"{text} * {step}" if less == lines else f"{text} % {count} * {step}")
    last = writer.types[tensor].size - 1
    place = f"tl.minimum({' + '.join(steps)}, {last})"
    yield f"fetch({writer.pointer(tensor)} + {place})"
