"""Which nests share a Triton kernel and how it is cut, by predicted seconds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from burnish.codegen.choice import Choice
from burnish.codegen.gpu.form import Form, form, places_of
from burnish.codegen.gpu.kernel import Target, refusal, written
from burnish.codegen.gpu.price import Price, price
from burnish.hw.spec import HardwareSpec
from burnish.tile.connect import NoGroupError
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.machine import machine
from burnish.tile.partition import Fusion, Limits, partition
from burnish.tile.schedule import Schedule
from burnish.tile.signature import signature

Settings = Mapping[str, int]

PRODUCTS: tuple[tuple[int, int, int, int, int], ...] = (
    (128, 128, 64, 8, 3),
    (64, 64, 64, 4, 4),
    (128, 64, 32, 4, 3),
    (64, 128, 64, 4, 3),
    (64, 32, 64, 4, 4),
    (32, 64, 64, 4, 4),
    (16, 64, 64, 4, 4),
)
"""Rows, columns and terms of a block, warps, and steps of loads in flight."""

MOST_LANES = 128 * 256
"""Elements of a block that threads hold in registers."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A schedule and its predicted seconds, all its launches together."""

    schedule: Schedule
    seconds: float
    memory_bytes: float
    prices: tuple[Price, ...] = ()


@dataclass(slots=True)
class Predicted:
    """Chooses groups and blocks for a GPU; equal groups are looked at once."""

    hw: HardwareSpec
    target: Target = field(default_factory=Target)
    fusion: Fusion = "full"
    limits: Limits = Limits(nests=16)  # noqa: RUF009  # frozen
    _known: dict[str, Candidate | str] = field(default_factory=dict)

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

    def best(self, group: Group, graph: TileGraph) -> Candidate:
        """Return the cheapest candidate of a group; `NoGroupError`: there is none."""
        key = signature(group, graph)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._searched(group, graph)
        if isinstance(known, str):
            raise NoGroupError(known)
        return known

    def _searched(self, group: Group, graph: TileGraph) -> Candidate | str:
        if (reason := refusal(group, graph)) is not None:
            return f"Triton kernels have no {reason}"
        found: list[Candidate] = []
        reason = "its output has no element"
        for settings in candidates(group, self.target):
            schedule = Schedule(group.anchor.shape, settings=settings)
            try:
                found.append(priced(group, schedule, graph, self.hw, self.target))
            except NoGroupError as error:
                reason = str(error)
        return min(found, key=lambda one: one.seconds, default=reason)


def priced(
    group: Group, schedule: Schedule, graph: TileGraph, hw: HardwareSpec, target: Target
) -> Candidate:
    """Return what a group takes under a schedule; `NoGroupError` where it does not fit."""
    launches = written(group, schedule, graph, target)
    prices = tuple(price(each, graph.tensors, hw, target.precision) for each in launches)
    if len(group.ops) > 1:
        if any(each.spills for each in prices):
            raise NoGroupError("its blocks do not fit the registers")
        if len(launches) > 1:
            raise NoGroupError("one of its outputs needs a kernel of its own")
    return Candidate(
        schedule,
        sum(each.seconds * (4.0 if each.spills else 1.0) for each in prices),
        sum(each.memory_bytes for each in prices),
        prices,
    )


def candidates(group: Group, target: Target) -> Iterator[Settings]:
    """Yield the settings to try for a group."""
    places = places_of(group.ops, group.anchor)
    shape = form(group.ops, group.anchor, target.orders.get(group.anchor.output), places)
    rows, columns, _ = shape.counts
    if not rows * columns:
        yield {}
    elif shape.multiplies:
        yield from _products(shape)
    elif shape.whole:
        yield from _rows(shape)
    else:
        for m, warps in ((512, 4), (1024, 4), (256, 2)):
            yield {"m": m, "warps": warps, "stages": 1}


def _products(shape: Form) -> Iterator[Settings]:
    rows, columns, _ = shape.counts
    some = False
    for m, n, k, warps, stages in PRODUCTS:
        n = n if not shape.whole else 1 << (columns - 1).bit_length()
        wasted = m >= 4 * max(rows, 8) or (n >= 4 * max(columns, 8) and not shape.whole)
        if wasted or m * n > MOST_LANES:
            continue
        some = True
        yield {"m": m, "n": n, "k": k, "warps": warps, "stages": stages}
    if not some:
        yield {"m": 16, "n": 16, "k": 32, "warps": 4, "stages": 3}


def _rows(shape: Form) -> Iterator[Settings]:
    _, columns, _ = shape.counts
    n = 1 << (columns - 1).bit_length()
    for lanes, warps in ((512, 2), (1024, 4), (2048, 4), (4096, 8)):
        m = max(lanes // n, 1)
        if n <= 16 * 1024:
            warps = min(max(warps, n // 512), 16)
        yield {"m": m, "warps": warps, "stages": 1}
