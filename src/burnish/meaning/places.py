"""Where the elements lie that a nest reads, for whole ranges of its axes at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from burnish.core.arrays import Array
from burnish.tile.expr import Guard
from burnish.tile.index import Axis, Div, Fetch, Index, Mod, bounds

Whole = NDArray[np.int64]

Ranges = Mapping[Axis, tuple[int, int]]
"""Which part of each axis, as a half-open range."""


def is_even(index: Sequence[Index], shape: Sequence[int], ranges: Ranges) -> bool:
    """Return whether places grow evenly with the axes, and all of them lie inside the tensor."""
    ends = {axis: (low, max(high - 1, low)) for axis, (low, high) in ranges.items()}
    for part, size in zip(index, shape, strict=True):
        if any(not isinstance(atom, Axis) for atom, _ in part.terms):
            return False
        low, high = bounds(part, ends)
        if low < 0 or high >= size:
            return False
    return True


def view_of(array: Array, index: Sequence[Index], axes: Sequence[Axis], ranges: Ranges) -> Array:
    """Return the elements at an even index without copying them, one dimension per axis."""
    start = [part.constant for part in index]
    steps = dict.fromkeys(axes, 0)
    for dimension, part in enumerate(index):
        for atom, factor in part.terms:
            assert isinstance(atom, Axis)
            start[dimension] += factor * ranges[atom][0]
            steps[atom] += factor * array.strides[dimension]
    used = {atom for part in index for atom, _ in part.terms}
    shape = [ranges[axis][1] - ranges[axis][0] if axis in used else 1 for axis in axes]
    if not start:
        return array.reshape(shape)
    origin = array[tuple(slice(place, place + 1) for place in start)]
    return as_strided(origin, shape, [steps[axis] for axis in axes], writeable=False)


def indices(
    index: Index, axes: Sequence[Axis], ranges: Ranges, integers: Callable[[str], Array]
) -> Whole:
    """Return the values of an index, one dimension per axis; `integers` gives fetched tensors."""
    result: Whole = np.full((1,) * len(axes), index.constant, np.int64)
    for atom, factor in index.terms:
        result = result + _atom(atom, axes, ranges, integers) * factor
    return result


def _atom(
    atom: Axis | Div | Mod | Fetch,
    axes: Sequence[Axis],
    ranges: Ranges,
    integers: Callable[[str], Array],
) -> Whole:
    match atom:
        case Axis():
            shape = [-1 if axis == atom else 1 for axis in axes]
            return np.arange(*ranges[atom]).reshape(shape)
        case Div(of, by):
            return indices(of, axes, ranges, integers) // by
        case Mod(of, by):
            return indices(of, axes, ranges, integers) % by
        case Fetch(tensor, inner, extent):
            places = tuple(indices(part, axes, ranges, integers) for part in inner)
            found = integers(tensor)[places].astype(np.int64)
            found = found if places else found.reshape((1,) * len(axes))
            chosen: Whole = np.where(found < 0, found + extent, found)
            return chosen


def box_of(guards: Sequence[Guard], ranges: Ranges) -> Ranges | None:
    """Return the part of the ranges in which guards hold; None: that part is no box."""
    box = dict(ranges)
    for guard in guards:
        match guard.index.terms:
            case ((Axis() as axis, 1),):
                low, high = box[axis]
                shift = guard.index.constant
                box[axis] = (max(low, guard.low - shift), min(high, guard.high - shift))
            case ():
                if not guard.low <= guard.index.constant < guard.high:
                    return dict.fromkeys(ranges, (0, 0))
            case _:
                return None
    return box
