"""Loads of what a computed place picks: of all pairs of places and updates, few are loaded.

y[i] = sum_k where(place[k] == i, x[k], 0)

Each place asks each update (ScatterND, ScatterElements, messages along edges). Of what it asks, one
in as many is its own as there are places: where the comparison is a load's condition, the others
cost no memory.
"""

from __future__ import annotations

import math

from burnish.codegen.gpu import spelling
from burnish.codegen.gpu.guards import bound_guards, bounded, ranges, scattered
from burnish.codegen.gpu.loads import touch
from burnish.codegen.gpu.touched import WARP
from burnish.codegen.gpu.values import Point, Value
from burnish.codegen.gpu.writer import LARGEST, KernelWriter
from burnish.tile.expr import Argument, Call, Constant, Coordinate, Expr, Guard, Inside
from burnish.tile.graph import Read
from burnish.tile.index import Fetch, Index, axes_of, fetches_of, substitute

Pair = tuple[Index, Index]
"""A place that is fetched, and the one that it is compared with."""


def picked(
    writer: KernelWriter, condition: Expr, yes: Expr, no: Expr, point: Point
) -> Value | None:
    """Return what is loaded where fetched places are those asked for, else zero.

    None: nobody fetches a place, or what is chosen is not loaded for this alone.
    """
    read = _loaded(yes, point)
    if no != Constant(0, no.dtype) or read is None or read.tensor in writer.ops:
        return None
    pairs = _compared(condition, point)
    index = tuple(substitute(part, point.bind) for part in read.index)
    depends = frozenset(axis for part in index for axis in axes_of(part))
    if not pairs or not {a for pair in pairs for each in pair for a in axes_of(each)} <= depends:
        return None
    loaded = _load(writer, Read(read.tensor, index), pairs, point)
    inner = yes.arguments[0] if isinstance(yes, Call) else yes
    text = spelling.casted(loaded.text, inner.dtype, yes.dtype)
    return Value(text, yes.dtype, loaded.dims, loaded.depends)


def _compared(condition: Expr, point: Point) -> tuple[Pair, ...]:
    """Return the places that a condition compares; none: it asks for something else, too."""
    found: list[Pair | None] = []
    match condition:
        case Call("equal", (Coordinate(one), Coordinate(other)), _):
            found = [_pair(substitute(one - other, point.bind))]
        case Inside(guards):
            bound = bound_guards(guards, point.bind) or ()
            same = all(each.high - each.low == 1 for each in bound)
            found = [_pair(each.index - each.low) if same else None for each in bound]
    pairs = tuple(each for each in found if each is not None)
    return pairs if len(pairs) == len(found) else ()


def _pair(difference: Index) -> Pair | None:
    """Return the places that are the same where a difference is zero."""
    for atom, factor in difference.terms:
        if isinstance(atom, Fetch) and abs(factor) == 1 and atom.extent < LARGEST:
            fetched = Index(((atom, 1),))
            return fetched, fetched - difference * factor
    return None


def _loaded(yes: Expr, point: Point) -> Read | None:
    """Return the read that is chosen as it is, or in another type; None: it is computed."""
    match yes:
        case Argument(position, dtype) | Call("cast", (Argument(position, dtype),), _):
            read = point.op.reads[position]
            return None if read.guards or dtype not in spelling.FLOATS else read
    return None


def _load(writer: KernelWriter, read: Read, pairs: tuple[Pair, ...], point: Point) -> Value:
    """Write a load whose condition is that places are those asked for."""
    kind, offset = writer.types[read.tensor], writer.offset(read.tensor, read.index)
    guards = tuple(ranges(read, kind.shape))
    depends = frozenset(axis for part in read.index for axis in axes_of(part))
    dims, arithmetic = writer.dims(depends, point.frame), writer.arithmetic(point.frame)
    with writer.at(depends):
        places = [[arithmetic.index(part) for part in pair] for pair in pairs]
        parts = [f"({fetched}.to(tl.int32) == {asked})" for fetched, asked in places]
        inside = writer.mask(depends, guards, point.frame)
        mask = " & ".join([*parts, inside] if inside else parts)
        place = bounded(arithmetic.index(offset), offset, guards, kind.size)
        zeros = f"tl.full({writer.shape(dims, point.frame)}, 0, tl.int32)"
        text = f"{writer.pointer(read.tensor)} + {place} + {zeros}"
        other = spelling.otherwise(0, kind.dtype)
        asked = [Guard(part, 0, 1) for pair in pairs for part in pair]
        alone = scattered(offset, asked, dims)
        trips, elements = writer.scopes[-1].trips, writer.elements(dims)
        writer.tally.load(read.tensor, kind.dtype, elements, trips, alone=alone)
        writer.tally.work("equal", elements, trips * len(pairs))
        share = math.prod(1 / each.extent for pair in pairs for each in fetches_of(pair[0]))
        writer.tally.spare_bytes(read.tensor, kind.dtype, elements * trips * (1 - share))
        touch(writer, offset, kind.dtype, dims, trips * min(share * (WARP if alone else 1), 1.0))
        found = Value(f"tl.load({text}, mask={mask}, other={other})", kind.dtype, dims, depends)
        return writer.named(found, "picked")
