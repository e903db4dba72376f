"""Which size of a model may stay open: only loop bounds depend on it, and only outermost ones.

A plan for the greatest size is one for every smaller one if each kernel is cut along its outermost
axis, and computes a part of the front of its tensors from parts of the front of others. That is
read off the nests: those for one size more are the same but for the extents of outermost axes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from burnish.codegen.every_size import same
from burnish.codegen.place import BuiltPlan
from burnish.core.errors import UsageError
from burnish.runtime.plan import OpenSize
from burnish.tile.graph import TileGraph, TileOp
from burnish.tile.index import Index, bounds
from burnish.tile.text import nest_text


class ClosedSizeError(UsageError):
    """A size cannot stay open."""


def closed(name: str, reason: str) -> ClosedSizeError:
    """Return what a user should read: why a size cannot stay open, and what to do instead."""
    return ClosedSizeError(
        f"{name} cannot stay open: {reason}",
        hint=f"compile a plan for each size: --shape {name}=1 --shape {name}=8",
    )


@dataclass(frozen=True, slots=True)
class Sized:
    """The nests of a model at one size of the name that is to stay open."""

    graph: TileGraph
    size: int
    inputs: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """What the model takes, also where no nest reads it."""


def rows(name: str, one: Sized, more: Sized) -> dict[str, int]:
    """Return how many outermost rows each tensor has for each one of an open size.

    Tensors that are not listed have nothing to do with it. Raises `ClosedSizeError` where more
    depends on the size than outermost loops.
    """
    if [op.output for op in one.graph.ops] != [op.output for op in more.graph.ops]:
        raise closed(name, "other sizes are computed in another way")
    found: dict[str, int] = {}
    shapes, larger_shapes = (
        {**each.inputs, **{tensor: kind.shape for tensor, kind in each.graph.tensors.items()}}
        for each in (one, more)
    )
    if shapes.keys() != larger_shapes.keys():
        raise closed(name, "other sizes are computed in another way")
    for tensor, shape in shapes.items():
        per = _per(name, tensor, shape, larger_shapes[tensor], (one, more))
        found |= {tensor: per} if per else {}
    for tensor, array in one.graph.constants.items():
        larger = more.graph.constants[tensor]
        if not same(array, larger[: len(array)] if array.ndim else larger):
            raise closed(name, f"the constant {tensor!r} depends on it")
    for op, other in zip(one.graph.ops, more.graph.ops, strict=True):
        if _without_rows(op, found) != _without_rows(other, found):
            raise closed(name, f"{_computing(op)} depends on it")
        for tensor, index in _places(op):
            if not _stays_in_front(op, tensor, index, found):
                raise closed(name, f"{_computing(op)} reads other rows of {tensor!r}")
    return found


def opened(built: BuiltPlan, name: str, most: int, found: Mapping[str, int]) -> BuiltPlan:
    """Return a plan for the greatest size as one for all up to that, given rows of tensors."""
    (region,) = built.regions
    for tensor, order in region.layouts.items():
        if tensor in found and order[0] != 0:
            raise closed(name, f"{tensor!r} lies in memory with something else outermost")
    plan = built.plan
    known = {tensor: found.get(tensor.removeprefix("r0."), 0) for tensor in plan.tensors}
    growing = tuple(
        number
        for number, choice in enumerate(region.choices)
        if choice.group.anchor.output in found
    )
    for number, step in enumerate(plan.kernel_steps):
        grows = number in growing
        if any(bool(known[output]) != grows for output in step.outputs):
            raise closed(name, f"one kernel computes {', '.join(step.outputs)}")
        if grows and step.launch["tiles"] % most:
            raise closed(name, f"the tiles of {step.outputs[-1]!r} span several of it")
    size = OpenSize(name, most, {tensor: per for tensor, per in known.items() if per}, growing)
    return dataclasses.replace(built, plan=dataclasses.replace(plan, open=size))


def _per(
    name: str,
    tensor: str,
    shape: tuple[int, ...],
    larger: tuple[int, ...],
    sizes: tuple[Sized, Sized],
) -> int:
    """Return the outermost rows of a tensor for each one of the size; 0: it does not depend."""
    if shape == larger:
        return 0
    one, more = sizes
    per = shape[0] // one.size
    if shape[1:] != larger[1:] or (shape[0], larger[0]) != (per * one.size, per * more.size):
        raise closed(name, f"{tensor!r} has it in another dimension than the outermost")
    return per


def _without_rows(op: TileOp, found: Mapping[str, int]) -> str:
    """Return a nest as text, with nothing said of how many outermost rows it has."""
    text = nest_text(op)
    if op.output not in found:
        return text
    first = op.spatial[0]
    return text.replace(f"{first.name}={first.extent}", f"{first.name}=…", 1)


def _places(op: TileOp) -> Iterator[tuple[str, Index]]:
    """Yield the tensors that a nest reads, with the outermost index of each read."""
    yield from ((read.tensor, read.index[0]) for read in op.reads if read.index)
    yield from ((fetch.tensor, fetch.index[0]) for fetch in op.fetches if fetch.index)


def _stays_in_front(op: TileOp, tensor: str, index: Index, found: Mapping[str, int]) -> bool:
    """Say whether a nest that computes what belongs to the first reads only what does so, too."""
    per, own = found.get(tensor, 0), found.get(op.output, 0)
    for count in (1, 2) if per else ():
        ranges = {op.spatial[0]: (0, own * count - 1)} if own else {}
        low, high = bounds(index, ranges)
        if low < 0 or high >= per * count:
            return False
    return True


def _computing(op: TileOp) -> str:
    return f"how {op.output!r} is computed ({', '.join(op.nodes)})" if op.nodes else op.output
