"""What comes after the sums of a block: lanes that are one sum, and long functions of all sums.

A function such as erf is thirty instructions, each of which waits for the one before, and some
twenty constants. While the other sums of a block hold the registers, every constant is loaded each
time it is used; and one sum after the other, a core sees too few that do not wait. So all sums are
put down, and taken up row by row in a loop, the vectors of a row side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from llvmlite import ir

from burnish.codegen.cpu.blocking import Blocking
from burnish.codegen.cpu.form import NestForm
from burnish.codegen.cpu.memory import I32, I64, element
from burnish.codegen.cpu.reading import Spot
from burnish.codegen.cpu.types import Builder, LlvmValue, load
from burnish.tile.expr import operations

LEAST_OPERATIONS = 12
"""After a sum that are long: any of `exp` or more; a bias, a residual and a clip are not."""
LEAST_SUMS = 4
"""In a block that are worth to be put down."""


def by_rows(nest: NestForm, blocking: Blocking, spots: Sequence[Spot]) -> bool:
    """Say whether the sums of a block are to be put down, and finished row by row."""
    finish = nest.op.finish
    return (
        finish is not None
        and operations(finish) >= LEAST_OPERATIONS
        and nest.op.body.dtype == "f32"
        and blocking.block is not None
        and nest.output.stride(blocking.vector) == 1
        and len(spots) >= LEAST_SUMS
    )


def put_down(
    builder: Builder, totals: Mapping[tuple[int, int], LlvmValue], spots: Sequence[Spot]
) -> LlvmValue:
    """Store the sums of a block, row by row; return where."""
    kind = totals[spots[0].row, spots[0].vector].type
    with builder.goto_entry_block():
        room = builder.alloca(kind, len(spots), name="sums")
    for place, spot in enumerate(spots):
        slot = builder.gep(room, [I64(place)], source_etype=kind)
        builder.store(totals[spot.row, spot.vector], slot)
    return room


def taken_up(builder: Builder, room: LlvmValue, row: LlvmValue, lanes: int) -> LlvmValue:
    """Return the sums of one row, which are so many, as one vector."""
    return load(builder, element(builder, room, builder.mul(row, I64(lanes)), "f32"), "f32", lanes)


def joined(builder: Builder, parts: Sequence[LlvmValue]) -> LlvmValue:
    """Return vectors of one width side by side, as one."""
    found, *others = parts
    for part in others:
        width, more = int(found.type.count), int(part.type.count)
        part = _picked(builder, part, [*range(more), *[0] * (width - more)])
        found = _picked(builder, found, range(width + more), part)
    return found


def parted(builder: Builder, value: LlvmValue, count: int) -> list[LlvmValue]:
    """Return the vectors that a wide one was joined of."""
    if count == 1:
        return [value]
    width = int(value.type.count) // count
    return [_picked(builder, value, range(n * width, (n + 1) * width)) for n in range(count)]


def across(
    builder: Builder, lanes: LlvmValue, combined: Callable[[LlvmValue, LlvmValue, int], LlvmValue]
) -> LlvmValue:
    """Return all lanes combined into one number, halves first."""
    width = int(lanes.type.count)
    while width > 1:
        width //= 2
        halves = [_picked(builder, lanes, range(n, n + width)) for n in (0, width)]
        if width == 1:
            halves = [builder.extract_element(half, I32(0)) for half in halves]
        lanes = combined(halves[0], halves[1], width)
    return lanes


def first_lane(builder: Builder, value: LlvmValue) -> LlvmValue:
    """Return the first lane of a vector; of a single number itself."""
    is_vector = isinstance(value.type, ir.VectorType)
    return builder.extract_element(value, I32(0)) if is_vector else value


def _picked(
    builder: Builder, a: LlvmValue, lanes: Sequence[int], b: LlvmValue | None = None
) -> LlvmValue:
    """Return these lanes of a vector, or of two that follow each other."""
    other = ir.Constant(a.type, ir.Undefined) if b is None else b
    kind = ir.VectorType(I32, len(lanes))
    return builder.shuffle_vector(a, other, ir.Constant(kind, list(lanes)))
