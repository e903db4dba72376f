"""The two numbers of each pair that a rotary embedding turns: where they come from.

A pair is made of a number in the first half of a row and its like in the second, or of two
neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.rewrite.facts import Facts

Pairing = Literal["halves", "neighbours"]

_DEEPEST = 16


@dataclass(frozen=True, slots=True)
class AxisPart:
    """The first or second numbers of all pairs of a value."""

    whole: ir.Value
    pairing: Pairing
    second: bool


@dataclass(frozen=True, slots=True)
class AxisCut:
    """A range of the last axis."""

    source: ir.Value
    start: int
    end: int
    step: int
    width: int
    """Of the source."""


def cut(value: ir.Value | None, facts: Facts) -> AxisCut | None:
    """Return which part of the last axis of another value a value is."""
    node = None if value is None else value.producer()
    source = None if node is None or not node.inputs else node.inputs[0]
    shape = shapes_of(facts).of(source)
    if value is None or node is None or source is None or not shape:
        return None
    width = shape[-1]
    if not isinstance(width, int):
        return None
    if is_standard(node, "Slice"):
        return _sliced(node, source, width, len(shape), facts)
    if is_standard(node, "Split"):
        return _split(node, value, source, width, facts)
    return None


def _sliced(node: ir.Node, source: ir.Value, width: int, rank: int, facts: Facts) -> AxisCut | None:
    bounds = [_numbers(given, facts) for given in node.inputs[1:]]
    starts, ends = bounds[:2] if len(bounds) > 1 else (None, None)
    axes = bounds[2] if len(bounds) > 2 else (0,)
    steps = bounds[3] if len(bounds) > 3 else (1,)
    if starts is None or ends is None or axes is None or steps is None or len(starts) != 1:
        return None
    if axes[0] not in (-1, rank - 1) or steps[0] < 1:
        return None
    start, end, step = slice(starts[0], ends[0], steps[0]).indices(width)
    return AxisCut(source, start, end, step, width)


def _numbers(value: ir.Value | None, facts: Facts) -> tuple[int, ...] | None:
    """Return the elements of an integer value, if all are known though not all are constants."""
    found = shapes_of(facts).elements(value)
    if found is None or not all(isinstance(item, int) for item in found):
        return None
    return tuple(item for item in found if isinstance(item, int))


def _split(
    node: ir.Node, value: ir.Value, source: ir.Value, width: int, facts: Facts
) -> AxisCut | None:
    shapes = shapes_of(facts)
    rank = len(shapes.of(source) or ())
    if node.attributes.get_int("axis", 0) not in (-1, rank - 1):
        return None
    start = 0
    for output in node.outputs:
        size = (shapes.of(output) or (None,))[-1]
        if not isinstance(size, int):
            return None
        if output is value:
            return AxisCut(source, start, start + size, 1, width)
        start += size
    return None


def part(value: ir.Value | None, facts: Facts) -> AxisPart | None:
    """Return of which pairs a value holds the first or second numbers."""
    found = cut(value, facts)
    if found is None:
        return _unbound(value, facts)
    if found.width % 2:
        return None
    half = found.width // 2
    match (found.start, found.end, found.step):
        case (0, end, 1) if end == half:
            return AxisPart(found.source, "halves", False)
        case (start, end, 1) if start == half and end == found.width:
            return AxisPart(found.source, "halves", True)
        case (0 | 1 as start, end, 2) if end >= found.width - 1 + start:
            return AxisPart(found.source, "neighbours", bool(start))
    return None


def kept_part(value: ir.Value | None, facts: Facts) -> AxisPart | None:
    """Return what `part` returns of a value that still has the axis of pairs, now of size 1."""
    return None if value is None else _of_pairs(_split_off(value, facts), facts)


def pairs_with(first: ir.Value | None, second: ir.Value | None, facts: Facts) -> ir.Value | None:
    """Return the value whose last axis are pairs, of all of which these are both numbers."""
    taken = [None if value is None else _taken(value, facts) for value in (first, second)]
    source = None if taken[0] is None else taken[0][0]
    shape = shapes_of(facts).of(source)
    if source is None or not shape or shape[-1] != 2:
        return None
    return source if taken == [(source, len(shape) - 1, at) for at in (0, 1)] else None


def _unbound(value: ir.Value | None, facts: Facts) -> AxisPart | None:
    return None if value is None else _of_pairs(_taken(value, facts), facts)


_Taken = tuple[ir.Value, int, int]
"""A value, an axis of it, and which element along that is taken."""


def _of_pairs(taken: _Taken | None, facts: Facts) -> AxisPart | None:
    """Read Reshape(x, (…, 2, half)) or (…, half, 2), of which one is taken along the axis of 2."""
    split = None if taken is None else taken[0].producer()
    if taken is None or split is None or not is_standard(split, "Reshape"):
        return None
    shapes, whole = shapes_of(facts), split.inputs[0]
    before, after = shapes.of(whole), shapes.of(taken[0])
    if whole is None or not before or not after or before[:-1] != after[:-2]:
        return None
    from_end = taken[1] - len(after)
    if from_end not in (-1, -2) or after[from_end] != 2 or taken[2] not in (0, 1):
        return None
    return AxisPart(whole, "halves" if from_end == -2 else "neighbours", taken[2] == 1)


def _taken(value: ir.Value, facts: Facts) -> _Taken | None:
    """Return of what a value is one element along an axis: as unbinding gives it."""
    node, shapes = value.producer(), shapes_of(facts)
    source = None if node is None or not node.inputs else node.inputs[0]
    if node is None or source is None:
        return None
    if is_standard(node, "Gather"):
        at, shape = shapes.elements(node.inputs[1]), shapes.of(source)
        if not shape or shapes.of(node.inputs[1]) != () or not at:
            return None
        axis = (node.attributes.get_int("axis", 0) or 0) % len(shape)
        index, size = at[0], shape[axis]
        if not isinstance(index, int) or not isinstance(size, int) or not size:
            return None
        return source, axis, index % size
    axes = facts.axes(node) if is_standard(node, "Squeeze") else None
    found = _split_off(source, facts)
    if found is None or not axes or len(axes) != 1:
        return None
    rank = len(shapes.of(found[0]) or ())
    return found if axes[0] % rank == found[1] else None


def _split_off(value: ir.Value, facts: Facts) -> _Taken | None:
    """Return of what a value is one element along an axis, that axis kept: of a cut or a split."""
    split = value.producer()
    source = None if split is None or not split.inputs else split.inputs[0]
    shape = shapes_of(facts).of(source)
    if split is None or source is None or not shape:
        return None
    if is_standard(split, "Slice"):
        return _cut_off(split, source, shape, facts)
    if not is_standard(split, "Split"):
        return None
    axis = (split.attributes.get_int("axis", 0) or 0) % len(shape)
    if shape[axis] != len(split.outputs):
        return None  # some part has more than one element
    return source, axis, split.outputs.index(value)


def _cut_off(node: ir.Node, source: ir.Value, shape: Shape, facts: Facts) -> _Taken | None:
    bounds = [_numbers(given, facts) for given in node.inputs[1:]]
    if len(bounds) < 3 or any(given is None or len(given) != 1 for given in bounds):
        return None
    (start,), (end,), (given,) = (bound or () for bound in bounds[:3])
    axis = given % len(shape)
    size = shape[axis]
    if not isinstance(size, int):
        return None
    taken = range(size)[start:end]
    return (source, axis, taken[0]) if len(taken) == 1 else None


def is_repeated(
    value: ir.Value | None, pairing: Pairing, facts: Facts, depth: int = _DEEPEST
) -> bool:
    """Return whether both numbers of each pair are surely equal."""
    if value is None or not depth:
        return False
    array = facts.array(value)
    if array is not None:
        return _equal_pairs(array, pairing)
    node = value.producer()
    if node is None or node.domain:
        return False
    match node.op_type:
        case "Cos" | "Sin" | "Cast" | "Identity" | "Neg":
            return is_repeated(node.inputs[0], pairing, facts, depth - 1)
        case "Mul" | "Add" | "Div" | "Sub":
            return all(
                _is_column(source, facts) or is_repeated(source, pairing, facts, depth - 1)
                for source in node.inputs
            )
        case "Unsqueeze" | "Squeeze" | "Expand" | "Reshape" | "Slice" | "Gather" | "Transpose":
            if node.op_type != "Slice" and _is_doubled(node, pairing, facts):
                return True
            source = node.inputs[0]
            return _rows_kept(node, facts) and is_repeated(source, pairing, facts, depth - 1)
        case "Concat":
            doubled = _is_doubled(node, pairing, facts)
            return doubled or _parts_repeated(node, pairing, facts, depth - 1)
        case "Tile":
            return _is_doubled(node, pairing, facts)
    return False


def _parts_repeated(node: ir.Node, pairing: Pairing, facts: Facts, depth: int) -> bool:
    """Return whether a Concat joins whole pairs, whose two numbers are equal in each part."""
    shapes = [shapes_of(facts).of(value) for value in node.inputs]
    widths = [shape[-1] if shape else None for shape in shapes]
    rank = len(shapes[0] or ())
    if not rank or None in widths:
        return False
    if (node.attributes.get_int("axis", 0) or 0) % rank == rank - 1 and (
        pairing != "neighbours" or any(not isinstance(w, int) or w % 2 for w in widths)
    ):
        return False
    return all(is_repeated(value, pairing, facts, depth) for value in node.inputs)


def _equal_pairs(array: Array, pairing: Pairing) -> bool:
    if array.ndim == 0 or array.shape[-1] == 1:
        return True
    half = array.shape[-1] // 2
    if array.shape[-1] % 2:
        return False
    if pairing == "halves":
        return bool(np.array_equal(array[..., :half], array[..., half:]))
    return bool(np.array_equal(array[..., ::2], array[..., 1::2]))


def _is_column(value: ir.Value | None, facts: Facts) -> bool:
    shape = shapes_of(facts).of(value)
    return shape is not None and (not shape or shape[-1] == 1)


def _rows_kept(node: ir.Node, facts: Facts) -> bool:
    """Return whether each row of a node's output is a row of its input, whole."""
    shapes = shapes_of(facts)
    before, after = shapes.of(node.inputs[0]), shapes.of(node.outputs[0])
    if not before or not after or before[-1] != after[-1]:
        return False
    rank = len(before)
    match node.op_type:
        case "Transpose":
            perm = node.attributes.get("perm")
            return perm is not None and tuple(perm.as_ints())[-1] == rank - 1
        case "Gather":
            return (node.attributes.get_int("axis", 0) or 0) % rank != rank - 1
        case "Unsqueeze" | "Squeeze":
            longest = max(rank, len(after))
            axes = facts.axes(node)
            return bool(axes) and longest - 1 not in {axis % longest for axis in axes or ()}
        case "Slice":
            steps = facts.integers(node.inputs[4]) if len(node.inputs) > 4 else (1,)
            return steps is not None and all(step > 0 for step in steps)
    return True


def _is_doubled(node: ir.Node, pairing: Pairing, facts: Facts) -> bool:
    """Return whether a node puts two copies of a value into each row."""
    if pairing == "halves" and is_standard(node, "Tile"):
        repeats = _numbers(node.inputs[1], facts)
        return bool(repeats) and repeats is not None and repeats[-1] == 2
    if pairing == "halves":
        return _is_concat_of_two(node, facts)
    if is_standard(node, "Gather"):
        at = facts.integers(node.inputs[1])
        rank = len(shapes_of(facts).of(node.inputs[0]) or ())
        last = (node.attributes.get_int("axis", 0) or 0) % max(rank, 1) == rank - 1
        return last and at is not None and at[::2] == at[1::2]
    if not is_standard(node, "Reshape") or node.inputs[0] is None:
        return False
    shapes = shapes_of(facts)
    before, after = shapes.of(node.inputs[0]), shapes.of(node.outputs[0])
    if not before or not after or before[-1] != 2 or not isinstance(after[-1], int):
        return False
    inner = node.inputs[0].producer()
    if inner is None or after[-1] % 2 or (len(before) > 1 and before[-2] != after[-1] // 2):
        return False
    if is_standard(inner, "Expand", "Tile"):
        return (shapes.of(inner.inputs[0]) or (0,))[-1] == 1
    return _is_concat_of_two(inner, facts)


def _is_concat_of_two(node: ir.Node, facts: Facts) -> bool:
    rank = len(shapes_of(facts).of(node.outputs[0]) or ())
    if not is_standard(node, "Concat") or len(node.inputs) != 2 or not rank:
        return False
    last = (node.attributes.get_int("axis", 0) or 0) % rank == rank - 1
    return last and node.inputs[0] is node.inputs[1]
