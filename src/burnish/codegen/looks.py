"""Which tensors of a region are looked at when it runs: what kernels take as it comes.

Kernels never stop, so that whoever runs them looks into memory: nests give out what is to be
looked at. What a repeated body computes comes to lie there turn after turn. Where that memory is
far away, other nests look at it and tell (`burnish.tile.looking`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import count

import numpy as np

from burnish.core.arrays import Arrays
from burnish.core.existing import LookKind
from burnish.runtime.plan import TensorLook
from burnish.tile.demands import Demand, demands, unmet
from burnish.tile.expr import Argument
from burnish.tile.graph import Read, TensorType, TileGraph, TileOp
from burnish.tile.index import at
from burnish.tile.looking import looked_at, parts_of
from burnish.tile.recurrence import Chain, Recurrence, TimeStrip
from burnish.tile.semantics import axes_for


@dataclass(frozen=True, slots=True)
class LookRequest:
    """Of which tensors it is asked, and how nests get simple."""

    values: Collection[str]
    """Those of the model: places that nests compute for themselves are the nearest on purpose."""
    simple: Callable[[TileGraph], TileGraph]
    owner: str = ""
    """What a repeated body is for, in names of tensors that only it has."""
    told: Collection[str] = ()
    """Those of the values that nests look at themselves, and tell what they found."""


@dataclass(frozen=True, slots=True)
class LookedNests:
    """Nests that give out what is looked at."""

    lowered: TileGraph
    simple: TileGraph
    looks: tuple[TensorLook, ...] = ()
    own: frozenset[str] = frozenset()
    """What they give out for a look only."""


@dataclass(frozen=True, slots=True)
class LookedChain:
    """A chain of a recurrence whose steps give out what is looked at, and what that lies in."""

    chain: Chain
    nests: LookedNests
    tensors: Mapping[str, TensorType]


def looked(graph: TileGraph, asked: LookRequest) -> LookedNests:
    """Return nests, simple, with what is looked at among what they give."""
    wanted = _wanted(graph, asked)
    found = asked.simple(_giving(graph, wanted))
    if wanted and (still := unmet(wanted, found)) != wanted:
        wanted = still
        found = asked.simple(_giving(graph, wanted))
    told = _spans(graph, _strictest(one for one in wanted if one.tensor in asked.told))
    wanted = tuple(one for one in wanted if one.tensor not in asked.told)
    if told:
        found = asked.simple(looked_at(_giving(graph, wanted), told))
    looks = (
        *(_look(one, one.tensor) for one in wanted),
        *(_told(one, name) for one, name in told.items()),
    )
    own = {*_computed(graph, wanted), *told.values()} - {*graph.outputs}
    return LookedNests(graph, found, looks, frozenset(own))


def looked_chain(whole: Recurrence, chain: Chain, asked: LookRequest) -> LookedChain:
    """Return one step of a recurrence that gives out what is looked at.

    States are copied before they are looked at: of what turns leave the last is none's place.
    """
    if not chain.strips:
        return LookedChain(chain, looked(chain.body, asked), {})
    tensors: dict[str, TensorType] = {}
    strips, body = dict(chain.strips), chain.body
    looks: dict[TensorLook, None] = {}
    for one in _wanted(body, asked):
        outside = f"{asked.owner}${one.tensor}.seen"
        strip = strips.get(one.tensor)
        if strip is not None and not strip.initial:
            if _is_met_outside(one, strip, whole.constants):
                continue
            outside = strip.tensor
        elif outside not in tensors:
            kind = body.tensors[one.tensor]
            tensors[outside] = TensorType(kind.dtype, (whole.times, *kind.shape))
            strips[outside] = TimeStrip(outside, 0, kind.size)
            body = _with_copy(body, one.tensor, outside)
        looks[_look(one, outside)] = None
    if chain.lengths and chain.lengths not in whole.constants:
        looks[TensorLook(chain.lengths, chain.lengths, "length", whole.times)] = None
    chain = dataclasses.replace(chain, body=body, strips=strips)
    return LookedChain(chain, LookedNests(body, asked.simple(body), tuple(looks)), tensors)


def _wanted(graph: TileGraph, asked: LookRequest) -> tuple[Demand, ...]:
    every = (one for one in demands(graph) if one.tensor in asked.values)
    return tuple(one for one in every if graph.tensors[one.tensor].size)


def _strictest(wanted: Iterable[Demand]) -> Iterable[Demand]:
    """Return the demands that others of the same numbers follow from: of the fewest places."""
    found: dict[tuple[str, int | None, bool], Demand] = {}
    for one in sorted(wanted, key=lambda one: one.size or 0):
        found.setdefault((one.tensor, one.column, one.size is None), one)
    return found.values()


def _spans(graph: TileGraph, told: Iterable[Demand]) -> dict[Demand, str]:
    """Return what holds what is told of each, by names that nothing has."""
    numbers, names = count(), dict[Demand, str]()
    for one in told:
        every = (f"{one.tensor}.span${number}" for number in numbers)
        names[one] = next(n for n in every if not {n, parts_of(n)} & graph.tensors.keys())
    return names


def _look(one: Demand, tensor: str) -> TensorLook:
    kind: LookKind = "divisor" if one.size is None else "place"
    size = one.size or 0
    return TensorLook(tensor, one.tensor, kind, size, one.column, forward=one.forward)


def _told(one: Demand, tensor: str) -> TensorLook:
    return dataclasses.replace(_look(one, tensor), column=None, told=True)


def _giving(graph: TileGraph, wanted: tuple[Demand, ...]) -> TileGraph:
    outputs = dict.fromkeys((*graph.outputs, *_computed(graph, wanted)))
    return dataclasses.replace(graph, outputs=tuple(outputs))


def _computed(graph: TileGraph, wanted: tuple[Demand, ...]) -> tuple[str, ...]:
    written = {op.output for op in graph.ops}
    return tuple(one.tensor for one in wanted if one.tensor in written)


def _is_met_outside(one: Demand, strip: TimeStrip, constants: Arrays) -> bool:
    """Say whether what turns see is known, and as it must be: which turn it is, for instance."""
    known = constants.get(strip.tensor)
    if known is None:
        return False
    seen = np.asarray(known)
    return not seen.size or one.is_met((int(seen.min()), int(seen.max())))


def _with_copy(body: TileGraph, tensor: str, copy: str) -> TileGraph:
    """Return a body that also gives a copy of one of its tensors."""
    kind = body.tensors[tensor]
    axes = axes_for(kind.shape)
    op = TileOp(
        copy, axes, (Read(tensor, tuple(map(at, axes))),), Argument(0, kind.dtype),
        nodes=body.ops[-1].nodes,
    )  # fmt: skip
    return dataclasses.replace(
        body,
        tensors={**body.tensors, copy: kind},
        outputs=(*body.outputs, copy),
        ops=(*body.ops, op),
    )
