"""Blocks of kernels that multiply: which to try, for which products."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from burnish.codegen.gpu.beside import LEAST_TERMS
from burnish.codegen.gpu.blocks import power_of_two
from burnish.codegen.gpu.form import Form, form, places_of
from burnish.codegen.gpu.kernel import GpuTarget
from burnish.codegen.gpu.launch_parts import splittable
from burnish.codegen.gpu.operands import LEAST, contracts
from burnish.codegen.gpu.row_blocks import FEW, Settings
from burnish.tile.graph import TileOp
from burnish.tile.group import Group

PRODUCTS: tuple[tuple[int, int, int, int, int], ...] = (
    (256, 64, 64, 8, 3),
    (128, 128, 64, 8, 3),
    (128, 64, 64, 4, 3),
    (64, 128, 64, 4, 3),
    (64, 64, 64, 4, 4),
    (64, 32, 64, 4, 4),
    (32, 64, 64, 4, 4),
    (16, 64, 64, 4, 4),
)
"""Rows, columns and terms of a block, warps, and steps of loads in flight."""
ProductBlock = tuple[int, int, int, int, int]
ONLINE: tuple[tuple[int, int, int, int], ...] = (
    (128, 64, 4, 3),
    (128, 64, 8, 3),
    (64, 64, 4, 3),
    (64, 128, 4, 3),
    (32, 128, 4, 3),
    (32, 64, 4, 3),
    (16, 128, 4, 3),
    (16, 64, 4, 3),
)
"""Rows, terms of a step, warps and steps in flight of averages by softmax: of equal ones the first
is faster (105 against 137 us with eight warps, 512 keys)."""
IN_FLIGHT = 128 * 64
"""Elements of a step's block up to which three of them are in flight."""
SHORT: tuple[ProductBlock, ...] = ((64, 64, 128, 4, 3), (64, 32, 128, 4, 4), (32, 32, 128, 4, 4))
"""Blocks that take many terms at a step."""
UNEVEN: tuple[ProductBlock, ...] = ((128, 128, 32, 8, 4), (128, 64, 32, 4, 4))
"""Blocks with short steps."""
SCALAR: tuple[ProductBlock, ...] = ((128, 128, 32, 8, 3), (128, 64, 32, 4, 3), (64, 64, 32, 4, 4))
"""Blocks of products that no tensor core forms: each multiplication is an instruction."""
DEEP = 2048
"""Terms from which on fewer warps with more loads in flight multiply faster (68 against 70 us).
With fewer they do not (96 against 77), and blocks of 128 by 256 never do (79 against 77)."""

LIBRARY_BLOCK: Settings = {"m": 128, "n": 128, "k": 64, "warps": 8, "stages": 3}
"""Of the kernel that does without a library, where there is none."""
LIBRARY_TERMS = 256
"""Terms of a product for which a library is asked; shorter ones wait for memory anyway."""

NARROW = 32
"""Columns of a product up to which a block has more rows."""
MOST_SPLIT = 200
WHOLE_TERMS = 256
"""Terms that one block may have when products follow each other."""
LONG_ROW = 512
"""Terms of a softmax that a block of sixteen rows has all of: where these leave a card idle, what
counts is how often they wait."""
SHORT_ROW = 64
"""Terms of a softmax that a block always has all of."""
MOST_LANES = 128 * 256
"""Elements of a block that threads hold in registers."""


def product_blocks(
    shape: Form, ops: Sequence[TileOp], small: Sequence[ProductBlock], *, scalar: bool
) -> Iterator[Settings]:
    """Yield settings of products that are formed at once; `small`: blocks that are tried, too."""
    rows, columns, batch = shape.counts
    found: dict[tuple[int, ...], Settings] = {}
    widest = power_of_two(columns, LEAST)
    deep = ((128, 128, 64, 4, 4),) if fills(shape, ops) else ()
    online = tuple(_online(shape, ops, widest))
    for m, n, k, warps, stages in (
        *deep,
        *online,
        *small,
        *_chains(shape, ops, scalar=scalar),
        *_few(shape, ops),
        *(UNEVEN if _uneven(ops) else ()),
        *(SCALAR if scalar else ()),
        *PRODUCTS,
    ):
        n = widest if shape.whole else min(n, widest)
        if (m >= 4 * max(rows, 8) and m > LEAST) or m * n > MOST_LANES:
            continue
        if m > 128 and widest > NARROW:
            continue
        programs = -(-rows // m) * -(-columns // n) * batch
        if (programs < FEW // 3 and m * n > 4096) or (programs > 4096 and m < 64):
            continue
        if (m, n, k, warps, stages) not in (*deep, *online, *small):
            warps = 8 if m * max(n, 64) > 128 * 64 else 4
        found[m, n, k, warps] = {"m": m, "n": n, "k": k, "warps": warps, "stages": stages}
    yield from found.values()
    if not found:
        yield {"m": LEAST, "n": widest, "k": 32, "warps": 4, "stages": 3}


def fills(shape: Form, ops: Sequence[TileOp], least: int = DEEP, blocks: int = 2 * FEW) -> bool:
    """Say whether a group is one product of so many terms, with large blocks for a whole card."""
    rows, columns, batch = shape.counts
    products = [op for op in ops if contracts(op)]
    if len(products) != 1 or shape.whole or rows * columns * batch < 128 * 128 * blocks:
        return False
    return products[0].terms >= least


def _chains(shape: Form, ops: Sequence[TileOp], *, scalar: bool) -> Iterator[ProductBlock]:
    """Yield blocks for products of products, or of rows that are reduced: few terms stay whole.

    What one hands to the next then stays in registers, and is computed once.
    """
    terms = [op.terms for op in ops if contracts(op)]
    if len(terms) < 2 and shape.whole:
        return  # what is reduced is the product itself
    if len(terms) < 2:
        lengths = {op.terms for op in ops if op.reduced and not contracts(op)}
        terms = [each for each in terms if each in lengths]
    rows, columns, batch = shape.counts
    few = rows * columns * batch <= 64 * 64 * FEW
    for k in sorted({power_of_two(each, LEAST) for each in terms if 64 < each <= WHOLE_TERMS}):
        for m in (32, 16) if few else (128, 32) if scalar else (128,):
            yield m, 64, k, 4, 3
        yield 64, 64, k, 4, 3


def _online(shape: Form, ops: Sequence[TileOp], widest: int) -> Iterator[ProductBlock]:
    """Yield blocks for averages by softmax over rows that no block has as a whole."""
    rows = {op.terms for op in ops if op.combine == "max"}
    terms = [op.terms for op in ops if contracts(op)]
    if (
        shape.whole
        or widest > WHOLE_TERMS
        or max((t for t in terms if t in rows), default=0) <= SHORT_ROW
    ):
        return
    long = max(t for t in terms if t in rows)
    for m, k, warps, stages in ONLINE:
        if k < long or m >= 64:
            yield m, widest, k, warps, stages if k * widest <= IN_FLIGHT else 2
    if WHOLE_TERMS < long <= LONG_ROW and math.prod(shape.counts) <= 64 * 64 * FEW:
        yield LEAST, widest, LONG_ROW, 4, 1


def _few(shape: Form, ops: Sequence[TileOp]) -> Iterator[ProductBlock]:
    """Yield blocks for a product that leaves most of a card idle: what counts is how many steps."""
    rows, columns, batch = shape.counts
    products = [op.terms for op in ops if contracts(op)]
    if shape.whole or len(products) != 1 or products[0] < 4 * LEAST_TERMS:
        return
    if rows * columns * batch <= 64 * 64 * 2 * FEW:
        yield from SHORT


def _uneven(ops: Sequence[TileOp]) -> bool:
    """Say whether half of a product's last long step would be multiplied in vain."""
    terms = [op.terms for op in ops if contracts(op)]
    return len(terms) == 1 and 64 < terms[0] < 256 and terms[0] % 64 == 32


def parted(group: Group, target: GpuTarget) -> Iterator[Settings]:
    """Yield settings whose sums are formed in parts, where there are few programs otherwise."""
    product = splittable(group)
    if product is None or not product.reduced:
        return
    alone = Group((product,), (product.output,))
    places = places_of(alone.ops, product)
    shape = form(alone.ops, product, target.orders.get(product.output), places)
    rows, columns, batch = shape.counts
    terms = product.terms
    tallest = 64 if rows > LEAST else LEAST
    for m, n in ((tallest, 64), (tallest, 32)):
        if n >= 4 * max(columns, 16):
            continue
        programs = -(-rows // m) * -(-columns // n) * batch
        first = product.reduced[0].extent
        fits = [
            parts for parts in range(2, 17)
            if first % parts == 0 and terms // parts >= LEAST_TERMS
            and programs * parts <= MOST_SPLIT
        ]  # fmt: skip
        if programs < FEW and fits:
            for k in (64, 128) if terms // max(fits) >= 4 * LEAST_TERMS else (64,):
                yield {"m": m, "n": n, "k": k, "warps": 4, "stages": 4, "split": max(fits)}
