"""Attention of ONNX: masks, causal and sliding windows, soft caps, shared heads, caches."""

from __future__ import annotations

import math
from collections.abc import Sequence

from burnish.core.tensors import ONNX_NUMBERS
from burnish.operators.families.conversion import copy_as
from burnish.operators.families.pieces import concat
from burnish.operators.families.softmax import add_softmax
from burnish.operators.loops.heads import (
    guarded_softmax,
    joined_heads,
    products,
    scores,
    split_heads,
)
from burnish.operators.record import Operands, Operator, Partial, Sizes, register
from burnish.operators.size import divide, multiply
from burnish.tile.expr import Argument, Constant, Coordinate, Expr, Guard, Inside, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, at
from burnish.tile.pointwise import like, wide, wide_type
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, axes_for, broadcast_index

_RAW, _CAPPED, _BIASED, _NORMALIZED = range(4)
"""What the fourth output holds, by the node's mode."""


def attention(builder: NestBuilder, node: Node) -> None:
    """Add scores, what masks leave of them, softmax, and the weighted values."""
    query, key, value = _operands(builder, node)
    kind = builder.type(query)
    factor = node.attributes.get("scale", 1 / math.sqrt(max(kind.shape[-1], 1)))
    raw = scores(builder, query, key, factor, node.outputs[0])
    capped = _capped(builder, node, raw)
    biased = _Masks(builder, node, capped).add()
    weights = _weights(builder, node, biased, _wide_softmax(node, kind.dtype))
    result = products(builder, weights, value, builder.fresh(f"{node.outputs[0]}.heads"))
    _give_result(builder, node, result)
    shown = {_RAW: raw, _CAPPED: capped, _BIASED: biased, _NORMALIZED: weights}
    scored = node.output(3)
    if scored is not None:
        mode = int(node.attributes.get("qk_matmul_output_mode", 0))
        copy_as(builder, scored, shown[mode], kind.dtype)


def _operands(builder: NestBuilder, node: Node) -> tuple[str, str, str]:
    """Return query, key and value with split heads, after the cache, which is given out."""
    counts = [node.attributes.get("q_num_heads"), *[node.attributes.get("kv_num_heads")] * 2]
    split = [
        split_heads(builder, name, heads, f"{node.outputs[0]}.{what}")
        for name, heads, what in zip(node.inputs, counts, ("query", "key", "value"), strict=False)
    ]
    for place in (1, 2):
        split[place] = with_past(builder, node, split[place], place, place + 3)
    return split[0], split[1], split[2]


def with_past(
    builder: NestBuilder, node: Node, new: str, present_place: int, past_place: int
) -> str:
    """Return a key or value behind its past; it is an output of the node, if that is wanted."""
    past, present = node.input(past_place), node.output(present_place)
    if past is None:
        if present is not None:
            copy_as(builder, present, new, builder.type(new).dtype)
        return new
    name = present or builder.fresh(f"{node.outputs[0]}.present")
    concat(builder, Node(node.name, "Concat", (past, new), (name,), {"axis": 2}, node.opset))
    return name


def _capped(builder: NestBuilder, node: Node, raw: str) -> str:
    limit = float(node.attributes.get("softcap", 0.0))
    if not limit:
        return raw
    kind = builder.type(raw)
    axes = axes_for(kind.shape)
    x = Argument(0, kind.dtype)
    bent = call("multiply", call("tanh", call("divide", x, like(x, limit))), like(x, limit))
    read = Read(raw, tuple(at(axis) for axis in axes))
    return builder.add(builder.fresh(f"{node.outputs[0]}.capped"), axes, [read], bent)


class _Masks:
    """The nest that adds masks to scores: what is masked becomes -inf, whatever it was."""

    def __init__(self, builder: NestBuilder, node: Node, scored: str) -> None:
        self._builder, self._node, self._scored = builder, node, scored
        kind = builder.type(scored)
        self._axes = axes_for(kind.shape)
        self._reads = [Read(scored, tuple(at(axis) for axis in self._axes))]
        self._value: Expr = Argument(0, kind.dtype)
        self._allowed: list[Expr] = []

    def add(self) -> str:
        """Return the masked scores: the scores themselves if nothing masks them."""
        self._mask()
        self._windows()
        if len(self._reads) == 1 and not self._allowed:
            return self._scored
        for condition in self._allowed:
            least = like(self._value, -math.inf)
            self._value = call("where", condition, self._value, least)
        name = self._builder.fresh(f"{self._node.outputs[0]}.masked")
        return self._builder.add(name, self._axes, self._reads, self._value)

    def _read(self, read: Read) -> Expr:
        self._reads.append(read)
        return Argument(len(self._reads) - 1, self._builder.type(read.tensor).dtype)

    def _mask(self) -> None:
        name = self._node.input(3)
        if name is None:
            return
        kind, keys = self._builder.type(name), self._axes[-1]
        index = broadcast_index(kind.shape, self._axes)
        guards: tuple[Guard, ...] = ()
        if kind.shape[-1] < keys.extent:
            if kind.shape[-1] == 1:
                raise NotCoveredError("a mask of one column, which may be broadcast or padded")
            guards = (Guard(at(keys), 0, kind.shape[-1]),)
        is_bool = kind.dtype == "bool"
        found = self._read(Read(name, index, guards, False if is_bool else -math.inf))
        if is_bool:
            self._allowed.append(found)
        else:
            self._value = call("add", self._value, cast(wide(found), self._value.dtype))

    def _windows(self) -> None:
        """Allow only keys that are there, and that causality and the window leave."""
        given = self._node.attributes
        left, right = given.get("left_window_size", -1), given.get("right_window_size", -1)
        if given.get("is_causal", 0):
            right = 0
        valid, past = self._node.input(6), self._node.input(4)
        rows, keys = self._axes[2], self._axes[3]
        if valid is None:
            before = 0 if past is None else self._builder.type(past).shape[2]
            self._allowed += _window(rows, keys, before, left, right)
            return
        count = cast(self._read(Read(valid, (at(self._axes[0]),))), "i64")
        self._allowed.append(call("less", Coordinate(at(keys)), count))
        # the row stands at rows - extent + count: both sides are moved, so that count is alone
        ahead = Coordinate(at(keys) - at(rows) + rows.extent)
        if right >= 0:
            self._allowed.append(call("less_equal", ahead, _plus(count, right)))
        if left >= 0:
            self._allowed.append(call("less_equal", _plus(count, -left), ahead))


def _window(rows: Axis, keys: Axis, before: int, left: int, right: int) -> list[Expr]:
    """Return that a key is at most so far to the left or right of the row's own position."""
    ahead = at(keys) - at(rows) - before
    low = -left if left >= 0 else -rows.extent - before
    high = right + 1 if right >= 0 else keys.extent
    if left < 0 and right < 0:
        return []
    return [Inside((Guard(ahead, low, high),))]


def _plus(value: Expr, number: int) -> Expr:
    return call("add", value, Constant(number, value.dtype)) if number else value


def _weights(builder: NestBuilder, node: Node, biased: str, kind: str) -> str:
    """Add softmax; rows without any key become zero where masks can make such rows."""
    name, last = builder.fresh(f"{node.outputs[0]}.weights"), (3,)
    source = biased
    if builder.type(biased).dtype != kind:
        source = copy_as(builder, builder.fresh(f"{name}.cast"), biased, kind)
    masks = any(node.input(place) is not None for place in (3, 6))
    if masks or node.attributes.get("left_window_size", -1) >= 0:
        return guarded_softmax(builder, name, source, last)
    return add_softmax(builder, name, source, last, kind)


def _wide_softmax(node: Node, dtype: str) -> str:
    asked = node.attributes.get("softmax_precision")
    return wide_type(dtype if asked is None else ONNX_NUMBERS[int(asked)])


def _give_result(builder: NestBuilder, node: Node, result: str) -> None:
    if len(builder.type(node.inputs[0]).shape) == 3:
        joined_heads(builder, node.outputs[0], result)
    else:
        copy_as(builder, node.outputs[0], result, builder.type(result).dtype)


def _shape(at: Operands) -> Sequence[Partial | None]:
    """Return the shape of the result, with heads apart (4 dimensions) or side by side (3)."""
    query, value = at.shape(0), at.shape(2)
    if query is None or value is None or len(query) != len(value):
        return [None]
    if len(query) == 4:
        return [(*query[:3], value[3])]
    heads, own = at.number("q_num_heads", 1), at.number("kv_num_heads", 1)
    return [(*query[:2], divide(multiply(value[2], heads), own))]


def core_work(at: Operands, query: Sizes, keys: int, values_width: int) -> float:
    """Return the operations of scores, softmax and weighted sum for (batch, length, width)."""
    batch, length, width = query
    heads = at.number("num_heads", at.number("q_num_heads", 1))
    pairs = batch * length * keys
    return 2.0 * pairs * (width + values_width) + 14.0 * heads * pairs


def _work(at: Operands) -> float:
    query, key, value = at.sizes(0), at.sizes(1), at.sizes(2)
    if len(query) == 3:
        return core_work(at, query, key[1], at.out[-1])
    batch, heads, length, size = query
    pairs = batch * heads * length * key[2]
    return 2.0 * pairs * (size + value[3]) + 14.0 * pairs


register({"Attention": Operator(shape=_shape, work=_work, loops=attention)})
