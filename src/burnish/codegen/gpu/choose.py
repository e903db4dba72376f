"""Which nests share a Triton kernel and how it is cut, by predicted seconds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from burnish.codegen.gpu.beginning import begun_blocks
from burnish.codegen.gpu.beside import LEAST_TERMS
from burnish.codegen.gpu.blocks import power_of_two
from burnish.codegen.gpu.carried import carried_blocks
from burnish.codegen.gpu.form import Form, form, places_of, window_axes
from burnish.codegen.gpu.held import held, held_blocks
from burnish.codegen.gpu.kernel import GpuTarget, Written, refusal, written
from burnish.codegen.gpu.launch_parts import splittable
from burnish.codegen.gpu.library import BY_LIBRARY
from burnish.codegen.gpu.operands import LEAST, contracts, multiplies_f32
from burnish.codegen.gpu.price import Price, price
from burnish.codegen.gpu.row_blocks import (
    FEW,
    Settings,
    in_parts,
    single_rows,
    summing_blocks,
    whole_rows,
)
from burnish.codegen.gpu.several import in_one_warp, whole_products
from burnish.codegen.gpu.spelling import IEEE
from burnish.codegen.gpu.summing import SUMMED, image_sum, summed_blocks
from burnish.codegen.schedule import Choice
from burnish.hw.spec import HardwareSpec
from burnish.tile.connect import NoGroupError
from burnish.tile.graph import TensorType, TileGraph, TileOp
from burnish.tile.group import Group
from burnish.tile.index import Axis
from burnish.tile.machine import machine
from burnish.tile.partition import Fusion, SearchLimits, partition
from burnish.tile.schedule import Schedule
from burnish.tile.signature import signature, tensor_order

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
HOPELESS = 2.0
"""Times its nests' own seconds that a group may take before no other blocks are tried; the best of
those that were is taken, if it is below that."""
MOST_SPLIT = 200
WHOLE_TERMS = 256
"""Terms that one block may have when products follow each other."""
LONG_ROW = 512
"""Terms of a softmax that a block of sixteen rows has all of: where these leave a card idle, what
counts is how often they wait."""
SHORT_ROW = 64
"""Terms of a softmax that a block always has all of."""

TURNS = (32, 28, 16, 14, 8, 7, 4)
"""Turns that a program may take down an image."""
MOST_LANES = 128 * 256
"""Elements of a block that threads hold in registers."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """A schedule and its predicted seconds, all its launches together."""

    schedule: Schedule
    seconds: float
    memory_bytes: float
    prices: tuple[Price, ...] = ()
    launches: tuple[Written, ...] = ()


Laid = tuple[tuple[int, ...] | None, ...]
"""The orders of a group's tensors in memory; None: its own."""
Searched = dict[tuple[str, Laid], Blocked | str]


@dataclass(slots=True)
class GpuPredicted:
    """Chooses groups and blocks for a GPU; equal groups are looked at once."""

    hw: HardwareSpec
    target: GpuTarget = field(default_factory=GpuTarget)
    fusion: Fusion = "full"
    limits: SearchLimits = SearchLimits(nests=16)  # noqa: RUF009  # frozen
    known: dict[str, Blocked | str] = field(default_factory=dict)
    """What became of groups by signature: blocks, or why there are none."""
    elsewhere: Searched = field(default_factory=dict)
    """What became of groups of other graphs for the same device, where tensors may lie otherwise:
    by signature and by how their tensors lie."""

    def __call__(self, graph: TileGraph) -> tuple[Choice, ...]:
        """Return the groups of a simplified graph with the blocks that should be fastest."""

        def predict(group: Group) -> float:
            return self.best(group, graph).seconds

        groups = partition(
            graph, machine(self.hw), self.fusion, predictor=predict, limits=self.limits
        ).groups
        return tuple(self.choice(group, graph) for group in groups)

    def choice(self, group: Group, graph: TileGraph) -> Choice:
        """Return the blocks that should be fastest for a group, or why it has no kernel."""
        if (reason := refusal(group, graph)) is not None:
            return Choice(group, None, reason=f"Triton kernels have no {reason}")
        try:
            best = self.best(group, graph)
        except NoGroupError as error:
            return Choice(group, None, reason=str(error))
        return Choice(group, best.schedule, best.seconds, best.memory_bytes)

    def best(self, group: Group, graph: TileGraph) -> Blocked:
        """Return the cheapest candidate of a group; `NoGroupError`: there is none."""
        key = signature(group, graph)
        known = self.known.get(key)
        if known is None:
            laid = tuple(self.target.orders.get(name) for name in tensor_order(group))
            known = self.elsewhere.get((key, laid)) or self._searched(group, graph)
            self.known[key] = self.elsewhere[key, laid] = known
        if isinstance(known, str):
            raise NoGroupError(known)
        return known

    def _searched(self, group: Group, graph: TileGraph) -> Blocked | str:
        if (reason := refusal(group, graph)) is not None:
            return f"Triton kernels have no {reason}"
        found: list[Blocked] = []
        reason = "its output has no element"
        most = HOPELESS * self._apart(group, graph)
        for settings in candidates(group, self.target):
            schedule = Schedule(group.anchor.shape, settings=settings)
            try:
                found.append(priced(group, schedule, graph, self.hw, self.target))
            except NoGroupError as error:
                reason = str(error)
                continue
            if found[-1].seconds > most:
                break
        best = min(found, key=lambda one: one.seconds, default=None)
        if best is None or best.seconds <= most:
            return best or reason
        return f"it would take {best.seconds / most * HOPELESS:.1f} times its parts"

    def _apart(self, group: Group, graph: TileGraph) -> float:
        """Return what the nests of a group take by themselves; nobody knows of a single one."""
        if len(group.ops) == 1:
            return math.inf
        total = 0.0
        for op in group.ops:
            try:
                total += self.best(Group((op,), (op.output,)), graph).seconds
            except NoGroupError:
                return math.inf
        return total


def priced(
    group: Group, schedule: Schedule, graph: TileGraph, hw: HardwareSpec, target: GpuTarget
) -> Blocked:
    """Return what a group takes under a schedule; `NoGroupError` where it does not fit."""
    launches = written(group, schedule, graph, target)
    types = {**graph.tensors, **scratch_types(launches)}
    prices = tuple(price(each, types, hw, target.precision) for each in launches)
    if len(group.ops) > 1:
        if any(each.spills for each in prices):
            raise NoGroupError("its blocks do not fit the registers")
        if any(each.tally.multiplied_sums for each in launches):
            # right in the interpreter, each address inside; an H200 computed nonsense, or faulted
            raise NoGroupError("a product multiplies what another one of the kernel sums up")
        two = SUMMED in schedule.settings or schedule.settings.get("split", 1) > 1
        if len(launches) > 1 + two:
            raise NoGroupError("one of its outputs needs a kernel of its own")
    return Blocked(
        schedule,
        sum(each.seconds * (4.0 if each.spills else 1.0) for each in prices),
        sum(each.memory_bytes for each in prices),
        prices,
        launches,
    )


def candidates(group: Group, target: GpuTarget) -> Iterator[Settings]:
    """Yield the settings to try for a group."""
    if (summed := image_sum(group)) is not None:
        image = Group(summed.ops, (summed.image.output,))
        yield from summed_blocks(summed, target.orders, candidates(image, target))
    yield from begun_blocks(group, target.orders, lambda image: candidates(image, target))
    places = places_of(group.ops, group.anchor)
    shape = form(group.ops, group.anchor, target.orders.get(group.anchor.output), places)
    rows, columns, _ = shape.counts
    if not rows * columns:
        yield {}
    elif shape.multiplies:
        scalar = target.precision == IEEE and any(map(multiplies_f32, group.ops))
        if (
            target.own_functions
            and len(group.ops) == 1
            and _fills(shape, group.ops, LIBRARY_TERMS, FEW)
        ):
            yield {**LIBRARY_BLOCK, BY_LIBRARY: 1}
        # of whole rows, blocks without parts are hopeless where sums are long: parts come first
        parts = tuple(_split(group, target))
        yield from parts if shape.whole else ()
        small = tuple(whole_products(shape, group.ops, places))
        yield from _products(shape, group.ops, small, scalar=scalar)
        yield from () if shape.whole else parts
    elif shape.whole:
        yield from whole_rows(shape, group.anchor, target.orders)
    elif sliding := window_axes(group.ops, group.anchor, places):
        yield from carried_blocks(group.ops, sliding, math.prod(group.anchor.shape))
        yield from _windows(sliding, math.prod(group.anchor.shape))
    elif any(op.reduced for op in group.ops):
        yield from held_blocks(held(shape, group.ops, group.anchor, places))
        yield from in_one_warp(single_rows(group, target.orders), group.ops, places)
        yield from summing_blocks(group, target.orders)
        yield from in_parts(group)
    else:
        for m, warps in ((512, 4), (1024, 4), (256, 2), (2048, 8)):
            yield {"m": m, "warps": warps, "stages": 1}
        yield from held_blocks(held(shape, group.ops, group.anchor, places))


def _windows(sliding: Sequence[Axis], outputs: int) -> Iterator[Settings]:
    """Yield blocks of windows that slide: few elements a thread, neighbours share what they read.

    A thread computes a patch of `down` by `across` outputs, in as many turns as leave programs
    enough to keep a card busy.
    """
    turning = (count for count in TURNS if len(sliding) > 1 and sliding[1].extent % count == 0)
    fits = [count for count in turning if outputs // (128 * 4 * count) >= 4 * FEW]
    for turns in fits[:2]:
        for m, warps in ((128, 2), (256, 2)):
            yield {"m": m, "across": 4, "down": 1, "turns": turns, "warps": warps, "stages": 1}
    patches = ((4, 2), (4, 4), (2, 2), (1, 1)) if len(sliding) > 1 else ((8, 1), (4, 1), (1, 1))
    for across, down in patches:
        yield {"m": 256, "across": across, "down": down, "warps": 2, "stages": 1}


def scratch_types(launches: Iterable[Written]) -> dict[str, TensorType]:
    """Return the types of what launches of one group hand to each other, as plain f32."""
    sizes = {name: size for each in launches for name, size in each.launch.scratch.items()}
    return {name: TensorType("f32", (size // 4,)) for name, size in sizes.items()}


def _products(
    shape: Form, ops: Sequence[TileOp], small: Sequence[ProductBlock], *, scalar: bool
) -> Iterator[Settings]:
    rows, columns, batch = shape.counts
    found: dict[tuple[int, ...], Settings] = {}
    widest = power_of_two(columns, LEAST)
    deep = ((128, 128, 64, 4, 4),) if _fills(shape, ops) else ()
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


def _fills(shape: Form, ops: Sequence[TileOp], least: int = DEEP, blocks: int = 2 * FEW) -> bool:
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


def _split(group: Group, target: GpuTarget) -> Iterator[Settings]:
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
