"""Read a gate by how much all scores weigh against a sink as the sink that it stands for.

rewrite:
    Softmax(scores) · value · Sigmoid(LogSumExp(scores) - sink)
    -->
    Softmax(Concat(scores, sink))[…, :-1] · value

Both are Σ exp(scoreᵢ) · valueᵢ / (Σ exp(scoreᵢ) + exp(sink)). `joined-keys` goes on from there.
"""

from __future__ import annotations

import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.operators.size import add, broadcast
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.fusions.attention.scores import leads_to_product
from burnish.rewrite.fusions.new_values import SizedBuilder, can_be_read
from burnish.rewrite.rule import Builder, Match, Rule

_ENDS_AS_INPUT = 10


def find(node: ir.Node, facts: Facts) -> Match | None:
    """Return the attention that is gated by the logarithm of what its scores weigh."""
    scores = node.inputs[0]
    shape = shapes_of(facts).of(scores)
    if not is_standard(node, "ReduceLogSumExp") or scores is None or shape is None:
        return None
    if facts.axes(node) not in ((-1,), (len(shape) - 1,)) or facts.opset < _ENDS_AS_INPUT:
        return None
    less = _only_reader(node.outputs[0], "Sub")
    gate = None if less is None or less.inputs[0] is not node.outputs[0] else less
    sigmoid = None if gate is None else _only_reader(gate.outputs[0], "Sigmoid")
    if gate is None or sigmoid is None or len(shape) < 3 or not leads_to_product(scores):
        return None
    sink, own = gate.inputs[1], shapes_of(facts).of(gate.inputs[1])
    widened = _only_reader(sigmoid.outputs[0], "Unsqueeze")
    last = sigmoid if widened is None else widened
    if shapes_of(facts).of(last.outputs[0]) != (*shape[:-1], 1) or sink is None or own is None:
        return None
    found = _weighed(scores, last.outputs[0], node)
    kept = bool(node.attributes.get_int("keepdims", 1))
    if found is None or not _fits(own, (*shape[:-1], 1) if kept else shape[:-1]):
        return None
    softmax, product, gated = found
    values = {"scores": scores, "sink": sink, "value": product.inputs[1]}
    if product.outputs[0].dtype not in FLOATS or not can_be_read(shape, facts, values.values()):
        return None
    nodes = (node, gate, sigmoid, *([] if widened is None else [widened]), softmax, product, gated)
    return Match(nodes, gated.outputs[0], values, {"kept": int(kept)})


def _weighed(
    scores: ir.Value, gate: ir.Value, log: ir.Node
) -> tuple[ir.Node, ir.Node, ir.Node] | None:
    """Return the softmax of scores, its product with values, and that times the gate."""
    others = [use.node for use in scores.uses() if use.node is not log]
    softmax = others[0] if len(others) == 1 and is_standard(others[0], "Softmax") else None
    product = None if softmax is None else _only_reader(softmax.outputs[0], "MatMul")
    gated = None if product is None else _only_reader(product.outputs[0], "Mul")
    if softmax is None or product is None or gated is None:
        return None
    rank = len(scores.shape or ())
    over_last = softmax.attributes.get_int("axis", -1) in (-1, rank - 1)
    same = gate in gated.inputs and product.inputs[0] is softmax.outputs[0]
    return (softmax, product, gated) if over_last and same else None


def _fits(own: Shape, other: Shape) -> bool:
    pairs = zip(reversed(own), reversed(other), strict=False)
    return len(own) <= len(other) and all(broadcast(a, b) == b for a, b in pairs)


def _only_reader(value: ir.Value, op_type: str) -> ir.Node | None:
    uses = value.uses()
    if value.is_graph_output() or len(uses) != 1:
        return None
    node = next(iter(uses)).node
    return node if is_standard(node, op_type) else None


def replace(match: Match, builder: Builder) -> ir.Value:
    """Return values weighed by scores that have a sink beside them."""
    scores, sink, value = (match.values[name] for name in ("scores", "sink", "value"))
    if scores is None or sink is None or match.output.dtype is None:
        raise ValueError("a gate has scores and a sink")
    make = SizedBuilder(builder, match.output.dtype, match.values.values())
    shape = make.shapes.of(scores) or ()
    rank, own = len(shape), make.shapes.of(sink) or ()
    if not match.attributes["kept"]:
        sink = make.over_axes("Unsqueeze", sink, [len(own)], (*own, 1))
    missing = rank - len(make.shapes.of(sink) or ())
    if missing:
        whole = (*(1 for _ in range(missing)), *(make.shapes.of(sink) or ()))
        sink = make.over_axes("Unsqueeze", sink, range(missing), whole)
    column, wide = (*shape[:-1], 1), (*shape[:-1], add(shape[-1], 1))
    sink = make.node("Expand", [sink, make.shape(column)], column)
    joined = make.node("Concat", [scores, sink], wide, attributes={"axis": rank - 1})
    weights = make.node("Softmax", [joined], wide, attributes={"axis": rank - 1})
    ends = [make.numbers([at]) for at in (0, -1, rank - 1, 1)]
    cut = make.node("Slice", [weights, *ends], shape)
    return make.node("MatMul", [cut, value], make.shapes.of(match.output) or ())


RULES = (
    Rule(
        "sink-gate",
        "Softmax(s) · v · Sigmoid(LogSumExp(s) - sink) --> Softmax(Concat(s, sink))[…, :-1] · v",
        anchors=frozenset({"ReduceLogSumExp"}),
        find=find,
        replace=replace,
    ),
)
