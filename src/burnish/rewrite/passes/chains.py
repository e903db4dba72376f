"""Pairs of operators that one operator can do, each with the proof that it can.

Every function returns the value that the node's output equals, True if it changed the node so
that it reads past its producer, or False.
"""

from __future__ import annotations

import onnx_ir as ir

from burnish.infer.constants import sizes
from burnish.infer.walk import ints, is_standard, is_whole
from burnish.rewrite.element_types import holds_exactly
from burnish.rewrite.facts import Facts, rank

Outcome = ir.Value | bool


def _producer(node: ir.Node, *op_types: str) -> ir.Node | None:
    source = node.inputs[0]
    producer = None if source is None else source.producer()
    if producer is None or not is_standard(producer, *op_types) or producer.inputs[0] is None:
        return None
    return producer


def transpose_of_transpose(node: ir.Node, _: Facts) -> Outcome:
    """Transpose(Transpose(x, p), q) --> Transpose(x, p[q]); x itself if that is the identity."""
    inner = _producer(node, "Transpose")
    if inner is None:
        return False
    first, second = _perm(inner), _perm(node)
    if first is None or second is None or len(first) != len(second):
        return False
    joined = [first[axis] for axis in second]
    source = inner.inputs[0]
    if joined == sorted(joined) and source is not None:
        return source
    node.replace_input_with(0, source)
    node.attributes["perm"] = ir.AttrInt64s("perm", joined)
    return True


def _perm(node: ir.Node) -> list[int] | None:
    perm = ints(node, "perm")
    if perm is not None:
        return list(perm)
    source = node.inputs[0]
    axes = None if source is None else rank(source)
    return None if axes is None else list(range(axes))[::-1]


def cast_of_cast(node: ir.Node, _: Facts) -> Outcome:
    """Cast(Cast(x, a), b) --> Cast(x, b), if a holds every value of x's type exactly.

    float → int → float rounds, and i64 → f32 → i64 loses digits: those stay. So does text,
    in which 1 and 1.0 differ.
    """
    inner = _producer(node, "Cast")
    source = None if inner is None else inner.inputs[0]
    if inner is None or source is None or source.dtype is None:
        return False
    middle, last = _target(inner), _target(node)
    if (
        middle is None
        or last in (None, ir.DataType.STRING)
        or not holds_exactly(middle, source.dtype)
    ):
        return False
    if last == source.dtype:
        return source
    node.replace_input_with(0, source)
    return True


def _target(node: ir.Node) -> ir.DataType | None:
    attribute = node.attributes.get("to")
    return None if attribute is None or attribute.is_ref() else ir.DataType(attribute.as_int())


def reshape_of_reshape(node: ir.Node, facts: Facts) -> Outcome:
    """Reshape(Reshape(x, …), shape) --> Reshape(x, shape), if the shape copies no size.

    A 0 in the shape copies a size of the value in between. It may stay where that size is
    provably the one of x at the same place.
    """
    inner = _producer(node, "Reshape", "Flatten", "Squeeze", "Unsqueeze")
    wanted = facts.integers(node.inputs[1])
    source = None if inner is None else inner.inputs[0]
    between = node.inputs[0]
    if inner is None or wanted is None or source is None or between is None:
        return False
    literal_zero = bool(node.attributes.get_int("allowzero", 0))
    copied = () if literal_zero else tuple(i for i, size in enumerate(wanted) if size == 0)
    if copied and not _same_sizes(source, between, copied):
        return False
    node.replace_input_with(0, source)
    return True


def _same_sizes(one: ir.Value, other: ir.Value, axes: tuple[int, ...]) -> bool:
    mine, theirs = sizes(one), sizes(other)
    if mine is None or theirs is None or max(axes) >= min(len(mine), len(theirs)):
        return False
    return all(isinstance(mine[axis], int) and mine[axis] == theirs[axis] for axis in axes)


def squeeze_of_unsqueeze(node: ir.Node, facts: Facts) -> Outcome:
    """Squeeze(Unsqueeze(x, axes), axes) --> x."""
    return _undone(node, _producer(node, "Unsqueeze"), facts)


def unsqueeze_of_squeeze(node: ir.Node, facts: Facts) -> Outcome:
    """Unsqueeze(Squeeze(x, axes), axes) --> x."""
    return _undone(node, _producer(node, "Squeeze"), facts)


def _undone(node: ir.Node, inner: ir.Node | None, facts: Facts) -> Outcome:
    """Return the source if both nodes name the same axes of the value that has them all."""
    if inner is None:
        return False
    mine, theirs = facts.axes(node), facts.axes(inner)
    if not mine or not theirs or sorted(mine) != sorted(theirs):
        return False
    return inner.inputs[0] or False


_REDUCTIONS = (
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
    "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare",
)  # fmt: skip


def unsqueeze_of_reduction(node: ir.Node, facts: Facts) -> Outcome:
    """Unsqueeze(ReduceMean(x, axes, keepdims = 0), axes) --> ReduceMean(x, axes, keepdims = 1)."""
    inner = _producer(node, *_REDUCTIONS)
    axes = rank(node.outputs[0])
    if inner is None or axes is None or inner.attributes.get_int("keepdims", 1) != 0:
        return False
    kept = inner.outputs[0]
    mine, theirs = facts.axes(node), facts.axes(inner)
    if not mine or not theirs or kept.is_graph_output() or len(kept.uses()) != 1:
        return False
    if sorted(axis % axes for axis in mine) != sorted(axis % axes for axis in theirs):
        return False
    inner.attributes["keepdims"] = ir.AttrInt64("keepdims", 1)
    kept.shape = node.outputs[0].shape
    return kept


def negation_of_negation(node: ir.Node, _: Facts) -> Outcome:
    """Neg(Neg(x)) --> x."""
    inner = _producer(node, "Neg")
    return False if inner is None else inner.inputs[0] or False


def operand_as_wide_as_another(node: ir.Node, _: Facts) -> Outcome:
    """Where(Expand(c, Shape(x)), y, x) --> Where(c, y, x), and so for all that broadcast.

    The operator stretches c to the same shape by itself, whatever that is. So x is not kept for
    its shape: the scores of an attention are often what a mask is made as wide as.
    """
    for index, value in enumerate(node.inputs):
        expand = None if value is None else value.producer()
        if expand is None or not is_standard(expand, "Expand") or expand.inputs[1] is None:
            continue
        shape = expand.inputs[1].producer()
        if shape is None or not is_standard(shape, "Shape") or not is_whole(shape):
            continue
        like = shape.inputs[0]
        others = (*node.inputs[:index], *node.inputs[index + 1 :])
        if like is not None and any(like is other for other in others):
            node.replace_input_with(index, expand.inputs[0])
            return True
    return False
