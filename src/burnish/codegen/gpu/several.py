"""Blocks of kernels that form one sum at several places, as the gates of a recurrence are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from burnish.codegen.gpu.blocks import power_of_two
from burnish.codegen.gpu.form import Form, Places
from burnish.codegen.gpu.operands import LEAST, contracts
from burnish.codegen.gpu.row_blocks import FEW, Settings
from burnish.tile.graph import TileOp

MOST_AT_ONCE = 4096
"""Terms that a warp has at once, of all places together: 128 of each thread."""
MOST_TERMS = 512
"""Of a product that is multiplied in one step: four of them leave 255 registers of a thread, and
nothing in memory (sm_90)."""


def places_summed(ops: Sequence[TileOp], places: Places) -> int:
    """Return at how many places a program forms the same sum, at most."""
    return max((len(places.get(op.output, ())) for op in ops if op.reduced), default=0)


def in_one_warp(
    found: Iterable[Settings], ops: Sequence[TileOp], places: Places
) -> Iterator[Settings]:
    """Yield blocks of rows in as few warps as can hold the terms of all places.

    Warps that add up together wait for each other at every place, and the loads of the next one
    wait with them. One warp asks for all of them ahead of the first sum (machine code of sm_90:
    16 loads and then 20 shuffles, where two warps had 12 barriers, with loads between them).
    """
    count = places_summed(ops, places)
    terms = max((op.terms for op in ops if op.reduced), default=1)
    for each in found:
        fewest = power_of_two(terms) * each["m"] * count // MOST_AT_ONCE
        yield {**each, "warps": min(each["warps"], max(fewest, 1))} if count > 1 else each


def whole_products(
    shape: Form, ops: Sequence[TileOp], places: Places
) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield small blocks of products that are formed at several places, each in one step.

    What follows all of them is then computed where they are, by many programs.
    """
    terms = {op.terms for op in ops if contracts(op)}
    if len(terms) != 1 or places_summed(ops, places) < 2 or shape.whole:
        return
    if math.prod(shape.counts) > FEW * 4 * LEAST * LEAST:
        return  # larger blocks do, and what is hopeless first ends the search
    (long,) = terms
    if long <= MOST_TERMS:
        yield LEAST, LEAST, power_of_two(long, LEAST), 4, 1
    yield LEAST, 2 * LEAST, min(power_of_two(long, LEAST), MOST_TERMS // 2), 4, 1
