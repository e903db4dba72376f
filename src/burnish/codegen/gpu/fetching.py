"""What a kernel will need, on its way to the second cache before it is loaded.

A kernel that is started early waits for the one before it ahead of all that it reads, because that
one may write it. Nobody writes constants: programs ask for the lines of those that they are going
to multiply before they wait. With few rows, products wait for their weights more than for all else
(an H200: ViT-S/32 at batch 1 takes 203 us instead of 234). Programs that multiply the same weights
share the asking; where they are many it costs more than it gains (BERT-base at batch 64, each for
itself: 4.1 ms instead of 3.5).

A program that alone needs some rows of constants, as products of a single row do, does not ask for
them: it has them in registers before it waits.

What is added to a product's sums is asked for before the product, and comes while it multiplies.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from burnish.codegen.gpu.blocks import power_of_two
from burnish.codegen.gpu.writer import KernelWriter
from burnish.core.tensors import BITS
from burnish.tile.index import Axis, Index

LINE_BYTES = 128
"""What one request brings."""
LEAST_LINES, MOST_LINES = 16, 8192
"""That a program asks for: few are not worth it, and many would delay it."""
MOST_SHARING = 8
"""Programs that multiply the same constants, at most."""
MOST_BYTES = 16 << 20
"""Of a constant: a third of what the second cache of a Hopper has."""
MOST_HELD_BYTES = 256
"""Of a thread's registers: constants that are loaded before a program waits."""
LEAST_BYTES, LEAST_STEPS = 4 << 20, 4
"""Of what is added to sums, and the steps of a product that it may take: less is there already."""

_ASSIGNED, _NAME = re.compile(r"\s*(\w+) = "), re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Lines:
    """Where the lines of a program begin, and the steps and counts that lead to them."""

    first: str
    ways: tuple[tuple[int, int], ...]
    member: str
    """Which one a program is of those that need the same."""
    sharing: int
    before: bool
    """Whether some may lie before the tensor."""

    @property
    def count(self) -> int:
        """Return how many lines there are, all sharers together."""
        return math.prod(count for _, count in self.ways)


def loads_ahead(writer: KernelWriter, statements: Sequence[str], threads: int) -> tuple[str, ...]:
    """Return the statements that load constants, and what they need, if they may come first.

    None may where no program has any for itself, or tensor cores want them in their own places.
    """
    if writer.tally.product_flops:
        return ()
    counts = {
        text: block.name
        for block in writer.blocks.values()
        if (text := f"{block.name} = {writer.lanes(block.size)}") in statements
    }
    assigned = filter(None, map(_ASSIGNED.match, statements))
    later = {each[1] for each in assigned} - {*counts.values()}
    alone, found, held = False, list[str](), 0
    for text in statements:
        name = text.partition(" = ")[0]
        tensor, offset, size = writer.constant_names.get(name, ("", Index(()), 0))
        if not tensor or later & {*_NAME.findall(text)} - {name}:
            continue
        held += size
        if held <= MOST_HELD_BYTES * threads:
            alone |= _sharing(writer, offset)[1] == 1 and bool(writer.starts)
            found.append(text)
    return (*counts, *found) if alone else ()


def constants_ahead(writer: KernelWriter, loaded: Iterable[str] = ()) -> Iterator[str]:
    """Yield statements that ask for the constants of a kernel, but for what it has `loaded`."""
    names = [text.partition(" = ")[0] for text in loaded]
    there = {writer.constant_names[name][:2] for name in names if name in writer.constant_names}
    for tensor, offset in dict.fromkeys(writer.constant_loads):
        if _bytes(writer, tensor) > MOST_BYTES or (tensor, offset) in there:
            continue
        found = _lines(writer, tensor, offset)
        if found is not None and found.sharing <= MOST_SHARING:
            yield from _asked(writer, tensor, found)


def added_ahead(writer: KernelWriter) -> Iterator[str]:
    """Yield statements that ask for what a kernel adds to sums of products."""
    if writer.tally.steps + writer.tally.waits < LEAST_STEPS:
        return
    for tensor, offset in dict.fromkeys(writer.late_loads):
        found = _lines(writer, tensor, offset)
        if found is not None and found.sharing == 1 and _bytes(writer, tensor) >= LEAST_BYTES:
            yield from _asked(writer, tensor, found)


def _bytes(writer: KernelWriter, tensor: str) -> int:
    kind = writer.types[tensor]
    return kind.size * BITS[kind.dtype] // 8


def _lines(writer: KernelWriter, tensor: str, offset: Index) -> _Lines | None:
    """Return the lines of a load, whatever a loop adds to it; None: it is more involved."""
    line = LINE_BYTES * 8 // BITS[writer.types[tensor].dtype]
    found: list[tuple[int, int]] = []
    first = [str(offset.constant)] if offset.constant else []
    for axis, step in offset.terms:
        if not isinstance(axis, Axis) or step < 0:
            return None
        extent = axis.extent
        if axis in writer.starts:
            extent = min(writer.blocks[axis].size, extent)
            place = writer.starts[axis].first
            first += [place + (f" * {step}" if step > 1 else "")] if place != "0" else []
        # neighbours share lines
        found.append((line, -(-extent * step // line)) if step < line else (step, extent))
    if sum(step == line and count > 1 for step, count in found) > 1:
        return None
    member, sharing = _sharing(writer, offset)
    ways = tuple(way for way in found if way[1] > 1)
    result = _Lines(" + ".join(first) or "0", ways, member, sharing, offset.constant < 0)
    return result if LEAST_LINES * sharing <= result.count <= MOST_LINES * sharing else None


def _sharing(writer: KernelWriter, offset: Index) -> tuple[str, int]:
    """Return which one of the programs a program is that load the same, and how many they are."""
    own = {axis for axis, _ in offset.terms}
    member, sharing = "", 1
    for axis, start in writer.starts.items():
        if axis not in own and start.count > 1:
            member = f"{member} + {start.place} * {sharing}" if member else start.place
            sharing *= start.count
    return member, sharing


def _asked(writer: KernelWriter, tensor: str, lines: _Lines) -> Iterator[str]:
    writer.helpers.add("fetch")
    name, each = writer.fresh("line"), -(-lines.count // lines.sharing)
    number = writer.lanes(power_of_two(each))
    if lines.sharing > 1:
        number = f"({lines.member}) + {number} * {lines.sharing}"
    yield f"{name} = tl.minimum({number}, {lines.count - 1})"
    steps, less = [lines.first] if lines.first != "0" else [], 1
    for step, count in lines.ways:
        text = f"({name} // {less})" if less > 1 else name
        less *= count
        steps.append(f"{text} * {step}" if less == lines.count else f"{text} % {count} * {step}")
    place, last = " + ".join(steps), writer.types[tensor].size - 1
    # behind a condition loads may begin before their tensor, and end behind it
    place = f"tl.maximum({place}, 0)" if lines.before else place
    yield f"fetch({writer.pointer(tensor)} + tl.minimum({place}, {last}))"
