"""Operators that give back their input, each with the proof that they do.

Every function returns the value that the node's output equals, or False.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import onnx_ir as ir

from burnish.infer.constants import constant_tensor, sizes
from burnish.infer.shapes import shapes_of
from burnish.infer.walk import ints, is_standard
from burnish.rewrite import edit
from burnish.rewrite.facts import Facts, keeps_shape, rank, static_sizes

_AXES_AS_INPUT = 18


def mean_of_last_axis(node: ir.Node, facts: Facts) -> bool:
    """GlobalAveragePool(x) --> ReduceMean(x, axes = 2), if x has three axes.

    tf2onnx writes means over the last of three axes as a pool, those of layer norms among them.
    """
    source, graph = node.inputs[0], node.graph
    if source is None or graph is None or rank(source) != 3:
        return False
    node.op_type = "ReduceMean"
    if facts.opset < _AXES_AS_INPUT:
        node.attributes["axes"] = ir.AttrInt64s("axes", [2])
        return True
    name = f"{node.outputs[0].name}/axes"
    axes = graph.initializers.get(name)
    if axes is None:
        axes = edit.add_initializer(graph, name, np.array([2], np.int64))
    node.resize_inputs(2)
    node.replace_input_with(1, axes)
    return True


Same = ir.Value | Literal[False]

_BEYOND_ANY_AXIS = 10**9
"""Exporters write an end at or above this for "to the end", tf2onnx this; no axis is that long."""


def identity(node: ir.Node, _: Facts) -> Same:
    """Identity(x) --> x."""
    return node.inputs[0] or False


def single_input(node: ir.Node, _: Facts) -> Same:
    """Concat(x) --> x, and Sum, Max, Min, Mean likewise."""
    only = node.inputs[0] if len(node.inputs) == 1 else None
    return only or False


def dropout(node: ir.Node, facts: Facts) -> Same:
    """Dropout(x) --> x, unless it is told to train or its mask is read."""
    # Before opset 7 training was the default.
    if facts.opset < 7 or any(
        output.uses() or output.is_graph_output() for output in node.outputs[1:]
    ):
        return False
    training = node.inputs[2] if len(node.inputs) > 2 else None
    if training is not None:
        told = facts.array(training)
        if told is None or bool(told.any()):
            return False
    return node.inputs[0] or False


def same_type(node: ir.Node, _: Facts) -> Same:
    """Cast(x, to = type of x) --> x."""
    source = node.inputs[0]
    attribute = node.attributes.get("to")
    if source is None or attribute is None or attribute.is_ref():
        return False
    return source if source.dtype == ir.DataType(attribute.as_int()) else False


def same_type_as(node: ir.Node, _: Facts) -> Same:
    """CastLike(x, y) --> x, if both have the same type."""
    source, like = node.inputs[0], node.inputs[1]
    if source is None or like is None or source.dtype is None:
        return False
    return source if source.dtype == like.dtype else False


def identity_transpose(node: ir.Node, _: Facts) -> Same:
    """Transpose(x, perm = 0, 1, 2 …) --> x."""
    source = node.inputs[0]
    perm = ints(node, "perm")
    if source is None:
        return False
    if perm is None:
        return source if rank(source) in (0, 1) else False
    return source if list(perm) == list(range(len(perm))) else False


def whole_of_parts(node: ir.Node, _: Facts) -> Same:
    """Concat(Split(x)) --> x, if all parts are put together again along the axis of the cut."""
    first = None if not node.inputs or node.inputs[0] is None else node.inputs[0].producer()
    if first is None or not is_standard(first, "Split") or first.inputs[0] is None:
        return False
    if tuple(node.inputs) != tuple(first.outputs):
        return False
    axes, given = rank(first.inputs[0]), first.attributes.get_int("axis", 0)
    joined = node.attributes.get_int("axis", 0)
    same = joined == given or (axes is not None and (joined - given) % axes == 0)
    return first.inputs[0] if same else False


_NEUTRAL = {"Add": (0.0, (0, 1)), "Sub": (0.0, (1,)), "Mul": (1.0, (0, 1)), "Div": (1.0, (1,)),
            "Pow": (1.0, (1,))}  # fmt: skip


def neutral_operand(node: ir.Node, facts: Facts) -> Same:
    """Mul(x, 1), Div(x, 1), Add(x, 0), Sub(x, 0), Pow(x, 1) --> x, if x is not stretched."""
    number, positions = _NEUTRAL[node.op_type]
    for position in positions:
        constant, other = node.inputs[position], node.inputs[1 - position]
        if constant is None or other is None:
            continue
        if _is_filled(constant, number, facts) and _of_one_shape(constant, other, facts):
            return other
        if constant_tensor(constant) is None:
            continue
        array = facts.array(constant)
        if array is None or facts.scalar(constant) != number:
            continue
        if keeps_shape(array.shape, other):
            return other
    return False


def _is_filled(value: ir.Value, number: float, facts: Facts) -> bool:
    """Return whether all of a value is computed to be one number."""
    node = value.producer()
    while node is not None and is_standard(node, "Cast") and node.inputs[0] is not None:
        node = node.inputs[0].producer()
    if node is None:
        return False
    if is_standard(node, "ConstantOfShape"):
        given = node.attributes.get("value")
        held = 0.0 if given is None else float(given.as_tensor().numpy().reshape(-1)[0])
        return held == number
    return is_standard(node, "Expand") and facts.scalar(node.inputs[0]) == number


def _of_one_shape(one: ir.Value, other: ir.Value, facts: Facts) -> bool:
    """Return whether two values are proven to have the same shape."""
    found = shapes_of(facts).of(one)
    return found is not None and found == shapes_of(facts).of(other)


def same_size_reshape(node: ir.Node, facts: Facts) -> Same:
    """Reshape(x, shape of x) --> x.

    One -1 is allowed where all other sizes are proven: the number of elements settles it.
    """
    source = node.inputs[0]
    known = None if source is None else sizes(source)
    wanted = facts.integers(node.inputs[1])
    if source is None or known is None or wanted is None or len(wanted) != len(known):
        return False
    literal_zero = bool(node.attributes.get_int("allowzero", 0))
    open_sizes = 0
    for have, want in zip(known, wanted, strict=True):
        if want == 0 and not literal_zero:
            continue
        if want == have and want > 0:
            continue
        if want != -1:
            return False
        open_sizes += 1
    return source if open_sizes <= 1 else False


def same_size_expand(node: ir.Node, facts: Facts) -> Same:
    """Expand(x, shape) --> x, if no size of the shape is larger than that of x."""
    source = node.inputs[0]
    wanted = facts.integers(node.inputs[1])
    if source is None or wanted is None:
        return False
    return source if keeps_shape(wanted, source) else False


def decided_choice(node: ir.Node, facts: Facts) -> Same:
    """Where(all true, x, y) --> x, and y if none is, unless it is stretched."""
    asked = facts.array(node.inputs[0])
    if asked is None or asked.size == 0 or bool(asked.any()) != bool(asked.all()):
        return False
    yes, no = node.inputs[1], node.inputs[2]
    chosen, other = (yes, no) if bool(asked.all()) else (no, yes)
    width = None if other is None else static_sizes(other)
    if chosen is None or width is None:
        return False
    return chosen if keeps_shape(asked.shape, chosen) and keeps_shape(width, chosen) else False


def whole_slice(node: ir.Node, facts: Facts) -> Same:
    """Slice(x, from the first to the last) --> x."""
    source = node.inputs[0]
    if source is None or len(node.inputs) < 3:
        return False
    starts, ends = facts.integers(node.inputs[1]), facts.integers(node.inputs[2])
    steps = facts.integers(node.inputs[4]) if len(node.inputs) > 4 else (1,)
    if starts is None or ends is None or steps is None or any(starts):
        return False
    if any(step != 1 for step in steps):
        return False
    limits = _axis_sizes(node, source, facts, len(starts))
    reaches = all(
        end >= _BEYOND_ANY_AXIS or (isinstance(limit, int) and end >= limit)
        for end, limit in zip(ends, limits, strict=True)
    )
    return source if reaches else False


def _axis_sizes(
    node: ir.Node, source: ir.Value, facts: Facts, count: int
) -> tuple[int | str | None, ...]:
    known = sizes(source)
    given = node.inputs[3] if len(node.inputs) > 3 else None
    axes = tuple(range(count)) if given is None else facts.integers(given)
    if known is None or axes is None:
        return (None,) * count
    return tuple(known[axis] for axis in axes)


def no_padding(node: ir.Node, facts: Facts) -> Same:
    """Pad(x, zeros everywhere) --> x."""
    attribute = ints(node, "pads")
    given = node.inputs[1] if len(node.inputs) > 1 else None
    pads = attribute if attribute is not None else facts.integers(given)
    source = node.inputs[0]
    return False if pads is None or source is None or any(pads) else source
