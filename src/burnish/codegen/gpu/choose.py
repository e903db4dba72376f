"""Which nests share a Triton kernel and how it is cut, by predicted seconds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from burnish.codegen.gpu.beginning import begun_blocks
from burnish.codegen.gpu.carried import carried_blocks
from burnish.codegen.gpu.form import form, places_of, window_axes
from burnish.codegen.gpu.held import held, held_blocks
from burnish.codegen.gpu.kernel import GpuTarget, Written, refusal, written
from burnish.codegen.gpu.library import BY_LIBRARY
from burnish.codegen.gpu.operands import multiplies_f32
from burnish.codegen.gpu.price import Price, price
from burnish.codegen.gpu.product_blocks import (
    LIBRARY_BLOCK,
    LIBRARY_TERMS,
    fills,
    parted,
    product_blocks,
)
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
from burnish.tile.graph import TensorType, TileGraph
from burnish.tile.group import Group
from burnish.tile.index import Axis
from burnish.tile.machine import machine
from burnish.tile.partition import Fusion, SearchLimits, partition
from burnish.tile.schedule import Schedule
from burnish.tile.signature import signature, tensor_order

HOPELESS = 2.0
"""Times its nests' own seconds that a group may take before no other blocks are tried; the best of
those that were is taken, if it is below that."""
TURNS = (32, 28, 16, 14, 8, 7, 4)
"""Turns that a program may take down an image."""


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
            and fills(shape, group.ops, LIBRARY_TERMS, FEW)
        ):
            yield {**LIBRARY_BLOCK, BY_LIBRARY: 1}
        # of whole rows, blocks without parts are hopeless where sums are long: parts come first
        parts = tuple(parted(group, target))
        yield from parts if shape.whole else ()
        small = tuple(whole_products(shape, group.ops, places))
        yield from product_blocks(shape, group.ops, small, scalar=scalar)
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
