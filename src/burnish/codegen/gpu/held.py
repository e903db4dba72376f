"""Programs that hold what is reduced for their columns, while they walk down many rows.

y[b, c, h, w] = f(x[b, c, h, w], m[b, c]);  m[b, c] = sum_p part[p, b, c]

What follows a norm over the pixels of each channel needs few numbers for each channel, which parts
of a sum are added up to. A block with pixels for its rows and channels for its columns does that
once for all of its pixels; blocks that are runs of memory, for each element.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from burnish.codegen.gpu.blocks import power_of_two
from burnish.codegen.gpu.form import Form, Places
from burnish.tile.graph import TileOp
from burnish.tile.index import Axis, Index, axes_of

HELD = "held"
"""The setting of kernels whose programs hold what is reduced for some columns."""
BLOCKS = ((8192, 8), (4096, 4), (2048, 4))
"""Elements of a block, and warps."""
WIDTHS = (64, 32, 256)
"""Elements of a block that lie side by side, where what is reduced differs between them."""
LONG = 1024
"""The same where it does not."""
SEVERAL = 3
"""Tensors with numbers for columns, as a norm's that lies in memory: then these are held, too."""


def held(shape: Form, ops: Sequence[TileOp], anchor: TileOp, places: Places) -> Form | None:
    """Return the form whose rows or columns share what is reduced; None: nothing is, or for all."""
    if shape.whole or shape.multiplies or shape.columns or shape.batch:
        return None
    long = [axis for axis in shape.rows if axis.extent > 1]
    sums = [op.output for op in ops if op.reduced and op is not anchor and op.output in places]
    axes = {name: _axes(places[name]) & set(long) for name in sums or places}
    used = set[Axis]().union(*axes.values()) if sums else _in_common(axes.values(), len(long))
    outside: list[Axis] = []
    while len(long) > 1 and long[0] in used and set(long[1:]) & used:
        outside.append(long.pop(0))
    own = tuple(axis for axis in long if axis in used)
    others = tuple(axis for axis in long if axis not in used)
    if not own or not others:
        return None
    rows, columns = (others, own) if long[-1] in used else (own, others)
    return replace(shape, rows=rows, columns=columns, batch=tuple(outside))


def _axes(places: Sequence[tuple[Index, ...]]) -> frozenset[Axis]:
    """Return the axes over which a tensor is read."""
    return frozenset(axis for place in places for part in place for axis in axes_of(part))


def _in_common(axes: Iterable[frozenset[Axis]], count: int) -> set[Axis]:
    """Return the axes that several tensors have, and not all axes; none: there are not as many."""
    times = Counter(each for each in axes if each and len(each) < count)
    most, number = max(times.items(), key=lambda item: item[1], default=(frozenset[Axis](), 0))
    return set(most) if number >= SEVERAL else set()


def held_blocks(shape: Form | None) -> Iterator[Mapping[str, int]]:
    """Yield settings for such programs; `shape` is their form. None: there are none."""
    if shape is None:
        return
    rows, columns, _ = shape.counts
    found = set[tuple[int, int]]()
    for elements, warps in BLOCKS:
        for width in (*WIDTHS, LONG):
            n = min(width, power_of_two(columns))
            m = min(elements // n, power_of_two(rows))
            if m * n * 2 > elements and (m, n) not in found:
                found.add((m, n))
                yield {"m": m, "n": n, "warps": warps, "stages": 1, HELD: 1}
