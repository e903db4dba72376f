"""What a load costs, counted where it is written: bytes, lines and sectors of memory, addresses.

Of what memory hands over beside what was asked for there are three measures, each of the kernels
that it was found with; a price takes the one that says most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from burnish.codegen.gpu import spelling
from burnish.codegen.gpu.guards import run_of, scattered
from burnish.codegen.gpu.lines import unused_bytes
from burnish.codegen.gpu.touched import touched_lines
from burnish.core.tensors import BITS
from burnish.tile.expr import Guard
from burnish.tile.index import Axis, Index, fetches_of

if TYPE_CHECKING:
    from burnish.codegen.gpu.writer import KernelWriter

LEAST_BITS = 32
"""Of what Triton fetches ahead of a loop's turn, at once."""


@dataclass(frozen=True, slots=True)
class LoadedBlock:
    """A block of elements that a statement loads."""

    tensor: str
    offset: Index
    guards: tuple[Guard, ...]
    dims: frozenset[Axis]


def count_load(writer: KernelWriter, name: str, load: LoadedBlock) -> None:
    """Count a load, and keep what others must know of the name that it has."""
    tensor, offset, dims = load.tensor, load.offset, load.dims
    dtype = writer.types[tensor].dtype
    elements, trips = writer.elements(dims), writer.scopes[-1].trips
    tally = writer.tally
    alone = bool(dims) and scattered(offset, load.guards, dims)
    tally.load(tensor, dtype, elements, trips, alone=alone, dimensions=len(dims))
    touch(writer, offset, dtype, dims, trips)
    tally.leave(tensor, offset, unused_bytes(offset, writer.blocks, dims, dtype) * trips)
    sectors = writer.sectors.of(tensor, offset, dtype, [writer.blocks[axis] for axis in dims])
    tally.fetch(dtype, elements, trips, 1 if writer.multiplying else sectors)
    if tensor in writer.constants and len(writer.scopes) == 1:
        writer.constant_names[name] = tensor, offset, elements * BITS[dtype] // 8
    run = run_of(offset, load.guards, dims)
    single = dtype in spelling.HALVES and run == 1
    writer.apart[name] = (elements, trips) if single else (0, 0), bool(fetches_of(offset))
    if dims and (dtype == "bool" or run * BITS[dtype] < LEAST_BITS):
        writer.narrow[name] = elements


def touch(
    writer: KernelWriter, offset: Index, dtype: str, dims: frozenset[Axis], trips: float
) -> None:
    """Count the lines of memory that a block of elements at an offset is in, so many times."""
    blocks = tuple((axis, block.size) for axis, block in writer.blocks.items() if axis in dims)
    lines = touched_lines(offset, blocks, BITS[dtype], writer.tally.threads)
    writer.tally.lines += lines * trips
