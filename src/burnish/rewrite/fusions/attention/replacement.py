"""Write the operator that an attention was found to be."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from burnish.operators.record import Shape
from burnish.operators.size import multiply, total
from burnish.rewrite.emission import CONTRIB
from burnish.rewrite.fusions.attention import bias
from burnish.rewrite.fusions.attention.operand import HEADS_LAST, Operand, joined_heads
from burnish.rewrite.fusions.attention.plan import STANDARD_OPSET, AttentionPlan
from burnish.rewrite.fusions.new_values import SizedBuilder
from burnish.rewrite.rule import Builder, Match

_ABOVE_ANY_MASK = -1e30
"""ONNX Runtime's Attention takes the lowest number for a mask that leaves nothing, not this."""


def replace(match: Match, builder: Builder) -> ir.Value:
    """Return what stands for the output of a plan."""
    if not isinstance(match, AttentionPlan) or match.query is None or match.output.dtype is None:
        raise ValueError("this match is not one of attention")
    if match.standard:
        builder.require_opset(STANDARD_OPSET)
    make = SizedBuilder(builder, match.output.dtype, match.values.values())
    added = _bias(match, make)
    result = (_standard if match.standard else _multi_head)(match, added, make)
    factor = 1.0 if match.value is None else match.value.factor
    if factor == 1.0:
        return result
    return make.node("Mul", [result, make.scalar(factor)], make.shapes.of(result) or ())


def _bias(plan: AttentionPlan, make: SizedBuilder) -> tuple[ir.Value, Shape] | None:
    if not plan.fits:
        return None
    value, shape = bias.total(plan.fits, make)
    if len(plan.product) == 3:
        shape = (shape[0], 1, *shape[1:])
        value = make.over_axes("Unsqueeze", value, [1], shape)
    if plan.clipped:
        value = make.node("Max", [value, make.scalar(_ABOVE_ANY_MASK)], shape)
    rows, columns = plan.product[-2:]
    value = bias.spread(value, shape, rows, columns, make)
    return value, (*shape[:2], rows, columns)


def _multi_head(
    plan: AttentionPlan, added: tuple[ir.Value, Shape] | None, make: SizedBuilder
) -> ir.Value:
    batch, rows = plan.product[0], plan.product[-2]
    heads = plan.product[1] if len(plan.product) == 4 else 1
    query = _joined(plan.query, make)
    key, value = _keys_and_values(plan, make)
    inputs: list[ir.Value | None] = [query, key, value]
    if added is not None:
        inputs += [None, None, added[0]]
    whole = (batch, rows, multiply(heads, plan.size[0]))
    attributes = {"num_heads": _number(heads), "scale": plan.scale}
    result = make.node("MultiHeadAttention", inputs, whole, domain=CONTRIB, attributes=attributes)
    if plan.guarded and added is not None:
        result = _guarded(plan, result, added, make)
    return _laid_out(plan, result, make)


def _empty_rows(added: tuple[ir.Value, Shape], make: SizedBuilder) -> ir.Value:
    """Return which rows are masked throughout: (batch, heads, rows, 1)."""
    mask, shape = added
    rows = (*shape[:3], 1)
    highest = make.over_axes("ReduceMax", mask, [-1], rows)
    return make.node("Equal", [highest, make.scalar(-np.inf)], rows, dtype=ir.DataType.BOOL)


def _guarded(
    plan: AttentionPlan, result: ir.Value, added: tuple[ir.Value, Shape], make: SizedBuilder
) -> ir.Value:
    """Return a result with zeros in the rows that are masked throughout."""
    empty, shape = _empty_rows(added, make), added[1]
    whole = make.shapes.of(result) or ()
    if len(whole) == 4:
        return make.node("Where", [empty, make.scalar(0.0), result], whole)
    if shape[1] == 1:
        empty = make.over_axes("Squeeze", empty, [1], (shape[0], shape[2], 1))
        return make.node("Where", [empty, make.scalar(0.0), result], whole)
    parts = (whole[0], plan.product[1], whole[1], plan.size[0])
    split = _heads_of(plan, result, make)
    turned = make.node("Transpose", [split], parts, attributes={"perm": HEADS_LAST})
    kept = make.node("Where", [empty, make.scalar(0.0), turned], parts)
    last = (parts[0], parts[2], parts[1], parts[3])
    back = make.node("Transpose", [kept], last, attributes={"perm": HEADS_LAST})
    return make.node("Reshape", [back, make.numbers([0, 0, -1])], whole)


def _heads_of(plan: AttentionPlan, result: ir.Value, make: SizedBuilder) -> ir.Value:
    batch, heads, rows = plan.product[:3]
    shape = (batch, rows, heads, plan.size[0])
    return make.node("Reshape", [result, make.numbers([0, 0, _number(heads), -1])], shape)


def _laid_out(plan: AttentionPlan, result: ir.Value, make: SizedBuilder) -> ir.Value:
    """Return (batch, length, heads · size) in the layout that the graph goes on with."""
    if plan.split:
        whole = (*plan.split, plan.product[-2], plan.size[0])
        return make.node("Reshape", [result, make.shape(whole)], whole)
    if plan.layout == "joined":
        return result
    split = _heads_of(plan, result, make)
    if plan.layout == "split":
        return split
    batch, heads, rows = plan.product[:3]
    shape = (batch, heads, rows, plan.size[0])
    return make.node("Transpose", [split], shape, attributes={"perm": HEADS_LAST})


def _keys_and_values(plan: AttentionPlan, make: SizedBuilder) -> tuple[ir.Value, ir.Value]:
    """Return both with joined heads if that is how they come, else both with split ones."""
    if plan.key is None or plan.value is None:
        raise ValueError("a plan has keys and values")
    facts = make.builder.facts
    parts = (plan.key, plan.value)
    shapes = [part.shape(facts) for part in parts]
    joined = [joined_heads(part, facts) for part in parts]
    if len(plan.product) == 3 or None not in joined or shapes[0] != shapes[1]:
        return _joined(plan.key, make), _joined(plan.value, make)
    return turned_value(plan.key, make), turned_value(plan.value, make)


def _joined(part: Operand | None, make: SizedBuilder) -> ir.Value:
    """Return an operand as (batch, length, heads · size)."""
    if part is None:
        raise ValueError("a plan has all operands")
    if len(part.perm) == 3:
        return turned_value(part, make)
    if len(part.perm) > 4:
        shape = part.shape(make.builder.facts) or ()
        merged = (total(shape[:-2]), *shape[-2:])
        return make.node("Reshape", [turned_value(part, make), make.shape(merged)], merged)
    whole = joined_heads(part, make.builder.facts)
    if whole is not None:
        return whole
    batch, heads, rows, size = part.shape(make.builder.facts) or ()
    last = Operand(part.value, tuple(part.perm[axis] for axis in HEADS_LAST))
    shape = (batch, rows, multiply(heads, size))
    return make.node("Reshape", [turned_value(last, make), make.numbers([0, 0, -1])], shape)


def turned_value(part: Operand | None, make: SizedBuilder) -> ir.Value:
    """Return an operand with its axes in order."""
    if part is None:
        raise ValueError("a plan has all operands")
    if part.perm == tuple(range(len(part.perm))):
        return part.value
    shape = part.shape(make.builder.facts) or ()
    return make.node("Transpose", [part.value], shape, attributes={"perm": part.perm})


def _standard(
    plan: AttentionPlan, added: tuple[ir.Value, Shape] | None, make: SizedBuilder
) -> ir.Value:
    """Write ONNX's own Attention, on operands with joined heads if all come so."""
    batch, heads, rows, _ = plan.product
    parts = [part for part in (plan.query, plan.key, plan.value) if part is not None]
    facts = make.builder.facts
    joined = [joined_heads(part, facts) for part in parts]
    attributes: dict[str, int | float] = {"scale": plan.scale}
    if plan.softcap:
        attributes["softcap"] = plan.softcap
    if plan.causal:
        attributes["is_causal"] = 1
    mask = plan.mask if added is None else added[0]
    given = [] if mask is None else [mask]
    if None not in joined:
        groups = (parts[1].shape(facts) or ())[1]
        attributes |= {"q_num_heads": _number(heads), "kv_num_heads": _number(groups)}
        whole = (batch, rows, multiply(heads, plan.size[0]))
        result = make.node("Attention", [*joined, *given], whole, attributes=attributes)
        if plan.guarded and added is not None:
            result = _guarded(plan, result, added, make)
        return _laid_out(plan, result, make)
    turned = [turned_value(part, make) for part in parts]
    shape = (batch, heads, rows, plan.size[0])
    result = make.node("Attention", [*turned, *given], shape, attributes=attributes)
    if plan.guarded and added is not None:
        result = _guarded(plan, result, added, make)
    if plan.layout == "heads":
        return result
    last = (batch, rows, heads, plan.size[0])
    split = make.node("Transpose", [result], last, attributes={"perm": HEADS_LAST})
    if plan.layout == "split":
        return split
    whole = (batch, rows, multiply(heads, plan.size[0]))
    return make.node("Reshape", [split, make.numbers([0, 0, -1])], whole)


def _number(size: object) -> int:
    if not isinstance(size, int):
        raise TypeError(f"{size} is not a number of heads")
    return size
