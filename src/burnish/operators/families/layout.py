"""The same elements in another shape or order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from burnish.operators.loops.parameters import integers, operands_of, required
from burnish.operators.record import (
    Movement,
    Operands,
    Operator,
    Partial,
    Shape,
    ShapeRule,
    register,
)
from burnish.operators.rules import defined, nothing, same_elements
from burnish.operators.size import Size, divide, total
from burnish.tile.index import at, floor_divide, remainder
from burnish.tile.pointwise import positive_axis
from burnish.tile.semantics import Meaning, NestBuilder, Node, NotCoveredError, axes_for


def _viewed(rule: ShapeRule, parameter: str) -> Meaning:
    """Return the loops that give the first input the shape that a rule tells."""

    def meaning(builder: NestBuilder, node: Node) -> None:
        source = required(node, 0)
        given = integers(builder, node, 1, parameter)
        data, found = builder.type(source).shape, rule(operands_of(builder, node))[0]
        shape = [size for size in found or () if isinstance(size, int)]
        if found is None or len(shape) < len(found) or math.prod(shape) != math.prod(data):
            asked = f"its {parameter} is {list(given)}" if given else f"it has no {parameter}"
            raise NotCoveredError(f"{asked}, and its data is {list(data)}")
        builder.reshape(node.outputs[0], source, shape)

    return meaning


def transpose(builder: NestBuilder, node: Node) -> None:
    """Add the data with dimension `perm[i]` as its dimension `i`; default: reversed."""
    source = required(node, 0)
    shape = builder.type(source).shape
    order = node.attributes.get("perm")
    order = tuple(order) if order is not None else tuple(reversed(range(len(shape))))
    axes = axes_for([shape[place] for place in order])
    index = [at(axes[order.index(place)]) for place in range(len(shape))]
    builder.view(node.outputs[0], source, index, axes)


def depth_to_space(builder: NestBuilder, node: Node) -> None:
    """Add channels as blocks of pixels; which part of the channel is the block, the mode tells."""
    source = required(node, 0)
    block, mode = int(node.attributes["blocksize"]), node.attributes.get("mode", "DCR")
    if mode not in ("DCR", "CRD"):
        raise NotCoveredError(f"its mode is {mode!r}")
    batch, channels, height, width = builder.type(source).shape
    depth = channels // (block * block)
    n, c, h, w = axes_for((batch, depth, height * block, width * block))
    within = remainder(at(h), block) * block + remainder(at(w), block)
    channel = within * depth + at(c) if mode == "DCR" else at(c) * (block * block) + within
    index = (at(n), channel, floor_divide(at(h), block), floor_divide(at(w), block))
    builder.view(node.outputs[0], source, index, (n, c, h, w))


def space_to_depth(builder: NestBuilder, node: Node) -> None:
    """Add blocks of pixels as channels; the pixel's place is before the channel, or after it."""
    source = required(node, 0)
    block, mode = int(node.attributes["blocksize"]), node.attributes.get("mode", "DCR")
    if mode not in ("DCR", "CRD"):
        raise NotCoveredError(f"its mode is {mode!r}")
    batch, channels, height, width = builder.type(source).shape
    n, c, h, w = axes_for((batch, channels * block * block, height // block, width // block))
    place, channel = floor_divide(at(c), channels), remainder(at(c), channels)
    if mode == "CRD":
        place, channel = remainder(at(c), block * block), floor_divide(at(c), block * block)
    index = (
        at(n),
        channel,
        at(h) * block + floor_divide(place, block),
        at(w) * block + remainder(place, block),
    )
    builder.view(node.outputs[0], source, index, (n, c, h, w))


def _reshaped(at: Operands) -> Sequence[Partial | None]:
    source, wanted = at.shape(0), at.elements(1) if at.given(1) else at.ints("shape") or None
    if wanted is None:
        return [None]
    if not at.number("allowzero", 0):
        kept = source or ()
        wanted = tuple(
            (kept[axis] if axis < len(kept) else None) if item == 0 else item
            for axis, item in enumerate(wanted)
        )
    return [_with_rest(source, wanted)]


def _with_rest(source: Shape | None, wanted: Partial) -> Partial:
    """Return a wanted shape with its -1 computed from the number of elements."""
    if wanted.count(-1) != 1 or None in wanted or source is None:
        return tuple(None if item == -1 else item for item in wanted)
    left = list(source)
    others: list[Size] = []
    for item in wanted:
        if item == -1 or item is None:
            continue
        if item in left:
            left.remove(item)
        else:
            others.append(item)
    rest = divide(total(left), total(others))
    return tuple(rest if item == -1 else item for item in wanted)


def _flattened(at: Operands) -> Sequence[Partial | None]:
    source = at.shape(0)
    if source is None:
        return [None]
    axis = at.number("axis", 1)
    axis = axis + len(source) if axis < 0 else axis
    return [(total(source[:axis]), total(source[axis:]))]


def _unsqueezed(at: Operands) -> Sequence[Partial | None]:
    source, axes = at.shape(0), at.axes()
    if source is None or not axes:
        return [None]
    rank = len(source) + len(axes)
    new = {positive_axis(axis, rank) for axis in axes}
    rest = iter(source)
    return [tuple(1 if axis in new else next(rest) for axis in range(rank))]


def _squeezed(at: Operands) -> Sequence[Partial | None]:
    source, axes = at.shape(0), at.axes()
    if source is None or axes is None:
        return [None]
    if not axes and not all(isinstance(item, int) for item in source):
        return [None]
    gone = {positive_axis(axis, len(source)) for axis in axes}
    gone = gone or {axis for axis, item in enumerate(source) if item == 1}
    return [tuple(item for axis, item in enumerate(source) if axis not in gone)]


def _transposed(at: Operands) -> Sequence[Partial | None]:
    source = at.shape(0)
    if source is None:
        return [None]
    return [tuple(source[axis] for axis in at.ints("perm") or range(len(source) - 1, -1, -1))]


_VIEW = Operator(value=same_elements, work=nothing, traffic=Movement.VIEW, folds=defined)

register(
    {
        "Reshape": replace(_VIEW, shape=_reshaped, loops=_viewed(_reshaped, "shape")),
        "Flatten": replace(
            _VIEW, shape=_flattened, value=None, folds=None, loops=_viewed(_flattened, "axis")
        ),
        "Squeeze": replace(_VIEW, shape=_squeezed, loops=_viewed(_squeezed, "axes")),
        "Unsqueeze": replace(_VIEW, shape=_unsqueezed, loops=_viewed(_unsqueezed, "axes")),
        "Transpose": Operator(shape=_transposed, work=nothing, folds=defined, loops=transpose),
        "DepthToSpace": Operator(work=nothing, loops=depth_to_space),
        "SpaceToDepth": Operator(work=nothing, loops=space_to_depth),
    }
)
