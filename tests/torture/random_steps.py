"""The steps by which a random model grows: one function for each kind of node."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from burnish.core.arrays import Array
from torture.growing import FLOATS, WHOLE, Growing, NoNode

Step = Callable[[Growing], object]

SMOOTH = (
    "Relu", "LeakyRelu", "Sigmoid", "Tanh", "Exp", "Log", "Sqrt", "Abs", "Neg", "Erf", "Softplus",
    "Softsign", "Elu", "Selu", "Celu", "HardSigmoid", "HardSwish", "Mish", "Reciprocal", "Sin",
    "Cos", "Atan", "Gelu", "Identity", "ThresholdedRelu", "Asinh", "Tan",
)  # fmt: skip
STEPPED = ("Floor", "Ceil", "Round", "Sign")
REDUCTIONS = (
    "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
    "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp",
)  # fmt: skip


def unary(grow: Growing) -> object:
    """One number of one number."""
    return grow.add(grow.choice(*SMOOTH, *STEPPED), grow.pick())


def whole_unary(grow: Growing) -> object:
    """The same of whole numbers and truth values."""
    if grow.chance(0.3):
        return grow.add("Not", grow.pick("bool"))
    return grow.add(grow.choice("Abs", "Neg", "Sign", "Identity"), grow.pick(*WHOLE))


def binary(grow: Growing) -> object:
    """Two tensors that broadcast."""
    a = grow.pick(*FLOATS, *WHOLE)
    b = _partner(grow, a)
    first, second = (a, b) if grow.chance(0.5) else (b, a)
    op = grow.choice("Add", "Sub", "Mul", "Div", "Max", "Min", "Add", "Mul", "Pow", "PRelu", "Mod")
    shapes = grow.shape(first), grow.shape(second)
    if op == "PRelu" and np.broadcast_shapes(*shapes) != shapes[0]:
        raise NoNode  # the runtime takes it, the standard does not
    more = {"fmod": 1} if op == "Mod" and grow.dtype(a) in FLOATS else {}
    return grow.add(op, first, second, **more)


def several(grow: Growing) -> object:
    """Sums and means of more than two."""
    a = grow.pick()
    others = [_partner(grow, a) for _ in range(grow.size(1, 2))]
    return grow.add(grow.choice("Sum", "Mean", "Max", "Min"), a, *others)


def compared(grow: Growing) -> object:
    """A truth value for each pair."""
    a = grow.pick(*FLOATS, *WHOLE)
    op = grow.choice("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual")
    return grow.add(op, a, _partner(grow, a))


def logical(grow: Growing) -> object:
    """Two truth values."""
    a = grow.pick("bool")
    return grow.add(grow.choice("And", "Or", "Xor"), a, _partner(grow, a))


def chosen(grow: Growing) -> object:
    """Where, by a truth value that broadcasts."""
    condition, a = grow.pick("bool"), grow.pick(*FLOATS, *WHOLE)
    return grow.add("Where", condition, a, _partner(grow, a))


def converted(grow: Growing) -> object:
    """Cast."""
    import onnx

    source = grow.pick(*FLOATS, *WHOLE, "bool")
    kinds = ["FLOAT", "FLOAT", "DOUBLE", "INT64", "INT32", "BOOL", "UINT8"]
    kinds += ["FLOAT16"] if "float16" in map(grow.dtype, grow.values) else []
    return grow.add("Cast", source, to=getattr(onnx.TensorProto, grow.choice(*kinds)))


def clipped(grow: Growing) -> object:
    """Clip, with one limit or two."""
    source = grow.pick(*FLOATS, "int64", "int32")
    kind = grow.dtype(source)
    low = grow.constant(np.array(-grow.size(0, 2), kind)) if grow.chance(0.8) else ""
    high = grow.constant(np.array(grow.size(0, 3), kind)) if grow.chance(0.8) else ""
    return grow.add("Clip", source, low, high)


def product(grow: Growing) -> object:
    """MatMul of two tensors, or with a weight."""
    a = grow.pick(least_rank=1)
    *rows, terms = grow.shape(a)
    columns = grow.choice(1, 3, 8, 17, 33)
    if grow.chance(0.3):
        square = grow.add("Transpose", a, perm=_last_two_swapped(len(rows) + 1))
        return grow.add("MatMul", a, square)
    batch = tuple(rows[:-1]) if grow.chance(0.3) else ()
    weight = grow.numbers(*batch, terms, columns, dtype=grow.dtype(a), scale=terms**-0.5)
    return grow.add("MatMul", a, held(grow, weight))


def gemm(grow: Growing) -> object:
    """Gemm with any of its options."""
    a = grow.pick(least_rank=2, most_rank=2)
    rows, terms = grow.shape(a)
    ta, tb = grow.size(0, 1), grow.size(0, 1)
    rows, terms = (terms, rows) if ta else (rows, terms)
    columns = grow.size(1, 20)
    kind = grow.dtype(a)
    shape = (columns, terms) if tb else (terms, columns)
    weight = held(grow, grow.numbers(*shape, dtype=kind, scale=terms**-0.5))
    bias = grow.choice((), (columns,), (rows, 1), (rows, columns), (1, columns), None)
    more = [] if bias is None else [grow.constant(grow.numbers(*bias, dtype=kind))]
    alpha, beta = grow.choice(1.0, 0.5), grow.choice(1.0, 0.0, 2.0)
    return grow.add("Gemm", a, weight, *more, transA=ta, transB=tb, alpha=alpha, beta=beta)


def convolved(grow: Growing) -> object:
    """Conv and ConvTranspose over one or two axes, with groups, strides, dilations and borders."""
    source = grow.pick("float32", least_rank=3, most_rank=4)
    _, channels, *space = grow.shape(source)
    group = grow.choice(*[g for g in (1, 1, 2, 3, channels) if channels % g == 0])
    kernel = [min(grow.choice(1, 2, 3, 3, 5), size) for size in space]
    across = grow.chance(0.2)
    outside = grow.size(1, 4) if group > 1 else grow.choice(1, 4, 7, 16)
    shape = (channels, outside) if across else (outside * group, channels // group)
    scale = (channels // group * int(np.prod(kernel))) ** -0.5
    weight = held(grow, grow.numbers(*shape, *kernel, scale=scale))
    made = outside * group
    more = [grow.constant(grow.numbers(made))] if grow.chance(0.5) else []
    return grow.add(
        "ConvTranspose" if across else "Conv", source, weight, *more,
        kernel_shape=kernel, group=group, **_window(grow, kernel, dilated=True),
    )  # fmt: skip


def pooled(grow: Growing) -> object:
    """Pools over windows, and over everything."""
    source = grow.pick("float32", least_rank=3, most_rank=5)
    if grow.chance(0.25):
        return grow.add(grow.choice("GlobalAveragePool", "GlobalMaxPool"), source)
    op = grow.choice("MaxPool", "AveragePool", "LpPool")
    kernel = [min(grow.size(1, 4), size) for size in grow.shape(source)[2:]]
    more = {"count_include_pad": grow.size(0, 1)} if op == "AveragePool" else {}
    window = _window(grow, kernel, dilated=False)
    if op != "LpPool" and grow.chance(0.3):
        more["ceil_mode"] = 1
    return grow.add(op, source, kernel_shape=kernel, **window, **more)


def reduced(grow: Growing) -> object:
    """A reduction over some axes, all or none."""
    source = grow.pick(*FLOATS, "int64", "int32", least_rank=1)
    axes = _some(grow, range(len(grow.shape(source))))
    more = [grow.constant(axes)] if axes else []
    return grow.add(grow.choice(*REDUCTIONS), source, *more, keepdims=grow.size(0, 1))


def positioned(grow: Growing) -> object:
    """ArgMax and ArgMin."""
    source = grow.pick(*FLOATS, "int32", least_rank=1)
    axis = grow.size(-len(grow.shape(source)), len(grow.shape(source)) - 1)
    return grow.add(
        grow.choice("ArgMax", "ArgMin"), source, axis=axis, keepdims=grow.size(0, 1),
        select_last_index=grow.size(0, 1),
    )  # fmt: skip


def along(grow: Growing) -> object:
    """What normalises or adds up along an axis."""
    source = grow.pick(least_rank=1)
    axis = grow.size(-len(grow.shape(source)), len(grow.shape(source)) - 1)
    op = grow.choice("Softmax", "LogSoftmax", "Softmax", "CumSum", "LpNormalization", "Hardmax")
    if op == "CumSum":
        place, turned, late = grow.constant(np.array(axis)), grow.size(0, 1), grow.size(0, 1)
        return grow.add(op, source, place, reverse=turned, exclusive=late)
    return grow.add(op, source, axis=axis)


def normalised(grow: Growing) -> object:
    """Layer, instance, group, batch and RMS normalisation with weights."""
    op = grow.choice("LayerNormalization", "InstanceNormalization", "GroupNormalization",
                     "BatchNormalization")  # fmt: skip
    source = grow.pick("float32", least_rank=2 if op == "LayerNormalization" else 3)
    shape = grow.shape(source)
    if op == "LayerNormalization":
        axis = grow.size(1, len(shape) - 1)
        weights = [grow.constant(grow.numbers(*shape[axis:])) for _ in range(grow.size(1, 2))]
        return grow.add(op, source, *weights, axis=axis)
    weights = [grow.constant(grow.numbers(shape[1])) for _ in range(2)]
    if op == "BatchNormalization":
        weights += [grow.constant(grow.numbers(shape[1])),
                    grow.constant(np.abs(grow.numbers(shape[1])) + np.float32(0.5))]  # fmt: skip
    more = {"num_groups": 1} if op == "GroupNormalization" else {}
    return grow.add(op, source, *weights, **more)


def reshaped(grow: Growing) -> object:
    """Reshape, Flatten, Squeeze, Unsqueeze."""
    source = grow.pick(*FLOATS, *WHOLE, "bool")
    shape = grow.shape(source)
    match grow.choice("Reshape", "Reshape", "Flatten", "Unsqueeze", "Squeeze"):
        case "Reshape" if grow.rows and shape[:1] == (grow.rows,):
            wanted = [0, *_factors(grow, shape[1:])]
            return grow.add("Reshape", source, grow.constant(wanted))
        case "Reshape":
            return grow.add("Reshape", source, grow.constant(_factors(grow, shape)))
        case "Flatten":
            return grow.add("Flatten", source, axis=grow.size(-len(shape), len(shape)))
        case "Unsqueeze":
            axis = grow.size(0, len(shape))
            return grow.add("Unsqueeze", source, grow.constant([axis]))
        case _:
            ones = _some(grow, [axis for axis, size in enumerate(shape) if size == 1])
            return grow.add("Squeeze", source, *([grow.constant(ones)] if ones else []))


def moved(grow: Growing) -> object:
    """Transpose, Expand, Tile, DepthToSpace, SpaceToDepth."""
    source = grow.pick(*FLOATS, "int64", "bool", least_rank=1)
    shape = grow.shape(source)
    match grow.choice("Transpose", "Transpose", "Expand", "Tile", "DepthToSpace", "SpaceToDepth"):
        case "Transpose":
            perm = [int(p) for p in grow.random.permutation(len(shape))]
            return grow.add("Transpose", source, perm=perm)
        case "Expand":
            wanted = [size if size > 1 else grow.size(1, 4) for size in shape]
            wider = [grow.size(1, 3), *wanted] if grow.chance(0.4) else wanted
            return grow.add("Expand", source, grow.constant(wider))
        case "Tile":
            return grow.add("Tile", source, grow.constant([grow.size(1, 3) for _ in shape]))
        case op:
            more = {"mode": grow.choice("DCR", "CRD")} if op == "DepthToSpace" else {}
            return grow.add(op, source, blocksize=2, **more)


def sliced(grow: Growing) -> object:
    """Slice with steps of either sign."""
    source = grow.pick(*FLOATS, *WHOLE, "bool", least_rank=1)
    shape = grow.shape(source)
    axes = _some(grow, range(len(shape))) or [0]
    steps = [grow.choice(1, 1, 1, 2, 3, -1, -2) for _ in axes]
    begins, ends = [], []
    for axis, step in zip(axes, steps, strict=True):
        low = grow.size(0, shape[axis] - 1)
        high = grow.size(low + 1, shape[axis] + 2)
        begins.append(high if step < 0 else low - shape[axis] * grow.size(0, 1))
        ends.append(low - shape[axis] - 1 if step < 0 else high)
    given = (begins, ends, axes, steps)
    return grow.add("Slice", source, *(grow.constant(each) for each in given))


def joined(grow: Growing) -> object:
    """Concat of two or three tensors, the same one among them."""
    source = grow.pick(*FLOATS, "int64", "bool", least_rank=1)
    shape, kind = grow.shape(source), grow.dtype(source)
    axis = grow.size(0, len(shape) - 1)
    alike = [n for n in grow.values if grow.dtype(n) == kind and _but(grow.shape(n), axis) ==
             _but(shape, axis) and len(grow.shape(n)) == len(shape)]  # fmt: skip
    others = [grow.choice(*alike) for _ in range(grow.size(1, 2))]
    return grow.add("Concat", source, *others, axis=axis - len(shape) * grow.size(0, 1))


def split(grow: Growing) -> object:
    """Split into two or three parts."""
    source = grow.pick(*FLOATS, "int64", least_rank=1)
    shape = grow.shape(source)
    axis = grow.size(0, len(shape) - 1)
    if shape[axis] < 2:
        raise NoNode
    first = grow.size(1, shape[axis] - 1)
    parts = [first, shape[axis] - first]
    return grow.add("Split", source, grow.constant(parts), outputs=2, axis=axis)


def padded(grow: Growing) -> object:
    """Pad in every mode, also by less than nothing."""
    source = grow.pick("float32", "int64", least_rank=1)
    shape = grow.shape(source)
    mode = grow.choice("constant", "constant", "reflect", "edge", "wrap")
    low = -1 if mode == "constant" and grow.chance(0.3) else 0
    pads = [min(grow.size(low, 2), max(size - 1, 0)) for size in (*shape, *shape)]
    fill = [grow.constant(grow.numbers(dtype=grow.dtype(source)))] if grow.chance(0.5) else []
    more = fill if mode == "constant" else []
    return grow.add("Pad", source, grow.constant(pads), *more, mode=mode)


def resized(grow: Growing) -> object:
    """Resize by scales or to sizes."""
    source = grow.pick("float32", least_rank=3, most_rank=4)
    shape = grow.shape(source)
    mode = grow.choice("nearest", "linear", "nearest", "cubic")
    ways = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
    more = {"nearest_mode": grow.choice("floor", "ceil", "round_prefer_floor")}
    more = {"coordinate_transformation_mode": grow.choice(*ways), **more}
    if grow.chance(0.5):
        scales = [1.0, 1.0, *(grow.choice(2.0, 1.7, 0.5, 1.0, 3.0) for _ in shape[2:])]
        factors = grow.constant(np.array(scales, np.float32), as_it_is=True)
        return grow.add("Resize", source, "", factors, mode=mode, **more)
    sizes = [*shape[:2], *(grow.size(1, 2 * size + 1) for size in shape[2:])]
    return grow.add("Resize", source, "", "", grow.constant(sizes), mode=mode, **more)


def gathered(grow: Growing) -> object:
    """Gather, GatherElements and GatherND with constant or computed places."""
    source = grow.pick(*FLOATS, "int64", "bool", least_rank=1)
    shape = grow.shape(source)
    axis = grow.size(0, len(shape) - 1)
    match grow.choice("Gather", "Gather", "GatherElements", "GatherND"):
        case "Gather":
            wanted = [(), (1,), (3,), (2, 2)]
            places = _places(grow, grow.choice(*wanted), shape[axis])
            return grow.add("Gather", source, held(grow, places), axis=axis)
        case "GatherElements":
            places = _places(grow, shape, shape[axis])
            return grow.add("GatherElements", source, held(grow, places), axis=axis)
        case _:
            depth = grow.size(1, len(shape))
            rows = [_places(grow, (3,), size) for size in shape[:depth]]
            return grow.add("GatherND", source, held(grow, np.stack(rows, -1)))


def scattered(grow: Growing) -> object:
    """ScatterElements and ScatterND, also adding up where places repeat."""
    source = grow.pick("float32", "int64", least_rank=1)
    shape, kind = grow.shape(source), grow.dtype(source)
    how = grow.choice("none", "add", "max", "mul")
    if grow.chance(0.5):
        axis = grow.size(0, len(shape) - 1)
        if grow.chance(0.4):
            return scattered_anywhere(grow, source, axis, how)
        order = grow.random.permutation(shape[axis])
        sides = [1] * len(shape)
        sides[axis] = shape[axis]
        places = np.broadcast_to(order.reshape(sides), shape).astype(np.int64).copy()
        update = grow.constant(grow.numbers(*shape, dtype=kind))
        where = held(grow, places)
        return grow.add("ScatterElements", source, where, update, axis=axis, reduction=how)
    rows = grow.random.permutation(shape[0])[: grow.size(1, shape[0])].reshape(-1, 1)
    update = grow.constant(grow.numbers(len(rows), *shape[1:], dtype=kind))
    where = held(grow, rows.astype(np.int64))
    return grow.add("ScatterND", source, where, update, reduction=how)


def scattered_anywhere(grow: Growing, source: str, axis: int, how: str) -> object:
    """ScatterElements or ScatterND whose places repeat, are short, or are counted from the end."""
    shape, kind = grow.shape(source), grow.dtype(source)
    if grow.chance(0.5):
        given = [grow.size(1, size) for size in shape]
        given[axis] = grow.size(1, 2 * shape[axis])
        places = grow.random.integers(-shape[axis], shape[axis], given)
        update = grow.constant(grow.numbers(*given, dtype=kind))
        where = held(grow, places.astype(np.int64))
        return grow.add("ScatterElements", source, where, update, axis=axis, reduction=how)
    depth, count = grow.size(1, len(shape)), (grow.size(1, 3), grow.size(1, 4))
    rows = [grow.random.integers(-size, size, count) for size in shape[:depth]]
    update = grow.constant(grow.numbers(*count, *shape[depth:], dtype=kind))
    where = held(grow, np.stack(rows, -1).astype(np.int64))
    return grow.add("ScatterND", source, where, update, reduction=how)


def found(grow: Growing) -> object:
    """TopK, both of its outputs."""
    source = grow.pick("float32", least_rank=1)
    axis = grow.size(0, len(grow.shape(source)) - 1)
    count = grow.constant([grow.size(1, grow.shape(source)[axis])])
    largest = grow.size(0, 1)
    return grow.add("TopK", source, count, outputs=2, axis=axis, largest=largest)


def triangular(grow: Growing) -> object:
    """Trilu, its diagonal shifted or not."""
    source = grow.pick(*FLOATS, "int64", "bool", least_rank=2)
    more = [grow.constant(np.array(grow.size(-2, 2)))] if grow.chance(0.6) else []
    return grow.add("Trilu", source, *more, upper=grow.size(0, 1))


def measured(grow: Growing) -> object:
    """What is computed from shapes, and used as numbers."""
    source = grow.pick(*FLOATS, *WHOLE)
    return grow.add(grow.choice("Shape", "Size"), source)


def spread(grow: Growing) -> object:
    """OneHot and EyeLike."""
    if grow.chance(0.5):
        return grow.add("EyeLike", grow.pick("float32", "int64", least_rank=2, most_rank=2))
    source = grow.pick("int64", "int32")
    depth, values = grow.constant([grow.size(2, 6)]), grow.constant(grow.numbers(2))
    return grow.add("OneHot", source, depth, values, axis=-1)


def summed(grow: Growing) -> object:
    """Einsum of a few forms."""
    a = grow.pick("float32", least_rank=2, most_rank=2)
    rows, columns = grow.shape(a)
    form = grow.choice("ij,jk->ik", "ij,kj->ik", "ij->ji", "ij->i", "ij,ij->ij", "ij,j->i")
    if "," not in form:
        return grow.add("Einsum", a, equation=form)
    sizes = {"i": rows, "j": columns, "k": grow.size(1, 9)}
    second = form.partition(",")[2].partition("->")[0]
    weight = grow.numbers(*(sizes[letter] for letter in second))
    return grow.add("Einsum", a, held(grow, weight), equation=form)


STEPS: dict[Step, float] = {
    unary: 9, whole_unary: 1, binary: 9, several: 1, compared: 2, logical: 1, chosen: 3,
    converted: 2, clipped: 1, product: 3, gemm: 1, convolved: 3, pooled: 2, reduced: 3,
    positioned: 1, along: 2, normalised: 2, reshaped: 3, moved: 3, sliced: 3, joined: 2, split: 1,
    padded: 2, resized: 1, gathered: 2, scattered: 1, found: 0.5, triangular: 1, measured: 0.3,
    spread: 0.5, summed: 0.5,
}  # fmt: skip
"""What may come next, and how often."""


def _partner(grow: Growing, name: str) -> str:
    """Return a tensor that broadcasts with this one: one that is there, or a new one."""
    shape, kind = grow.shape(name), grow.dtype(name)
    fit = [n for n in grow.values if grow.dtype(n) == kind and _broadcasts(grow.shape(n), shape)]
    if grow.chance(0.5):
        return str(grow.choice(*fit))
    cut = shape[grow.size(0, len(shape)) :]
    other = tuple(1 if grow.chance(0.3) else size for size in cut)
    return held(grow, grow.numbers(*other, dtype=kind))


def held(grow: Growing, array: Array) -> str:
    """Return a constant mostly, an input sometimes."""
    return grow.input(array) if grow.chance(0.15) else grow.constant(array)


def _places(grow: Growing, shape: tuple[int, ...], extent: int) -> Array:
    return np.asarray(grow.random.integers(-extent, extent, shape)).astype(np.int64)


def _window(grow: Growing, kernel: list[int], *, dilated: bool) -> dict[str, object]:
    """Return strides, borders and dilations, each by chance."""
    found: dict[str, object] = {}
    if grow.chance(0.4):
        found["strides"] = [grow.size(1, 3) for _ in kernel]
    if grow.chance(0.2):
        found["auto_pad"] = grow.choice("SAME_UPPER", "SAME_LOWER", "VALID")
    elif grow.chance(0.6):
        found["pads"] = [grow.size(0, max(k - 1, 0)) for k in (*kernel, *kernel)]
    if dilated and grow.chance(0.2):
        found["dilations"] = [grow.size(1, 2) for _ in kernel]
    return found


def _some(grow: Growing, options: range | list[int]) -> list[int]:
    return [each for each in options if grow.chance(0.5)]


def _factors(grow: Growing, shape: tuple[int, ...]) -> list[int]:
    """Return another shape of as many elements, -1 in it by chance."""
    rest, sides = int(np.prod(shape)), []
    for _ in range(grow.size(0, 3)):
        divisors = [d for d in range(1, min(rest, 64) + 1) if rest % d == 0]
        sides.append(grow.choice(*divisors))
        rest //= sides[-1]
    sides.append(rest)
    grow.random.shuffle(sides)
    if grow.chance(0.4):
        sides[grow.size(0, len(sides) - 1)] = -1
    return [int(side) for side in sides]


def _but(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    pairs = zip(reversed(a), reversed(b), strict=False)
    return all(x == y or 1 in (x, y) for x, y in pairs)


def _last_two_swapped(rank: int) -> list[int]:
    if rank < 2:
        raise NoNode
    order = list(range(rank))
    order[-2:] = order[-1], order[-2]
    return order
