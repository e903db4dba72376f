"""Axes through operators that only move elements: reshapes, transposes, slices, pieces."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from burnish.infer import walk
from burnish.prune.dims import Axis, Dim, axis_of, leaves, size_of
from burnish.prune.flow import RULES, Axes, Flow


def _first(flow: Flow, node: ir.Node) -> Axes:
    assert node.inputs[0] is not None
    return flow.of(node.inputs[0]) or ()


def reshape(flow: Flow, node: ir.Node) -> None:
    """Deal the dims out anew, in their order; the numbers that say how are stated."""
    every = [dim for axis in _first(flow, node) for dim in axis]
    sizes = flow.shape(node.outputs[0]) or ()
    axes = flow.part(every, sizes, node)
    flow.give(node.outputs[0], axes, "")
    if node.op_type == "Reshape":
        for element, axis in enumerate(axes):
            flow.state(node, 1, element, axis)


def transpose(flow: Flow, node: ir.Node) -> None:
    """Put the axes into another order."""
    axes = _first(flow, node)
    perm = walk.ints(node, "perm") or tuple(reversed(range(len(axes))))
    flow.give(node.outputs[0], [axes[index] for index in perm], "")


def expand(flow: Flow, node: ir.Node) -> None:
    """Axes of size 1 become new ones, which are as long as the node states."""
    axes, new = _first(flow, node), list(flow.fresh(node.outputs[0]) or ())
    offset = len(new) - len(axes)
    for index, axis in enumerate(axes):
        if leaves(axis):
            new[offset + index] = list(axis)
    flow.give(node.outputs[0], new, "")
    for element, axis in enumerate(new):
        flow.state(node, 1, element, axis)


def gather(flow: Flow, node: ir.Node) -> None:
    """The axis that is chosen from must stay; that of the indices takes its place."""
    axes, indices = _first(flow, node), node.inputs[1]
    assert indices is not None
    at = node.attributes["axis"].as_int() % len(axes) if "axis" in node.attributes else 0
    flow.pin(axes[at], node, "chooses from it")
    flow.give(node.outputs[0], [*axes[:at], *(flow.of(indices) or ()), *axes[at + 1 :]], "")


def split(flow: Flow, node: ir.Node) -> None:
    """Equal pieces share their dims; how many they are must stay."""
    axes = list(_first(flow, node))
    at = node.attributes["axis"].as_int() % len(axes) if "axis" in node.attributes else 0
    pieces = [(flow.shape(output) or ())[at] for output in node.outputs]
    if len(set(pieces)) > 1:
        flow.unknown(node, "cuts it into unequal pieces")
        return
    piece = _piece(flow, node, axes[at], pieces[0])
    place: str | int | None = "split" if "split" in node.attributes else None
    if len(node.inputs) > 1 and node.inputs[1] is not None:
        place = 1
    for element, output in enumerate(node.outputs):
        flow.give(output, [*axes[:at], piece, *axes[at + 1 :]], "")
        if place is not None:
            flow.state(node, place, element, piece)


def _piece(flow: Flow, node: ir.Node, axis: Axis, size: int) -> list[Dim]:
    """Return what equal pieces of an axis have in common."""
    several, piece = flow.part(axis, (size_of(leaves(axis)) // size, size), node)
    flow.pin(several, node, "takes pieces of it")
    return piece


def concat(flow: Flow, node: ir.Node) -> None:
    """Equal pieces share their dims; others cannot be cut."""
    every = [flow.of(value) or () for value in node.inputs if value is not None]
    rank = len(every[0])
    at = node.attributes["axis"].as_int() % rank
    result: list[Axis] = [every[0][index] for index in range(rank)]
    for axes in every[1:]:
        for index in set(range(rank)) - {at}:
            flow.join(result[index], axes[index], node)
    pieces = [axes[at] for axes in every]
    if len({size_of(leaves(piece)) for piece in pieces}) > 1:
        for piece in pieces:
            flow.pin(piece, node, "puts unequal pieces together")
        result[at] = (flow.fresh(node.outputs[0], "is made of unequal pieces") or ())[at]
    else:
        for piece in pieces[1:]:
            flow.join(pieces[0], piece, node)
        result[at] = [*axis_of(len(pieces), "is a number of pieces"), *pieces[0]]
    flow.give(node.outputs[0], result, "")


def cut(flow: Flow, node: ir.Node) -> None:
    """A slice that is one of equal pieces shares their dims; another pins its axis."""
    axes, out = list(_first(flow, node)), flow.shape(node.outputs[0]) or ()
    bounds = _bounds(flow, node, len(axes))
    if bounds is None:
        flow.unknown(node, "cuts at places that are not constant")
        return
    for at, (position, start, step) in bounds.items():
        whole = size_of(leaves(axes[at]))
        begin = min(max(start + whole if start < 0 else start, 0), whole)
        if out[at] == whole and step == 1:
            continue
        if step != 1 or not out[at] or whole % out[at] or begin % out[at]:
            flow.pin(axes[at], node, "cuts it")
            axes[at] = axis_of(out[at], "is a slice")
            continue
        axes[at] = _piece(flow, node, axes[at], out[at])
        first, last = (1, 2) if "starts" not in node.attributes else ("starts", "ends")
        flow.state(node, first, position, axes[at], begin // out[at])
        flow.state(node, last, position, axes[at], begin // out[at] + 1)
    flow.give(node.outputs[0], axes, "")


def _bounds(flow: Flow, node: ir.Node, rank: int) -> dict[int, tuple[int, int, int]] | None:
    """Return by axis, in which place it is given, where the slice begins, and its step."""
    given = [_numbers(flow, node, name, at) for at, name in enumerate(_SLICE, start=1)]
    starts, _, axes, steps = given
    if starts is None:
        return None
    axes = tuple(range(len(starts))) if axes is None else axes
    steps = (1,) * len(starts) if steps is None else steps
    rows = enumerate(zip(axes, starts, steps, strict=True))
    return {axis % rank: (position, start, step) for position, (axis, start, step) in rows}


_SLICE = ("starts", "ends", "axes", "steps")


def _numbers(flow: Flow, node: ir.Node, name: str, index: int) -> tuple[int, ...] | None:
    if name in node.attributes:
        return walk.ints(node, name)
    value = node.inputs[index] if index < len(node.inputs) else None
    return flow.constants.integers(value)


def pad(flow: Flow, node: ir.Node) -> None:
    """What gets longer must stay; the rest is as before."""
    axes, out = list(_first(flow, node)), flow.shape(node.outputs[0]) or ()
    pads: Sequence[int] | None = _numbers(flow, node, "pads", 1)
    if pads is None or len(pads) != 2 * len(axes):
        flow.unknown(node, "pads by numbers that are not constant")
        return
    for index, axis in enumerate(axes):
        if pads[index] or pads[index + len(axes)]:
            flow.pin(axis, node, "pads it")
            axes[index] = axis_of(out[index], "is padded")
    flow.give(node.outputs[0], axes, "")


for _name, _rule in {
    "Reshape Flatten Squeeze Unsqueeze": reshape, "Transpose": transpose, "Expand": expand,
    "Gather": gather, "Split": split, "Concat": concat, "Slice": cut, "Pad": pad,
}.items():  # fmt: skip
    for _one in _name.split():
        RULES.register(_one)(_rule)
