"""How rows that are reduced, without products, are cut into programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from burnish.codegen.gpu.beside import BESIDE, LEAST_TERMS, MOST_SINGLE, Orders, rows_beside
from burnish.codegen.gpu.blocks import power_of_two
from burnish.codegen.gpu.form import Form
from burnish.codegen.gpu.launch_parts import splittable
from burnish.tile.graph import TileOp
from burnish.tile.group import Group

Settings = Mapping[str, int]

FEW = 100
"""Programs that leave multiprocessors idle: sums are formed in parts, or blocks get smaller."""
MOST_PARTS = 2048
"""Programs that add up rows: as many as keep memory busy."""
MOST_HELD = 32_768
"""Elements of whole rows that a program has in registers."""


def in_parts(group: Group) -> Iterator[Settings]:
    """Yield settings whose long sums are formed in parts, as those over whole images are."""
    long = splittable(group)
    if long is None:
        return
    outputs, first = math.prod(long.shape), long.reduced[0].extent
    for m in (8, 32):
        programs = -(-outputs // m)
        fits = [n for n in range(2, 65) if first % n == 0 and programs * n <= MOST_PARTS]
        if programs < FEW * 3 and fits:
            yield {"m": m, "warps": 4, "stages": 2, "split": max(fits)}


def single_rows(group: Group, orders: Orders) -> Iterator[Settings]:
    """Yield settings where each program has a run of memory, all of its terms at once."""
    sums = [op for op in group.ops if op.reduced]
    terms = {op.terms for op in sums}
    if len(terms) > 1 or not sums[0].reads:
        return
    long, rows = terms.pop(), rows_beside(sums[0], orders)
    few = math.prod(group.anchor.shape) <= MOST_PARTS * rows
    while few and long >= LEAST_TERMS and rows:
        if power_of_two(long) * rows <= MOST_SINGLE:
            warps = min(power_of_two(max(long * rows // 256, 1)), 8)
            yield {"m": rows, "warps": warps, "stages": 1}
        rows = rows // 2 if rows > BESIDE else 0


def whole_rows(shape: Form, anchor: TileOp, orders: Orders) -> Iterator[Settings]:
    """Yield settings where a program has as many whole rows as fill its registers.

    Where rows lie side by side, or as many as fill sectors of memory.
    """
    _, columns, _ = shape.counts
    n = power_of_two(columns)
    warps = min(max(n // 512, 1), 16)
    for rows in (1, 4):
        m = max(rows * 512 // n, 1)
        yield {"m": m, "warps": max(warps, min(m * n // 512, 8), 1), "stages": 1}
    inner = [
        anchor.spatial[dim]
        for dim in orders.get(anchor.output) or range(len(anchor.shape))
        if anchor.shape[dim] > 1
    ]
    counts = (BESIDE // 4, BESIDE // 2, BESIDE, 2 * BESIDE)
    for m in counts if inner and inner[-1] in shape.rows else ():
        if m * n <= MOST_HELD:
            yield {"m": m, "warps": min(max(m * n // 2048, 4), 16), "stages": 1}
