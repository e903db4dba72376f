"""Resize and Upsample: nearest elements, or weighted neighbours, one dimension after the other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from burnish.operators.loops.interpolation import (
    AxisStretch,
    Floats,
    coordinates,
    cubic,
    linear,
    nearest,
    without_outside,
)
from burnish.operators.loops.parameters import integers, required
from burnish.operators.loops.places import place
from burnish.operators.record import Operands, Operator, Partial, register
from burnish.operators.rules import each_output
from burnish.operators.size import multiply
from burnish.tile.expr import Argument, Expr, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import at
from burnish.tile.pointwise import like, positive_axis, wide, wide_type
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, axes_for

Stretches = Mapping[int, AxisStretch]
"""What is resized, by dimension."""


def resize(builder: NestBuilder, node: Node) -> None:
    """Add the data in another size, by scales or sizes that are known."""
    if node.attributes.get("antialias", 0):
        raise NotCoveredError("it is antialiased")
    if node.opset < 11:
        _resized(builder, node, _by_scales(builder, node, 1), "asymmetric", "simple")
        return
    mode = node.attributes.get("coordinate_transformation_mode", "half_pixel")
    how = node.attributes.get("nearest_mode", "round_prefer_floor")
    stretches = _by_sizes(builder, node) if node.input(3) else _by_scales(builder, node, 2)
    _resized(builder, node, stretches, mode, how)


def upsample(builder: NestBuilder, node: Node) -> None:
    """Add the data in another size: the older form of Resize."""
    _resized(builder, node, _by_scales(builder, node, 1), "asymmetric", "simple")


def _resized(
    builder: NestBuilder, node: Node, stretches: Stretches, mode: str, nearest_mode: str
) -> None:
    source = required(node, 0)
    rank = len(builder.type(source).shape)
    where: dict[int, Floats] = {}
    for dim, stretch in stretches.items():
        if mode == "align_corners" and not float(stretch.scale * stretch.size).is_integer():
            raise NotCoveredError("it aligns corners of a size that is no whole number")
        found = coordinates(stretch, mode)
        if found is None:
            raise NotCoveredError(f"its coordinate_transformation_mode is {mode!r}")
        where[dim] = found
    outside = {
        dim: inside for dim, x in where.items() if not (inside := _inside(x, stretches[dim])).all()
    }
    masked = mode == "tf_crop_and_resize" and bool(outside)
    output = builder.fresh(f"{node.outputs[0]}.resized") if masked else node.outputs[0]
    kind = node.attributes.get("mode", "nearest")
    if kind == "nearest":
        _by_nearest(builder, node, output, (stretches, where), nearest_mode)
    else:
        _by_weights(builder, node, output, (stretches, where), kind)
    if masked:
        _mask(builder, node, output, outside, rank)


def _by_nearest(
    builder: NestBuilder,
    node: Node,
    output: str,
    places: tuple[Stretches, Mapping[int, Floats]],
    mode: str,
) -> None:
    source = required(node, 0)
    stretches, where = places
    shape = list(builder.type(source).shape)
    rows: dict[int, Floats] = {}
    for dim, stretch in stretches.items():
        row = nearest(where[dim], stretch, mode)
        if row is None:
            raise NotCoveredError(f"its nearest_mode is {mode!r}")
        rows[dim] = row
        shape[dim] = stretch.outputs
    axes = axes_for(shape)
    index = [
        place(builder, rows[dim], axis, stretches[dim].size) if dim in rows else at(axis)
        for dim, axis in enumerate(axes)
    ]
    builder.view(output, source, index, axes)


def _by_weights(
    builder: NestBuilder,
    node: Node,
    output: str,
    places: tuple[Stretches, Mapping[int, Floats]],
    kind: str,
) -> None:
    """Add one nest per resized dimension: a sum of a few neighbours."""
    stretches, where = places
    source = required(node, 0)
    dtype = builder.type(source).dtype
    if not dtype.startswith(("f", "bf")):
        raise NotCoveredError(f"it interpolates {dtype}")
    if not stretches:
        shape = builder.type(source).shape
        builder.reshape(output, source, shape)
        return
    order = sorted(stretches, key=lambda dim: _turn(dim, stretches[dim]))
    for dim in order:
        stretch = stretches[dim]
        seen, weights = _neighbours(node, where[dim], kind)
        if node.attributes.get("exclude_outside", 0):
            weights = without_outside(seen, weights, stretch.size)
        last = dim == order[-1]
        name = output if last else builder.fresh(f"{output}.along{dim}")
        kept = dtype if last else wide_type(dtype)
        seen = np.clip(seen, 0, stretch.size - 1)
        source = _along(builder, (source, name, kept), dim, (seen, weights))


def _turn(dim: int, stretch: AxisStretch) -> tuple[float, int]:
    """Return when a dimension is resized: while there is little, and inner ones with the least.

    Along an inner dimension elements are picked one by one, along an outer one in whole rows.
    """
    growth = stretch.outputs / max(stretch.size, 1)
    return growth, dim if growth < 1 else -dim


def _neighbours(node: Node, where: Floats, kind: str) -> tuple[Floats, Floats]:
    if kind == "linear":
        return linear(where)
    if kind == "cubic":
        return cubic(where, float(node.attributes.get("cubic_coeff_a", -0.75)))
    raise NotCoveredError(f"its mode is {kind!r}")


def _along(
    builder: NestBuilder, names: tuple[str, str, str], dim: int, taps: tuple[Floats, Floats]
) -> str:
    """Add the nest that resizes one dimension; `names` are its source, output and output type."""
    source, output, dtype = names
    kind = builder.type(source)
    seen, weights = taps
    axes = axes_for([seen.shape[0] if n == dim else size for n, size in enumerate(kind.shape)])
    computed = wide_type(kind.dtype)
    reads: list[Read] = []
    parts: list[Expr] = []
    for column in range(seen.shape[1]):
        index = [at(axis) for axis in axes]
        index[dim] = place(builder, seen[:, column], axes[dim], kind.shape[dim])
        row = weights[:, column].astype(np.float64 if computed == "f64" else np.float32)
        table = builder.add_constant(row, "weights")
        reads += [Read(source, tuple(index)), Read(table, (at(axes[dim]),))]
        element = wide(Argument(2 * column, kind.dtype))
        parts.append(call("multiply", element, Argument(2 * column + 1, computed)))
    total = reduce(lambda a, b: call("add", a, b), parts)
    return builder.add(output, axes, reads, cast(total, dtype))


def _inside(where: Floats, stretch: AxisStretch) -> Floats:
    return (where >= 0) & (where <= stretch.size - 1)


def _mask(
    builder: NestBuilder, node: Node, source: str, outside: Mapping[int, Floats], rank: int
) -> None:
    """Add the nest that puts the extrapolation value where a coordinate lies outside the data."""
    kind = builder.type(source)
    axes = axes_for(kind.shape)
    reads = [Read(source, tuple(map(at, axes)))]
    for dim, inside in outside.items():
        table = builder.add_constant(inside, "inside")
        reads.append(Read(table, (at(axes[dim]),)))
    conditions: list[Expr] = [Argument(n, "bool") for n in range(1, len(reads))]
    condition = reduce(lambda a, b: call("and", a, b), conditions)
    element: Expr = Argument(0, kind.dtype)
    value = like(element, float(node.attributes.get("extrapolation_value", 0.0)))
    builder.add(node.outputs[0], axes, reads, call("where", condition, element, value))


def _by_scales(builder: NestBuilder, node: Node, position: int) -> dict[int, AxisStretch]:
    shape = builder.type(required(node, 0)).shape
    if "scales" in node.attributes:
        scales = [float(each) for each in node.attributes["scales"]]
    else:
        known = builder.constant(node.input(position), "its input 'scales'")
        scales = [float(each) for each in np.asarray(known, np.float32).reshape(-1)]
    dims = _dims(node, len(shape))
    sizes = {dim: math.floor(shape[dim] * scale) for dim, scale in zip(dims, scales, strict=True)}
    return _stretches(builder, node, sizes, dict(zip(dims, scales, strict=True)))


def _by_sizes(builder: NestBuilder, node: Node) -> dict[int, AxisStretch]:
    shape = builder.type(required(node, 0)).shape
    wanted = integers(builder, node, 3, "sizes") or ()
    dims = _dims(node, len(shape))
    sizes = dict(zip(dims, wanted, strict=True))
    scales = {dim: size / shape[dim] for dim, size in sizes.items()}
    policy = node.attributes.get("keep_aspect_ratio_policy", "stretch")
    if policy != "stretch":
        choose = {"not_larger": min, "not_smaller": max}[policy]
        scale = choose(scales.values())
        scales = dict.fromkeys(dims, scale)
        sizes = {dim: math.floor(scale * shape[dim] + 0.5) for dim in dims}
    return _stretches(builder, node, sizes, scales)


def _stretches(
    builder: NestBuilder, node: Node, sizes: Mapping[int, int], scales: Mapping[int, float]
) -> dict[int, AxisStretch]:
    """Return what changes: a dimension with a scale of one stays as it is."""
    shape = builder.type(required(node, 0)).shape
    regions: dict[int, tuple[float, float]] = {}
    if node.attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize":
        roi = np.asarray(builder.constant(node.input(1), "its input 'roi'"), np.float64).reshape(-1)
        half = len(roi) // 2
        pairs = zip(sizes, roi[:half], roi[half:], strict=True)
        regions = {dim: (float(start), float(end)) for dim, start, end in pairs}
    return {
        dim: AxisStretch(shape[dim], size, scales[dim], regions.get(dim, (0.0, 1.0)))
        for dim, size in sizes.items()
        if scales[dim] != 1 or regions.get(dim, (0.0, 1.0)) != (0.0, 1.0)
    }


def _dims(node: Node, rank: int) -> list[int]:
    axes = node.attributes.get("axes")
    return list(range(rank)) if axes is None else [positive_axis(int(a), rank) for a in axes]


def _shape(at: Operands) -> Sequence[Partial | None]:
    """Follow axes that are not resized, or by a whole number, or to a size that is known."""
    source, scales, wanted = at.shape(0), at.array(2), at.elements(3)
    if source is None or {"axes", "keep_aspect_ratio_policy"} & at.attributes.keys():
        return [None]
    if wanted is not None and len(wanted) == len(source):
        return [wanted]
    if scales is None or scales.size != len(source):
        return [None]
    return [
        tuple(
            multiply(own, int(scale)) if scale == int(scale) else None
            for own, scale in zip(source, scales.reshape(-1).tolist(), strict=True)
        )
    ]


register(
    {
        "Resize": Operator(shape=_shape, work=each_output(8), loops=resize),
        "Upsample": Operator(work=each_output(8), loops=upsample),
    }
)
