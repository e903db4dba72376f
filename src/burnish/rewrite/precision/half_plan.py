"""Which nodes stay in f32 when a model is brought to fp16 or bf16, each with its reason."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

import numpy as np
import onnx_ir as ir

from burnish.infer import walk
from burnish.infer.walk import is_standard
from burnish.rewrite import opsets
from burnish.rewrite.facts import Facts
from burnish.rewrite.options import Target
from burnish.rewrite.precision.half_types import Half, is_wide, kernel_obstacle, signature
from burnish.rewrite.precision.keep import ASKED, Asked

Reasons = dict[ir.Node, str]

_MOVING = ("Cast", "Concat", "Expand", "Gather", "Reshape", "Slice", "Split", "Squeeze",
           "Transpose", "Unsqueeze", "Identity")  # fmt: skip
_ANGLE_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Neg", "MatMul", "Einsum", "Pow", "Reciprocal",
                     "Exp", "Where", "Range", "CumSum", *_MOVING)  # fmt: skip
_AVERAGES = ("ReduceMean", "ReduceSum", "GlobalAveragePool")
_TOWARDS_A_ROOT = ("Add", "Max", "Clip", "Sqrt", "Reciprocal", "Pow", "Identity", "Log")
_MOST_ANGLE_NODES = 64
_MOST_FREQUENCIES = 4096
"""Elements of a constant that is no matrix of weights."""
NOTHING_SEEN: Mapping[str, float] = MappingProxyType({})
_MARGIN = 2.0
"""How much larger than on the inputs that were tried values may get."""
_FEWEST_STEPS = 2.0**7
"""A tensor whose largest value has fewer steps below it has lost four of its eleven bits."""
_SCALING = ("Mul", "Div", "Pow", "MatMul", "Gemm", "Conv")
_SMALL_CONSTANT = 16
"""Elements; larger ones are weights, of which single elements may vanish."""


def kept_nodes(
    model: ir.Model,
    half: Half,
    *,
    target: Target,
    keep: Collection[str],
    magnitudes: Mapping[str, float],
) -> Reasons:
    """Return the nodes, those of bodies too, that touch f32 and must stay in it, with the reasons.

    `keep` are operators, names and patterns that the user wants to stay; `magnitudes` are the
    largest that values had when the model ran, by name.
    """
    asked = Asked(model, keep)
    facts, opset = Facts(model), opsets.declared(model)
    reasons: Reasons = {}
    for node in walk.nodes(model):
        if not any(map(is_wide, (*node.inputs, *node.outputs))) and not walk.may_hold_bodies(node):
            continue
        reason = (
            (ASKED if node in asked else None)
            or _obstacle(node, opset, target, half)
            or _out_of_range(node, half, magnitudes)
            or _beyond(node, half, facts)
        )
        if reason is not None:
            reasons[node] = reason
        for found, why in _unsafe(node, facts, half):
            reasons.setdefault(found, why)
    return reasons


def _out_of_range(node: ir.Node, half: Half, magnitudes: Mapping[str, float]) -> str | None:
    """Return why the values that a node was seen to read or give do not fit a type."""
    for value in (*node.inputs, *node.outputs):
        seen = magnitudes.get(value.name or "") if value is not None and is_wide(value) else None
        if seen is None:
            continue
        if seen * _MARGIN > half.largest:
            end = f"{half.name} ends at {half.largest:,.7g}"
            return f"values reach {seen:.3g} on the inputs tried; {end}"
        if 0 < seen < half.smallest * _FEWEST_STEPS:
            few = f"where {half.name} has few bits"
            return f"values reach {seen:.3g} at most on the inputs tried, {few}"
    return None


def _beyond(node: ir.Node, half: Half, facts: Facts) -> str | None:
    """Return why a factor that a node has does not fit a type; sums and masks may be clipped."""
    if not is_standard(node, *_SCALING):
        return None
    for value in node.inputs:
        array = facts.array(value) if is_wide(value) else None
        if array is None or array.size == 0:
            continue
        top = float(np.abs(array[np.isfinite(array)]).max(initial=0.0))
        if top > half.largest:
            return f"its constant {top:.3g} is beyond {half.largest:,.7g}, where {half.name} ends"
        if array.size <= _SMALL_CONSTANT and 0 < top < half.smallest * _FEWEST_STEPS:
            return f"its constant {top:.3g} has few bits in {half.name}"
    return None


def _obstacle(node: ir.Node, opset: int, target: Target, half: Half) -> str | None:
    """Return why a node cannot take fewer bits, or runs better without."""
    if any(True for _ in walk.bodies(node)):
        return f"what the graphs of {node.op_type} take and give stays as it is"
    if any(not isinstance(value.type, ir.TensorType | None) for value in node.outputs):
        return f"{node.op_type} gives something else than a tensor"
    known = signature(node, opset, half)
    if known is None:
        return f"nothing is known about operators of {node.domain!r}"
    if not known.takes_half(node):
        return f"{node.op_type} takes no {half.name} in opset {opset}"
    return kernel_obstacle(node, target, half)


def _unsafe(node: ir.Node, facts: Facts, half: Half) -> Iterator[tuple[ir.Node, str]]:
    """Yield nodes that fewer bits would make wrong, found at one of them."""
    if not is_standard(node, node.op_type):
        return
    table = _table()
    if node.op_type in table["unsafe"]:
        yield node, table["unsafe"][node.op_type]
    short = half.largest < np.finfo(np.float32).max / 2
    if short and node.op_type in table["range"]:
        yield node, table["range"][node.op_type]
    if (
        node.attributes.get_string("reduction", "none") != "none"
        and node.op_type in table["combining"]
    ):
        yield node, table["combining"][node.op_type]
    if node.op_type in table["angles"]:
        why = table["angles"][node.op_type]
        yield from ((found, why) for found in (node, *_angle(node)))
    vanishing = _vanishing(node, facts, half)
    if vanishing is not None:
        why = f"its constant {vanishing:.3g} is 0 in {half.name}"
        yield from ((found, why) for found in (node, *_towards_a_root(node)))
    if short and _averages_squares(node, facts):
        square = node.inputs[0].producer() if node.inputs[0] is not None else None
        why = "sums of squares leave the range of fp16"
        squares = () if square is None else (square,)
        yield from ((found, why) for found in (*squares, node, *_towards_a_root(node)))


def _angle(node: ir.Node) -> tuple[ir.Node, ...]:
    """Return what computes an angle from inputs and few constants; empty: from other things."""
    found: dict[ir.Node, None] = {}
    waiting = [node.inputs[0]]
    while waiting:
        value = waiting.pop()
        if value is None or not is_wide(value) or value.is_graph_input():
            continue
        producer = value.producer()
        if value.is_initializer():
            if value.const_value is None or value.const_value.size > _MOST_FREQUENCIES:
                return ()
            continue
        if producer is None or not is_standard(producer, *_ANGLE_ARITHMETIC, "Constant"):
            return ()
        if producer not in found:
            found[producer] = None
            waiting.extend(producer.inputs)
        if len(found) > _MOST_ANGLE_NODES:
            return ()
    return tuple(found)


def _vanishing(node: ir.Node, facts: Facts, half: Half) -> float | None:
    """Return a small constant that a node reads and that becomes 0."""
    for value in node.inputs:
        if value is None or not is_wide(value) or not value.is_initializer():
            continue
        array = facts.array(value)
        if array is None or array.size > _SMALL_CONSTANT:
            continue
        gone = array[(array != 0) & (np.abs(array) < half.smallest / 2)]
        if gone.size:
            return float(gone.reshape(-1)[0])
    return None


def _averages_squares(node: ir.Node, facts: Facts) -> bool:
    if node.op_type not in _AVERAGES or node.inputs[0] is None:
        return False
    square = node.inputs[0].producer()
    if square is None:
        return False
    if is_standard(square, "Pow"):
        return (facts.scalar(square.inputs[1]) or 0) >= 2
    return is_standard(square, "Mul") and square.inputs[0] is square.inputs[1]


def _towards_a_root(node: ir.Node) -> tuple[ir.Node, ...]:
    """Return what reads a small or large result until it is a root or a quotient."""
    found: dict[ir.Node, None] = {}
    waiting = list(node.outputs)
    while waiting:
        value = waiting.pop()
        for reader, position in value.uses():
            if reader in found or not any(map(is_wide, reader.outputs)):
                continue
            if is_standard(reader, "Div") and position == 1:
                found[reader] = None
            elif is_standard(reader, *_TOWARDS_A_ROOT) and _has_one_operand(reader):
                found[reader] = None
                waiting.extend(reader.outputs)
    return tuple(found)


def _has_one_operand(node: ir.Node) -> bool:
    """Return whether a node computes something from one value and constants."""
    return sum(value is not None and not value.is_initializer() for value in node.inputs) == 1


@cache
def _table() -> Mapping[str, Mapping[str, str]]:
    """Return the reasons by operator, for each part of the table."""
    text = (resources.files("burnish.rewrite.precision") / "half.toml").read_text(encoding="utf-8")
    return {part: dict(_reasons(rows)) for part, rows in tomllib.loads(text).items()}


def _reasons(rows: Iterable[Mapping[str, object]]) -> Iterator[tuple[str, str]]:
    for row in rows:
        operators = row["operators"]
        if isinstance(operators, list):
            yield from ((str(name), str(row["reason"])) for name in operators)
