"""Multiply values by attention weights the usual way round.

rewrite:
    MatMul(value, Transpose(weights))
    -->
    Transpose(MatMul(weights, Transpose(value)))

Where channels come before pixels, attention is written so: values are (channels, keys), and the
weights are turned. There are fewer values than weights, so this pays on its own.
"""

from __future__ import annotations

import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import ints, is_standard
from burnish.operators.record import Shape
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.fusions.attention import weighted
from burnish.rewrite.fusions.attention.operand import Turned, turned
from burnish.rewrite.fusions.attention.scores import is_product, leads_to_product
from burnish.rewrite.fusions.new_values import SizedBuilder
from burnish.rewrite.rule import Builder, Match, Rule


def find(node: ir.Node, facts: Facts) -> Match | None:
    """Return the product of values with the turned weights of an attention."""
    source = node.inputs[0] if is_standard(node, "Softmax") else None
    if source is None or node.outputs[0].dtype not in FLOATS or not leads_to_product(source):
        return None
    weights = weighted.followed(node.outputs[0], facts).weights
    shape, reader = shapes_of(facts).of(weights), _only_reader(weights)
    if reader is None or shape is None or len(shape) < 3:
        return None
    nodes: tuple[ir.Node, ...] = ()
    given, how = weights, Turned(swapped=True)
    if is_standard(reader, "Transpose") and ints(reader, "perm") == _swap(len(shape)):
        nodes, given, how = (reader,), reader.outputs[0], Turned()
    product = _only_reader(given) if nodes else reader
    if product is None or not is_product(product) or product.inputs[1] is not given:
        return None
    plain = turned(product, "A") == Turned() and product.attributes.get_float("alpha", 1.0) == 1.0
    value = shapes_of(facts).of(product.inputs[0])
    if not plain or turned(product, "B") != how or value is None or len(value) != len(shape):
        return None
    values = {"weights": weights, "value": product.inputs[0]}
    return Match((*nodes, product), product.outputs[0], values)


def _only_reader(value: ir.Value) -> ir.Node | None:
    uses = value.uses()
    return None if value.is_graph_output() or len(uses) != 1 else next(iter(uses)).node


def _swap(rank: int) -> tuple[int, ...]:
    return (*range(rank - 2), rank - 1, rank - 2)


def replace(match: Match, builder: Builder) -> ir.Value:
    """Return the turned product of weights and turned values."""
    weights, value = match.values["weights"], match.values["value"]
    if weights is None or value is None or match.output.dtype is None:
        raise ValueError("a product has two factors")
    make = SizedBuilder(builder, match.output.dtype)
    columns = _turned(value, make)
    shape = make.shapes.of(match.output) or ()
    return _turned(make.node("MatMul", [weights, columns], _swapped(shape)), make)


def _turned(value: ir.Value, make: SizedBuilder) -> ir.Value:
    shape = make.shapes.of(value) or ()
    perm = _swap(len(shape))
    return make.node("Transpose", [value], _swapped(shape), attributes={"perm": perm})


def _swapped(shape: Shape) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2])


RULES = (
    Rule(
        "turned-weights",
        "MatMul(value, Transpose(weights)) --> Transpose(MatMul(weights, Transpose(value)))",
        anchors=frozenset({"Softmax"}),
        find=find,
        replace=replace,
    ),
)
