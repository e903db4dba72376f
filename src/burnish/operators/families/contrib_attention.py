"""Attention as ONNX Runtime's own operators have it, with their masks of whole numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from burnish.operators.families.attention import core_work, with_past
from burnish.operators.families.softmax import add_softmax
from burnish.operators.loops.heads import joined_heads, products, scores, split_heads
from burnish.operators.loops.products import Over, contract, reduce_nest, widened
from burnish.operators.record import Operands, Operator, Partial, register
from burnish.operators.size import divide, multiply
from burnish.tile.expr import Argument, Constant, Expr, Guard, Inside, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, at
from burnish.tile.pointwise import like, pointwise, wide
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, axes_for, broadcast_index

_LOWEST = float(np.finfo(np.float32).min)
"""What stands where a later key must not be seen."""


def multi_head_attention(builder: NestBuilder, node: Node) -> None:
    """Add attention of a query, a key and a value, with joined or with split heads."""
    refuse(node, {8: "a past that is longer than what is valid", 9: "beams that share a past"})
    ranks = [len(builder.type(name).shape) if name else 0 for name in node.inputs[:3]]
    if ranks[0] != 3 or ranks[1] != ranks[2] or ranks[1] not in (3, 4):
        raise NotCoveredError(f"query, key and value of {ranks} dimensions")
    heads, hint = int(node.attributes["num_heads"]), node.outputs[0]
    parts = _with_bias(builder, node)
    split = [
        split_heads(builder, name, heads, f"{hint}.{what}")
        for name, what in zip(parts, ("query", "key", "value"), strict=True)
    ]
    key, value = (with_past(builder, node, split[place], place, place + 5) for place in (1, 2))
    past = node.input(6)
    before = 0 if past is None else builder.type(past).shape[2]
    _finish(builder, node, (split[0], key, value), (node.input(4), node.input(5)), before)


def attention_with_projection(builder: NestBuilder, node: Node) -> None:
    """Add the projection to query, key and value, and their attention."""
    refuse(node, {4: "a past", 6: "a past that is longer than what is valid"})
    if node.output(1) is not None or node.attributes.get("do_rotary", 0):
        raise NotCoveredError("a past that it gives out, or positions that it turns")
    attend(builder, node, _projection(builder, node), (node.input(3), node.input(5)))


def attend(
    builder: NestBuilder, node: Node, joined: str, masks: tuple[str | None, str | None]
) -> None:
    """Add the attention of query, key and value that lie side by side; masks as `_finish` has."""
    heads, hint = int(node.attributes["num_heads"]), node.outputs[0]
    whole = builder.type(joined).shape[2]
    widths = node.attributes.get("qkv_hidden_sizes") or [whole // 3] * 3
    split, start = [], 0
    for width, what in zip(widths, ("query", "key", "value"), strict=True):
        part = _columns(builder, joined, start, width, f"{hint}.{what}")
        split.append(split_heads(builder, part, heads, f"{hint}.{what}"))
        start += width
    _finish(builder, node, (split[0], split[1], split[2]), masks, 0)


def _finish(
    builder: NestBuilder,
    node: Node,
    parts: tuple[str, str, str],
    masks: tuple[str | None, str | None],
    before: int,
) -> None:
    """Add scores, masks (of keys, and what is added), softmax and the weighted values."""
    if node.output(3) is not None:
        raise NotCoveredError("its scores, which it gives out")
    query, key, value = parts
    size = builder.type(query).shape[3]
    factor = node.attributes.get("scale") or 1 / math.sqrt(max(size, 1))
    raw = scores(builder, query, key, float(factor), node.outputs[0])
    masked = _masked(builder, node, raw, masks, before)
    weights = builder.fresh(f"{node.outputs[0]}.weights")
    add_softmax(builder, weights, masked, (3,), builder.type(masked).dtype)
    result = products(builder, weights, value, builder.fresh(f"{node.outputs[0]}.heads"))
    joined_heads(builder, node.outputs[0], result)


def _masked(
    builder: NestBuilder, node: Node, raw: str, masks: tuple[str | None, str | None], before: int
) -> str:
    kind, (keys, added) = builder.type(raw), masks
    causal = bool(node.attributes.get("unidirectional", 0))
    if keys is None and added is None and not causal:
        return raw
    axes = axes_for(kind.shape)
    reads = [Read(raw, tuple(at(axis) for axis in axes))]
    value: Expr = Argument(0, kind.dtype)
    if keys is not None:
        reads.append(_keys_read(builder, keys, axes))
        seen = call("equal", Argument(1, "i32"), Constant(0, "i32"))
        least = float(node.attributes.get("mask_filter_value", -10000.0))
        masked = call("where", seen, like(value, least), like(value, 0.0))
        value = call("add", value, masked)
    if causal:
        earlier = Inside((Guard(at(axes[3]) - at(axes[2]), -axes[2].extent, before + 1),))
        value = call("where", earlier, value, like(value, _LOWEST))
    if added is not None:
        shape = builder.type(added).shape
        reads.append(Read(added, broadcast_index(shape, axes)))
        more = wide(Argument(len(reads) - 1, builder.type(added).dtype))
        value = call("add", value, cast(more, value.dtype))
    return builder.add(builder.fresh(f"{node.outputs[0]}.masked"), axes, reads, value)


def _keys_read(builder: NestBuilder, mask: str, axes: Sequence[Axis]) -> Read:
    kind = builder.type(mask)
    batch, _, rows, keys = axes
    if kind.dtype == "i32" and kind.shape == (batch.extent, keys.extent):
        return Read(mask, (at(batch), at(keys)))
    if kind.dtype == "i32" and kind.shape == (batch.extent, rows.extent, keys.extent):
        return Read(mask, (at(batch), at(rows), at(keys)))
    raise NotCoveredError(f"a mask of the shape {kind.shape}")


def _with_bias(builder: NestBuilder, node: Node) -> list[str]:
    """Return query, key and value, each with its part of the bias added."""
    names, bias = list(node.inputs[:3]), node.input(3)
    if bias is None:
        return names
    widths = [builder.type(name).shape[-1] for name in names]
    if any(len(builder.type(name).shape) != 3 for name in names):
        raise NotCoveredError("a bias for a key or value with split heads")
    start = 0
    for place, width in enumerate(widths):
        part = _columns(builder, bias, start, width, f"{bias}.part")
        names[place] = pointwise(
            builder, builder.fresh(f"{names[place]}.biased"), [names[place], part],
            lambda x, more: call("add", x, more),
        )  # fmt: skip
        start += width
    return names


def _columns(builder: NestBuilder, source: str, start: int, width: int, hint: str) -> str:
    """Return some of the last dimension's elements."""
    axes = axes_for((*builder.type(source).shape[:-1], width))
    index = [at(axis) for axis in axes]
    return builder.view(builder.fresh(hint), source, (*index[:-1], index[-1] + start), axes)


def _projection(builder: NestBuilder, node: Node) -> str:
    """Return input · weights + bias."""
    source, weights, bias = node.inputs[0], node.inputs[1], node.input(2)
    batch, length, width = builder.type(source).shape
    axes = axes_for((batch, length, builder.type(weights).shape[1]))
    inner = Axis("r2", width)
    reads = [
        Read(source, (at(axes[0]), at(axes[1]), at(inner))),
        Read(weights, (at(inner), at(axes[2]))),
    ]
    name = builder.fresh(f"{node.outputs[0]}.projected")
    if bias is None:
        return contract(builder, name, axes, reads, [inner])
    reads.append(Read(bias, (at(axes[2]),)))
    kind = builder.type(source).dtype
    product = call("multiply", widened(builder, reads[0], 0), widened(builder, reads[1], 1))
    last = widened(builder, reads[2], 2)
    over = Over("sum", [inner], lambda total: cast(call("add", total, last), kind))
    return reduce_nest(builder, name, axes, reads, product, over)


def refuse(node: Node, unusual: dict[int, str]) -> None:
    """Leave nodes with any of these inputs to ONNX Runtime."""
    for place, what in unusual.items():
        if node.input(place) is not None:
            raise NotCoveredError(what)


def _multi_head_shape(at: Operands) -> Sequence[Partial | None]:
    query, value = at.shape(0), at.shape(2)
    if query is None:
        return [None]
    if len(query) == 5:  # query, key and value packed: batch, length, heads, three, size
        return [(*query[:2], multiply(query[2], query[4]))]
    if value is None:
        return [(*query[:2], None)]
    return [(*query[:2], value[2] if len(value) == 3 else multiply(value[1], value[3]))]


def _grouped_shape(at: Operands) -> Sequence[Partial | None]:
    query = at.shape(0)
    return [query if query is None or at.given(1) else (*query[:-1], None)]


def projected_shape(at: Operands) -> Sequence[Partial | None]:
    """Return the shape of attention behind a projection: the width is that of the values."""
    source, weight = at.shape(0), at.shape(1)
    if source is None or weight is None:
        return [None]
    widths = at.ints("qkv_hidden_sizes")
    return [(*source[:2], widths[2] if len(widths) == 3 else divide(weight[1], 3))]


def _multi_head_work(at: Operands) -> float:
    past = at.sizes(6) if at.given(6) else ()
    keys = at.sizes(1)[1] + (past[2] if len(past) == 4 else 0)
    return core_work(at, at.sizes(0)[:3], keys, at.out[-1])


def projected_work(at: Operands) -> float:
    """Return the operations of the projections of one input, and of what follows."""
    batch, length, width = at.sizes(0)
    columns = at.sizes(1)[1]
    projections = 2.0 * batch * length * width * columns
    return projections + core_work(at, (batch, length, columns // 3), length, columns // 3)


register(
    {
        "com.microsoft.MultiHeadAttention": Operator(
            shape=_multi_head_shape, work=_multi_head_work, loops=multi_head_attention
        ),
        "com.microsoft.GroupQueryAttention": Operator(shape=_grouped_shape, work=_multi_head_work),
        "com.microsoft.Attention": Operator(
            shape=projected_shape, work=projected_work, loops=attention_with_projection
        ),
    }
)
