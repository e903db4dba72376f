"""The elements of small whole values of several axes, where they are only moved.

TorchScript computes what a Pad adds as a table of two columns, one row for each axis from the
last, and turns that over: all sizes behind the Pad hang on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from burnish.core.arrays import Array
from burnish.operators.record import Elements, Operands, Shape


def moved(
    op_type: str, at: Operands, items: Elements | None, shape: Shape | None
) -> Elements | None:
    """Return the elements of a result row by row; None: not known, or not of that shape."""
    source, move = at.shape(0), MOVES.get(op_type)
    if move is None or items is None or source is None or shape is None:
        return None
    before, after = _numbers(source), _numbers(shape)
    if before is None or after is None or int(np.prod(before)) != len(items):
        return None
    table = np.empty(len(items), object)
    table[:] = items
    result = move(at, table.reshape(before), after)
    if result is None or result.shape != after:
        return None
    return tuple(result.reshape(-1).tolist())


def _numbers(shape: Shape) -> tuple[int, ...] | None:
    numbers = tuple(size for size in shape if isinstance(size, int))
    return numbers if len(numbers) == len(shape) else None


def _viewed(_: Operands, table: Array, shape: tuple[int, ...]) -> Array | None:
    return table.reshape(shape)


def _turned(at: Operands, table: Array, _: tuple[int, ...]) -> Array | None:
    return table.transpose(at.ints("perm") or None)


def _cut(at: Operands, table: Array, _: tuple[int, ...]) -> Array | None:
    starts, ends = at.integers(1), at.integers(2)
    if starts is None or ends is None:
        return None
    axes = at.integers(3) if at.given(3) else tuple(range(len(starts)))
    steps = at.integers(4) if at.given(4) else (1,) * len(starts)
    if axes is None or steps is None:
        return None
    whole = [slice(None)] * table.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        whole[axis] = slice(start, end, step)
    return table[tuple(whole)]


MOVES: Mapping[str, Callable[[Operands, Array, tuple[int, ...]], Array | None]] = {
    "Identity": _viewed,
    "Reshape": _viewed,
    "Slice": _cut,
    "Squeeze": _viewed,
    "Transpose": _turned,
    "Unsqueeze": _viewed,
}
