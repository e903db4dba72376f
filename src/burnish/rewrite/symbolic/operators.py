"""The shapes of results, by operator; None stands for a size that the operator does not tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import onnx_ir as ir

from burnish.rewrite.edit import ints
from burnish.rewrite.symbolic import size, windows
from burnish.rewrite.symbolic.elements import Elements, Known
from burnish.rewrite.symbolic.size import Least, Size, unknown

Partial = tuple[Size | None, ...]
Follower = Callable[[ir.Node, Known], "Sequence[Partial | None] | None"]

_TO_THE_END = 10**9
"""No axis is that long."""


def _first(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    return [known.of(node.inputs[0])] if node.inputs else [None]


def _broadcast(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    shapes = [known.of(value) for value in node.inputs]
    result: Partial | None = shapes[0]
    for other in shapes[1:]:
        result = None if result is None or other is None else stretched(result, other)
    return [result]


def stretched(left: Partial, right: Partial) -> Partial:
    """Return the shape that two operands give together."""
    missing = len(left) - len(right)
    left, right = (1,) * -missing + left, (1,) * missing + right
    return tuple(
        [
            None if a is None or b is None else size.broadcast(a, b)
            for a, b in zip(left, right, strict=True)
        ]
    )


def _matmul(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    left, right = known.of(node.inputs[0]), known.of(node.inputs[1])
    if left is None or right is None or len(left) < 2 or len(right) < 2:
        return [None]
    if node.domain == "com.microsoft":
        if node.attributes.get_int("transBatchA", 0) or node.attributes.get_int("transBatchB", 0):
            return [None]
        if node.attributes.get_int("transA", 0):
            left = (*left[:-2], left[-1], left[-2])
        if node.attributes.get_int("transB", 0):
            right = (*right[:-2], right[-1], right[-2])
    return [(*stretched(left[:-2], right[:-2]), left[-2], right[-1])]


def _gemm(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    left, right = known.of(node.inputs[0]), known.of(node.inputs[1])
    if left is None or right is None:
        return [None]
    rows = left[1] if node.attributes.get_int("transA", 0) else left[0]
    return [(rows, right[0] if node.attributes.get_int("transB", 0) else right[1])]


def _transpose(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    source = known.of(node.inputs[0])
    if source is None:
        return [None]
    perm = ints(node, "perm") or tuple(range(len(source)))[::-1]
    return [tuple(source[axis] for axis in perm)]


def _reshape(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    source, wanted = known.of(node.inputs[0]), known.elements(node.inputs[1])
    if wanted is None:
        return [None]
    if source is not None and not node.attributes.get_int("allowzero", 0):
        wanted = tuple(
            source[axis] if item == 0 and axis < len(source) else item
            for axis, item in enumerate(wanted)
        )
    return [_with_rest(source, wanted)]


def _with_rest(source: tuple[Size, ...] | None, wanted: Elements) -> Partial:
    """Return a wanted shape with its -1 computed from the number of elements."""
    if wanted.count(-1) != 1 or None in wanted or source is None:
        return tuple(None if item == -1 else item for item in wanted)
    left = list(source)
    others: list[Size] = []
    for item in wanted:
        if item == -1 or item is None:
            continue
        if item in left:
            left.remove(item)
        else:
            others.append(item)
    rest = size.divide(size.total(left), size.total(others))
    return tuple(rest if item == -1 else item for item in wanted)


def _flatten(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    source = known.of(node.inputs[0])
    if source is None:
        return [None]
    axis = node.attributes.get_int("axis", 1) or 0
    axis = axis + len(source) if axis < 0 else axis
    return [(size.total(source[:axis]), size.total(source[axis:]))]


def _unsqueeze(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    source, axes = known.of(node.inputs[0]), known.facts.axes(node)
    if source is None or not axes:
        return [None]
    rank = len(source) + len(axes)
    new = {axis % rank for axis in axes}
    left = iter(source)
    return [tuple(1 if axis in new else next(left) for axis in range(rank))]


def _squeeze(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    source, axes = known.of(node.inputs[0]), known.facts.axes(node)
    if source is None or not axes:
        return [None]
    gone = {axis % len(source) for axis in axes}
    return [tuple(item for axis, item in enumerate(source) if axis not in gone)]


def _expand(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    source, wanted = known.of(node.inputs[0]), known.elements(node.inputs[1])
    return [None if source is None or wanted is None else stretched(source, wanted)]


def _tile(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    source, repeats = known.of(node.inputs[0]), known.elements(node.inputs[1])
    if source is None or repeats is None or len(repeats) != len(source):
        return [None]
    return [
        tuple(
            None if count is None else size.multiply(item, count)
            for item, count in zip(source, repeats, strict=True)
        )
    ]


def _concat(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    parts = [known.of(value) for value in node.inputs]
    shapes = [part for part in parts if part is not None]
    if len(shapes) < len(parts):
        return [None]
    axis = (node.attributes.get_int("axis", 0) or 0) % len(shapes[0])
    joined: Size = 0
    for shape in shapes:
        joined = size.add(joined, shape[axis])
    others = [_agreed([shape[i] for shape in shapes]) for i in range(len(shapes[0]))]
    return [tuple(joined if i == axis else item for i, item in enumerate(others))]


def _agreed(found: Sequence[Size]) -> Size:
    return next((item for item in found if isinstance(item, int)), found[0])


def _gather(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    data, indices = known.of(node.inputs[0]), known.of(node.inputs[1])
    if data is None or indices is None:
        return [None]
    axis = (node.attributes.get_int("axis", 0) or 0) % len(data)
    return [(*data[:axis], *indices, *data[axis + 1 :])]


def _gather_elements(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    return [known.of(node.inputs[1])]


def _gather_nd(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    data, indices = known.of(node.inputs[0]), known.of(node.inputs[1])
    batched = node.attributes.get("batch_dims")
    if not data or not indices or (batched is not None and batched.as_int()):
        return [None]
    depth = indices[-1]
    return [(*indices[:-1], *data[depth:]) if isinstance(depth, int) else None]


def _einsum(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    attribute = node.attributes.get("equation")
    left, _, right = ("" if attribute is None else attribute.as_string()).partition("->")
    sizes: dict[str, Size] = {}
    for letters, value in zip(left.split(","), node.inputs, strict=False):
        shape, letters = known.of(value), letters.strip()
        if shape is None or len(shape) != len(letters) or not letters.isalpha():
            return [None]
        for letter, item in zip(letters, shape, strict=True):
            sizes[letter] = item if sizes.get(letter, 1) == 1 else sizes[letter]
    return [tuple(sizes.get(letter) for letter in right.strip())] if right else [None]


def _slice(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    source = known.of(node.inputs[0])
    if source is None or len(node.inputs) < 3:
        return [None]
    starts, ends = known.elements(node.inputs[1]), known.elements(node.inputs[2])
    axes = known.facts.integers(node.inputs[3]) if len(node.inputs) > 3 else None
    steps = known.facts.integers(node.inputs[4]) if len(node.inputs) > 4 else None
    if len(node.inputs) > 3 and axes is None:
        return [(None,) * len(source)]
    result: list[Size | None] = list(source)
    over = axes if axes is not None else range(len(starts or ends or source))
    for index, axis in enumerate(over):
        start = None if starts is None else starts[index]
        end = None if ends is None else ends[index]
        step = 1 if steps is None else steps[index]
        result[axis] = _cut(source[axis], start, end, step)
    return [tuple(result)]


def _cut(whole: Size, start: Size | None, end: Size | None, step: int) -> Size | None:
    """Return how much a slice leaves; the first of an axis can be cut off: none is empty."""
    if start is None or end is None:
        return None
    if isinstance(whole, int) and isinstance(start, int) and isinstance(end, int) and step > 0:
        return len(range(*slice(start, end, step).indices(whole)))
    if step != 1:
        return None
    if isinstance(start, int) and start < 0:
        start = size.add(whole, start)
    if isinstance(end, int) and end < 0:
        end = size.add(whole, end)
    if (isinstance(end, int) and end >= _TO_THE_END) or end == whole:
        left = size.subtract(whole, start)
        return left if size.is_countable(left) or start == 1 else None
    if start == 0 and size.subtract(whole, end) == 1:
        return end
    if start == 0 and size.is_countable(end):
        return unknown(Least(whole, end))
    return None


def _range(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    bounds = [known.elements(value) for value in node.inputs]
    if any(bound is None or len(bound) != 1 for bound in bounds):
        return [(None,)]
    start, limit, delta = (bound[0] for bound in bounds if bound is not None)
    if delta != 1 or start is None or limit is None:
        return [(None,)]
    length = size.subtract(limit, start)
    return [(length if size.is_countable(length) else None,)]


def _filled(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    return [known.elements(node.inputs[0])]


def _reduce(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    source, axes = known.of(node.inputs[0]), known.facts.axes(node)
    if source is None or not axes:
        return [None]
    over = {axis % len(source) for axis in axes}
    if node.attributes.get_int("keepdims", 1):
        return [tuple(1 if axis in over else item for axis, item in enumerate(source))]
    return [tuple(item for axis, item in enumerate(source) if axis not in over)]


def _rank(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    source = known.of(node.inputs[0])
    if source is None:
        return [(None,)]
    start, end = node.attributes.get_int("start", 0), node.attributes.get_int("end", None)
    return [(len(source[start:end]),)]


def _split(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    source = known.of(node.inputs[0])
    if source is None:
        return [None] * len(node.outputs)
    axis = (node.attributes.get_int("axis", 0) or 0) % len(source)
    given = ints(node, "split") or known.facts.integers(node.inputs[1] if len(node.inputs) > 1
                                                        else None)  # fmt: skip
    count = len(node.outputs)
    even = size.divide(source[axis], count) if given is None else None
    parts: Sequence[Size | None] = given or [even] * count
    return [(*source[:axis], part, *source[axis + 1 :]) for part in parts]


def _pad(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    source = known.of(node.inputs[0])
    pads = known.facts.integers(node.inputs[1]) if len(node.inputs) > 1 else None
    if source is None or pads is None or len(node.inputs) > 3:
        return [None if source is None else (None,) * len(source)]
    rank = len(source)
    both = [before + after for before, after in zip(pads[:rank], pads[rank:], strict=True)]
    return [tuple(size.add(item, more) for item, more in zip(source, both, strict=True))]


def _multi_head(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    query = known.of(node.inputs[0])
    return [None if query is None or len(query) != 3 else (query[0], query[1], None)]


def _all_first(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    source = known.of(node.inputs[0])
    return [source, *[None] * (len(node.outputs) - 1)]


def _resize(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    """Follow axes that are not resized, or by a whole number, or to a size that is known."""
    source = known.of(node.inputs[0])
    scales = known.facts.array(node.inputs[2]) if len(node.inputs) > 2 else None
    wanted = known.elements(node.inputs[3]) if len(node.inputs) > 3 else None
    if source is None or {"axes", "keep_aspect_ratio_policy"} & node.attributes.keys():
        return [None]
    if wanted is not None and len(wanted) == len(source):
        return [wanted]
    if scales is None or scales.size != len(source):
        return [None]
    return [
        tuple(
            size.multiply(own, int(scale)) if scale == int(scale) else None
            for own, scale in zip(source, scales.reshape(-1).tolist(), strict=True)
        )
    ]


def _with_sum(node: ir.Node, known: Known) -> Sequence[Partial | None]:
    """Follow the result and the fourth output, the sum, of a skip normalisation."""
    source = known.of(node.inputs[0])
    return [source, None, None, source][: len(node.outputs)]


_UNARY = (
    "Abs", "Cast", "CastLike", "Ceil", "Clip", "Cos", "CumSum", "Elu", "Erf", "Exp", "FastGelu",
    "Floor", "Gelu", "HardSigmoid", "HardSwish", "Identity", "IsInf", "IsNaN", "LeakyRelu", "Log",
    "Mish", "Neg", "Not", "QuickGelu", "RMSNormalization", "Reciprocal", "Relu", "RotaryEmbedding",
    "Round", "ScatterElements", "ScatterND", "Sigmoid", "Sign", "Sin", "Softmax", "Softplus",
    "Sqrt", "Tanh", "Trilu", "BiasGelu", "InstanceNormalization", "BatchNormalization",
    "GroupNormalization", "SimplifiedLayerNormalization",
)  # fmt: skip
_TOGETHER = (
    "Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min",
    "Mod", "Mul", "Or", "Sub", "Sum", "Where", "Xor",
)  # fmt: skip
FOLLOWED: Mapping[str, Follower] = {
    **dict.fromkeys(_UNARY, _first),
    **dict.fromkeys(_TOGETHER, _broadcast),
    **dict.fromkeys(("ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum", "ReduceL2"), _reduce),
    "Pow": _broadcast,
    "Concat": _concat,
    "ConstantOfShape": _filled,
    "Conv": windows.convolved,
    "Dropout": _all_first,
    "Expand": _expand,
    "Flatten": _flatten,
    "FusedMatMul": _matmul,
    "Einsum": _einsum,
    "AveragePool": windows.pooled,
    "MaxPool": windows.pooled,
    "LpPool": windows.pooled,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "Gemm": _gemm,
    "LayerNormalization": _all_first,
    "MatMul": _matmul,
    "MultiHeadAttention": _multi_head,
    "Pad": _pad,
    "Range": _range,
    "Reshape": _reshape,
    "Resize": _resize,
    "Shape": _rank,
    "SkipLayerNormalization": _with_sum,
    "SkipSimplifiedLayerNormalization": _with_sum,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
