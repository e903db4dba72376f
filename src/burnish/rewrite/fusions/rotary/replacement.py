"""Write a rotary embedding as one operator."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.size import multiply
from burnish.rewrite import emission
from burnish.rewrite.emission import CONTRIB
from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.attention.operand import HEADS_LAST, joined_heads, operand
from burnish.rewrite.fusions.new_values import SizedBuilder
from burnish.rewrite.fusions.rotary.pairs import Pairing
from burnish.rewrite.fusions.rotary.plan import STANDARD_OPSET, RotaryPlan
from burnish.rewrite.fusions.rotary.turn import Turn
from burnish.rewrite.rule import Builder, Match, Refusal


def find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    """Return a RotaryEmbedding whose cosines have fewer samples than its input."""
    inputs = list(node.inputs)
    if not is_standard(node, "RotaryEmbedding") or any(value is not None for value in inputs[3:]):
        return None
    x, cos, sin = inputs[:3]
    shapes = shapes_of(facts)
    shape, table = shapes.of(x), shapes.of(cos)
    if x is None or cos is None or sin is None or shape is None or table is None:
        return None
    if len(shape) != 4 or len(table) != 3 or table[0] != 1 or shape[0] == 1:
        return None
    half = table[2]
    width = node.attributes.get_int("rotary_embedding_dim", 0) or shape[3]
    if table[1] != shape[2] or not isinstance(half, int) or width != 2 * half:
        return Refusal(
            f"the cosines {cos.name!r} of RotaryEmbedding {node.name!r} do not fit its input"
            f" {x.name!r}",
            "give the axes of the graph's inputs names, the same for the same size",
        )
    standard = facts.options.ops == "standard"
    refusal = emission.refusal(
        "RotaryEmbedding", "" if standard else CONTRIB, x.dtype, facts.options
    )
    if refusal is not None:
        return refusal
    pairing: Pairing = "neighbours" if node.attributes.get_int("interleaved", 0) else "halves"
    output = node.outputs[0]
    turn = Turn(x, cos, sin, False, pairing, output, (node,))
    return RotaryPlan(
        nodes=(node,), output=output, values={"x": x, "cos": cos, "sin": sin}, turn=turn, x=x,
        shape=shape, width=2 * half, standard=standard,
    )  # fmt: skip


def replace(match: Match, builder: Builder) -> ir.Value:
    """Return what stands for the output of a plan."""
    if not isinstance(match, RotaryPlan) or match.turn is None or match.x is None:
        raise ValueError("this match is not one of a rotary embedding")
    if match.standard:
        builder.require_opset(STANDARD_OPSET)
    make = SizedBuilder(builder, match.x.dtype or ir.DataType.FLOAT, match.values.values())
    cos, sin = (_table(value, match, make) for value in (match.turn.cos, match.turn.sin))
    if match.turn.backwards:
        sin = make.node("Neg", [sin], make.shapes.of(sin) or ())
    positions = _positions(match, make)
    x, joined = _input(match, make)
    attributes: dict[str, int] = {}
    if match.turn.pairing == "neighbours":
        attributes["interleaved"] = 1
    heads, width = match.shape[2 if match.heads_last else 1], match.shape[3]
    if isinstance(heads, int) and (joined or match.width != width):
        attributes["num_heads"] = heads
    if match.width != width:
        attributes["rotary_embedding_dim"] = match.width
    inputs = [x, cos, sin, positions] if match.standard else [x, positions, cos, sin]
    shape = make.shapes.of(x) or ()
    domain = "" if match.standard else CONTRIB
    result = make.node("RotaryEmbedding", inputs, shape, domain=domain, attributes=attributes)
    turned = _output(match, result, joined, make)
    beside = [*match.turn.before, turned, *match.turn.after]
    if len(beside) == 1:
        return turned
    whole = make.shapes.of(match.output) or ()
    return make.node("Concat", beside, whole, attributes={"axis": len(whole) - 1})


def _table(value: ir.Value, plan: RotaryPlan, make: SizedBuilder) -> ir.Value:
    """Return cosines or sines as a table: one row for each position, one number for each pair."""
    shape = make.shapes.of(value) or ()
    half = plan.width // 2
    if plan.turn is not None and plan.turn.doubled:
        apart = plan.turn.pairing == "neighbours"
        start, end, axes, steps = (
            make.numbers([number])
            for number in (0, plan.width if apart else half, len(shape) - 1, 2 if apart else 1)
        )
        cut = (*shape[:-1], half)
        value = make.node("Slice", [value, start, end, axes, steps], cut)
    length = plan.shape[1 if plan.heads_last else 2]
    rows = multiply(plan.shape[0], length) if plan.per_sample else length
    return make.node("Reshape", [value, make.numbers([-1, half])], (rows, half))


def _positions(plan: RotaryPlan, make: SizedBuilder) -> ir.Value:
    """Return the row of the table for each position: all in order."""
    batch, length = plan.shape[0], plan.shape[1 if plan.heads_last else 2]
    if not plan.per_sample and not plan.standard:
        return make.numbers([0])
    rows = multiply(batch, length) if plan.per_sample else length
    whole = ir.DataType.INT64
    bounds = [make.builder.constant("number", np.array(number, np.int64)) for number in (0, 1)]
    count = make.shape((rows,))
    limit = make.over_axes("Squeeze", count, [0], ())
    order = make.node("Range", [bounds[0], limit, bounds[1]], (rows,), dtype=whole)
    shape = make.shape((batch, length))
    if plan.per_sample:
        return make.node("Reshape", [order, shape], (batch, length), dtype=whole)
    return make.node("Expand", [order, shape], (batch, length), dtype=whole)


def _input(plan: RotaryPlan, make: SizedBuilder) -> tuple[ir.Value, bool]:
    """Return x, and whether its heads are joined."""
    x = plan.x
    if x is None or plan.turn is None:
        raise ValueError("a plan has an input")
    if plan.turn.second is not None:
        x = make.node("Concat", [x, plan.turn.second], plan.shape, attributes={"axis": 3})
    if plan.turn.paired:
        x = make.node("Reshape", [x, make.numbers([0, 0, 0, plan.width])], plan.shape)
    if plan.heads_last:
        batch, length, heads, size = plan.shape
        shape = (batch, length, multiply(heads, size))
        return make.node("Reshape", [x, make.numbers([0, 0, -1])], shape), True
    found = operand(x, make.builder.facts)
    whole = None
    if found is not None and found.factor == 1.0 and isinstance(plan.shape[1], int):
        whole = joined_heads(found, make.builder.facts)
    return (x, False) if whole is None else (whole, True)


def _output(plan: RotaryPlan, result: ir.Value, joined: bool, make: SizedBuilder) -> ir.Value:
    if not joined:
        return result
    sizes = plan.shape if plan.heads_last else tuple(plan.shape[axis] for axis in HEADS_LAST)
    heads, size = sizes[2], sizes[3]
    if not isinstance(heads, int) or not isinstance(size, int):
        raise TypeError("joined heads are known by their number and size")
    split = make.node("Reshape", [result, make.numbers([0, 0, heads, size])], sizes)
    if plan.heads_last:
        return split
    return make.node("Transpose", [split], plan.shape, attributes={"perm": HEADS_LAST})
