"""What is downstream of the softmax: a product with the values."""

from __future__ import annotations

from dataclasses import dataclass, replace

import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.fusions.attention.operand import Operand, Turned, operand, turned
from burnish.rewrite.rule import Refusal


@dataclass(frozen=True, slots=True)
class Cleared:
    """Weights that are made zero where a condition says so, as masked ones are by some."""

    condition: ir.Value
    filled: bool
    """What the condition is there."""
    shape: Shape
    """Of the weights where that is done."""


@dataclass(frozen=True, slots=True)
class Weighted:
    """weights · value, as attention gives it."""

    value: Operand
    """With the factor of the whole, which is multiplied with the result."""
    output: ir.Value
    weights: ir.Value
    """The first factor."""
    guarded: bool
    """Rows without a number in them, as a softmax of nothing but -inf gives, are made zero."""
    nodes: tuple[ir.Node, ...]
    cleared: Cleared | None = None


@dataclass(frozen=True, slots=True)
class _Followed:
    """The weights as products read them, and what lies between those and the softmax."""

    weights: ir.Value
    guarded: bool = False
    nodes: tuple[ir.Node, ...] = ()
    cleared: Cleared | None = None


def read(softmax: ir.Node, facts: Facts) -> Weighted | Refusal | None:
    """Return what is done with the softmax; None: it is multiplied by nothing."""
    found = followed(softmax.outputs[0], facts)
    readers = [use.node for use in found.weights.uses()]
    product = next((node for node in readers if _multiplies(node, found.weights)), None)
    if product is None:
        return None
    refusal = _read_elsewhere(softmax, found.weights, readers)
    if refusal is not None:
        return refusal
    return _product(product, found, facts)


def followed(weights: ir.Value, facts: Facts) -> _Followed:
    """Return the weights as products read them."""
    found = _Followed(weights)
    while True:
        weights = found.weights
        readers = [use.node for use in weights.uses()]
        guard = _guard(weights, readers, facts)
        if guard is not None:
            nodes = (*found.nodes, *guard)
            found = replace(found, weights=guard[-1].outputs[0], guarded=True, nodes=nodes)
            continue
        step = readers[0] if len(readers) == 1 and not weights.is_graph_output() else None
        cleared = None if step is None else _cleared(step, weights, facts)
        if step is None or not (_passes(step, facts) or (cleared and not found.cleared)):
            return found
        nodes = (*found.nodes, step)
        cleared = cleared or found.cleared
        found = replace(found, weights=step.outputs[0], nodes=nodes, cleared=cleared)


def _cleared(node: ir.Node, weights: ir.Value, facts: Facts) -> Cleared | None:
    """Return the condition of Where(condition, 0, weights), or of Where(condition, weights, 0)."""
    condition = node.inputs[0]
    if not is_standard(node, "Where") or condition is None:
        return None
    first, second = node.inputs[1], node.inputs[2]
    for filled, zero, kept in ((True, first, second), (False, second, first)):
        shape = shapes_of(facts).of(weights)
        if kept is not weights or facts.scalar(zero) != 0 or shape is None:
            continue
        same = shapes_of(facts).of(node.outputs[0]) == shape
        return Cleared(condition, filled, shape) if same else None
    return None


def _passes(node: ir.Node, facts: Facts) -> bool:
    """Return whether a node only changes the type of the weights, or merges leading axes."""
    if is_standard(node, "Cast"):
        return node.outputs[0].dtype in FLOATS
    shapes = shapes_of(facts)
    before, after = shapes.of(node.inputs[0]), shapes.of(node.outputs[0])
    if not is_standard(node, "Reshape") or before is None or after is None:
        return False
    return before[-2:] == after[-2:]


def _multiplies(node: ir.Node, weights: ir.Value) -> bool:
    fused = node.domain == "com.microsoft" and node.op_type == "FusedMatMul"
    return (fused or is_standard(node, "MatMul")) and weights in node.inputs


def _guard(
    weights: ir.Value, readers: list[ir.Node], facts: Facts
) -> tuple[ir.Node, ir.Node] | None:
    """Return the nodes of Where(IsNaN(weights), 0, weights)."""
    test = next((node for node in readers if is_standard(node, "IsNaN")), None)
    if test is None or len(readers) != 2 or len(test.outputs[0].uses()) != 1:
        return None
    choice = next(iter(test.outputs[0].uses())).node
    if not is_standard(choice, "Where") or choice not in readers:
        return None
    condition, zero, kept = choice.inputs
    if condition is not test.outputs[0] or kept is not weights or facts.scalar(zero) != 0:
        return None
    return test, choice


def _read_elsewhere(softmax: ir.Node, weights: ir.Value, readers: list[ir.Node]) -> Refusal | None:
    if weights.is_graph_output() or softmax.outputs[0].is_graph_output():
        who = "an output of the graph"
    elif len(readers) > 1:
        who = " and ".join(f"{node.op_type} {node.name!r}" for node in readers)
        if all(_multiplies(node, weights) for node in readers):
            return Refusal(
                f"the attention weights {weights.name!r} are used twice, by {who}, expected one"
                " product alone",
                "join the values that have the same weights, and split the result",
            )
    else:
        return None
    return Refusal(
        f"the attention weights {weights.name!r} are read by {who}, expected one product alone",
        "do not ask the model for its attention weights: output_attentions=False",
    )


def _product(node: ir.Node, way: _Followed, facts: Facts) -> Weighted | Refusal:
    right = node.inputs[1]
    if turned(node, "A") != Turned() or node.inputs[0] is not way.weights or right is None:
        return Refusal(
            f"{node.op_type} {node.name!r} has the attention weights turned, or behind the values,"
            " expected weights · values",
            "none: the fused operators weigh the rows of values",
        )
    found = operand(right, facts, turned(node, "B"))
    if found is None:
        return _unranked(node, right, facts)
    alpha = node.attributes.get_float("alpha", 1.0) if node.domain else 1.0
    value = replace(found, factor=found.factor * (1.0 if alpha is None else alpha))
    nodes = (*way.nodes, *found.nodes, node)
    return Weighted(value, node.outputs[0], way.weights, way.guarded, nodes, way.cleared)


def _unranked(node: ir.Node, values: ir.Value, facts: Facts) -> Refusal:
    """Return why values are none that an operator takes: one set for each sample."""
    shape = shapes_of(facts).of(values)
    what = f"the values {values.name!r} that {node.op_type} {node.name!r} weighs"
    if shape is None:
        return Refusal(f"{what} are of unknown rank", "declare the shapes of the graph's inputs")
    return Refusal(
        f"{what} have rank {len(shape)}, expected 3 or more: values of each sample",
        "none: the same values for all samples are a product with a table",
    )
