"""Reductions whose terms each go to one place, as three walks over the tensor that they write.

Every place gets what changes nothing, then the terms pass, each read, combined with what is at its
place, and written back; then what follows the reduction is done to all places. No two terms may be
on their way at once, so vectors lie along what terms have of the output, never along the terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from burnish.codegen.cpu.form import NestForm, Strided, access, collapsed, every, form, ranged
from burnish.codegen.cpu.linear import linear
from burnish.tile.graph import TileOp
from burnish.tile.region import Box
from burnish.tile.sent import Passes, Sent, passes, sent


def sent_forms(op: TileOp, box: Box, where: Mapping[str, Strided]) -> tuple[NestForm, ...]:
    """Return the nests to be written for a reduction one after the other; none: it is walked whole.

    So it is where a tile has only some of the places: most terms would go to none of them.
    """
    found = sent(op)
    if found is None or op.body.dtype != op.dtype or not _holds_all(op, found, box):
        return ()
    return tuple(_forms(op, passes(op, found), box, where))


def _holds_all(op: TileOp, found: Sent, box: Box) -> bool:
    """Say whether a tile has all places that terms go to."""
    return all(
        span.size >= axis.extent
        for axis, span in zip(op.spatial, box, strict=True)
        if axis in found.places
    )


def _forms(op: TileOp, walks: Passes, box: Box, where: Mapping[str, Strided]) -> Iterator[NestForm]:
    yield form(walks.start, box, where)
    yield collapsed(_update(op, walks, box, where))
    if walks.end is not None:
        yield form(walks.end, box, where)


def _update(op: TileOp, walks: Passes, box: Box, where: Mapping[str, Strided]) -> NestForm:
    spans = dict(zip(op.spatial, box, strict=True))
    spatial = tuple(
        # every tile walks all terms
        ranged(axis, spans[axis]) if axis in spans else every(axis)
        for axis in walks.update.spatial
        if axis.extent != 1
    )
    reads = tuple(access(read, where[read.tensor]) for read in walks.update.reads)
    output = linear(walks.place, where[op.output].strides)
    in_turn = (each.axis for each in spatial if each.remainder or not output.steady(each.axis))
    return NestForm(walks.update, spatial, (), reads, output, in_turn=frozenset(in_turn))
