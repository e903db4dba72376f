"""How rows that are reduced, without products, are cut into programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from burnish.codegen.gpu.beside import BESIDE, LEAST_TERMS, MOST_SINGLE, Orders, rows_beside
from burnish.codegen.gpu.blocks import power_of_two
from burnish.codegen.gpu.form import ALONG, Form, read_along
from burnish.codegen.gpu.launch_parts import splittable
from burnish.codegen.gpu.reduction import spelled_out
from burnish.tile.graph import TileOp
from burnish.tile.group import Group
from burnish.tile.vectors import is_sum_of_products

Settings = Mapping[str, int]

FEW = 100
"""Programs that leave multiprocessors idle: sums are formed in parts, or blocks get smaller."""
MOST_PARTS = 2048
"""Programs that add up rows: as many as keep memory busy."""
SPELLED_OUT = ((512, 4), (128, 4), (1024, 4), (256, 2), (64, 2), (32, 1))
"""Outputs and warps of programs that write all their terms one after the other."""
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
    terms, outputs = {op.terms for op in sums}, math.prod(group.anchor.shape)
    if min(terms) < LEAST_TERMS or not sums[0].reads:
        return
    long, rows = max(terms), rows_beside(sums[0], orders)
    few = len(terms) == 1 and outputs <= MOST_PARTS * rows
    while few and rows:
        if power_of_two(long) * rows <= MOST_SINGLE:
            warps = min(power_of_two(max(long * rows // 256, 1)), 8)
            yield {"m": rows, "warps": warps, "stages": 1}
        rows = rows // 2 if rows > BESIDE else 0
    for rows in (2, 4) if any(map(is_sum_of_products, sums)) else ():
        # terms lie side by side: each thread has a run of every row, several in flight at once
        if _fits(outputs, rows, power_of_two(long)):
            yield {"m": rows, "warps": min(max(power_of_two(long) // 256, 1), 8), "stages": 1}


def _fits(outputs: int, rows: int, terms: int) -> bool:
    """Say whether so many rows for each program fill registers, and programs are not too many."""
    return outputs <= MOST_PARTS * rows and terms * rows <= MOST_SINGLE


def summing_blocks(group: Group, orders: Orders) -> Iterator[Settings]:
    """Yield blocks of outputs that each sum up terms: with lanes for these, or one after another.

    Where all terms are spelled out, no lane is there but for outputs: there are as many of these.
    """
    ops = {op.output: op for op in group.ops}
    if all(spelled_out(op, ops) for op in group.ops if op.reduced):
        for m, warps in SPELLED_OUT:
            yield {"m": m, "warps": warps, "stages": 1}
        if (along := read_along(group.ops, group.anchor, orders)) is not None:
            for m, warps in SPELLED_OUT:
                yield {"m": m, "warps": warps, "stages": 1, ALONG: along}
        return
    for m in (8, 32, 128, 512):
        yield {"m": m, "warps": 4, "stages": 2}


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
