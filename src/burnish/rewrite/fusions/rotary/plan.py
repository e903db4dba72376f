"""Decide whether a rotary embedding can be written as one operator, and with which table."""

from __future__ import annotations

from dataclasses import dataclass, replace

import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.rewrite import emission
from burnish.rewrite.emission import CONTRIB
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.fusions.new_values import can_be_read
from burnish.rewrite.fusions.rotary import turn
from burnish.rewrite.fusions.rotary.pairs import cut
from burnish.rewrite.fusions.rotary.turn import Turn
from burnish.rewrite.matched import in_order
from burnish.rewrite.rule import Match, Refusal

STANDARD_OPSET = 23


@dataclass(frozen=True, slots=True)
class RotaryPlan(Match):
    """A rotary embedding, and how to write it."""

    turn: Turn | None = None
    x: ir.Value | None = None
    """What is turned, with what is passed by where only a part is."""
    shape: Shape = ()
    """Of x."""
    heads_last: bool = False
    """x is (batch, length, heads, size); else (batch, heads, length, size)."""
    width: int = 0
    """How many numbers of each head are turned."""
    per_sample: bool = False
    """Cosines and sines differ from sample to sample."""
    standard: bool = False


def find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    """Return the rotary embedding around a Neg or a Sub."""
    if not is_standard(node, "Neg", "Sub") or node.outputs[0].dtype not in FLOATS:
        return None
    read = turn.by_negation if node.op_type == "Neg" else turn.by_difference
    found = read(node, facts)
    if found is None or isinstance(found, Refusal):
        return found
    standard = facts.options.ops == "standard"
    domain = "" if standard else CONTRIB
    refusal = emission.refusal("RotaryEmbedding", domain, found.x.dtype, facts.options)
    obstacle = facts.opset_obstacle(STANDARD_OPSET) if standard else None
    if refusal is None and obstacle is not None:
        refusal = Refusal(f"RotaryEmbedding needs opset {STANDARD_OPSET}: {obstacle}",
                          "let burnish use ONNX Runtime's own operators: --ops auto")  # fmt: skip
    return refusal or _shaped(node, found, facts)


def _shaped(node: ir.Node, found: Turn, facts: Facts) -> Match | Refusal:
    shapes = shapes_of(facts)
    shape, tables = turn.turned_shape(found, facts), (shapes.of(found.cos), shapes.of(found.sin))
    if shape is None or len(shape) != 4 or tables[0] is None or tables[0] != tables[1]:
        return Refusal(
            f"{found.x.name!r} around {node.op_type} {node.name!r} has"
            f" {'an unknown' if shape is None else len(shape)} rank or cosines and sines of"
            " different shapes, expected four axes",
            "declare the shapes of the graph's inputs",
        )
    if found.cos.dtype != found.x.dtype or found.sin.dtype != found.x.dtype:
        return Refusal(
            f"the cosines {found.cos.name!r} have type {found.cos.dtype}, expected"
            f" {found.x.dtype}, that of {found.x.name!r}",
            "export the model in one floating type",
        )
    width = shape[3]
    table = ((1, 1, 1) + tables[0])[-4:]
    given = width if found.doubled else _half(width)
    for heads_last in (False, True):
        length, heads = (1, 2) if heads_last else (2, 1)
        if table[length] != shape[length] or table[heads] != 1 or table[3] != given:
            continue
        if table[0] not in (1, shape[0]) or not isinstance(width, int):
            continue
        plan = RotaryPlan(
            nodes=found.nodes, output=found.output, turn=found, x=found.x, shape=shape,
            values=_read(found),
            heads_last=heads_last, width=width, per_sample=table[0] != 1,
            standard=facts.options.ops == "standard",
        )  # fmt: skip
        if not can_be_read(shape[:3], facts, plan.values.values()):
            break
        return _widened(plan, facts)
    return Refusal(
        f"the cosines {found.cos.name!r} cannot be proven to be one row for each position of"
        f" {found.x.name!r}, the same for all heads",
        "give the axes of the graph's inputs names, the same for the same size",
    )


def _read(found: Turn) -> dict[str, ir.Value | None]:
    beside = enumerate((*found.before, *found.after))
    return {
        "x": found.x, "second": found.second, "cos": found.cos, "sin": found.sin,
        **{f"beside_{index}": value for index, value in beside},
    }  # fmt: skip


def _half(width: object) -> int | None:
    return width // 2 if isinstance(width, int) else None


def _widened(plan: RotaryPlan, facts: Facts) -> RotaryPlan:
    """Return a plan that takes in the numbers that are passed by, where only a part is turned."""
    if plan.turn is None:
        raise ValueError("a plan has a turn")
    apart = plan.turn.second is not None or plan.turn.paired
    if apart or plan.turn.before or plan.turn.after:
        return plan
    turned = cut(plan.turn.x, facts)
    readers = [use.node for use in plan.output.uses()]
    if turned is None or len(readers) != 1 or plan.output.is_graph_output():
        return plan
    join = readers[0]
    shapes = shapes_of(facts)
    shape = shapes.of(turned.source)
    if not is_standard(join, "Concat") or len(join.inputs) != 2 or shape is None:
        return plan
    rest = cut(join.inputs[1], facts)
    whole = (turned.start, turned.end, turned.step) == (0, plan.width, 1)
    if join.inputs[0] is not plan.output or not whole or rest is None:
        return plan
    passed = (rest.start, rest.end, rest.step) == (plan.width, turned.width, 1)
    heads = shape[2 if plan.heads_last else 1]
    known = isinstance(heads, int) and shapes.of(join.outputs[0]) == shape
    if rest.source is not turned.source or not passed or not known:
        return plan
    cuts = [value.producer() for value in (plan.turn.x, join.inputs[1]) if value is not None]
    nodes = in_order([item for item in cuts if item is not None], plan.nodes, [join])
    values = {**plan.values, "x": turned.source}
    return replace(
        plan, nodes=nodes, output=join.outputs[0], x=turned.source, shape=shape, values=values
    )
