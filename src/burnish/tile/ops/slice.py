"""Parts of a tensor: Slice and Split."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.tile.index import Index, at
from burnish.tile.ops.parameters import integers, required
from burnish.tile.pointwise import positive_axis
from burnish.tile.semantics import SEMANTICS, Builder, Node, NotCoveredError, axes_for

_LARGEST = 2**31 - 1
"""From this end on, exporters mean "to the end of the data"."""


@SEMANTICS.register("Slice")
def slices(builder: Builder, node: Node) -> None:
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


@SEMANTICS.register("Split")
def split(builder: Builder, node: Node) -> None:
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


def _ends(builder: Builder, node: Node, position: int, name: str) -> tuple[int, ...]:
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


def _part(builder: Builder, output: str, source: str, ranges: Sequence[range]) -> None:
    axes = axes_for([len(each) for each in ranges])
    index: list[Index] = [
        at(axis) * each.step + each.start for axis, each in zip(axes, ranges, strict=True)
    ]
    builder.view(output, source, index, axes)
