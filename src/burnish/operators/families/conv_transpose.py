"""ConvTranspose: each element spreads over a window; told as what each output gathers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from burnish.operators.families.pad import padded
from burnish.operators.loops.parameters import required
from burnish.operators.loops.products import Finish, contract, widened
from burnish.operators.record import Operands, Operator, register
from burnish.tile.expr import Argument, Expr, Guard, call
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at, floor_divide, number, remainder
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, axes_for


@dataclass(frozen=True, slots=True)
class _SpreadSide:
    """One dimension: element `i` reaches outputs `i·stride + t·dilation - before`, t < kernel."""

    size: int
    kernel: int
    stride: int
    dilation: int
    before: int
    outputs: int

    @property
    def skipped(self) -> int:
        """Return how many outputs are computed before the first that is wanted.

        What is computed starts at a multiple of the stride, so that the loop over it can be split.
        """
        return self.before % self.stride

    @property
    def start(self) -> int:
        """Return how many steps of the stride lie before what is computed."""
        return self.before // self.stride

    @property
    def is_one(self) -> bool:
        """Return whether there is one element: each output sees it through a tap of its own."""
        return self.size == 1

    @property
    def phases(self) -> int:
        """Return how many taps of the window each output sees, at most."""
        return 1 if self.is_one else -(-self.kernel // self.stride)

    @property
    def steps(self) -> int:
        """Return how many outputs are computed of each phase."""
        return self.computed // self.stride

    @property
    def frame(self) -> tuple[int, int]:
        """Return the zeros that are read in front of the data and behind it."""
        if self.is_one:
            return 0, 0
        return self.phases - 1 - self.start, self.start + self.steps - self.size

    @property
    def missing_taps(self) -> int:
        """Return the zeros that are read behind the window; fewer than none: taps nobody reads."""
        rounds = self.start + self.steps if self.is_one else self.phases
        return max(rounds * self.stride - self.kernel, 0)

    @property
    def computed(self) -> int:
        """Return the outputs that are computed, a multiple of the stride."""
        return -(-(self.outputs + self.skipped) // self.stride) * self.stride


def conv_transpose(builder: NestBuilder, node: Node) -> None:
    """Add the transposed convolution.

    Without dilation each output sees every `stride`-th tap, and only data:
    out[stride·o + p] = Σ_c,j padded[c, o - j] · weight[c, m, j·stride + p]
    The loops over o and p are two, so that no index is divided; a movement makes them one.
    Along a dimension of one element (where a generator begins) only j = o sees any:
    out[stride·o + p] = Σ_c data[c] · weight[c, m, o·stride + p]
    With it, zeros are put between the elements, and it is a plain convolution with flipped taps.
    """
    all_sides = _sides(builder, node)
    if all(side.dilation == 1 for side in all_sides):
        _by_phases(builder, node, all_sides)
    else:
        _by_zeros(builder, node, all_sides)


def _by_phases(builder: NestBuilder, node: Node, all_sides: Sequence[_SpreadSide]) -> None:
    data, weight = required(node, 0), required(node, 1)
    front, behind = zip(*(side.frame for side in all_sides), strict=True)
    wide = padded(builder, data, [0, 0, *front], [0, 0, *behind], 0)
    missing = [side.missing_taps for side in all_sides]
    whole = padded(builder, weight, [0] * (2 + len(missing)), [0, 0, *missing], 0)
    outputs: list[Axis] = []
    taps = [Axis(f"t{i}", side.phases) for i, side in enumerate(all_sides)]
    places: list[Index] = []
    parts: list[Index] = []
    for i, (side, tap) in enumerate(zip(all_sides, taps, strict=True)):
        step, phase = Axis(f"o{i}", side.steps), Axis(f"p{i}", side.stride)
        outputs += [step, phase]
        if side.is_one:
            places.append(number(0))
            parts.append((at(step) + side.start) * side.stride + at(phase))
        else:
            places.append(at(step) - at(tap) + (side.phases - 1))
            parts.append(at(tap) * side.stride + at(phase))
    _finish(builder, node, (wide, whole), (outputs, taps), (places, parts), all_sides)


def _by_zeros(builder: NestBuilder, node: Node, all_sides: Sequence[_SpreadSide]) -> None:
    data, weight = required(node, 0), required(node, 1)
    shape = builder.type(data).shape
    reaches = [(side.kernel - 1) * side.dilation for side in all_sides]
    extents = [side.outputs + reach for side, reach in zip(all_sides, reaches, strict=True)]
    axes = axes_for([*shape[:2], *extents])
    index, guards = [at(axis) for axis in axes[:2]], list[Guard]()
    for axis, side, reach in zip(axes[2:], all_sides, reaches, strict=True):
        place = at(axis) + (side.before - reach)
        index.append(floor_divide(place, side.stride))
        guards.append(Guard(remainder(place, side.stride), 0, 1))
        guards.append(Guard(place, 0, (side.size - 1) * side.stride + 1))
    spread = builder.fresh(f"{data}.spread")
    read = Read(data, tuple(index), tuple(guards))
    builder.add(spread, axes, [read], Argument(0, builder.type(data).dtype))
    outputs = [Axis(f"o{i}", side.outputs) for i, side in enumerate(all_sides)]
    taps = [Axis(f"t{i}", side.kernel) for i, side in enumerate(all_sides)]
    places = [
        at(output) + reach - at(tap) * side.dilation
        for side, output, tap, reach in zip(all_sides, outputs, taps, reaches, strict=True)
    ]
    _finish(
        builder, node, (spread, weight), (outputs, taps), (places, [at(tap) for tap in taps]), ()
    )


def _finish(
    builder: NestBuilder,
    node: Node,
    tensors: tuple[str, str],
    axes: tuple[Sequence[Axis], Sequence[Axis]],
    index: tuple[Sequence[Index], Sequence[Index]],
    cut: Sequence[_SpreadSide],
) -> None:
    """Add the contraction over channels and taps, the bias, and what cuts out the outputs."""
    channels, each = builder.type(tensors[1]).shape[:2]
    groups = int(node.attributes.get("group", 1))
    n = Axis("n", builder.type(tensors[0]).shape[0])
    m, c = Axis("m", each * groups), Axis("c", channels // groups)
    channel, place = at(c), at(m)
    if groups > 1:
        channel = floor_divide(at(m), each) * (channels // groups) + at(c)
        place = remainder(at(m), each)
    reads = [
        Read(tensors[0], (at(n), channel, *index[0])),
        Read(tensors[1], (channel, place, *index[1])),
    ]
    finish: Finish = lambda total: total  # noqa: E731
    if (bias := node.input(2)) is not None:
        reads.append(Read(bias, (at(m),)))
        finish = _plus(builder, reads[2])
    name = builder.fresh(f"{node.outputs[0]}.phases") if cut else node.outputs[0]
    contract(builder, name, (n, m, *axes[0]), reads, (c, *axes[1]), finish)
    if cut:
        wanted = (n, m, *(Axis(f"o{i}", side.outputs) for i, side in enumerate(cut)))
        found = [at(n), at(m)]
        for side, axis in zip(cut, wanted[2:], strict=True):
            where = at(axis) + side.skipped
            found += [floor_divide(where, side.stride), remainder(where, side.stride)]
        builder.view(node.outputs[0], name, found, wanted)


def _plus(builder: NestBuilder, bias: Read) -> Finish:
    def finish(total: Expr) -> Expr:
        return call("add", total, widened(builder, bias, 2))

    return finish


def _sides(builder: NestBuilder, node: Node) -> tuple[_SpreadSide, ...]:
    _, channels, *sizes = builder.type(required(node, 0)).shape
    filters, _, *kernel = builder.type(required(node, 1)).shape
    attributes = node.attributes
    count = len(sizes)
    if channels != filters or len(kernel) != count or channels % int(attributes.get("group", 1)):
        raise NotCoveredError(f"its weight is for {filters} channels, its data has {channels}")
    strides = attributes.get("strides") or [1] * count
    dilations = attributes.get("dilations") or [1] * count
    extra = attributes.get("output_padding") or [0] * count
    wanted = list(attributes.get("output_shape") or [])[-count:] or [None] * count
    pads = attributes.get("pads") or [0] * 2 * count
    how = attributes.get("auto_pad") or "NOTSET"
    found: list[_SpreadSide] = []
    for i, (size, taps, stride, dilation) in enumerate(
        zip(sizes, kernel, strides, dilations, strict=True)
    ):
        whole = (size - 1) * stride + extra[i] + (taps - 1) * dilation + 1
        before, outputs = _cut(whole, (pads[i], pads[count + i]), wanted[i], (how, size * stride))
        found.append(_SpreadSide(size, taps, stride, dilation, before, outputs))
    return tuple(found)


def _cut(
    whole: int, pads: tuple[int, int], wanted: int | None, padding: tuple[str, int]
) -> tuple[int, int]:
    """Return how much is cut off in front, and how many outputs are left."""
    how, same = padding
    if wanted is None and how in ("NOTSET", "VALID"):
        before, after = pads if how == "NOTSET" else (0, 0)
        return before, max(whole - before - after, 0)
    # what no element reaches is not made up: a window that is shorter than its stride gives less
    outputs = min(same, whole) if wanted is None else wanted
    total = max(whole - outputs, 0)
    less, more = total // 2, total - total // 2
    return (less if how == "SAME_UPPER" else more), outputs


def _work(at: Operands) -> float:
    return 2.0 * math.prod(at.sizes(1)[1:]) * math.prod(at.sizes(0))


register({"ConvTranspose": Operator(work=_work, loops=conv_transpose)})
