"""Addresses of loads in loops: inside of their tensors even for lanes that a mask switches off.

Copies that run ahead look up the address even of what they leave out, and an H200 faults where no
memory is. Only along elements that lie side by side a block may end behind its tensor: it is
loaded as one piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from burnish.codegen.gpu.blocks import FrameArithmetic, wrapped
from burnish.tile.index import Index, bounds, flatten


def held(lying: Sequence[tuple[Index, int]], arithmetic: FrameArithmetic, *, guarded: bool) -> str:
    """Return the offset of a read as text; `lying` are indices and extents, outermost first.

    `guarded`: conditions keep some indices inside, so each is kept there by itself.
    """
    inside = replace(arithmetic, held=True)
    if not guarded:
        indices, extents = zip(*lying, strict=True) if lying else ((), ())
        return inside.index(flatten(indices, extents))
    parts: list[str] = []
    stride = 1
    for index, extent in reversed(lying):
        text = _kept(index, extent, inside, apart=stride > 1)
        if text != "0":
            parts.append(text if stride == 1 else f"{text} * {stride}")
        stride *= extent
    return " + ".join(reversed(parts)) or "0"


def _kept(index: Index, extent: int, inside: FrameArithmetic, *, apart: bool) -> str:
    """Return an index that is neither negative nor behind the last element."""
    low, high = bounds(index)
    text = inside.index(index, apart=apart)
    if low < 0 or high >= extent:
        return f"tl.minimum(tl.maximum({text}, 0), {extent - 1})"
    return wrapped(text) if apart else text
