"""A nest as the code generator sees it: ranges of axes, and accesses as offsets into memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import gcd, prod

from burnish.codegen.cpu.linear import Linear, linear, merged, substituted
from burnish.tile.expr import Guard, Number
from burnish.tile.graph import Read, TileOp
from burnish.tile.index import Axis, Div, Mod, at, axes_of, bounds
from burnish.tile.region import Box, DimensionSpan

FAR = 1 << 18
"""Elements of an output that no second cache holds next to what else a kernel needs."""


@dataclass(frozen=True, slots=True)
class Range:
    """The part of an axis that one tile walks."""

    axis: Axis
    size: int
    """At most; exactly, where it is fixed."""
    fixed: bool
    parts: tuple[Axis, ...]
    """The nest's own axes that are walked as this one, outermost first."""
    step: int = 0
    """Every tile starts at a multiple of this; 0: at zero."""
    quotient: int = 1
    """One step is this many of its part."""
    remainder: bool = False
    """Whether it is the rest of its part by its extent, so that every tile walks all of it."""


@dataclass(frozen=True, slots=True)
class Access:
    """One read of the nest."""

    tensor: str
    dtype: str
    offset: Linear
    guards: tuple[Guard, ...]
    otherwise: Number
    constant: bool = False
    """Whether it may be laid out anew when compiling."""
    packed: Packing | None = None
    is_far: bool = False
    """Whether it lies in memory, and is too large to be in a cache already."""


@dataclass(frozen=True, slots=True)
class Packing:
    """A constant whose elements lie in panels: `width` steps of `axis` side by side."""

    axis: Axis
    width: int
    panel: int
    """Elements from one panel to the next."""


@dataclass(frozen=True, slots=True)
class Words:
    """Products of short numbers that are summed a word at a time: `burnish.codegen.cpu.words`."""

    dot: str
    """The intrinsic that adds them."""
    left: int
    """The read that gives words as they lie; of bytes, the unsigned ones."""
    right: int
    """The read of the constant."""


@dataclass(frozen=True, slots=True)
class NestForm:
    """Loops and accesses of one nest over one box."""

    op: TileOp
    spatial: tuple[Range, ...]
    reduced: tuple[Range, ...]
    reads: tuple[Access, ...]
    output: Linear
    is_far: bool = False
    """Whether the output goes to memory, and is too large to be in a cache already."""
    words: Words | None = None
    """How each step along the sum adds the products of a word; None: it adds one product."""
    in_turn: frozenset[Axis] = frozenset()
    """Axes whose steps may write to one place, so that no vector runs along them."""


@dataclass(frozen=True, slots=True)
class Strided:
    """Where a tensor's elements are: strides in elements, for the tensor's own dimensions."""

    dtype: str
    strides: tuple[int, ...]
    constant: bool = False
    scratch: bool = False


def form(
    op: TileOp, box: Box, places: Mapping[str, Strided], *, in_groups: bool = True
) -> NestForm:
    """Return the nest with neighbouring axes walked as one wherever memory allows.

    With `in_groups`, an axis that a sum reads in groups (of channels) is walked as two.
    """
    nest = uncollapsed(op, box, places)
    return collapsed(_grouped(nest) if in_groups and nest.reduced else nest)


def uncollapsed(op: TileOp, box: Box, places: Mapping[str, Strided]) -> NestForm:
    """Return the nest with a range for each of its axes, sums walked as they lie in memory."""
    pairs = zip(op.spatial, box, strict=True)
    # an axis with one point is always zero, and needs no loop
    spatial = tuple(ranged(axis, span) for axis, span in pairs if axis.extent != 1)
    reduced = tuple(Range(a, a.extent, True, (a,)) for a in op.reduced if a.extent != 1)
    reads = tuple(access(read, places[read.tensor]) for read in op.reads)
    reduced = tuple(sorted(reduced, key=lambda each: -_reach(each.axis, reads)))
    identity = tuple(at(axis) for axis in op.spatial)
    far = not places[op.output].scratch and prod(op.shape) > FAR
    output = linear(identity, places[op.output].strides)
    return NestForm(op, spatial, reduced, reads, output, far)


def access(read: Read, place: Strided) -> Access:
    """Return a read of a tensor, given where that is."""
    offset, far = linear(read.index, place.strides), _is_far(place)
    return Access(
        read.tensor, place.dtype, offset, read.guards, read.otherwise, place.constant, is_far=far
    )


def _is_far(place: Strided) -> bool:
    """Say whether a tensor is in no cache; of one whose outermost dimension is long, rather no."""
    return not (place.scratch or place.constant) and max(place.strides, default=0) > FAR


def _reach(axis: Axis, reads: tuple[Access, ...]) -> int:
    """Return how far a step along the axis goes in memory that cannot be laid out anew."""
    return max((abs(read.offset.stride(axis)) for read in reads if not read.constant), default=0)


def named_axes(op: TileOp) -> frozenset[Axis]:
    """Return the axes whose coordinates the nest itself needs: in conditions and as values."""
    guarded = (guard.index for read in op.reads for guard in read.guards)
    return frozenset(axis for index in (*guarded, *op.coordinates) for axis in axes_of(index))


def axis_names(nest: NestForm) -> dict[Axis, str]:
    """Return what code calls the axes that are walked: by their order, whatever their names are."""
    spatial = {each.axis: f"i{place}" for place, each in enumerate(nest.spatial)}
    return spatial | {each.axis: f"k{place}" for place, each in enumerate(nest.reduced)}


def every(axis: Axis) -> Range:
    """Return all of an axis, whatever the tile."""
    return Range(axis, axis.extent, True, (axis,), remainder=True)


def ranged(axis: Axis, span: DimensionSpan) -> Range:
    """Return the part of an axis that is a tile's."""
    low, high = bounds(span.origin)
    fixed = low >= 0 and high + span.size <= axis.extent
    factors = (factor for _, factor in span.origin.terms)
    step = gcd(span.origin.constant, *factors)
    return Range(axis, min(span.size, axis.extent), fixed, (axis,), step)


def _grouped(nest: NestForm) -> NestForm:
    """Return the nest with each axis that is only read by its quotient and rest as these two."""
    kept = named_axes(nest.op)
    for each in nest.spatial:
        size = _group_size(nest, each.axis)
        whole = each.fixed and size and each.size % size == 0 and each.step % size == 0
        if whole and each.axis not in kept:
            nest = _split(nest, each, size)
    return nest


def _group_size(nest: NestForm, axis: Axis) -> int:
    """Return by how much reads divide an axis; 0: by nothing, or not by one number."""
    atoms = [atom for read in nest.reads for atom, _ in read.offset.rest]
    sizes = {atom.by for atom in atoms if isinstance(atom, (Div, Mod)) and atom.of == at(axis)}
    size = sizes.pop() if len(sizes) == 1 else 0
    return size if size and axis.extent % size == 0 else 0


def _split(nest: NestForm, along: Range, size: int) -> NestForm:
    axis = along.axis
    outer = Axis(f"{axis.name}/{size}", axis.extent // size)
    inner = Axis(f"{axis.name}%{size}", size)
    values = {axis: at(outer) * size + at(inner)}
    ranges = (
        Range(outer, along.size // size, True, along.parts, along.step // size, quotient=size),
        Range(inner, size, True, along.parts, remainder=True),
    )
    place = nest.spatial.index(along)
    return replace(
        nest,
        spatial=(*nest.spatial[:place], *ranges, *nest.spatial[place + 1 :]),
        reads=tuple(replace(read, offset=substituted(read.offset, values)) for read in nest.reads),
        output=substituted(nest.output, values),
    )


def collapsed(nest: NestForm) -> NestForm:
    """Return the nest with neighbouring axes walked as one wherever memory allows."""
    kept_apart = named_axes(nest.op)
    changed = True
    while changed:
        changed = False
        for which in ("spatial", "reduced"):
            ranges = nest.spatial if which == "spatial" else nest.reduced
            for outer, inner in pairwise(ranges):
                found = _joined(nest, outer, inner, kept_apart)
                if found is not None:
                    nest, changed = found, True
                    break
    return nest


def _joined(
    nest: NestForm, outer: Range, inner: Range, kept_apart: frozenset[Axis]
) -> NestForm | None:
    if kept_apart & {*outer.parts, *inner.parts}:
        return None
    if not inner.fixed or inner.size != inner.axis.extent:
        return None
    if any(each.remainder or each.quotient > 1 for each in (outer, inner)):
        return None
    name = f"{outer.axis.name}.{inner.axis.name}"
    joint = Axis(name, outer.axis.extent * inner.axis.extent)
    reads = [merged(read.offset, outer.axis, inner.axis, joint) for read in nest.reads]
    output = merged(nest.output, outer.axis, inner.axis, joint)
    if output is None or any(read is None for read in reads):
        return None
    step = outer.step * inner.axis.extent
    size = outer.size * inner.size
    both = Range(joint, size, outer.fixed, (*outer.parts, *inner.parts), step)
    accesses = tuple(
        replace(access, offset=offset)
        for access, offset in zip(nest.reads, reads, strict=True)
        if offset is not None
    )
    return replace(
        nest,
        reads=accesses,
        output=output,
        spatial=_with_joint(nest.spatial, outer, both),
        reduced=_with_joint(nest.reduced, outer, both),
    )


def _with_joint(ranges: tuple[Range, ...], outer: Range, both: Range) -> tuple[Range, ...]:
    if outer not in ranges:
        return ranges
    position = ranges.index(outer)
    return (*ranges[:position], both, *ranges[position + 2 :])
