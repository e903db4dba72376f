"""The shapes of what windows give that move over the last axes: convolutions and pools."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from burnish.rewrite.edit import ints
from burnish.rewrite.symbolic import size
from burnish.rewrite.symbolic.elements import Elements, Known
from burnish.rewrite.symbolic.size import Size

_SAME = ("SAME_UPPER", "SAME_LOWER")


def convolved(node: ir.Node, known: Known) -> Sequence[Elements | None]:
    """Follow a Conv: as many channels as the weights have rows, windows as large as these are."""
    source, weight = known.of(node.inputs[0]), known.of(node.inputs[1])
    if source is None or weight is None:
        return [None]
    return [(source[0], weight[0], *_moved(node, source[2:], weight[2:]))]


def pooled(node: ir.Node, known: Known) -> Sequence[Elements | None]:
    """Follow a pool: the channels stay."""
    source, window = known.of(node.inputs[0]), ints(node, "kernel_shape")
    rest: list[Elements | None] = [None] * (len(node.outputs) - 1)
    if source is None or window is None:
        return [None, *rest]
    return [(*source[:2], *_moved(node, source[2:], window)), *rest]


def _moved(node: ir.Node, sizes: Sequence[Size], window: Sequence[Size]) -> Elements:
    """Return in how many places a window fits; None where it takes steps."""
    axes = len(sizes)
    steps = ints(node, "strides") or (1,) * axes
    spread = ints(node, "dilations") or (1,) * axes
    pads = ints(node, "pads") or (0,) * (2 * axes)
    places: list[Size | None] = []
    for axis, (own, width) in enumerate(zip(sizes, window, strict=True)):
        how = node.attributes.get_string("auto_pad", "NOTSET")
        if steps[axis] != 1 or not isinstance(width, int):
            places.append(None)
        elif how in _SAME:
            places.append(own)
        else:
            added = 0 if how == "VALID" else pads[axis] + pads[axis + axes]
            places.append(size.add(own, added - spread[axis] * (width - 1)))
    return tuple(places)
