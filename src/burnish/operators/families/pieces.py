"""Parts of tensors: cut, split, joined, and repeated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from burnish.operators.loops.parameters import integers, required
from burnish.operators.record import Elements, Movement, Operands, Operator, Partial, register
from burnish.operators.rules import agreed, all_first_type, defined, nothing, stretched
from burnish.operators.size import (
    Least,
    Size,
    add,
    divide,
    floor_divide,
    is_countable,
    multiply,
    subtract,
    unknown,
)
from burnish.tile.expr import Argument, Expr, Guard, Inside, call
from burnish.tile.graph import Read
from burnish.tile.index import Index, at, remainder
from burnish.tile.pointwise import positive_axis, present
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, axes_for, broadcast_index

_LARGEST = 2**31 - 1
"""From this end on, exporters mean "to the end of the data"."""


def slices(builder: NestBuilder, node: Node) -> None:
    """Add every `step`-th element of a range in some dimensions; steps may be negative."""
    source = required(node, 0)
    shape = builder.type(source).shape
    starts, ends = _ends(builder, node, 1, "starts"), _ends(builder, node, 2, "ends")
    axes = integers(builder, node, 3, "axes") or tuple(range(len(starts)))
    steps = integers(builder, node, 4, "steps") or (1,) * len(starts)
    ranges = [range(extent) for extent in shape]
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        place = positive_axis(axis, len(shape))
        ranges[place] = _range(start, end, step, shape[place])
    _part(builder, node.outputs[0], source, ranges)


def split(builder: NestBuilder, node: Node) -> None:
    """Add parts along one dimension: of given sizes, or of equal ones with a shorter last."""
    source = required(node, 0)
    shape = builder.type(source).shape
    place = positive_axis(int(node.attributes.get("axis", 0)), len(shape))
    sizes = integers(builder, node, 1, "split")
    if sizes is None:
        count = int(node.attributes.get("num_outputs", len(node.outputs)))
        each = -(-shape[place] // count)
        sizes = tuple(max(min(each, shape[place] - i * each), 0) for i in range(count))
    start = 0
    for position, size in enumerate(sizes):
        ranges = [range(extent) for extent in shape]
        ranges[place] = range(start, start + size)
        start += size
        if (output := node.output(position)) is not None:
            _part(builder, output, source, ranges)


def _ends(builder: NestBuilder, node: Node, position: int, name: str) -> tuple[int, ...]:
    found = integers(builder, node, position, name)
    if found is None:
        raise NotCoveredError(f"it has no {name}")
    return found


def _range(start: int, end: int, step: int, extent: int) -> range:
    """Return the places that are taken; ONNX moves a start before the data to its first element."""
    if step < 0 and end >= _LARGEST:
        raise NotCoveredError(f"it goes backwards to {end}, which runtimes read differently")
    start, end = (each + extent if each < 0 else each for each in (start, end))
    if step > 0:
        return range(min(max(start, 0), extent), min(max(end, 0), extent), step)
    return range(min(max(start, 0), extent - 1), min(max(end, -1), extent - 1), step)


def _part(builder: NestBuilder, output: str, source: str, ranges: Sequence[range]) -> None:
    axes = axes_for([len(each) for each in ranges])
    index: list[Index] = [
        at(axis) * each.step + each.start for axis, each in zip(axes, ranges, strict=True)
    ]
    builder.view(output, source, index, axes)


def concat(builder: NestBuilder, node: Node) -> None:
    """Add one nest in which each part is read inside its own range of the dimension."""
    names = present(node.inputs)
    first = builder.type(names[0])
    place = positive_axis(int(node.attributes.get("axis", 1)), len(first.shape))
    sizes = [builder.type(name).shape[place] for name in names]
    axes = axes_for([*first.shape[:place], sum(sizes), *first.shape[place + 1 :]])
    reads: list[Read] = []
    start = 0
    for name, size in zip(names, sizes, strict=True):
        if size:
            index = [at(axis) for axis in axes]
            guard = Guard(index[place], start, start + size)
            index[place] = index[place] - start
            reads.append(Read(name, tuple(index), (guard,)))
        start += size
    if len(reads) < 2:
        source = reads[0].tensor if reads else names[0]
        builder.view(node.outputs[0], source, [at(axis) for axis in axes], axes)
        return
    body: Expr = Argument(len(reads) - 1, first.dtype)
    for position in reversed(range(len(reads) - 1)):
        body = call("where", Inside(reads[position].guards), Argument(position, first.dtype), body)
    builder.add(node.outputs[0], axes, reads, body)


def expand(builder: NestBuilder, node: Node) -> None:
    """Add the data broadcast together with a shape."""
    source = required(node, 0)
    wanted = integers(builder, node, 1, "shape")
    if wanted is None:
        raise NotCoveredError("it has no shape")
    shape = builder.type(source).shape
    axes = axes_for(np.broadcast_shapes(shape, wanted))
    builder.view(node.outputs[0], source, broadcast_index(shape, axes), axes)


def tile(builder: NestBuilder, node: Node) -> None:
    """Add the data again and again, as often in each dimension as `repeats` says."""
    source = required(node, 0)
    repeats = integers(builder, node, 1, "repeats")
    shape = builder.type(source).shape
    if repeats is None or len(repeats) != len(shape) or node.opset < 6:
        raise NotCoveredError("it does not say how often each dimension is repeated")
    axes = axes_for([extent * times for extent, times in zip(shape, repeats, strict=True)])
    index = [remainder(at(axis), max(extent, 1)) for axis, extent in zip(axes, shape, strict=True)]
    builder.view(node.outputs[0], source, index, axes)


def _joined(at: Operands) -> Sequence[Partial | None]:
    shapes = [shape for shape in at.inputs if shape is not None]
    if len(shapes) < len(at.inputs):
        return [None]
    axis = positive_axis(at.number("axis", 1), len(shapes[0]))
    length: Size = 0
    for shape in shapes:
        length = add(length, shape[axis])
    others = [agreed([shape[i] for shape in shapes]) for i in range(len(shapes[0]))]
    return [tuple(length if i == axis else item for i, item in enumerate(others))]


def _joined_elements(at: Operands) -> Elements | None:
    joined: list[Size | None] = []
    for index in range(len(at.inputs)):
        items, shape = at.elements(index), at.shape(index)
        if items is None:
            if shape is None or len(shape) != 1 or not isinstance(shape[0], int):
                return None
            items = (None,) * shape[0]
        joined.extend(items)
    return tuple(joined)


def _row(at: Operands, index: int, name: str) -> Elements | None:
    """Return starts, ends, axes or steps, which were attributes before opset 10."""
    return at.ints(name) if name in at.attributes else at.elements(index)


def _cut_shape(at: Operands) -> Sequence[Partial | None]:
    source = at.shape(0)
    if source is None:
        return [None]
    starts, ends = _row(at, 1, "starts"), _row(at, 2, "ends")
    axes, steps = _row(at, 3, "axes"), _row(at, 4, "steps")
    if axes is None and at.given(3):
        return [(None,) * len(source)]
    result: list[Size | None] = list(source)
    over = axes if axes is not None else range(len(starts or ends or source))
    for index, axis in enumerate(over):
        start = None if starts is None else starts[index]
        end = None if ends is None else ends[index]
        step = None if at.given(4) and steps is None else 1 if steps is None else steps[index]
        if not isinstance(axis, int):
            return [(None,) * len(source)]
        result[axis] = _left(source[axis], start, end, step)
    return [tuple(result)]


def _left(whole: Size, start: Size | None, end: Size | None, step: Size | None) -> Size | None:
    """Return how much a slice leaves; the first of an axis can be cut off: none is empty."""
    if start is None or end is None or not isinstance(step, int) or not step:
        return None
    if isinstance(whole, int) and isinstance(start, int) and isinstance(end, int):
        return len(_range(start, end, step, whole))
    if step != 1:
        between = _left(whole, start, end, 1) if step > 1 else None
        return None if between is None else floor_divide(add(between, step - 1), step)
    last = multiply(start, -1)
    if not isinstance(start, int) and is_countable(last):
        return _last(whole, last, end)
    start = add(whole, start) if isinstance(start, int) and start < 0 else start
    end = add(whole, end) if isinstance(end, int) and end < 0 else end
    if _is_end(end, whole):
        left = subtract(whole, start)
        return left if is_countable(left) or start == 1 else None
    if start == 0 and (end == 1 or subtract(whole, end) == 1):
        return end
    within = (start, subtract(end, start), subtract(whole, end))
    if all(is_countable(size) for size in within):
        return within[1]
    if not isinstance(end, int) and subtract(end, start) == 1:
        return 1
    if start == 0 and is_countable(end):
        return unknown(Least(whole, end))
    return None


def _is_end(end: Size, whole: Size) -> bool:
    return end == whole or (isinstance(end, int) and end >= _LARGEST // 2)


def _last(whole: Size, wanted: Size, end: Size) -> Size | None:
    """Return how much x[-wanted:] leaves: all of x where that is as long as it is."""
    if not _is_end(end, whole):
        return None
    return whole if whole == wanted else unknown(Least(whole, wanted))


def _cut(at: Operands) -> Elements | None:
    items, starts, ends = at.elements(0), _row(at, 1, "starts"), _row(at, 2, "ends")
    steps = _row(at, 4, "steps") if at.given(4) else (1,)
    if items is None or not starts or not ends or not steps or len(starts) != 1:
        return None
    start, end, step = starts[0], ends[0], steps[0]
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int) and step > 0:
        return items[start:end:step]
    return None


def _parted(at: Operands) -> Sequence[Partial | None]:
    source = at.shape(0)
    if source is None:
        return [None] * at.wanted
    axis = positive_axis(at.number("axis", 0), len(source))
    given = at.ints("split") or (at.elements(1) if at.given(1) else None)
    if at.given(1) and (given is None or len(given) != at.wanted):
        return [(*source[:axis], None, *source[axis + 1 :])] * at.wanted
    whole, count = source[axis], at.wanted
    even: Sequence[Size | None] = [divide(whole, count)] * count
    if isinstance(whole, int):
        each = -(-whole // count)
        even = [max(min(each, whole - index * each), 0) for index in range(count)]
    return [(*source[:axis], part, *source[axis + 1 :]) for part in given or even]


def _parted_elements(at: Operands) -> Sequence[Elements | None]:
    items, start = at.elements(0), 0
    parts: list[Elements | None] = []
    for shape in _parted(at):
        size = shape[0] if items is not None and shape is not None and len(shape) == 1 else None
        if items is None or not isinstance(size, int):
            return []
        parts.append(items[start : start + size])
        start += size
    return parts


def _expanded(at: Operands) -> Sequence[Partial | None]:
    source, wanted = at.shape(0), at.elements(1)
    return [None if source is None or wanted is None else stretched(source, wanted)]


def _tiled(at: Operands) -> Sequence[Partial | None]:
    source, repeats = at.shape(0), at.elements(1)
    if source is None or repeats is None or len(repeats) != len(source):
        return [None]
    pairs = zip(source, repeats, strict=True)
    return [tuple(None if count is None else multiply(item, count) for item, count in pairs)]


register({
    "Concat": Operator(_joined, value=_joined_elements, work=nothing, folds=defined, loops=concat),
    "Slice": Operator(_cut_shape, value=_cut, work=nothing, traffic=Movement.AS_GIVEN,
                      folds=defined, loops=slices),
    "Split": Operator(_parted, all_first_type, work=nothing, folds=defined, loops=split,
                      values=_parted_elements),
    "Expand": Operator(_expanded, work=nothing, traffic=Movement.AS_GIVEN, folds=defined,
                       loops=expand),
    "Tile": Operator(_tiled, work=nothing, folds=defined, loops=tile),
})  # fmt: skip
