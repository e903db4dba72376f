"""Join the values that have the same attention weights.

rewrite:
    MatMul(weights, a), MatMul(weights, b)
    -->
    Split(MatMul(weights, Concat(a, b)))

Differential attention is written so: one softmax for two values. A fused operator gives one result
for one softmax. One product takes no more time than two, so this pays on its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from burnish.infer import walk
from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.fusions.attention import weighted
from burnish.rewrite.fusions.attention.scores import leads_to_product
from burnish.rewrite.fusions.new_values import SizedBuilder
from burnish.rewrite.rule import Builder, Match, Refusal, Rule, Scalar

_SIZES_AS_INPUT = 13


def find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    """Return the products that read the weights of an attention; None: there is one at most."""
    source = node.inputs[0] if is_standard(node, "Softmax") else None
    if source is None or node.outputs[0].dtype not in FLOATS or not leads_to_product(source):
        return None
    weights = weighted.followed(node.outputs[0], facts).weights
    products = list(dict.fromkeys(use.node for use in weights.uses()))
    if len(products) < 2 or weights.is_graph_output():
        return None
    if not all(is_standard(each, "MatMul") and each.inputs[0] is weights for each in products):
        return None
    values = [product.inputs[1] for product in products]
    widths = _widths([shapes_of(facts).of(value) for value in values])
    last = _last(products)
    if widths is None or last is None:
        return Refusal(
            f"the values {' and '.join(repr(v.name) for v in values if v)}, all weighed by Softmax"
            f" {node.name!r}, cannot be joined: expected equal shapes but for their last axes,"
            " and none that is computed from another's result",
            "declare the shapes of the graph's inputs",
        )
    named = {"weights": weights} | {f"value_{at}": value for at, value in enumerate(values)}
    first, *others = (product.outputs[0] for product in products)
    sizes = {f"width_{at}": width for at, width in enumerate(widths)}
    nodes = tuple(products)
    return Match(nodes, first, named, sizes, tuple(others), last, scattered=True)


def _widths(shapes: Sequence[Shape | None]) -> tuple[int, ...] | None:
    """Return the sizes of last axes, if all are numbers and all other axes are equal."""
    known = [shape for shape in shapes if shape]
    if len(known) < len(shapes) or len({shape[:-1] for shape in known}) > 1:
        return None
    widths = tuple(shape[-1] for shape in known if isinstance(shape[-1], int))
    return widths if len(widths) == len(known) else None


def _last(products: Sequence[ir.Node]) -> ir.Node | None:
    """Return the product that stands behind all others; None: a value waits for another product."""
    graph = products[0].graph
    if graph is None or any(product.graph is not graph for product in products):
        return None
    order = {node: at for at, node in enumerate(graph)}
    first = min(order[product] for product in products)
    waiting = [value.producer() for product in products for value in product.inputs if value]
    seen: set[ir.Node] = set()
    while waiting:
        node = waiting.pop()
        # what stands in front of the first product cannot read any
        if node is None or node in seen or order.get(node, -1) < first:
            continue
        if node in products or any(walk.bodies(node)):
            return None
        seen.add(node)
        waiting.extend(value.producer() for value in node.inputs if value)
    return max(products, key=order.__getitem__)


def replace(match: Match, builder: Builder) -> tuple[ir.Value, ...]:
    """Return the parts of one product, in the order of the products that it stands for."""
    weights = match.values["weights"]
    values = [value for name, value in match.values.items() if name != "weights" and value]
    if weights is None or match.output.dtype is None:
        raise ValueError("a product has two factors")
    make = SizedBuilder(builder, match.output.dtype)
    widths = [int(match.attributes[f"width_{at}"]) for at in range(len(values))]
    whole = (*(make.shapes.of(values[0]) or ())[:-1], sum(widths))
    joined = make.node("Concat", values, whole, attributes={"axis": len(whole) - 1})
    rows = make.shapes.of(match.output) or ()
    product = make.node("MatMul", [weights, joined], (*rows[:-1], sum(widths)))
    inputs: list[ir.Value | None] = [product]
    attributes: dict[str, Scalar | ir.Attr] = {"axis": len(whole) - 1}
    if builder.opset >= _SIZES_AS_INPUT:
        inputs.append(make.numbers(widths))
    else:
        attributes["split"] = ir.AttrInt64s("split", widths)
    return builder.outputs("Split", inputs, likes=match.outputs, attributes=attributes)


RULES = (
    Rule(
        "shared-weights",
        "MatMul(weights, a), MatMul(weights, b) --> Split(MatMul(weights, Concat(a, b)))",
        anchors=frozenset({"Softmax"}),
        find=find,
        replace=replace,
    ),
)
